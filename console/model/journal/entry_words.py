"""The words for a journal entry. Stream rows, conversation blocks, ribbon, inspector and the CLI all use these."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from console.model.journal.json_access import arguments, words
from console.model.journal.names import MAX_NAME_CHARS, MAX_PARSED_CHARS, Names
from console.model.journal.run_end import drop_reason_words, end_words
from console.model.text.units import duration, number, short_runner, size
from engine.events import (
    CALL_KINDS,
    OUTPUT_CUT,
    OUTPUT_TRACEBACK,
    ActionRequested,
    ArtifactCreated,
    BreakpointChanged,
    CallDecided,
    CallReplied,
    CallRequested,
    CallStreamed,
    ContinueMode,
    Entry,
    EntryKind,
    MessageCompleted,
    MessageDelta,
    Mode,
    Output,
    PauseEdited,
    PauseEnded,
    PauseStage,
    PauseStarted,
    ProcessChosen,
    RunCompleted,
    RunFailed,
    RunFinished,
    RunnerOpened,
    RunStarted,
    RunStopped,
    StateUpdated,
    SteeringDropped,
    SteeringEdited,
    SteeringInjected,
    SteeringItems,
    SteeringTurned,
    ToolCallCompleted,
    ToolCallStarted,
    Warned,
    content_text,
    decode_payload,
    has_effect,
    mapping,
    parse_data,
)

MESSAGE_EVENT: Final = "message.received"
"""The type of an event that is an ordinary message."""
_STEERING_WORDS: Final[Mapping[str, str]] = {
    EntryKind.STEERING_MOVED: "moved in the queue",
    EntryKind.STEERING_PAUSED: "paused",
    EntryKind.STEERING_RESUMED: "queued again",
    EntryKind.STEERING_WITHDRAWN: "withdrawn",
}


class EntryWords(NamedTuple):
    """One line of text for an entry."""

    text: str
    glyph: str = ""
    tone: str = ""
    """Empty for the usual tone of the entry's kind."""


def entry_words(entry: Entry, names: Names) -> EntryWords:
    """The words for an entry. Data beyond `MAX_PARSED_CHARS` is shown by its size and its beginning."""
    if len(entry.data) > MAX_PARSED_CHARS:
        found = EntryWords(f"{size(len(entry.data))} · {entry.data[:MAX_NAME_CHARS]}")
    else:
        data, describe = parse_data(entry.data), _WORDS.get(entry.type)
        if describe is None or not data:
            found = EntryWords("" if entry.data == "{}" else entry.data)
        else:
            found = describe(decode_payload(entry.type, data), names)
    if entry.outcome is None or entry.type in CALL_KINDS:  # the words of a call contain the clause or the error
        return found
    return EntryWords(
        f"{entry.outcome}: {entry.reason or 'no reason given'} · {found.text}",
        found.glyph if has_effect(entry) else "failed",
        found.tone,
    )


def outcome_words(entry: Entry) -> str:
    """What became of an entry that was not simply applied: `state.updated refused: too large`."""
    return f"{entry.type} {entry.outcome}: {entry.reason or 'no reason given'}"


def pause_words(payload: PauseStarted) -> str:
    """What a paused run waits with: `before tool_call`, `with the reply of tool_call`."""
    what = payload.type or payload.action or ""
    return f"with the reply of {what}" if payload.stage == PauseStage.REPLY else f"before {what}"


def continue_word(payload: PauseEnded) -> str:
    """How a pause ended, in a word."""
    return "stepped" if payload.how == ContinueMode.STEP else "continued"


def steering_words(kind: str, payload: object, turn: int) -> str:
    """What happened to a queued message, in a few words."""
    match payload:
        case SteeringTurned(mode=mode):
            return "will be sent after the run" if mode == Mode.AFTER else "queued"
        case SteeringDropped(reason=reason):
            return f"dropped: {drop_reason_words(reason)}"
        case SteeringEdited(before=before):
            return f"edited; before: {before}"
        case SteeringInjected():
            return f"delivered at turn {turn}"
        case _:
            return _STEERING_WORDS.get(kind, "queued")


def artifact_name(payload: ArtifactCreated) -> str:
    """The name of an artifact, or else its id or its type."""
    return payload.name or payload.artifact_id or payload.artifact_type or "artifact"


def action_words(payload: ActionRequested) -> str:
    """`requests a payment (recorded, not carried out)`."""
    return f"requests {payload.action} (recorded, not carried out)"


# Words by kind


def _quoted(text: str | None) -> str:
    return f"“{text[:MAX_NAME_CHARS]}”" if text else ""


def _message_name(payload: Any, names: Names) -> str:
    """The text of a queued message, or its id if the text is not known."""
    text = getattr(payload, "text", None)
    return _quoted(text or names.name_of(payload.item_id)) or payload.item_id


def _run_started(payload: RunStarted, _: Names) -> EntryWords:
    kind = payload.event_type
    is_message = kind in ("", MESSAGE_EVENT)
    parts = ("" if is_message else kind, short_runner(payload.runner_id), _quoted(payload.input_text))
    return EntryWords(" ".join(filter(None, parts)), "running" if is_message else "event")


def _message_delta(payload: MessageDelta, _: Names) -> EntryWords:
    return EntryWords(payload.content or payload.all_content or "")


def _message_completed(payload: MessageCompleted, _: Names) -> EntryWords:
    return EntryWords(content_text(payload.content))


def _tool_started(payload: ToolCallStarted, _: Names) -> EntryWords:
    return EntryWords(f"{payload.tool_name}({arguments(payload.parameters)})")


def _tool_completed(payload: ToolCallCompleted, _: Names) -> EntryWords:
    if payload.error is not None:
        return EntryWords(f"{payload.tool_name} {words(payload.error)}", "failed", "error")
    return EntryWords(f"{payload.tool_name} {words(payload.result)}", "completed")


def _state_updated(payload: StateUpdated, _: Names) -> EntryWords:
    return EntryWords(f"{payload.scope} {payload.key} = {words(payload.value)}")


def _artifact_created(payload: ArtifactCreated, _: Names) -> EntryWords:
    name = artifact_name(payload)
    return EntryWords(name if payload.size_bytes is None else f"{name}  {size(payload.size_bytes)}")


def _action_requested(payload: ActionRequested, _: Names) -> EntryWords:
    return EntryWords(action_words(payload))


def _run_completed(payload: RunCompleted, _: Names) -> EntryWords:
    return EntryWords(f"{payload.finish_reason} {_quoted(content_text(payload.content))}".strip(), "completed")


def _run_failed(payload: RunFailed, _: Names) -> EntryWords:
    return EntryWords(f"{payload.code}: {payload.error}", "failed", "error")


def _run_finished(payload: RunFinished, _: Names) -> EntryWords:
    end = end_words(payload, took=None, by_user=False, by_runner=False)
    text = f"{end.words}: {end.error}" if end.error else end.words
    return EntryWords(text, end.state, "error" if end.is_failure else "")


def _run_stopped(payload: RunStopped, _: Names) -> EntryWords:
    return EntryWords(payload.error or f"stopped by the host: {payload.reason}", "cancelled")


def _call_requested(payload: CallRequested, _: Names) -> EntryWords:
    return EntryWords(f"{payload.action}({arguments(payload.arguments)})")


def _call_decided(payload: CallDecided, names: Names) -> EntryWords:
    action = names.name_of(payload.call_id) or payload.call_id
    what = f"{action} {payload.resource or ''}".strip()
    if payload.allowed:
        return EntryWords(f"{what} allowed: {payload.clause}", "completed")
    return EntryWords(f"{what} refused: {payload.clause}", "failed", "error")


def _call_streamed(payload: CallStreamed, names: Names) -> EntryWords:
    action = names.name_of(payload.call_id) or payload.call_id
    text = "".join(content_text(mapping(frame.get("chunk")).get("content")) for _, frame in payload.frames)
    return EntryWords(f"{action} {_quoted(text) or number(len(payload.frames), 'frame')}")


def _call_replied(payload: CallReplied, names: Names) -> EntryWords:
    action = names.name_of(payload.call_id) or payload.call_id
    if payload.error:
        return EntryWords(f"{action} {payload.error_code}: {payload.error_message}", "failed", "error")
    return EntryWords(f"{action} {words(payload.reply)}", "completed")


def _pulled(payload: SteeringItems, _: Names) -> EntryWords:
    count = len(payload.items)
    return EntryWords(number(count, "message"), "pulled") if count else EntryWords("no queued messages")


def _returned(payload: SteeringItems, _: Names) -> EntryWords:
    return EntryWords(f"{number(len(payload.items), 'message')} queued again: the pull was cancelled", "queued")


def _edited(payload: SteeringEdited, _: Names) -> EntryWords:
    return EntryWords(f"{_quoted(payload.after)} was {_quoted(payload.before)}", "queued")


def _dropped(payload: SteeringDropped, names: Names) -> EntryWords:
    text = f"{_message_name(payload, names)} dropped: {drop_reason_words(payload.reason)}"
    return EntryWords(text, "dropped", "error")


def _turned(payload: SteeringTurned, names: Names) -> EntryWords:
    word = "will be sent after the run" if payload.mode == Mode.AFTER else "steers the run"
    return EntryWords(f"{_message_name(payload, names)} {word}", "after")


def _steering(glyph: str, word: str = "") -> "Callable[[Any, Names], EntryWords]":
    return lambda payload, names: EntryWords(f"{_message_name(payload, names)} {word}".strip(), glyph)


def _breakpoint(payload: BreakpointChanged, _: Names) -> EntryWords:
    return EntryWords(f"at {payload.when}{' once' if payload.once else ''}")


def _pause_started(payload: PauseStarted, _: Names) -> EntryWords:
    return EntryWords(f"paused {pause_words(payload)}", "paused")


def _pause_edited(payload: PauseEdited, _: Names) -> EntryWords:
    edit = payload.edit if payload.edit is not None else payload.edit_ref
    return EntryWords(f"reply edited: {words(edit)}", "paused")


def _pause_ended(payload: PauseEnded, _: Names) -> EntryWords:
    return EntryWords(f"{continue_word(payload)} after {duration(int(payload.seconds * 1_000_000))}", "running")


def _output(payload: Output, _: Names) -> EntryWords:
    if payload.stream == OUTPUT_CUT:
        return EntryWords(f"{payload.lines} lines not recorded")
    return EntryWords(f"{payload.stream} {payload.text}", tone="error" if payload.stream == OUTPUT_TRACEBACK else "")


def _process_chosen(payload: ProcessChosen, _: Names) -> EntryWords:
    is_fresh = payload.process is not None and payload.process.is_fresh
    return EntryWords(f"{'new' if is_fresh else 'reused'} process: {payload.reason}")


def _runner_opened(payload: RunnerOpened, _: Names) -> EntryWords:
    return EntryWords(f"the runner opened a {payload.what}: {payload.target}", "lost")


def _warning(payload: Warned, _: Names) -> EntryWords:
    return EntryWords(payload.message, "lost")


_WORDS: Final[Mapping[str, Callable[[Any, Names], EntryWords]]] = {
    EntryKind.RUN_STARTED: _run_started,
    EntryKind.MESSAGE_DELTA: _message_delta,
    EntryKind.MESSAGE_COMPLETED: _message_completed,
    EntryKind.TOOL_CALL_STARTED: _tool_started,
    EntryKind.TOOL_CALL_COMPLETED: _tool_completed,
    EntryKind.STATE_UPDATED: _state_updated,
    EntryKind.ARTIFACT_CREATED: _artifact_created,
    EntryKind.ACTION_REQUESTED: _action_requested,
    EntryKind.RUN_COMPLETED: _run_completed,
    EntryKind.RUN_FAILED: _run_failed,
    EntryKind.RUN_STOPPED: _run_stopped,
    EntryKind.RUN_FINISHED: _run_finished,
    EntryKind.CALL_REQUESTED: _call_requested,
    EntryKind.CALL_DECIDED: _call_decided,
    EntryKind.CALL_STREAMED: _call_streamed,
    EntryKind.CALL_REPLIED: _call_replied,
    EntryKind.STEERING_QUEUED: _steering("queued"),
    EntryKind.STEERING_EDITED: _edited,
    EntryKind.STEERING_MOVED: _steering("queued", _STEERING_WORDS[EntryKind.STEERING_MOVED]),
    EntryKind.STEERING_PAUSED: _steering("paused", _STEERING_WORDS[EntryKind.STEERING_PAUSED]),
    EntryKind.STEERING_RESUMED: _steering("queued", _STEERING_WORDS[EntryKind.STEERING_RESUMED]),
    EntryKind.STEERING_WITHDRAWN: _steering("dropped", _STEERING_WORDS[EntryKind.STEERING_WITHDRAWN]),
    EntryKind.STEERING_TURNED: _turned,
    EntryKind.STEERING_PULLED: _pulled,
    EntryKind.STEERING_RETURNED: _returned,
    EntryKind.STEERING_INJECTED: _steering("injected"),
    EntryKind.STEERING_DROPPED: _dropped,
    EntryKind.BREAKPOINT_SET: _breakpoint,
    EntryKind.BREAKPOINT_REMOVED: _breakpoint,
    EntryKind.PAUSE_STARTED: _pause_started,
    EntryKind.PAUSE_EDITED: _pause_edited,
    EntryKind.PAUSE_ENDED: _pause_ended,
    EntryKind.OUTPUT: _output,
    EntryKind.PROCESS_CHOSEN: _process_chosen,
    EntryKind.RUNNER_OPENED: _runner_opened,
    EntryKind.WARNING: _warning,
}
