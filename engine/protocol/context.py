"""The context that a runner receives when its run starts."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, PrivateAttr

from engine.protocol.base import Model
from engine.protocol.content import RunnerInput
from engine.protocol.event import (
    ActorContext,
    ConversationContext,
    DeliveryContext,
    EventContext,
    SubjectContext,
    Trigger,
)
from engine.protocol.resources import Resources

if TYPE_CHECKING:
    from engine.protocol.api import Caller, RunnerAPI


class InlinePolicy(Model):
    """How much history is included: only the current event."""

    mode: Literal["none", "current_event", "recent_tail", "summary_tail"] = "current_event"
    delivered_count: int = 0
    source_total_count: int | None = None
    messages_complete: bool = False
    reason: str | None = "current_event_only"


class AvailableApis(Model):
    """Which groups of calls this run may use."""

    history_page: bool = False
    history_search: bool = False
    event_get: bool = False
    event_page: bool = False
    artifact_metadata: bool = False
    artifact_read: bool = False
    state: bool = False
    storage: bool = False
    steering_pull: bool = False
    run_get: bool = False
    run_list: bool = False
    run_cancel: bool = False


class ContextAccess(Model):
    """The position of this event in its conversation, and which calls read its history."""

    conversation_id: str | None = None
    thread_id: str | None = None
    latest_cursor: str | None = None
    """Points after everything said before this event, so paging back from it misses nothing."""
    event_seq: int | None = None
    transcript_seq: int | None = None
    has_history_before: bool = False
    inline_policy: InlinePolicy = Field(default_factory=InlinePolicy)
    available_apis: AvailableApis = Field(default_factory=AvailableApis)


class StateSnapshot(Model):
    """The state of each scope when the run started."""

    conversation: dict[str, Any] = Field(default_factory=dict)
    actor: dict[str, Any] = Field(default_factory=dict)
    subject: dict[str, Any] = Field(default_factory=dict)
    runner: dict[str, Any] = Field(default_factory=dict)


class RuntimeContext(Model):
    """The host and the limits of this run."""

    langbot_version: str | None = None
    trace_id: str | None = None
    """The run id."""
    deadline_at: float | None = None
    """Seconds since 1970, so that `deadline_at - time.time()` is the time left. None: there is no deadline."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """bot_id, workspace_id, streaming_supported, model_context_window_tokens."""


class AdapterContext(Model):
    """One-off data of this event; never a prompt, history, tool schema or grant."""

    extra: dict[str, Any] = Field(default_factory=dict)


class AgentRunContext(Model):
    """One run as its runner sees it. It contains no history: ask `ctx.api` for it."""

    run_id: str
    trigger: Trigger
    event: EventContext
    conversation: ConversationContext | None = None
    actor: ActorContext | None = None
    subject: SubjectContext | None = None
    input: RunnerInput
    delivery: DeliveryContext
    resources: Resources = Field(default_factory=Resources)
    context: ContextAccess
    state: StateSnapshot = Field(default_factory=StateSnapshot)
    runtime: RuntimeContext = Field(default_factory=RuntimeContext)
    config: dict[str, Any] = Field(default_factory=dict)
    """The runner's config with defaults filled in."""
    adapter: AdapterContext | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    _api: "RunnerAPI | None" = PrivateAttr(default=None)

    def connect(self, caller: "Caller") -> None:
        """Attach the connection to the host. Called once by whoever runs the runner."""
        # Imported here: the answers of all calls are 7 ms of models, which no start should wait for.
        from engine.protocol.api import RunnerAPI  # noqa: PLC0415

        self._api = RunnerAPI(caller, self.run_id)

    @property
    def api(self) -> "RunnerAPI":
        """The calls that this run may make to its host."""
        if self._api is None:
            raise RuntimeError("this context has no host behind it: call ctx.connect(caller) first")
        return self._api
