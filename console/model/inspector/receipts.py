"""Receipts in words: each steering message of a run, its steps, and how long each took."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from console.model.journal.run_end import drop_reason_words
from console.model.queue.items import LONG_WAIT_US, NOT_PULLED_YET
from console.model.text.safe import one_line
from console.model.text.units import ago, duration, latency, number, short_run
from engine.events import Fate, Mode

if TYPE_CHECKING:
    from engine.api import Receipt, SteeringReport


class ReceiptWords(NamedTuple):
    """One receipt: glyph name, state word, text and steps."""

    glyph: str
    word: str
    text: str
    steps: Sequence[str]
    jump: int | None
    """The entry to open: the first result, else the pull, else where it was queued."""


def last_pull_words(steering: "SteeringReport", now: int, ended_at: int | None = None) -> tuple[str, bool]:
    """Return when the run last pulled, as of `now`, and whether that is a reason for a warning."""
    if not steering.can_steer:
        why = steering.why_not or "no reason given"
        return f"Cannot be steered: {why}. Messages wait for the end of the run.", True
    pulls, last = steering.pulls, steering.last_pull_at
    if last is not None and last > now:
        # Only the last pull is stored; of those before, only pulls that took a message are known.
        pulled_at = [receipt.pulled_at for receipt in steering.receipts if receipt.pulled_at is not None]
        pulls, last = None, max((at for at in pulled_at if at <= now), default=None)
        if last is None:
            return "No message was pulled up to this entry.", False
    if last is None:
        is_over = ended_at is not None
        return "Never pulled." if is_over else "Not pulled yet: messages are delivered at its first pull.", True
    count = "" if not pulls else f" · {number(pulls, 'pull')}"
    when = _time_ago(now - last) if ended_at is None else f"{duration(ended_at - last)} before its end"
    return f"Last pull {when}{count}", False


def receipt_words(receipt: "Receipt", now: int, position: int | None = None, *, is_over: bool) -> ReceiptWords | None:
    """Return a receipt as of a time and an entry, or None if the message had not been queued yet."""
    if not _is_queued(receipt, now, position):
        return None
    fate = fate_at(receipt, now)
    text = receipt.text or "(no text)"
    queued = "queued" + (f" at #{receipt.queued_position}" if receipt.queued_position is not None else "")
    waited = max(0, now - receipt.queued_at)
    jump = receipt.queued_position
    match fate:
        case Fate.PULLED | Fate.INJECTED:
            steps = [queued, _pull_words(receipt), _first_result(receipt, now, is_over=is_over)]
            first = receipt.first_result_position
            after = first if first is not None and (receipt.first_result_at or 0) <= now else None
            return ReceiptWords(
                fate, "delivered" if fate == Fate.INJECTED else "pulled", text, steps, after or receipt.pulled_position
            )
        case Fate.DROPPED:
            resent = " · sent again" if receipt.sent_again_as else ""
            return ReceiptWords(
                Fate.DROPPED, "dropped", text, [queued, drop_reason_words(receipt.reason or "") + resent], jump
            )
        case Fate.WITHDRAWN:
            return ReceiptWords(Fate.DROPPED, "withdrawn", text, [queued, "withdrawn before it was pulled"], jump)
        case Fate.OWN_RUN:
            run = f": {short_run(receipt.own_run_id)}…" if receipt.own_run_id else ""
            return ReceiptWords(
                Mode.AFTER, "own run", text, [f"waited {duration(_waited(receipt, now))}", f"became a run{run}"], None
            )
        case Fate.PAUSED:
            return ReceiptWords(
                Fate.PAUSED, "paused", text, [queued, f"{duration(waited)}; not delivered until resumed"], jump
            )
        case _ if receipt.mode == Mode.AFTER:
            return ReceiptWords(Mode.AFTER, "after", text, [f"waits for the end of the run, {duration(waited)}"], jump)
        case _:
            late = f"; {NOT_PULLED_YET}" if waited >= LONG_WAIT_US else ""
            return ReceiptWords(
                Fate.QUEUED, "queued", text, [queued, f"waits for a pull, {duration(waited)}{late}"], jump
            )


def fate_at(receipt: "Receipt", now: int) -> str:
    """Return the fate at a time. Pausing has no time stamp: a message counts as paused until it has another fate."""
    if receipt.decided_at is not None and receipt.decided_at <= now:
        return receipt.fate
    if receipt.pulled_at is not None and receipt.pulled_at <= now:
        return Fate.PULLED
    return receipt.fate if receipt.decided_at is None else Fate.QUEUED


def _is_queued(receipt: "Receipt", now: int, position: int | None) -> bool:
    # The item gets its time a moment after its entry.
    if position is not None and receipt.queued_position is not None:
        return receipt.queued_position <= position
    return receipt.queued_at <= now


def _pull_words(receipt: "Receipt") -> str:
    where = f" at #{receipt.pulled_position}" if receipt.pulled_position is not None else ""
    took = "" if receipt.pulled_at is None else f" after {latency(receipt.pulled_at - receipt.queued_at)}"
    return f"pulled{where}{took}"


def _first_result(receipt: "Receipt", now: int, *, is_over: bool) -> str:
    if receipt.first_result is None or (receipt.first_result_at or 0) > now:
        return "no result after it" if is_over else "no result after it yet"
    took = "" if receipt.latency is None else f" +{latency(receipt.latency)}"
    return f"first result {one_line(receipt.first_result, 60)} #{receipt.first_result_position}{took}"


def _waited(receipt: "Receipt", now: int) -> int:
    return (receipt.decided_at if receipt.decided_at is not None else now) - receipt.queued_at


def _time_ago(microseconds: int) -> str:
    if microseconds < 1_000_000:
        return "just now"
    return f"{microseconds // 1_000_000} s ago" if microseconds < 60_000_000 else ago(microseconds)
