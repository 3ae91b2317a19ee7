"""Where one turn of a run ends and the next begins. This is the only place that decides it."""

from collections.abc import Mapping
from typing import Any, Final

_BEGINS: Final = frozenset({"message.delta", "tool.call.started"})
_PULL: Final = "steering_pull"
_BEGINNING_CALLS: Final = frozenset({_PULL, "invoke_llm", "invoke_llm_stream"})
_MOST_OPEN: Final = 10_000
"""A runner that opens more tool calls than this without completing any is not followed further."""


class Turns:
    """Counts turns entry by entry.

    Turn 1 starts with the run. The next starts at the first pull, model call, delta or tool start after all open
    tool calls, at least one, have completed, or at a pull that returned items.
    """

    def __init__(self) -> None:
        self.turn = 1
        self._open: set[str] = set()
        self._batch_done = False
        self.began_with_pull = False
        """This turn began with the newest pull's request: if that pull brings something, it begins no other."""

    def note(self, kind: str, data: Mapping[str, Any]) -> int:
        """The turn that an entry belongs to."""
        if kind == "tool.call.completed":
            self._close(str(data.get("tool_call_id")))
        elif kind in _BEGINS or (kind == "call.requested" and data.get("action") in _BEGINNING_CALLS):
            self.began_with_pull = self._begin_if_due() and data.get("action") == _PULL
            if kind == "tool.call.started" and len(self._open) < _MOST_OPEN:
                self._open.add(str(data.get("tool_call_id")))
        return self.turn

    def begin(self) -> None:
        """The next turn begins here: a pull returned items."""
        self.turn += 1
        self._batch_done = False

    def _close(self, tool_call_id: str) -> None:
        if tool_call_id in self._open:
            self._open.remove(tool_call_id)
            self._batch_done = not self._open

    def _begin_if_due(self) -> bool:
        if not self._batch_done:
            return False
        self.begin()
        return True
