"""Turns the entries of one run into blocks."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from console.model.conversation.blocks import (
    AgentMessage,
    Artifact,
    AttachedFile,
    Block,
    Event,
    MessageProgress,
    Note,
    RunEnd,
    RunFailure,
    SteeringMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from console.model.conversation.message_builder import MessageBuilder
from console.model.conversation.open_items import MessageText, OpenItems
from console.model.journal.entry_words import MESSAGE_EVENT, action_words, artifact_name, outcome_words
from console.model.journal.json_access import arguments, array, pretty, words
from console.model.journal.run_end import drop_reason_words, end_words
from console.model.text.units import duration, number
from engine.events import (
    OUTPUT_TRACEBACK,
    ActionRequested,
    ArtifactCreated,
    CallReplied,
    CancelRequested,
    Data,
    Entry,
    EntryKind,
    Fate,
    Output,
    RunFinished,
    RunStarted,
    Status,
    SteeringDropped,
    SteeringEdited,
    SteeringInjected,
    SteeringItems,
    SteeringQueued,
    SteeringTurned,
    ToolCallCompleted,
    ToolCallStarted,
    Warned,
    has_effect,
    mapping,
    payload_of,
)

B = TypeVar("B", bound=Block)
MAX_LINE_CHARS: Final = 300
"""Characters of a text that is shown on one line."""
MAX_OUTPUT_CHARS: Final = 4_000
"""Characters of a tool result that a block keeps; the journal has all of it."""
MAX_LAST_LINES: Final = 3
"""Last lines of a traceback or of standard error that a folded failure shows."""
STDERR: Final = "stderr"
_UNKNOWN_TEXT: Final = "(text not loaded; see Stream)"


class RunBlocks:
    """The blocks of one run, as far as it is loaded. The cost of an entry depends on its own size only."""

    def __init__(self, run_id: str, append: Callable[[Block], None]) -> None:
        self.run_id = run_id
        self.last_position = 0
        """The position of the newest applied entry."""
        self.is_over = False
        self._starts_above = False
        """The first entries of the run are not loaded."""
        self.append = append
        self._started_at: int | None = None
        self.messages = MessageBuilder(lambda entry: self._new(AgentMessage, entry))
        self.open_items = OpenItems()
        self._has_unknown_pull = False
        """A pull took a message whose text is not loaded; the reply of the pull has it."""
        self._texts_by_event: dict[str, MessageText] = {}
        """Texts from such replies, by event id."""
        self._note: Note | None = None
        """The last block if it is a note."""
        self._is_stopped_by_user = self._is_ended_by_runner = False
        self._traceback = ""
        self._error_lines: deque[str] = deque(maxlen=MAX_LAST_LINES)
        self._handlers: dict[str, Callable[[Entry, Any], None]] = {
            EntryKind.RUN_STARTED: self._started,
            EntryKind.MESSAGE_DELTA: self.messages.add_delta,
            EntryKind.MESSAGE_COMPLETED: self.messages.complete,
            EntryKind.RUN_COMPLETED: self.messages.complete,
            EntryKind.RUN_FAILED: self._failed,
            EntryKind.TOOL_CALL_STARTED: self._tool_started,
            EntryKind.TOOL_CALL_COMPLETED: self._tool_completed,
            EntryKind.ARTIFACT_CREATED: self._artifact,
            EntryKind.ACTION_REQUESTED: self._action_requested,
            EntryKind.OUTPUT: self._output,
            EntryKind.WARNING: self._warning,
            EntryKind.CANCEL_REQUESTED: self._cancel,
            EntryKind.STEERING_QUEUED: self._queued,
            EntryKind.STEERING_EDITED: self._edited,
            EntryKind.STEERING_TURNED: self._queued,
            EntryKind.STEERING_PULLED: self._pulled,
            EntryKind.STEERING_RETURNED: self._returned,
            EntryKind.STEERING_INJECTED: self._injected,
            EntryKind.STEERING_DROPPED: self._dropped,
            EntryKind.CALL_REPLIED: self._replied,
            EntryKind.RUN_FINISHED: self._finished,
        }

    def apply(self, entry: Entry) -> None:
        """Apply the next entry. Entries that were applied before are skipped."""
        if entry.position <= self.last_position:
            return
        if not self.last_position and entry.position > 1:
            self._starts_above = True
        self.last_position = entry.position
        if not has_effect(entry):
            self._add_note(entry, outcome_words(entry), is_warning=True)
            return
        handle = self._handlers.get(entry.type)
        if handle is not None and (self._has_unknown_pull or entry.type != EntryKind.CALL_REPLIED):
            handle(entry, payload_of(entry))

    def finish_batch(self) -> None:
        """Update the growing message. Called once per batch."""
        self.messages.finish_batch()

    def set_start(self, at: int) -> None:
        """Set the start time, which is known even if the first entry is not loaded."""
        self._started_at = at

    def join_above(self, earlier: "RunBlocks") -> None:
        """Join with the blocks of the entries before."""
        earlier.messages.close(MessageProgress.DONE)
        self.open_items.join_above(earlier.open_items, is_over=self.is_over)

    # The event

    def _started(self, entry: Entry, payload: RunStarted) -> None:
        self._started_at = entry.at
        event, files = payload.event, attached_files(array(payload.input.get("attachments")))
        if event.get("event_type", MESSAGE_EVENT) == MESSAGE_EVENT:
            author = words(payload.actor.get("actor_name")) or "you"
            self._new(UserMessage, entry, text=payload.input_text, author=author, attachments=files)
        else:
            source = (words(event.get(key)) for key in ("source", "source_event_type"))
            self._new(
                Event,
                entry,
                kind=payload.event_type,
                source=" · ".join(filter(None, source)),
                text=payload.input_text,
                details=words(event.get("data") or None)[:MAX_LINE_CHARS],
                actor=_actor_line(payload.actor),
                subject=_subject_line(payload.subject),
                attachments=files,
            )

    # Results

    def _tool_started(self, entry: Entry, payload: ToolCallStarted) -> None:
        self.messages.interrupt()
        line = arguments(payload.parameters)[:MAX_LINE_CHARS]
        self.open_items.calls[payload.tool_call_id] = self._new(ToolCall, entry, name=payload.tool_name, arguments=line)

    def _tool_completed(self, entry: Entry, payload: ToolCallCompleted) -> None:
        call = self.open_items.calls.pop(payload.tool_call_id, None)
        if call is None:
            if not self._starts_above:  # else the call is above, and its result must not split the message around it
                self.messages.interrupt()
            call = self._new(ToolCall, entry, name=payload.tool_name, arguments="")
            self.open_items.results[payload.tool_call_id] = call
        value = payload.result if payload.error is None else payload.error
        output = pretty(value)
        at = entry.at if call.position != entry.position else None
        call.set_result(
            ToolResult.OK if payload.error is None else ToolResult.FAILED,
            at,
            words(value)[:MAX_LINE_CHARS],
            output[:MAX_OUTPUT_CHARS],
            is_cut=len(output) > MAX_OUTPUT_CHARS,
        )

    def _artifact(self, entry: Entry, payload: ArtifactCreated) -> None:
        file = AttachedFile(
            artifact_name(payload), payload.mime_type or "", payload.size_bytes, payload.artifact_id or ""
        )
        self._new(Artifact, entry, file=file)

    def _action_requested(self, entry: Entry, payload: ActionRequested) -> None:
        self._add_note(entry, action_words(payload), is_warning=False)

    def _output(self, _: Entry, payload: Output) -> None:
        if payload.stream == OUTPUT_TRACEBACK:
            self._traceback = payload.text
        elif payload.stream == STDERR:
            self._error_lines.append(payload.text[:MAX_OUTPUT_CHARS])

    def _failed(self, *_: object) -> None:
        self._is_ended_by_runner = True

    # Steering messages

    def _queued(self, _: Entry, payload: SteeringQueued | SteeringTurned) -> None:
        if payload.text is not None:
            before = self.open_items.texts.get(payload.item_id, MessageText())
            self.open_items.texts[payload.item_id] = MessageText(
                payload.text, attached_files(payload.attachments) or before.files
            )

    def _edited(self, _: Entry, payload: SteeringEdited) -> None:
        if payload.after is not None:
            before = self.open_items.texts.get(payload.item_id, MessageText())
            self.open_items.texts[payload.item_id] = MessageText(payload.after, before.files)

    def _pulled(self, entry: Entry, payload: SteeringItems) -> None:
        for item_id in payload.items:
            self._has_unknown_pull = self._has_unknown_pull or item_id not in self.open_items.texts
            self._set_fate(entry, item_id, Fate.PULLED)

    def _replied(self, _: Entry, payload: CallReplied) -> None:
        """Read the texts of messages that were queued before the loaded entries from the reply of their pull."""
        for each in array(mapping(payload.reply).get("items")):
            item = mapping(each)
            event_id, event_input = words(mapping(item.get("event")).get("event_id")), mapping(item.get("input"))
            files = attached_files(array(event_input.get("attachments")))
            self._texts_by_event[event_id] = MessageText(words(event_input.get("text")), files)
        self._has_unknown_pull = False

    def _returned(self, _: Entry, payload: SteeringItems) -> None:
        for item_id in payload.items:
            block = self.open_items.pulled.pop(item_id, None)
            if block is not None:
                block.hide()

    def _injected(self, entry: Entry, payload: SteeringInjected) -> None:
        block = self._set_fate(entry, payload.item_id, Fate.INJECTED, payload.event_id)
        block.fate_turn = entry.turn

    def _dropped(self, entry: Entry, payload: SteeringDropped) -> None:
        block = self._set_fate(entry, payload.item_id, Fate.DROPPED, payload.event_id, payload.text or "")
        self.open_items.dropped[block.item_id] = block
        block.reason = drop_reason_words(payload.reason, f"T{entry.turn + 1}")

    def _set_fate(
        self, entry: Entry, item_id: str, fate: Fate, event_id: str = "", recorded_text: str = ""
    ) -> SteeringMessage:
        """Add the block of a message, or set the fate of its block."""
        block, replied = self.open_items.pulled.get(item_id), self._texts_by_event.pop(event_id, None)
        known = self.open_items.texts.get(item_id) or replied
        text, files = known or MessageText()
        text = recorded_text or text
        if block is None:
            self.messages.interrupt()
            block = self._new(SteeringMessage, entry, item_id=item_id, text=text, fate=fate, fate_turn=entry.turn)
            self.open_items.pulled[item_id] = block
            if fate is not Fate.PULLED or known is None:
                self.open_items.incomplete[item_id] = block
        is_known = known is not None or fate is Fate.PULLED
        block.text = block.text or text or ("" if is_known else _UNKNOWN_TEXT)
        block.attachments = block.attachments or files
        block.fate = fate
        block.version += 1
        if fate is not Fate.PULLED:
            del self.open_items.pulled[item_id]
            self.open_items.texts.pop(item_id, None)
        return block

    # The end of the run

    def _warning(self, entry: Entry, payload: Warned) -> None:
        self._add_note(entry, payload.message, is_warning=True)

    def _cancel(self, _entry: Entry, payload: CancelRequested) -> None:
        self._is_stopped_by_user = not payload.is_by_runner
        self._is_ended_by_runner = payload.is_by_runner

    def _add_note(self, entry: Entry, text: str, *, is_warning: bool) -> None:
        last, text = self._note, text[: 2 * MAX_LINE_CHARS]
        if last is not None and last.text == text:
            last.count += 1
            last.version += 1
        else:
            self._note = self._new(Note, entry, text=text, is_warning=is_warning)

    def _finished(self, entry: Entry, payload: RunFinished) -> None:
        took = None if self._started_at is None else entry.at - self._started_at
        end = end_words(payload, took=took, by_user=self._is_stopped_by_user, by_runner=self._is_ended_by_runner)
        is_completed = end.state == Status.COMPLETED
        self.messages.close(MessageProgress.DONE if is_completed else MessageProgress.CUT)
        for call in self.open_items.calls.values():
            call.set_result(ToolResult.NONE)
        self.open_items.calls.clear()
        self.is_over = True
        details = (*(() if took is None else (duration(took),)), number(entry.turn, "turn"))
        if end.is_failure:
            lines = tuple(line for line in self._traceback.splitlines() if line.strip()) or tuple(self._error_lines)
            self._new(
                RunFailure,
                entry,
                state=end.state,
                words=end.words,
                details=details,
                reason=payload.reason,
                error=end.error,
                last_lines=lines[-MAX_LAST_LINES:],
                traceback=self._traceback or "\n".join(self._error_lines),
            )
        else:
            all_details = (*((end.error,) if end.error else ()), *details)
            self._new(RunEnd, entry, state=end.state, words=end.words, details=all_details)

    def _new(self, block_class: Callable[..., B], entry: Entry, /, **fields: Any) -> B:
        """Append a block of an entry."""
        since = None if self._started_at is None else entry.at - self._started_at
        block = block_class(
            run_id=self.run_id, position=entry.position, turn=entry.turn, at=entry.at, since=since, **fields
        )
        self._note = None
        self.append(block)
        return block


def attached_files(files: Iterable[Any]) -> tuple[AttachedFile, ...]:
    """The attachments of a message, in the sender's order."""
    return tuple(_attachment(mapping(file)) for file in files)


def _attachment(data: Data) -> AttachedFile:
    name = next(filter(None, (words(data.get(key)) for key in ("name", "artifact_type", "artifact_id"))), "artifact")
    size_bytes = data.get("size")
    return AttachedFile(
        name,
        words(data.get("mime_type")),
        size_bytes if isinstance(size_bytes, int) else None,
        words(data.get("artifact_id")),
    )


def _actor_line(actor: Data) -> str:
    """`Ann (user ann)`, `system`."""
    name = words(actor.get("actor_name"))
    identity = " ".join(filter(None, (words(actor.get(key)) for key in ("actor_type", "actor_id"))))
    return f"{name} ({identity})"[:MAX_LINE_CHARS] if name and identity else (name or identity)[:MAX_LINE_CHARS]


def _subject_line(subject: Data) -> str:
    """`membership travellers/ann {"group":"travellers"}`."""
    values = (subject.get("subject_type"), subject.get("subject_id"), subject.get("data") or None)
    return " ".join(filter(None, map(words, values)))[:MAX_LINE_CHARS]
