"""Where a run can be held: words such as `pull`, `tool`, `call_tool#2` or `tool.call.started`, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from engine.facts.errors import CannotHold
from engine.protocol.results import ResultType

PULL: Final = "pull"
PULLING: Final = "steering_pull"
"""The call that pulls, as a runner names it."""
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "model": ("invoke_llm", "invoke_llm_stream", "invoke_rerank", "count_tokens"),
    "tool": ("get_tool_detail", "call_tool"),
    "knowledge": ("retrieve_knowledge", "list_knowledge_bases"),
    "history": ("history_page", "history_search"),
    "event": ("event_get", "event_page"),
    "artifact": ("artifact_metadata", "artifact_read", "artifact_read_range"),
    "state": ("state_get", "state_set", "state_delete", "state_list"),
    "storage": tuple(
        call.format(kind)
        for kind in ("plugin", "workspace")
        for call in ("get_{}_storage", "set_{}_storage", "delete_{}_storage", "get_{}_storage_keys")
    ),
    "file": ("get_file",),
    "run": ("run_get", "run_events_page", "get_langbot_version", "get_prompt"),
}
NAMES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    PULLING: (PULL,),
    **{call: (call, group) for group, calls in GROUPS.items() for call in calls},
}
"""Under which names a point may mean a call."""
RESULTS: Final = frozenset(kind.value for kind in ResultType)
STEPS: Final = frozenset(
    {
        PULL,
        "model",
        "tool",
        "knowledge",
        ResultType.TOOL_CALL_STARTED.value,
        ResultType.TOOL_CALL_COMPLETED.value,
        ResultType.MESSAGE_COMPLETED.value,
        ResultType.RUN_COMPLETED.value,
        ResultType.RUN_FAILED.value,
    }
)
"""What a step stops at, whatever comes first."""
_POSSIBLE: Final = {PULL, *GROUPS, *NAMES_OF, *RESULTS} - {PULLING}


@dataclass(frozen=True, slots=True)
class Point:
    """A kind of call or result before which a run is held: each time, or only the nth time of the run."""

    name: str
    number: int | None = None

    @classmethod
    def parse(cls, words: str) -> "Point":
        """A point from its words; raises CannotHold, which says what is possible."""
        name, has_number, number = words.strip().partition("#")
        name = PULL if name == PULLING else name
        if name not in _POSSIBLE:
            raise CannotHold(f"{words!r:.80} is no point to hold at.{_meant(name)} {_possible()}")
        if not has_number:
            return cls(name)
        if not (number.isascii() and number.isdecimal() and len(number) < 10 and int(number)):
            raise CannotHold(f"{words!r:.80}: behind # stands which time of the run is meant, 1 or more.")
        return cls(name, int(number))

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}#{self.number}"


def _meant(name: str) -> str:
    close = get_close_matches(name, sorted(_POSSIBLE), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _possible() -> str:
    results = ", ".join(kind.value for kind in ResultType)
    return (
        f"Possible: {PULL}; a group of calls ({', '.join(GROUPS)}); one call by its name, such as call_tool; "
        f"a type of result ({results}); each with #n for only the nth of the run."
    )
