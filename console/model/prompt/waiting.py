"""What waits to be said: each message with what it waits for, and why it cannot be changed where it cannot."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.model.commands.naming import key_of, keyed
from console.model.prompt.intent import AFTER, STEER
from console.model.safe import one_line
from console.model.talk.ends import why_dropped
from console.model.words import number

if TYPE_CHECKING:  # the screen is drawn before the engine is loaded
    from engine.api import QueueItem

PATIENCE: Final = 30_000_000
"""Microseconds after which it is worth saying that the runner has not pulled."""
REGRET: Final = 5_000_000
"""Microseconds in which a withdrawal can be undone."""
_SECOND: Final = 1_000_000
_SENT_AGAIN: Final = "sent_again_as"
_MESSAGE: Final = "message.received"


@dataclass(frozen=True, slots=True)
class RunSeen:
    """The run that is shown, as far as what waits depends on it."""

    run_id: str
    is_over: bool = False
    turn: int = 0
    """The turn that is on, or was the last; 0 before the first."""
    last_pull_at: int | None = None
    cannot_steer: str | None = None
    """Why a message cannot go into it."""
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class ItemView:
    """One message in the queue, ready to be shown: its texts are harmless and on one line."""

    item_id: str
    fate: str
    """As the engine has it: queued, held, pulled, dropped, withdrawn."""
    mode: str
    """steer, after, or slot: a message that had to wait because the run at work cannot take it in."""
    glyph: str
    """A glyph's name, and the tone of its word."""
    word: str
    text: str
    detail: str
    """What it waits for, or what became of it."""
    age: str
    """How long it waits for a pull."""
    is_open: bool
    why_not_editable: str | None
    why_not_turned: str | None
    """Why it cannot be given to the run at work, or kept for after it."""
    is_overdue: bool = False
    """It waits for a pull that should have come."""

    @property
    def is_waiting(self) -> bool:
        """Nobody has taken it yet."""
        return self.fate in ("queued", "held")

    @property
    def is_editable(self) -> bool:
        return self.why_not_editable is None


def views(items: "Iterable[QueueItem]", run: RunSeen | None, now: int) -> tuple[ItemView, ...]:
    """What the queue shows: what is open in its order, then what was dropped, or withdrawn a moment ago.

    A message that was delivered, has a run of its own or was sent again is not there any more.
    """
    said = map(_of_item, items)
    shown = [one.view(run, now) for one in said if one.is_shown(now)]
    return tuple(sorted(shown, key=lambda view: not view.is_open))


def sending(texts: Iterable[str], why: str) -> tuple[ItemView, ...]:
    """What was sent and is not on disk yet, and what it waits for. It is nowhere else to be seen meanwhile."""
    return tuple(
        ItemView(f"sending {place}", "sending", "", "starting", "sending…", one_line(text), why, "", True, _ON_ITS_WAY,
                 _ON_ITS_WAY)
        for place, text in enumerate(texts)
    )  # fmt: skip


def pending(items: Iterable[ItemView]) -> str:
    """`2 pending · 1 dropped`."""
    return " · ".join(_counts(tuple(items)))


@dataclass(frozen=True, slots=True)
class _Said:
    """An item, as far as it is shown."""

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
        if self.fate == "withdrawn":
            return now - (self.decided_at or 0) < REGRET
        return self.fate in ("queued", "held", "pulled", "dropped")

    def view(self, run: RunSeen | None, now: int) -> ItemView:
        own = run if run is not None and run.run_id == self.run_id else None
        is_open = self.fate in ("queued", "held", "pulled")
        overdue = own is not None and self._is_overdue(own, now)
        glyph, word = self._sign()
        return ItemView(
            item_id=self.item_id,
            fate=self.fate,
            mode=self.mode,
            glyph=glyph,
            word=word,
            text=one_line(self.text),
            detail="runner has not pulled yet" if overdue else self._detail(own, now),
            age=_age(now - self.created_at) if self.fate == "queued" and self.mode == STEER else "",
            is_open=is_open,
            why_not_editable=_why_not(self.fate),
            why_not_turned=_why_not(self.fate) or self._why_not_turned(run),
            is_overdue=overdue,
        )

    def _sign(self) -> tuple[str, str]:
        match self.fate:
            case "queued":
                return ("queued", "steer") if self.mode == STEER else ("after", "after")
            case "withdrawn":
                return "dropped", "withdrawn"
            case _:
                return self.fate, self.fate

    def _detail(self, own: RunSeen | None, now: int) -> str:
        match self.fate:
            case "held":
                return f"{STEER if self.mode == STEER else AFTER}, kept back"
            case "pulled":
                return f"T{own.turn}" if own is not None and own.turn else ""
            case "dropped":
                return _dropped(self, own)
            case "withdrawn":
                left = REGRET - (now - (self.decided_at or 0))
                return f"{key_of('queue.undo')} brings it back, {_age(left + _SECOND - 1)}"
            case _:
                return self._waits_for(own)

    def _waits_for(self, own: RunSeen | None) -> str:
        if self.mode != STEER:
            return one_line(self.reason) or "when the run ends"
        if own is None:
            return "waiting for a pull"
        if own.is_held:
            return "waiting, the run is held"
        return f"waiting for T{own.turn}→T{own.turn + 1}" if own.turn else "waiting for the first pull"

    def _is_overdue(self, own: RunSeen, now: int) -> bool:
        if self.fate != "queued" or self.mode != STEER or own.is_held or own.is_over:
            return False
        # A runner that takes one message at a time may have pulled since, and then it will again.
        return now - max(self.created_at, own.last_pull_at or 0) >= PATIENCE

    def _why_not_turned(self, run: RunSeen | None) -> str | None:
        if self.mode == STEER:
            return None
        if run is None or run.is_over:
            return "there is no run at work that could take it in"
        return None if run.cannot_steer is None else f"it cannot go into the run: {one_line(run.cannot_steer)}"


_ON_ITS_WAY: Final = "it is on its way; it can be changed as soon as it is written"
_WHY_NOT: Final[Mapping[str, str]] = {
    "pulled": "the runner has pulled it; it can no longer be changed",
    "dropped": "it was dropped; {queue.edit} takes it back to the prompt",
    "withdrawn": "it is withdrawn; {queue.undo} brings it back",
}


def _why_not(fate: str) -> str | None:
    return keyed(_WHY_NOT[fate]) if fate in _WHY_NOT else None


def _dropped(said: _Said, own: RunSeen | None) -> str:
    if said.pulled_at is not None:
        return one_line(why_dropped(said.reason, "it had it"))
    next_turn = f"T{own.turn + 1}" if own is not None and own.turn else "it pulled"
    return one_line(why_dropped(said.reason, next_turn))


def _of_item(item: "QueueItem") -> _Said:
    return _Said(
        item_id=item.item_id,
        mode=item.mode,
        fate=item.fate,
        reason=item.reason or "",
        text=_words(item),
        run_id=item.run_id,
        created_at=item.created_at,
        pulled_at=item.pulled_at,
        decided_at=item.decided_at,
        is_sent_again=_SENT_AGAIN in item.metadata,
    )


def _words(item: "QueueItem") -> str:
    """What it is, where it is no message; what it says; and that files come with it."""
    kind, given = item.envelope.get("event_type", _MESSAGE), item.envelope.get("input", {})
    names = [str(file.get("name") or "file") for file in given.get("attachments", ())]
    files = f"· {number(len(names), 'file')}" if item.text else ", ".join(names)
    return " ".join(filter(None, ("" if kind == _MESSAGE else kind, item.text, files if names else "")))


def _counts(items: tuple[ItemView, ...]) -> Iterator[str]:
    waiting = sum(item.is_open for item in items)
    dropped = sum(item.fate == "dropped" for item in items)
    if waiting:
        yield f"{waiting} pending"
    if dropped:
        yield f"{dropped} dropped"


def _age(microseconds: int) -> str:
    seconds = max(0, microseconds) // _SECOND
    if seconds < 60:
        return f"{seconds}s"
    return f"{seconds // 60}min" if seconds < 3_600 else f"{seconds // 3_600}h"
