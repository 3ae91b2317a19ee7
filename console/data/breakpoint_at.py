"""The breakpoint that the user means by an entry of the stream."""

from typing import TYPE_CHECKING, Final

from engine.events import (
    BREAKPOINT_KINDS,
    CALL_KINDS,
    BreakpointChanged,
    CallRequested,
    EntryKind,
    PauseEnded,
    PauseStarted,
    payload_of,
)

if TYPE_CHECKING:
    from engine.api import Engine

_PULL_KINDS: Final = frozenset({EntryKind.STEERING_PULLED, EntryKind.STEERING_INJECTED})


async def breakpoint_at(engine: "Engine", run_id: str, kind: str, position: int) -> str:
    """Return the location of the breakpoint: the action of a call, the location of a pause, or the kind of a result.

    Raises LookupError for an entry of a call or pause that does not name its call.
    """
    if kind in _PULL_KINDS:
        return "steering"
    if kind not in CALL_KINDS and kind not in BREAKPOINT_KINDS:
        return kind
    entry = (await engine.runs.entries_at(run_id, [position]))[0]
    match payload_of(entry):
        case CallRequested(action=action):
            return action
        case BreakpointChanged(when=when) | PauseStarted(when=when) | PauseEnded(when=when):
            return when
        case _:
            raise LookupError(f"This entry does not name its call. Select its {EntryKind.CALL_REQUESTED} entry.")
