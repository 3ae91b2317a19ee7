"""The rows of the queue pane: each message with what it waits for, and why it cannot be changed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.model.commands.key_labels import key_of, with_keys
from console.model.journal.entry_words import MESSAGE_EVENT
from console.model.journal.run_end import drop_reason_words
from console.model.text.safe import one_line
from console.model.text.units import number
from engine.events import Fate, Mode

if TYPE_CHECKING:  # the first frame is drawn before the engine is loaded
    from engine.api import QueueItem

_OPEN_FATES: Final = (Fate.QUEUED, Fate.PAUSED, Fate.PULLED)
LONG_WAIT_US: Final = 30_000_000
"""Microseconds after which a queued message gets the remark `NOT_PULLED_YET`."""
NOT_PULLED_YET: Final = "runner has not pulled yet"
UNDO_US: Final = 5_000_000
"""Microseconds within which a withdrawal can be undone."""
_SECOND_US: Final = 1_000_000
SENDING: Final = "sending"
"""In place of a fate: the message is not saved yet."""
_SENT_AGAIN: Final = "sent_again_as"


@dataclass(frozen=True, slots=True)
class QueueRun:
    """The facts of the shown run that the queue depends on."""

    run_id: str
    is_over: bool = False
    turn: int = 0
    """The current or last turn; 0 before the first."""
    last_pull_at: int | None = None
    cannot_steer: str | None = None
    """The reason why the run cannot be steered, or None."""
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of the queue. Its texts are safe and on one line."""

    item_id: str
    fate: str
    """A `Fate`, or `SENDING`."""
    mode: str
    """A `Mode`."""
    glyph: str
    """The name of the glyph, which is also the tone of the word."""
    word: str
    text: str
    detail: str
    """What the message waits for, or what became of it."""
    age: str
    """How long the message has waited for a pull."""
    is_open: bool
    why_not_editable: str | None
    why_not_turned: str | None
    """The reason why its mode cannot be switched, or None."""
    is_overdue: bool = False
    """The runner has not pulled for a long time."""

    @property
    def is_waiting(self) -> bool:
        """Whether the message has not been pulled."""
        return self.fate in (Fate.QUEUED, Fate.PAUSED)

    @property
    def is_editable(self) -> bool:
        return self.why_not_editable is None


def queue_rows(items: "Iterable[QueueItem]", run: QueueRun | None, now: int) -> tuple[QueueRow, ...]:
    """Return the rows of the queue: open messages in order, then dropped and recently withdrawn ones.

    Messages that were delivered, became a run or were sent again have no row.
    """
    shown = [item.row(run, now) for item in map(_read_item, items) if item.is_shown(now)]
    return tuple(sorted(shown, key=lambda row: not row.is_open))


def sending_rows(texts: Iterable[str], why: str) -> tuple[QueueRow, ...]:
    """Return rows for messages that are not saved yet, which no other pane shows; `why` is what they wait for."""
    return tuple(
        QueueRow(f"{SENDING} {place}", SENDING, "", "starting", "sending…", one_line(text), why, "", True, _BEING_SAVED,
                 _BEING_SAVED)
        for place, text in enumerate(texts)
    )  # fmt: skip


def count_words(items: Iterable[QueueRow]) -> str:
    """Return the numbers of messages: `2 queued · 1 dropped`."""
    return " · ".join(_counts(tuple(items)))


@dataclass(frozen=True, slots=True)
class _Item:
    """The values of an item that its row depends on."""

    item_id: str
    mode: str
    fate: str
    reason: str
    text: str
    run_id: str | None
    created_at: int
    pulled_at: int | None
    decided_at: int | None
    is_sent_again: bool

    def is_shown(self, now: int) -> bool:
        if self.is_sent_again:
            return False
        if self.fate == Fate.WITHDRAWN:
            return now - (self.decided_at or 0) < UNDO_US
        return self.fate in _OPEN_FATES or self.fate == Fate.DROPPED

    def row(self, run: QueueRun | None, now: int) -> QueueRow:
        own = run if run is not None and run.run_id == self.run_id else None
        is_open = self.fate in _OPEN_FATES
        overdue = own is not None and self._is_overdue(own, now)
        glyph, word = self._glyph_and_word()
        return QueueRow(
            item_id=self.item_id,
            fate=self.fate,
            mode=self.mode,
            glyph=glyph,
            word=word,
            text=one_line(self.text),
            detail=NOT_PULLED_YET if overdue else self._detail(own, now),
            age=_short_age(now - self.created_at) if self.fate == Fate.QUEUED and self.mode == Mode.STEER else "",
            is_open=is_open,
            why_not_editable=_why_not(self.fate),
            why_not_turned=_why_not(self.fate) or self._why_not_turned(run),
            is_overdue=overdue,
        )

    def _glyph_and_word(self) -> tuple[str, str]:
        match self.fate:
            case Fate.QUEUED:
                return (Fate.QUEUED, Mode.STEER) if self.mode == Mode.STEER else (Mode.AFTER, Mode.AFTER)
            case Fate.WITHDRAWN:
                return Fate.DROPPED, Fate.WITHDRAWN
            case _:
                return self.fate, self.fate

    def _detail(self, own: QueueRun | None, now: int) -> str:
        match self.fate:
            case Fate.PAUSED:
                return f"{Mode.STEER if self.mode == Mode.STEER else Mode.AFTER}, until resumed"
            case Fate.PULLED:
                return f"T{own.turn}" if own is not None and own.turn else ""
            case Fate.DROPPED:
                return _drop_detail(self, own)
            case Fate.WITHDRAWN:
                left = UNDO_US - (now - (self.decided_at or 0))
                return f"{key_of('queue.undo')} restores it, {_short_age(left + _SECOND_US - 1)}"
            case _:
                return self._waits_for(own)

    def _waits_for(self, own: QueueRun | None) -> str:
        if self.mode != Mode.STEER:
            return one_line(self.reason) or "when the run ends"
        if own is None:
            return "waiting for a pull"
        if own.is_paused:
            return "waiting, the run is paused"
        return f"waiting for T{own.turn}→T{own.turn + 1}" if own.turn else "waiting for the first pull"

    def _is_overdue(self, own: QueueRun, now: int) -> bool:
        if self.fate != Fate.QUEUED or self.mode != Mode.STEER or own.is_paused or own.is_over:
            return False
        # A runner that takes one message at a time may have pulled since, and will pull again.
        return now - max(self.created_at, own.last_pull_at or 0) >= LONG_WAIT_US

    def _why_not_turned(self, run: QueueRun | None) -> str | None:
        if self.mode == Mode.STEER:
            return None
        if run is None or run.is_over:
            return "No run in progress can receive this message."
        return None if run.cannot_steer is None else f"The run cannot take this message: {one_line(run.cannot_steer)}"


_BEING_SAVED: Final = "This message is being saved. Change it afterwards."
_WHY_NOT: Final[Mapping[str, str]] = {
    Fate.PULLED: "The runner has pulled this message. It can no longer be changed.",
    Fate.DROPPED: "This message was dropped. Press {queue.edit} to edit it in the prompt.",
    Fate.WITHDRAWN: "This message is withdrawn. Press {queue.undo} to restore it.",
}


def _why_not(fate: str) -> str | None:
    return with_keys(_WHY_NOT[fate]) if fate in _WHY_NOT else None


def _drop_detail(item: _Item, own: QueueRun | None) -> str:
    if item.pulled_at is not None:
        return one_line(drop_reason_words(item.reason, "it was delivered"))
    next_turn = f"T{own.turn + 1}" if own is not None and own.turn else "it pulled"
    return one_line(drop_reason_words(item.reason, next_turn))


def _read_item(item: "QueueItem") -> _Item:
    return _Item(
        item_id=item.item_id,
        mode=item.mode,
        fate=item.fate,
        reason=item.reason or "",
        text=_item_text(item),
        run_id=item.run_id,
        created_at=item.created_at,
        pulled_at=item.pulled_at,
        decided_at=item.decided_at,
        is_sent_again=_SENT_AGAIN in item.metadata,
    )


def _item_text(item: "QueueItem") -> str:
    """The event type if it is not a message, the text, and the number or names of files."""
    kind, event_input = item.envelope.get("event_type", MESSAGE_EVENT), item.envelope.get("input", {})
    names = [str(file.get("name") or "file") for file in event_input.get("attachments", ())]
    files = f"· {number(len(names), 'file')}" if item.text else ", ".join(names)
    return " ".join(filter(None, ("" if kind == MESSAGE_EVENT else kind, item.text, files if names else "")))


def _counts(items: tuple[QueueRow, ...]) -> Iterator[str]:
    waiting = sum(item.is_open for item in items)
    dropped = sum(item.fate == Fate.DROPPED for item in items)
    if waiting:
        yield f"{waiting} queued"
    if dropped:
        yield f"{dropped} dropped"


def _short_age(microseconds: int) -> str:
    seconds = max(0, microseconds) // _SECOND_US
    if seconds < 60:
        return f"{seconds}s"
    return f"{seconds // 60}min" if seconds < 3_600 else f"{seconds // 3_600}h"
