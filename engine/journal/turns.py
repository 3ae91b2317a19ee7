"""Counts the turns of a run. No other module decides where a turn ends."""

from collections.abc import Mapping
from reprlib import repr as short_repr
from typing import Any, Final

from engine.journal.kinds import EntryKind

_BEGINS: Final = frozenset({EntryKind.MESSAGE_DELTA, EntryKind.TOOL_CALL_STARTED})
_PULL: Final = "steering_pull"
_BEGINNING_CALLS: Final = frozenset({_PULL, "invoke_llm", "invoke_llm_stream"})
_MOST_OPEN: Final = 10_000
"""Open tool calls that are tracked; further ones of a runner that completes none are ignored."""
_LONGEST_ID: Final = 200
"""Characters of a tool call's id that are kept; of a longer one only its hash."""


def _call_key(tool_call_id: object) -> str | int:
    """Return what identifies a tool call, in little memory whatever the runner sent as its id."""
    text = tool_call_id if isinstance(tool_call_id, str) else short_repr(tool_call_id)
    return text if len(text) <= _LONGEST_ID else hash(text)


class Turns:
    """Counts turns entry by entry.

    Turn 1 starts with the run. The next turn starts at the first pull, model call, delta or tool start after all open
    tool calls, at least one, have completed, or at a pull that returned items.
    """

    def __init__(self) -> None:
        self.turn = 1
        self._open: set[str | int] = set()
        self._batch_done = False
        self.began_with_pull = False
        """Whether this turn began with the newest pull's request. If that pull returns items, no other turn begins."""

    def note(self, kind: str, data: Mapping[str, Any]) -> int:
        """Return the turn that an entry belongs to."""
        if kind == EntryKind.TOOL_CALL_COMPLETED:
            self._close(_call_key(data.get("tool_call_id")))
        elif kind in _BEGINS or (kind == EntryKind.CALL_REQUESTED and data.get("action") in _BEGINNING_CALLS):
            self.began_with_pull = self._begin_if_due() and data.get("action") == _PULL
            if kind == EntryKind.TOOL_CALL_STARTED and len(self._open) < _MOST_OPEN:
                self._open.add(_call_key(data.get("tool_call_id")))
        return self.turn

    def begin(self) -> None:
        """Begin the next turn, because a pull returned items."""
        self.turn += 1
        self._batch_done = False

    def _close(self, key: str | int) -> None:
        if key in self._open:
            self._open.remove(key)
            self._batch_done = not self._open

    def _begin_if_due(self) -> bool:
        if not self._batch_done:
            return False
        self.begin()
        return True
