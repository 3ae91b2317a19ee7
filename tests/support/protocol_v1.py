"""Strict models of Protocol v1: every payload that a runner receives, as its documents describe it.

Written from the contract alone, and independent of `engine.protocol`: an unknown field, a missing one, or a value of
another type is an error, and nothing is converted.
"""

from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

T = TypeVar("T", bound="Placed")
LATEST_SECONDS = 10**11
"""Times beyond this are milliseconds or microseconds by mistake."""


def _must_be_float(value: object) -> object:
    if type(value) is not float:
        raise ValueError(f"{value!r} is not a float")
    return value


Seconds = Annotated[int, Field(gt=-LATEST_SECONDS, lt=LATEST_SECONDS)]
ExactSeconds = Annotated[float, BeforeValidator(_must_be_float), Field(gt=-LATEST_SECONDS, lt=LATEST_SECONDS)]
Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Object = dict[str, JsonValue]
TriggerSource = Literal["platform", "webui", "api", "scheduler", "system", "host_adapter"]
Status = Literal["created", "running", "completed", "failed", "cancelled", "timeout"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


class Open(BaseModel):
    """Messages, chunks and their parts may have more fields."""

    model_config = ConfigDict(extra="allow", strict=True)


# Messages and input


class ImageUrl(Open):
    url: str


class ContentElement(Open):
    type: Text
    text: str | None = None
    image_url: ImageUrl | None = None
    image_base64: str | None = None
    file_url: str | None = None
    file_base64: str | None = None
    file_name: str | None = None


class Message(Open):
    role: Text
    content: str | list[ContentElement] | None = None
    tool_calls: list[Object] | None = None


class Chunk(Message):
    all_content: str | None = None
    is_final: bool | None = None


class Attachment(Strict):
    artifact_id: Text
    artifact_type: Text
    source: Text
    mime_type: str | None
    name: str | None
    size: Count | None
    url: str | None
    id: str | None
    content: None
    """A runner gets references; it reads the bytes as artifacts."""


class Input(Strict):
    text: str | None
    contents: list[ContentElement]
    attachments: list[Attachment]


# The context


class Trigger(Strict):
    type: Text
    source: TriggerSource
    timestamp: Seconds


class Event(Strict):
    event_id: Text
    event_type: Text
    event_time: Seconds | None
    source: TriggerSource | Literal["console"]
    source_event_type: str | None
    raw_ref: str | None
    data: Object


class Conversation(Strict):
    conversation_id: Text
    thread_id: str | None
    launcher_type: str | None
    launcher_id: str | None
    sender_id: str | None
    bot_id: str | None
    workspace_id: str | None
    session_id: str | None


class Actor(Strict):
    actor_type: Text
    actor_id: str | None
    actor_name: str | None
    metadata: Object


class Subject(Strict):
    subject_type: Text
    subject_id: str | None
    data: Object


class Delivery(Strict):
    surface: Text
    reply_target: Object | None
    supports_streaming: bool
    supports_edit: bool
    supports_reaction: bool
    max_message_size: int | None
    platform_capabilities: Object


class Model(Strict):
    model_id: Text
    model_type: str | None
    provider: str | None
    operations: list[Literal["invoke", "stream", "rerank"]]


class Tool(Strict):
    tool_name: Text
    tool_type: str | None
    description: str | None
    operations: list[Literal["detail", "call"]]


class KnowledgeBase(Strict):
    kb_id: Text
    kb_name: str | None
    kb_type: str | None
    operations: list[Literal["list", "retrieve"]]


class Skill(Strict):
    skill_name: Text
    display_name: str | None
    description: str | None


class File(Strict):
    file_id: Text
    file_name: str | None
    mime_type: str | None
    source: Literal["config"]
    operations: list[str]


class Storage(Strict):
    plugin_storage: bool
    workspace_storage: bool


class Resources(Strict):
    models: list[Model]
    tools: list[Tool]
    knowledge_bases: list[KnowledgeBase]
    skills: list[Skill]
    files: list[File]
    storage: Storage
    platform_capabilities: Object


class InlinePolicy(Strict):
    mode: Literal["current_event"]
    delivered_count: Literal[0]
    source_total_count: None
    messages_complete: Literal[False]
    reason: Literal["current_event_only"]


class AvailableApis(Strict):
    history_page: bool
    history_search: bool
    event_get: bool
    event_page: bool
    artifact_metadata: bool
    artifact_read: bool
    state: bool
    storage: bool
    steering_pull: bool
    run_get: Literal[True]
    run_list: bool
    run_cancel: bool


class Access(Strict):
    conversation_id: str | None
    thread_id: str | None
    latest_cursor: str | None
    event_seq: Count
    transcript_seq: Count | None
    has_history_before: bool
    inline_policy: InlinePolicy
    available_apis: AvailableApis


class State(Strict):
    conversation: Object
    actor: Object
    subject: Object
    runner: Object


class RuntimeMetadata(Strict):
    bot_id: str | None
    workspace_id: str | None
    streaming_supported: bool
    model_context_window_tokens: int | None


class Runtime(Strict):
    langbot_version: Text
    trace_id: Text
    deadline_at: ExactSeconds | None
    metadata: RuntimeMetadata


class Extra(Strict):
    params: Object


class Adapter(Strict):
    extra: Extra


class Context(Strict):
    """The context of a run: `run_agent`."""

    run_id: Text
    trigger: Trigger
    event: Event
    conversation: Conversation | None
    actor: Actor | None
    subject: Subject | None
    input: Input
    delivery: Delivery
    resources: Resources
    context: Access
    state: State
    runtime: Runtime
    config: Object
    adapter: Adapter | None
    metadata: Object

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        assert self.runtime.trace_id == self.run_id
        assert (self.conversation is None) == (self.context.conversation_id is None)
        return self


# Pages and records


class Placed(Strict):
    """An item of a page."""

    cursor: Text


class Page(Strict, Generic[T]):
    items: Annotated[list[T], Field(max_length=100)]
    next_cursor: str | None
    prev_cursor: str | None
    has_more: bool
    total_count: Count | None

    @model_validator(mode="after")
    def _has_the_cursors_of_its_items(self) -> Self:
        assert self.next_cursor == (self.items[-1].cursor if self.has_more else None)
        assert self.prev_cursor == (self.items[0].cursor if self.items else None)
        return self


class ArtifactReference(Strict):
    artifact_id: Text
    artifact_type: Text
    mime_type: str | None
    name: str | None
    size_bytes: Count | None


class TranscriptItem(Placed):
    transcript_id: Text
    event_id: str | None
    conversation_id: Text
    thread_id: str | None
    role: Literal["user", "assistant"]
    item_type: Text
    content: str | None
    content_json: JsonValue
    artifact_refs: list[ArtifactReference]
    seq: Count
    created_at: Seconds
    metadata: Object


class Search(Strict):
    items: Annotated[list[TranscriptItem], Field(max_length=100)]
    total_count: Count
    query: str


class SteeringFacts(Strict):
    """`metadata.steering` of an event."""

    status: Text
    claimed_at: Seconds | None = None
    claimed_by_run_id: str | None = None
    claimed_run_id: str | None = None
    claimed_runner_id: str | None = None
    source_event_id: str | None = None
    trigger_behavior: Literal["absorbed_into_active_run"] | None = None
    reason: str | None = None


class EventMetadata(Open):
    steering: SteeringFacts | None = None


class EventRecord(Placed):
    event_id: Text
    event_type: Text
    event_time: Seconds | None
    source: Text
    bot_id: str | None
    workspace_id: str | None
    conversation_id: str | None
    thread_id: str | None
    actor_type: str | None
    actor_id: str | None
    actor_name: str | None
    subject_type: str | None
    subject_id: str | None
    input_summary: Annotated[str, Field(max_length=1_000)] | None
    input_ref: str | None
    raw_ref: str | None
    seq: Count
    created_at: Seconds
    metadata: EventMetadata


class SteeringItem(Strict):
    claimed_run_id: Text
    runner_id: Text
    claimed_at: Seconds
    event: Event
    input: Input
    conversation: Conversation
    actor: Actor | None
    subject: Subject | None
    metadata: Object


class Pull(Strict):
    items: Annotated[list[SteeringItem], Field(max_length=100)]


class ArtifactMetadata(Strict):
    artifact_id: Text
    artifact_type: Text
    mime_type: str | None
    name: str | None
    size_bytes: Count | None
    sha256: str | None
    source: Text
    conversation_id: str | None
    run_id: str | None
    runner_id: str | None
    created_at: Seconds
    expires_at: Seconds | None
    metadata: Object


class ArtifactRead(Strict):
    artifact_id: Text
    mime_type: str | None
    size_bytes: Count | None
    offset: Count
    length: Count
    content_base64: str | None
    file_key: str | None
    has_more: bool


class Run(Strict):
    run_id: Text
    event_id: Text
    agent_id: str | None
    binding_id: Text
    runner_id: Text
    conversation_id: str | None
    thread_id: str | None
    bot_id: str | None
    workspace_id: str | None
    status: Status
    status_reason: str | None = None
    created_at: Seconds | None = None
    started_at: Seconds | None
    finished_at: Seconds | None = None
    updated_at: Seconds | None = None
    last_activity_at: Seconds | None = None
    deadline_at: ExactSeconds | None
    cancel_requested_at: Seconds | None
    usage: Object | None
    metadata: Object = Field(default_factory=dict)


class ListedRun(Run, Placed):
    """A run in `run_list`."""


class Entry(Placed):
    run_id: Text
    position: Annotated[int, Field(ge=1)]
    at: Seconds
    source: Literal["host", "runner", "user"]
    type: Text
    data: JsonValue
    outcome: str | None
    reason: str | None
    sequence: int | None

    @model_validator(mode="after")
    def _has_a_context_of_the_contract(self) -> Self:
        if self.type == "run.started":
            assert isinstance(self.data, dict)
            Context.model_validate(self.data["context"])
        return self


# Replies of the other calls


class Empty(Strict):
    pass


class Invoked(Strict):
    message: Message
    usage: Object | None = None


class Streamed(Strict):
    chunk: Chunk | None = None
    usage: Object | None = None


class Ranked(Strict):
    index: Count
    relevance_score: float


class Reranked(Strict):
    results: list[Ranked]


class Tokens(Strict):
    tokens: Count


class ToolDetail(Strict):
    name: Text
    description: str
    parameters: Object


class ToolReply(Strict):
    tool: ToolDetail


class ToolResult(Strict):
    result: JsonValue


class Passages(Strict):
    results: list[Object]


class KnowledgeBases(Strict):
    knowledge_bases: list[KnowledgeBase]


class Value(Strict):
    value: JsonValue


class Deleted(Strict):
    deleted: bool


class Keys(Strict):
    keys: list[str]
    has_more: bool = False


class Bytes(Strict):
    value_base64: str


class FileBytes(Strict):
    file_base64: str


class Version(Strict):
    version: Text


class Prompt(Strict):
    prompt: list[Message]


class Error(Strict):
    """The reply to a call that is refused or fails."""

    code: Literal[
        "unauthorized",
        "not_found",
        "deadline_exceeded",
        "payload_too_large",
        "rate_limited",
        "invalid_argument",
        "runtime_error",
        "cancelled",
    ]
    message: Text
    retryable: bool
    details: Object


REPLIES: dict[str, type[BaseModel]] = {
    "invoke_llm": Invoked,
    "invoke_llm_stream": Streamed,
    "invoke_rerank": Reranked,
    "count_tokens": Tokens,
    "get_tool_detail": ToolReply,
    "call_tool": ToolResult,
    "retrieve_knowledge": Passages,
    "list_knowledge_bases": KnowledgeBases,
    "history_page": Page[TranscriptItem],
    "history_search": Search,
    "event_get": EventRecord,
    "event_page": Page[EventRecord],
    "steering_pull": Pull,
    "artifact_metadata": ArtifactMetadata,
    "artifact_read": ArtifactRead,
    "artifact_read_range": ArtifactRead,
    "state_get": Value,
    "state_set": Empty,
    "state_delete": Deleted,
    "state_list": Keys,
    **{f"get_{kind}_storage": Bytes for kind in ("plugin", "workspace")},
    **{f"set_{kind}_storage": Empty for kind in ("plugin", "workspace")},
    **{f"delete_{kind}_storage": Deleted for kind in ("plugin", "workspace")},
    **{f"get_{kind}_storage_keys": Keys for kind in ("plugin", "workspace")},
    "get_file": FileBytes,
    "get_langbot_version": Version,
    "get_prompt": Prompt,
    "run_get": Run,
    "run_events_page": Page[Entry],
    "run_list": Page[ListedRun],
    "run_cancel": Run,
}
"""The reply of each call."""


def check_context(payload: object) -> None:
    """Raise ValidationError unless this is a context of the contract."""
    Context.model_validate(payload)


def check_reply(action: str, payload: object, *, is_error: bool) -> None:
    """Raise ValidationError unless this is a reply, or an error, of the contract."""
    model: Any = Error if is_error else REPLIES[action]
    TypeAdapter(model).validate_python(payload)
