"""A run order: everything that is decided about a run before it starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine.intake.envelope import EventEnvelope
from engine.journal.secret_mask import SecretMask
from engine.project.agents import AgentBinding
from engine.resources.resource_set import ResourceSet
from engine.run.breakpoints import BreakpointLocation
from engine.run.grants import Grants
from engine.runtimes.runtime import Launch
from engine.store.row_mapping import ConversationKey
from engine.store.state import DEFAULT_LIMITS, StateLimits

Slot = tuple[str, str | None]
"""A conversation and, if any, its thread."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One event, bound to one runner, with its configuration and grants."""

    run_id: str
    envelope: EventEnvelope
    binding: AgentBinding
    launch: Launch
    grants: Grants
    config: dict[str, Any]
    """The binding's config with the form's defaults."""
    timeout: float | None
    """Seconds for the whole run; None means no deadline."""
    context_window: int | None = None
    """Tokens that the granted language model accepts, if known."""
    raw_data: bytes | None = field(default=None, repr=False)
    """The event's data, if it is too large for the context; stored as the artifact `raw_ref`."""
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    """Parameters for this run only, passed to the runner as `adapter.extra.params`."""
    prompt: tuple[Mapping[str, Any], ...] = ()
    """The value of the config's prompt field, as messages."""
    secret_mask: SecretMask = field(default_factory=SecretMask, repr=False)
    """Masks the secrets of the config and environment in everything that is recorded."""
    breakpoints: tuple[BreakpointLocation, ...] = ()
    """Breakpoints that are set from the start. Such a run has no known deadline, because a pause stops the timer."""
    resource_set: ResourceSet = field(default_factory=ResourceSet, repr=False)
    """The resources behind the grants, as of this order; a reload does not change them."""
    file_roots: tuple[Path, ...] = ()
    """Folders whose files the config may name."""
    state_limits: StateLimits = DEFAULT_LIMITS
    """The limits of each state scope that the run writes to."""
    project: str | None = None
    """The folder of the project."""
    artifact_lifetimes: Mapping[str, int] = field(default_factory=dict[str, int])
    """By artifact type, the seconds after which an artifact of the run expires."""
    uses_kept_settings: bool = False
    """Whether the user's saved settings were applied, if there are any."""
    is_external: bool = False
    """Whether the runner is executed elsewhere, and its results are only recorded here."""
    external_id: str | None = None
    """The id of an external run where it is executed. Its results may name the run by it."""
    warnings: tuple[str, ...] = ()
    """Problems found while the order was prepared; recorded when the run starts."""

    @property
    def conversation_key(self) -> ConversationKey:
        """The conversation, thread, bot and workspace of the event."""
        return conversation_key_of(self.envelope)

    @property
    def slot(self) -> Slot | None:
        """The slot of the run: only one live run may occupy it. None without a conversation."""
        conversation = self.envelope.conversation_id
        return None if conversation is None else (conversation, self.envelope.thread_id)


DEFAULT_TIMEOUT_SECONDS: Final = 300.0
_MAX_TIMEOUT_SECONDS: Final = 1e9
"""About thirty years. A longer timeout counts as none, because its deadline might not be a valid date."""


def conversation_key_of(envelope: EventEnvelope) -> ConversationKey:
    """Return the conversation, thread, bot and workspace of an event."""
    return ConversationKey(envelope.conversation_id, envelope.thread_id, envelope.bot_id, envelope.workspace_id)


def timeout_seconds(config: dict[str, Any]) -> float | None:
    """Return `timeout` of a runner's config. Not set: 300 s. Zero, negative, null or not a number: None."""
    value = config.get("timeout", DEFAULT_TIMEOUT_SECONDS)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MAX_TIMEOUT_SECONDS:
        return None
    return float(value)
