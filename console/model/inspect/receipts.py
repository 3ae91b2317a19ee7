"""Receipts in words: what was said to a run, how far it came, and how long each step took."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.safe import one_line
from console.model.talk.ends import why_dropped
from console.model.words import ago, duration, latency, number, short_run

if TYPE_CHECKING:
    from engine.api import Receipt, Steering

PATIENCE: Final = 30_000_000
"""Microseconds after which a message that was not pulled is worth a remark."""


class Told(NamedTuple):
    """One receipt: its state as a glyph's name and a word, what was said, and its way so far."""

    glyph: str
    word: str
    text: str
    steps: Sequence[str]
    jump: int | None
    """The entry to go to: the first result, else the pull, else where it was queued."""


def pulling(steering: "Steering", now: int, ended_at: int | None = None) -> tuple[str, bool]:
    """How the run listens, or listened at a moment, and whether that is a reason to worry."""
    if not steering.can_steer:
        why = steering.why_not or "no reason is known"
        return f"Cannot be steered: {why}. What is said waits for the run's end.", True
    pulls, last = steering.pulls, steering.last_pull_at
    if last is not None and last > now:
        # Only the last is kept; of those before it, the ones that brought something are known.
        brought = [receipt.pulled_at for receipt in steering.receipts if receipt.pulled_at is not None]
        pulls, last = None, max((at for at in brought if at <= now), default=None)
        if last is None:
            return "Nothing was pulled by then.", False
    if last is None:
        return "Never pulled" + (": what is said reaches it with its first pull." if ended_at is None else "."), True
    count = "" if not pulls else f" · {number(pulls, 'pull')}"
    when = _before(now - last) if ended_at is None else f"{duration(ended_at - last)} before its end"
    return f"Last pull {when}{count}", False


def told(receipt: "Receipt", now: int, position: int | None = None, *, is_over: bool) -> Told | None:
    """A receipt as it stood at a moment, of an entry if it is one; nothing where it had not been said yet."""
    if not _is_said(receipt, now, position):
        return None
    fate = fate_at(receipt, now)
    text = receipt.text or "(no text)"
    queued = "queued" + (f" at #{receipt.queued_position}" if receipt.queued_position is not None else "")
    waited = max(0, now - receipt.queued_at)
    jump = receipt.queued_position
    match fate:
        case "pulled" | "injected":
            steps = [queued, _pulled(receipt), _first(receipt, now, is_over=is_over)]
            first = receipt.first_result_position
            after = first if first is not None and (receipt.first_result_at or 0) <= now else None
            return Told(fate, fate, text, steps, after or receipt.pulled_position)
        case "dropped":
            again = " · sent again" if receipt.sent_again_as else ""
            return Told("dropped", "dropped", text, [queued, why_dropped(receipt.reason or "") + again], jump)
        case "withdrawn":
            return Told("dropped", "withdrawn", text, [queued, "taken back before it was pulled"], jump)
        case "own_run":
            run = f": {short_run(receipt.own_run_id)}…" if receipt.own_run_id else ""
            return Told(
                "after", "own run", text, [f"waited {duration(_waited(receipt, now))}", f"became a run{run}"], None
            )
        case "held":
            return Told(
                "held", "held back", text, [queued, f"{duration(waited)}; nobody gets it until it is released"], jump
            )
        case _ if receipt.mode == "after":
            return Told("after", "after", text, [f"waits for the run's end, {duration(waited)}"], jump)
        case _:
            late = "; runner has not pulled yet" if waited >= PATIENCE else ""
            return Told("queued", "queued", text, [queued, f"waits for a pull, {duration(waited)}{late}"], jump)


def fate_at(receipt: "Receipt", now: int) -> str:
    """Where it stood then. Holding it back is not dated: it counts while nothing else was decided."""
    if receipt.decided_at is not None and receipt.decided_at <= now:
        return receipt.fate
    if receipt.pulled_at is not None and receipt.pulled_at <= now:
        return "pulled"
    return receipt.fate if receipt.decided_at is None else "queued"


def _is_said(receipt: "Receipt", now: int, position: int | None) -> bool:
    # The item is stamped a moment after its entry.
    if position is not None and receipt.queued_position is not None:
        return receipt.queued_position <= position
    return receipt.queued_at <= now


def _pulled(receipt: "Receipt") -> str:
    where = f" at #{receipt.pulled_position}" if receipt.pulled_position is not None else ""
    took = "" if receipt.pulled_at is None else f" after {latency(receipt.pulled_at - receipt.queued_at)}"
    return f"pulled{where}{took}"


def _first(receipt: "Receipt", now: int, *, is_over: bool) -> str:
    if receipt.first_result is None or (receipt.first_result_at or 0) > now:
        return "no result after it" if is_over else "no result after it yet"
    took = "" if receipt.latency is None else f" +{latency(receipt.latency)}"
    return f"first result {one_line(receipt.first_result, 60)} #{receipt.first_result_position}{took}"


def _waited(receipt: "Receipt", now: int) -> int:
    return (receipt.decided_at if receipt.decided_at is not None else now) - receipt.queued_at


def _before(microseconds: int) -> str:
    if microseconds < 1_000_000:
        return "just now"
    return f"{microseconds // 1_000_000} s ago" if microseconds < 60_000_000 else ago(microseconds)
