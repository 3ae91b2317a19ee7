"""Breakpoints of a run, the pauses they cause, and how the user continues, steps or edits a reply."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from engine.clock import Clock
from engine.events import ContinueMode, EntryKind, PauseStage, Source
from engine.journal.recorder import Recorder
from engine.protocol.results import ResultType
from engine.run.deadline import Deadline
from engine.store.errors import BreakpointError

STEERING: Final = "steering"
"""The location of a steering point: before the runner pulls."""
PULL_CALL: Final = "steering_pull"
"""The name of the call with which a runner pulls."""
CALL_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
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
    "run": ("run_get", "run_events_page", "run_list", "run_cancel", "get_langbot_version", "get_prompt"),
}
NAMES_OF_CALL: Final[Mapping[str, tuple[str, ...]]] = {
    PULL_CALL: (STEERING,),
    **{call: (call, group) for group, calls in CALL_GROUPS.items() for call in calls},
}
"""For each call, the names of locations that match it."""
RESULT_TYPES: Final = frozenset(kind.value for kind in ResultType)
STEP_BOUNDARIES: Final = frozenset(
    {
        STEERING,
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
"""A step pauses at the first of these."""
_POSSIBLE_NAMES: Final = {STEERING, *CALL_GROUPS, *NAMES_OF_CALL, *RESULT_TYPES} - {PULL_CALL}


@dataclass(frozen=True, slots=True)
class BreakpointLocation:
    """A kind of call or result before which a run pauses: every time, or only the nth time in the run."""

    name: str
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> "BreakpointLocation":
        """Read `tool`, `call_tool#2` and the like. Raises BreakpointError, which lists what is possible."""
        name, has_number, number = text.strip().partition("#")
        name = STEERING if name == PULL_CALL else name
        if name not in _POSSIBLE_NAMES:
            raise BreakpointError(
                f"{text!r:.80} is not a breakpoint location.{_suggestion(name)} {_possible_locations()}"
            )
        if not has_number:
            return cls(name)
        if not (number.isascii() and number.isdecimal() and len(number) < 10 and int(number)):
            raise BreakpointError(f"{text!r:.80}: the number after # must be 1 or more.")
        return cls(name, int(number))

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}#{self.number}"


def _suggestion(name: str) -> str:
    close = get_close_matches(name, sorted(_POSSIBLE_NAMES), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _possible_locations() -> str:
    results = ", ".join(kind.value for kind in ResultType)
    return (
        f"Possible: {STEERING}; a group of calls ({', '.join(CALL_GROUPS)}); one call by its name, such as call_tool; "
        f"a type of result ({results}). Add #n to pause only at the nth of the run."
    )


STEP: Final = "step"
"""The location of a pause that a step caused, and no breakpoint."""
ReplyEditor = Callable[[object, str], tuple[Mapping[str, Any], Mapping[str, Any]]]
"""Checks and records the reply that an editor wants to send instead; returns it as it will be sent, and as it is shown.

Raises BreakpointError if the reply cannot be sent.
"""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A location at which the run will pause."""

    location: BreakpointLocation
    once: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """The call or result at which a run is paused now."""

    location: str
    """The breakpoint that was reached, as text; `step` if a step ended here."""
    stage: PauseStage
    call_id: str | None = None
    action: str | None = None
    arguments: Mapping[str, Any] | None = None
    """The arguments of the call, with secrets masked."""
    type: str | None = None
    """The type of the result."""
    original: Mapping[str, Any] | None = None
    """The reply or error that the call returned, once it was made, with secrets masked."""
    edit: Mapping[str, Any] | None = None
    """The reply that will be sent instead of the original, with secrets masked."""
    since: int = 0
    time_left: float | None = None
    """Seconds until the deadline once the run continues; None if there is no deadline."""

    @property
    def is_editable(self) -> bool:
        """Whether the reply can be edited. A pull returns the queue, and a result is the runner's own output."""
        return self.stage is not PauseStage.RESULT and self.action != PULL_CALL

    @property
    def steps_to_reply(self) -> bool:
        """Whether a step ends at the reply of this same call."""
        return self.stage is PauseStage.BEFORE and self.is_editable and self.edit is None

    def entry_data(self) -> dict[str, Any]:
        """The fields that the journal records of this pause."""
        what = (
            {"type": self.type} if self.stage is PauseStage.RESULT else {"call_id": self.call_id, "action": self.action}
        )
        return {"when": self.location, "stage": self.stage, **what}


class PauseOutcome(NamedTuple):
    """How a paused call goes on, and the reply that replaces its own, if the user edited it."""

    mode: ContinueMode
    edit: Mapping[str, Any] | None


@dataclass(slots=True)
class _PausedItem:
    pause: Pause
    on_continue: Callable[[ContinueMode], None]
    on_end: Callable[[], None]
    edit_reply: ReplyEditor | None = None
    edit: Mapping[str, Any] | None = None
    """The reply that will be sent instead of the original, with its secrets."""
    began: int = 0
    """When the pause began, by the monotonic clock."""


class PauseControl:
    """The breakpoints and pauses of one run; belongs to the loop's thread.

    Several calls may be paused at once. They form a queue, and continue and step act on the first.
    """

    def __init__(self, recorder: Recorder, clock: Clock, deadline: Deadline) -> None:
        self._recorder = recorder
        self._clock = clock
        self._deadline = deadline
        self._breakpoints: dict[BreakpointLocation, Breakpoint] = {}
        self._counts: dict[str, int] = {}
        """How often each name was matched in this run."""
        self._paused: list[_PausedItem] = []
        self._is_stepping = False
        self._has_ended = False

    # Called for the user

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        return tuple(self._breakpoints.values())

    @property
    def current_pause(self) -> Pause | None:
        """The pause that a continue or a step would end."""
        return self._paused[0].pause if self._paused else None

    def set_breakpoint(self, location: BreakpointLocation, *, once: bool = False) -> None:
        """Pause the run at this location: every time, or once. A numbered location applies only once anyway."""
        if self._has_ended:
            raise BreakpointError("The run has ended or is being stopped, so it cannot reach a breakpoint.")
        count = self._counts.get(location.name, 0)
        if location.number is not None and location.number <= count:
            raise BreakpointError(
                f"{location} has passed: the run is at {count} already. "
                f"Use a higher number, or {location.name} to pause at each."
            )
        self._breakpoints[location] = Breakpoint(location, once)
        self._recorder.record(Source.USER, EntryKind.BREAKPOINT_SET, {"when": str(location), "once": once})

    def remove_breakpoint(self, location: BreakpointLocation) -> None:
        """Remove a breakpoint. A pause that it caused goes on."""
        if location not in self._breakpoints:
            existing = ", ".join(map(str, self._breakpoints)) or "none"
            raise BreakpointError(f"No breakpoint is set at {location}. Breakpoints of this run: {existing}.")
        once = self._breakpoints.pop(location).once
        self._recorder.record(Source.USER, EntryKind.BREAKPOINT_REMOVED, {"when": str(location), "once": once})

    def edit_reply(self, reply: object, editor: str) -> Pause:
        """Set the reply that the paused call will return instead of its own. A later edit replaces this one."""
        item = self._first_paused()
        if item.edit_reply is None:
            if item.pause.stage is PauseStage.RESULT:
                reason = f"{item.pause.type} is the runner's own output"
            else:
                reason = "steering_pull returns the queued messages"
            raise BreakpointError(f"{reason}; only the reply of another call can be edited.")
        item.edit, shown = item.edit_reply(reply, editor)
        item.pause = replace(item.pause, edit=shown)
        return item.pause

    def continue_run(self) -> None:
        """End the current pause."""
        self._end_pause(self._first_paused(), ContinueMode.CONTINUE)

    def step(self) -> None:
        """End the current pause, and pause again at the reply of its call, or else at the next boundary."""
        self._end_pause(self._first_paused(), ContinueMode.STEP)

    # Called for the run

    def match_call(self, action: str) -> str | None:
        """Count an allowed call that is about to be made. Returns the location to pause at, if any."""
        return self._match(NAMES_OF_CALL.get(action, ()))

    def match_result(self, kind: object) -> str | None:
        """Count a result. Returns the location to pause at, if any. Runs for every result: two look-ups if unused."""
        return self._match((kind,)) if isinstance(kind, str) and kind in RESULT_TYPES else None

    def pause(self, pause: Pause, on_continue: Callable[[ContinueMode], None], on_end: Callable[[], None]) -> None:
        """Start a pause. Calls `on_continue` when the user continues or steps, `on_end` when the run ends."""
        self._start_pause(_PausedItem(pause, on_continue, on_end))

    async def wait_while_paused(self, pause: Pause, edit_reply: ReplyEditor) -> PauseOutcome | None:
        """Pause a call until the user continues or steps. Returns None if the run ends first."""
        continued: asyncio.Future[ContinueMode | None] = asyncio.get_running_loop().create_future()

        def set_mode(mode: ContinueMode | None = None) -> None:
            if not continued.done():
                continued.set_result(mode)

        item = _PausedItem(pause, set_mode, set_mode, edit_reply if pause.is_editable else None)
        self._start_pause(item)
        try:
            mode = await continued
        finally:
            self._remove(item)
        return None if mode is None else PauseOutcome(mode, item.edit)

    def pause_at_next_boundary(self) -> None:
        """Pause the run at the next boundary of a step, unless something of it is paused already."""
        self._is_stepping = not self._paused and not self._has_ended

    def end_all(self) -> None:
        """End all pauses and remove all breakpoints, because the run ends or is being stopped."""
        self._has_ended = True
        self._is_stepping = False
        self._breakpoints.clear()
        paused, self._paused = self._paused, []
        if paused:
            self._deadline.resume()
        for item in paused:
            item.on_end()

    def _match(self, names: Iterable[str]) -> str | None:
        matching: list[Breakpoint] = []
        ends_step = False
        for name in names:
            count = self._counts[name] = self._counts.get(name, 0) + 1
            if self._breakpoints:
                matching += (one for one in self._breakpoints.values() if _matches(one.location, name, count))
            ends_step = ends_step or (self._is_stepping and name in STEP_BOUNDARIES)
        if not (matching or ends_step):
            return None
        for one in matching:
            if one.once or one.location.number is not None:
                del self._breakpoints[one.location]
        return str(matching[0].location) if matching else STEP

    def _first_paused(self) -> _PausedItem:
        if not self._paused:
            raise BreakpointError("The run is not paused.")
        return self._paused[0]

    def _start_pause(self, item: _PausedItem) -> None:
        self._is_stepping = False
        self._deadline.pause()
        item.began = self._clock.monotonic()
        item.pause = replace(item.pause, since=self._clock.now(), time_left=self._deadline.seconds_left)
        self._paused.append(item)
        self._recorder.record(Source.HOST, EntryKind.PAUSE_STARTED, item.pause.entry_data())

    def _end_pause(self, item: _PausedItem, mode: ContinueMode) -> None:
        seconds = (self._clock.monotonic() - item.began) / 1_000_000
        self._remove(item)
        if mode is ContinueMode.STEP and not item.pause.steps_to_reply:
            self.pause_at_next_boundary()
        self._recorder.record(
            Source.USER, EntryKind.PAUSE_ENDED, {**item.pause.entry_data(), "seconds": seconds, "how": mode}
        )
        item.on_continue(mode)

    def _remove(self, item: _PausedItem) -> None:
        """Remove a paused item; also one whose runner cancelled the call."""
        if item in self._paused:
            self._paused.remove(item)
            if not self._paused:
                self._deadline.resume()


def _matches(location: BreakpointLocation, name: str, count: int) -> bool:
    return location.name == name and location.number in (None, count)
