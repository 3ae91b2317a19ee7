"""Counts the turns of a run. No other module decides where a turn starts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from reprlib import repr as short_repr
from typing import Any, Final, cast

import orjson

from engine.journal.kinds import EntryKind

MODEL_CALLS: Final = frozenset({"invoke_llm", "invoke_llm_stream"})
_OUTPUT: Final = frozenset({EntryKind.MESSAGE_DELTA, EntryKind.TOOL_CALL_STARTED})
_RESULT_ROLES: Final = ("tool", "function")
_MAX_OPEN: Final = 10_000
"""Open tool calls that are tracked; further ones of a runner that completes none are ignored."""
_MAX_RESULTS: Final = 10_000
"""Different tool results of the run's model calls that are remembered."""
_LONGEST_ID: Final = 200
"""Characters of a tool call's id that are kept; of a longer one only its hash."""


class Turns:
    """Counts the turns of one run. Turn 1 starts with the run.

    From the first model call through the host on, a run is counted by calls. Once the current turn has had a model
    call, the next one starts at a pull that returned messages, or at a model call with a tool result that no earlier
    model call had. So the order of results does not matter, and neither a fallback nor a summary starts a turn.

    Before that, and in a run without such calls, it is counted by results. Once the current turn has had a delta or the
    start of a tool call, the next one starts at a pull that returned messages, or at the first delta or start after
    all started tool calls, at least one, have completed.
    """

    def __init__(self) -> None:
        self.turn = 1
        self._is_by_calls = False
        self._has_begun = False
        """Whether the current turn has had what makes it complete: a model call, or a delta or tool call."""
        self._open: set[str | int] = set()
        self._has_completed_tools = False
        """Whether every tool call that was started has completed, at least one since the turn started."""
        self._tool_results: Counter[tuple[str | int, int]] = Counter()
        """How often each tool result was in one model call, at most."""

    def note_result(self, kind: str, data: Mapping[str, Any]) -> None:
        """Note a result that was applied. Another one has no meaning for the turns."""
        if kind == EntryKind.TOOL_CALL_COMPLETED:
            self._complete_tool(_call_key(data.get("tool_call_id")))
        elif kind in _OUTPUT:
            if not self._is_by_calls:
                if self._has_begun and self._has_completed_tools:
                    self.begin(self.turn)
                self._has_begun = True
            if kind == EntryKind.TOOL_CALL_STARTED and len(self._open) < _MAX_OPEN:
                self._open.add(_call_key(data.get("tool_call_id")))

    def note_model_call(self, messages: Sequence[object]) -> None:
        """Note a model call with these messages."""
        has_new = self._learn_tool_results(messages)
        if self._is_by_calls and self._has_begun and has_new:
            self.begin(self.turn)
        self._is_by_calls = self._has_begun = True

    @property
    def can_begin_at_pull(self) -> bool:
        """Whether a pull that returns messages starts a turn."""
        return self._has_begun

    def begin(self, after: int) -> None:
        """Start the turn after this one, unless it has started already."""
        if self.turn == after:
            self.turn += 1
            self._has_begun = self._has_completed_tools = False

    def _complete_tool(self, key: str | int) -> None:
        if key in self._open:
            self._open.remove(key)
            self._has_completed_tools = not self._open

    def _learn_tool_results(self, messages: Sequence[object]) -> bool:
        """Remember the tool results of a model call. Returns whether one is new."""
        found: Counter[tuple[str | int, int]] = Counter()
        for message in messages:
            if not isinstance(message, dict):
                continue
            fields = cast("dict[str, object]", message)
            if fields.get("role") in _RESULT_ROLES:
                found[_call_key(fields.get("tool_call_id")), _content_hash(fields.get("content"))] += 1
        has_new = any(count > self._tool_results[key] for key, count in found.items())
        for key, count in found.items():
            if key in self._tool_results or len(self._tool_results) < _MAX_RESULTS:
                self._tool_results[key] = max(count, self._tool_results[key])
        return has_new


def _call_key(tool_call_id: object) -> str | int:
    """Return what identifies a tool call, in little memory whatever the runner sent as its id."""
    text = _as_text(tool_call_id)
    return text if len(text) <= _LONGEST_ID else hash(text)


def _content_hash(content: object) -> int:
    """Return a hash of the whole content of a tool result, which may be text or a list of parts."""
    return hash(content if isinstance(content, str) else orjson.dumps(content))


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else short_repr(value)
