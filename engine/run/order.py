"""Everything that is decided about a run before it begins."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine.facts.rows import Place
from engine.intake.agents import AgentBinding
from engine.intake.envelope import EventEnvelope
from engine.resources.shelf import Shelf
from engine.run.grants import Grants
from engine.run.marks import Marks
from engine.run.points import Point
from engine.runtimes.runtime import Launch

Slot = tuple[str, str | None]
"""A conversation and a thread of it."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One event, bound to one runner, with what it may do."""

    run_id: str
    envelope: EventEnvelope
    binding: AgentBinding
    launch: Launch
    grants: Grants
    config: dict[str, Any]
    """The binding's config with the form's defaults."""
    timeout: float | None
    """Seconds for the whole run; none means no deadline."""
    context_window: int | None = None
    """Tokens that the granted language model takes, where that is known."""
    raw: bytes | None = field(default=None, repr=False)
    """The event's data where it was too large to hand on; kept as the artifact `raw_ref`."""
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    """One-off data of the entry, handed on as `adapter.extra.params`."""
    prompt: tuple[Mapping[str, Any], ...] = ()
    """The prompt of the config's prompt field, as messages."""
    marks: Marks = field(default_factory=Marks, repr=False)
    """Covers the secrets of its config and environment in all that is recorded."""
    holds: tuple[Point, ...] = ()
    """Where the run is held, from its start on. It then has no deadline to tell, for its clock will stand."""
    shelf: Shelf = field(default_factory=Shelf, repr=False)
    """The resources behind the grants, as they were when the order was made; a reload does not reach into it."""
    file_roots: tuple[Path, ...] = ()
    """Folders whose files the config may name."""
    takes_kept: bool = False
    """Whether settings that a person keeps were wanted in it, if there are any."""
    warnings: tuple[str, ...] = ()
    """What was found odd while the order was made; told when the run begins."""

    @property
    def place(self) -> Place:
        """Where the event was said."""
        return place_of(self.envelope)

    @property
    def slot(self) -> Slot | None:
        """What only one live run may hold; an event without a conversation holds none."""
        conversation = self.envelope.conversation_id
        return None if conversation is None else (conversation, self.envelope.thread_id)


DEFAULT_TIMEOUT: Final = 300.0
_NEVER: Final = 1e9
"""Seconds, some thirty years: a deadline beyond is none, and would soon be no date either."""


def place_of(envelope: EventEnvelope) -> Place:
    """Where an event was said."""
    return Place(envelope.conversation_id, envelope.thread_id, envelope.bot_id, envelope.workspace_id)


def timeout_of(config: dict[str, Any]) -> float | None:
    """`timeout` of a runner's config: not set is 300 s; zero, less, null or no number is none."""
    value = config.get("timeout", DEFAULT_TIMEOUT)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _NEVER:
        return None
    return float(value)
