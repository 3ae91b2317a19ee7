"""Prints the journal of a run as text, entry by entry, live or recorded."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from console.cli.terminal import TextWrapper
from console.model.inspector.call_log import OpenCalls
from console.model.journal.entry_words import (
    MESSAGE_EVENT,
    action_words,
    artifact_name,
    continue_word,
    outcome_words,
    pause_words,
    steering_words,
)
from console.model.journal.json_access import arguments, words
from console.model.journal.usage_words import usage_words
from console.model.text.safe import one_line, safe
from console.model.text.units import duration, latency, number, short_runner, size
from engine.events import (
    BREAKPOINT_KINDS,
    CALL_KINDS,
    OUTPUT_TRACEBACK,
    ActionRequested,
    ArtifactCreated,
    BreakpointChanged,
    CancelRequested,
    DeltaText,
    EndReason,
    Entry,
    EntryKind,
    Fate,
    MessageCompleted,
    MessageDelta,
    Output,
    PauseEdited,
    PauseEnded,
    PauseStarted,
    RunFinished,
    RunStarted,
    StateUpdated,
    Status,
    SteeringEdited,
    SteeringItems,
    ToolCallCompleted,
    ToolCallStarted,
    Warned,
    has_effect,
    payload_of,
    repeats_last_message,
)

Paint = Callable[[str, str], str]
MAX_MESSAGE_CHARACTERS: Final = 80
"""Characters of a queued message that are printed; the journal has all of it."""
MAX_OUTPUT_CHARACTERS: Final = 2_000
"""Characters of one output line of a runner that are printed; the journal has all of it."""
STATUSES: Final[Mapping[str, tuple[str, str]]] = {
    Status.CREATED: ("◌", "dim"),
    Status.RUNNING: ("●", "cyan"),
    Status.COMPLETED: ("✓", "green"),
    Status.FAILED: ("✗", "red"),
    Status.TIMEOUT: ("✗", "red"),
    Status.CANCELLED: ("■", "yellow"),
}
"""Glyph and colour of a status; the word is always printed beside them."""
FATES: Final[Mapping[str, tuple[str, str]]] = {
    Fate.QUEUED: ("▲", "cyan"),
    Fate.PAUSED: ("‖", "yellow"),
    Fate.PULLED: ("▼", "cyan"),
    Fate.INJECTED: ("▼", "green"),
    Fate.DROPPED: ("✗", "red"),
    Fate.WITHDRAWN: ("✗", "dim"),
    Fate.OWN_RUN: ("▸", "cyan"),
}
"""Glyph and colour of a fate; the word is always printed beside them."""
_FATES: Final[Mapping[str, Fate]] = {
    EntryKind.STEERING_QUEUED: Fate.QUEUED,
    EntryKind.STEERING_EDITED: Fate.QUEUED,
    EntryKind.STEERING_MOVED: Fate.QUEUED,
    EntryKind.STEERING_PAUSED: Fate.PAUSED,
    EntryKind.STEERING_RESUMED: Fate.QUEUED,
    EntryKind.STEERING_WITHDRAWN: Fate.WITHDRAWN,
    EntryKind.STEERING_TURNED: Fate.QUEUED,
    EntryKind.STEERING_INJECTED: Fate.INJECTED,
    EntryKind.STEERING_DROPPED: Fate.DROPPED,
}
"""The fate of a message after an entry. A pull is not printed: the delivery that follows is."""
_PAUSE_KINDS: Final = {EntryKind.PAUSE_STARTED, EntryKind.PAUSE_EDITED, EntryKind.PAUSE_ENDED}


class Narrator:
    """Turns entries into text for a terminal. All text of runners and users is made safe here."""

    def __init__(self, paint: Paint, width: int | None = None) -> None:
        """Messages are wrapped at `width` columns; None keeps their lines as they are."""
        self._paint = paint
        self._wrapping = TextWrapper(width)
        self._pieces: list[str] = []
        self._block = ""
        """What was printed last: `text` of a message, or a `line`."""
        self._is_open = False
        """The last line has not been ended."""
        self._open_tool: str | None = None
        self._tools: dict[str, int] = {}
        self._deltas = DeltaText()
        self._shown: list[str] = []
        self._last_message: str | None = None
        self._is_stale = False
        """Some deltas have not been printed."""
        self._began: int | None = None
        self._calls = OpenCalls()
        self._queued_texts: dict[str, str] = {}
        self._formatters: dict[str, Callable[[Entry, Any], None]] = {
            EntryKind.RUN_STARTED: self._started,
            EntryKind.MESSAGE_DELTA: self._delta,
            EntryKind.MESSAGE_COMPLETED: self._message,
            EntryKind.RUN_COMPLETED: self._message,
            EntryKind.RUN_FAILED: self._nothing,
            EntryKind.TOOL_CALL_STARTED: self._tool_started,
            EntryKind.TOOL_CALL_COMPLETED: self._tool_completed,
            EntryKind.STATE_UPDATED: self._state,
            EntryKind.ARTIFACT_CREATED: self._artifact,
            EntryKind.ACTION_REQUESTED: self._action,
            EntryKind.OUTPUT: self._output,
            EntryKind.WARNING: self._warning,
            EntryKind.CANCEL_REQUESTED: self._cancel,
            EntryKind.CALL_REQUESTED: self._call,
            EntryKind.CALL_DECIDED: self._call,
            EntryKind.CALL_REPLIED: self._call,
            EntryKind.STEERING_PULLED: self._nothing,
            EntryKind.STEERING_RETURNED: self._returned,
            EntryKind.PAUSE_STARTED: self._pause_started,
            EntryKind.PAUSE_EDITED: self._pause_edited,
            EntryKind.PAUSE_ENDED: self._pause_ended,
            EntryKind.RUN_FINISHED: self._finished,
            **dict.fromkeys(_FATES, self._steering),
            **dict.fromkeys(BREAKPOINT_KINDS - _PAUSE_KINDS, self._breakpoint),
        }

    def format(self, entries: Iterable[Entry]) -> str:
        """The text to print for these entries."""
        for entry in entries:
            if not has_effect(entry):
                self._flush_deltas()
                self._warn(one_line(outcome_words(entry)))
                continue
            if entry.type != EntryKind.MESSAGE_DELTA:
                self._flush_deltas()
            self._formatters.get(entry.type, self._other)(entry, payload_of(entry))
            if entry.outcome is not None and entry.type not in CALL_KINDS:
                self._warn(one_line(outcome_words(entry)))
        self._flush_deltas()
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    # Messages

    def _delta(self, _entry: Entry, payload: MessageDelta) -> None:
        content, whole = payload.content, payload.all_content
        # Joined fragments are printed as they come; anything else is compared with the printed text once per batch.
        if self._deltas.is_joined and not whole and not self._is_stale:
            self._deltas.add(content)
            self._append_text(content)
        else:
            self._deltas.add(content, whole)
            self._is_stale = True

    def _flush_deltas(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._update_message(self._deltas.text)

    def _message(self, entry: Entry, payload: MessageCompleted) -> None:
        if not payload.message:
            return
        text = payload.text
        is_repeat = repeats_last_message(entry.type, text, self._last_message) and not self._shown
        self._last_message = text
        is_shown = text.rstrip() == "".join(self._shown).rstrip()
        if text and not is_repeat and not is_shown:
            self._update_message(text)
        if self._block == "text":
            self._end_line()
            self._block = "message"
        self._deltas, self._shown = DeltaText(), []

    def _update_message(self, text: str) -> None:
        """Print what this text adds to the printed text, or all of it if it does not continue it."""
        shown = "".join(self._shown)
        self._shown = [shown]
        if text.startswith(shown):
            self._append_text(text[len(shown) :])
        else:
            self._warn("the text above is replaced by:")
            self._shown = []
            self._append_text(text)

    def _append_text(self, piece: str) -> None:
        if not piece:
            return
        if self._block != "text":
            self._end_line()
            self._pieces.append("\n" if self._block else "")
            self._block = "text"
            self._wrapping.begin()
        self._shown.append(piece)
        self._pieces.append(self._wrapping.add(safe(piece)))
        self._is_open = not piece.endswith("\n")

    # Lines

    def _started(self, entry: Entry, payload: RunStarted) -> None:
        self._began = entry.at
        session = payload.conversation_id or "no session"
        runner = self._paint("bold", one_line(short_runner(payload.runner_id)))
        elsewhere = "  executed elsewhere" if payload.is_external else ""
        self._line(f"{self._paint('cyan', '▸')} {runner}  {one_line(session)}  {entry.run_id}{elsewhere}", indent="")
        text = payload.input_text
        if payload.event_type != MESSAGE_EVENT:
            text = f"{payload.event_type} {text}".strip()
        self._line(self._paint("dim", f"› {one_line(text)}"), indent="")

    def _tool_started(self, entry: Entry, payload: ToolCallStarted) -> None:
        self._tools[payload.tool_call_id] = entry.at
        name = self._paint("bold", one_line(payload.tool_name, 80))
        shown = one_line(arguments(payload.parameters), 100)
        self._line(f"{self._paint('cyan', '▸')} {name}({shown})", is_open=True)
        self._open_tool = payload.tool_call_id

    def _tool_completed(self, entry: Entry, payload: ToolCallCompleted) -> None:
        began = self._tools.pop(payload.tool_call_id, None)
        took = f" {duration(entry.at - began)}" if began is not None else ""
        if payload.error is not None:
            result = self._paint("red", f"✗{took}") + f"  {one_line(words(payload.error), 200)}"
        else:
            shown = one_line(words(payload.result), 60)
            result = self._paint("green", f"✓{took}") + self._paint("dim", f"  {shown}")
        if self._open_tool == payload.tool_call_id and self._is_open:
            self._pieces.append(f"  {result}")
            self._end_line()
        else:
            self._line(f"{one_line(payload.tool_name, 80)}  {result}")

    def _state(self, _entry: Entry, payload: StateUpdated) -> None:
        value = one_line(words(payload.value), 120)
        self._line(self._paint("dim", f"· state {payload.scope}: {one_line(payload.key, 80)} = {value}"))

    def _artifact(self, _entry: Entry, payload: ArtifactCreated) -> None:
        name = one_line(artifact_name(payload), 80)
        details = [one_line(payload.mime_type, 60)] if payload.mime_type else []
        if payload.size_bytes is not None:
            details.append(size(payload.size_bytes))
        self._line(self._paint("dim", "  ".join((f"· artifact {name}", *details))))

    def _call(self, entry: Entry, _: object) -> None:
        """Print one line for a call when it has its reply."""
        call = self._calls.apply(entry)
        if call is None:
            return
        named = " ".join(one_line(part, 80) for part in (call.action, call.resource or "") if part)
        took = latency(call.microseconds or 0)
        if call.code is None:
            self._line(self._paint("dim", f"· {named} ✓ {took}"))
        else:
            self._warn(f"{named} {one_line(call.code, 40)}: {one_line(call.message or call.clause)}")

    def _action(self, _entry: Entry, payload: ActionRequested) -> None:
        self._line(f"? {one_line(action_words(payload), 110)}")

    def _output(self, _entry: Entry, payload: Output) -> None:
        if payload.stream == OUTPUT_TRACEBACK:
            for line in payload.text.splitlines():
                self._line(self._paint("red", "│ ") + _cut(line))
        else:
            self._line(self._paint("dim", f"{payload.stream} │ {_cut(payload.text)}"))

    def _warning(self, _entry: Entry, payload: Warned) -> None:
        self._warn(one_line(payload.message, 500))

    def _cancel(self, _entry: Entry, payload: CancelRequested) -> None:
        self._warn("stop requested by the runner" if payload.is_by_runner else "stop requested")

    # Steering messages, breakpoints and pauses

    def _steering(self, entry: Entry, payload: Any) -> None:
        text = payload.after if isinstance(payload, SteeringEdited) else getattr(payload, "text", None)
        if text is not None:
            self._queued_texts[payload.item_id] = text
        self._message_line(payload.item_id, _FATES[entry.type], steering_words(entry.type, payload, entry.turn))

    def _returned(self, _entry: Entry, payload: SteeringItems) -> None:
        for item_id in payload.items:
            self._message_line(item_id, Fate.QUEUED, "queued again: the pull was cancelled")

    def _message_line(self, item_id: str, fate: Fate, what: str) -> None:
        glyph, colour = FATES[fate]
        text = one_line(self._queued_texts.get(item_id, item_id), MAX_MESSAGE_CHARACTERS)
        self._line(f"{self._paint(colour, f'{glyph} steer')}  {text}  {self._paint(colour, one_line(what, 200))}")

    def _breakpoint(self, entry: Entry, payload: BreakpointChanged) -> None:
        word = "set" if entry.type == EntryKind.BREAKPOINT_SET else "removed"
        self._line(self._paint("dim", f"· breakpoint {word}: {one_line(payload.when, MAX_MESSAGE_CHARACTERS)}"))

    def _pause_started(self, _entry: Entry, payload: PauseStarted) -> None:
        what, when = (
            one_line(pause_words(payload), MAX_MESSAGE_CHARACTERS),
            one_line(payload.when, MAX_MESSAGE_CHARACTERS),
        )
        self._line(self._paint("yellow", f"‖ paused  {what}") + self._paint("dim", f"  ({when})"))

    def _pause_edited(self, _entry: Entry, payload: PauseEdited) -> None:
        edit = payload.edit if payload.edit is not None else {"artifact": payload.edit_ref}
        self._line(self._paint("yellow", "‖ edit") + f"  {one_line(json.dumps(edit, ensure_ascii=False))}")

    def _pause_ended(self, _entry: Entry, payload: PauseEnded) -> None:
        after = duration(int(payload.seconds * 1_000_000))
        self._line(self._paint("cyan", f"▸ {continue_word(payload)}") + f"  after {after}")

    def _other(self, entry: Entry, _: object) -> None:
        self._line(self._paint("dim", f"· {one_line(entry.type, 80)} {one_line(entry.data, 120)}"))

    def _nothing(self, *_: object) -> None:
        """Print nothing: another entry that follows says the same."""

    def _finished(self, entry: Entry, payload: RunFinished) -> None:
        took = "" if self._began is None else f" in {duration(entry.at - self._began)}"
        end = format_status(self._paint, payload.status, payload.reason, payload.error, took)
        used = usage_words(payload.usage)
        parts = [end, number(entry.position, "entry", "entries"), *([used] if used else [])]
        self._end_line()
        self._pieces.append("\n" + " · ".join(parts) + "\n")

    def _warn(self, text: str) -> None:
        self._line(self._paint("yellow", f"! {text}"))

    def _line(self, text: str, *, indent: str = "  ", is_open: bool = False) -> None:
        self._end_line()
        if self._block in ("text", "message"):
            self._pieces.append("\n")
        self._pieces.append(indent + text + ("" if is_open else "\n"))
        self._is_open = is_open
        self._block = "line"

    def _end_line(self) -> None:
        if self._is_open:
            self._pieces.append("\n")
            self._is_open = False
        self._open_tool = None


def format_status(paint: Paint, status: str, reason: str, error: str, took: str) -> str:
    """The status of a run: glyph, word, and the reason of a failure."""
    glyph, colour = STATUSES.get(status, ("?", "dim"))
    is_silent = (status, reason) == (Status.COMPLETED, EndReason.NO_OUTPUT)
    word = "completed with no output" if is_silent else status
    text = paint(colour, f"{glyph} {one_line(word)}{took}")
    if status in (Status.FAILED, Status.TIMEOUT):
        text += f" · {one_line(reason, 80)}" + (f": {one_line(error, 400)}" if error else "")
    elif error:
        text += f" · {one_line(error, 400)}"
    return text


def _cut(text: str) -> str:
    left = len(text) - MAX_OUTPUT_CHARACTERS
    return safe(text[:MAX_OUTPUT_CHARACTERS]) + (f"… ({left:,} more characters; --jsonl has them)" if left > 0 else "")
