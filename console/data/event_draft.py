"""The draft of the composer: fields to an event, and an event to fields."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.model.composer.fields import NAMES, Values, has_changes
from console.model.state.json_text import InvalidJson, parse_json
from engine.api import (
    AttachmentProblem,
    DraftProblem,
    EventDraft,
    EventSource,
    EventType,
    default_draft,
    draft_of,
    example_draft,
)

if TYPE_CHECKING:
    from engine.api import Attachment, Engine, EventEnvelope, PastEvent

__all__ = [
    "SOURCES",
    "TYPES",
    "AttachmentProblem",
    "ComposerDraft",
    "default_values",
    "draft_of_event",
    "example_values",
    "find_problems",
    "new_draft",
]

TYPES: Final = [str(each) for each in EventType]
SOURCES: Final = [str(each) for each in EventSource]


@dataclass(slots=True, eq=False)
class ComposerDraft:
    """An event that the user composes. It is kept when the screen is closed."""

    values: dict[str, str]
    attachments: list["Attachment"] = field(default_factory=list)
    base: "EventEnvelope | None" = None
    """The recorded event that is edited, if any."""
    lost: tuple[str, ...] = ()
    """Texts about parts of the recorded event that could not be restored."""
    session: str = ""
    """The session in which the draft was started; it is offered again only there."""
    is_session_stored: bool = False
    """Whether the session had messages when the draft was opened: then it must exist when the event is sent."""

    @property
    def defaults(self) -> Values:
        """The default values of its type."""
        return default_values(self.values["event_type"])

    @property
    def is_changed(self) -> bool:
        """Whether the user has changed anything."""
        if self.base is None:
            return has_changes(self.values, self.defaults) or bool(self.attachments)
        before = draft_of(self.base)
        return (self.values, tuple(self.attachments)) != (_values(before), before.attachments)

    @property
    def continues(self) -> bool:
        """Whether the event continues a stored session."""
        return self.is_session_stored and self.values["conversation_id"] == self.session

    def move_to(self, session: str) -> None:
        """Make it the draft of an event of another, new session."""
        self.session, self.is_session_stored = session, False
        self.values = {**self.values, "conversation_id": session}

    def event_draft(self) -> EventDraft:
        """The draft for the engine."""
        return EventDraft(**self.values, attachments=tuple(self.attachments), base=self.base)


def new_draft(session: str) -> ComposerDraft:
    """An empty draft for a session."""
    return ComposerDraft({**default_values(EventType.MESSAGE_RECEIVED), "conversation_id": session}, session=session)


def draft_of_event(past: "PastEvent", session: str) -> ComposerDraft:
    """A draft with the values of a recorded event."""
    draft = draft_of(past.envelope)
    return ComposerDraft(_values(draft), [*draft.attachments], past.envelope, past.lost, session)


def default_values(event_type: str) -> dict[str, str]:
    return _values(default_draft(EventType(event_type)))


def example_values(event_type: str) -> dict[str, str]:
    return _values(example_draft(EventType(event_type)))


def find_problems(engine: "Engine", draft: ComposerDraft) -> dict[str, str]:
    """What is wrong with a draft, by field name."""
    try:
        engine.runs.compose(draft.event_draft())
    except DraftProblem as problem:
        return {name: _problem_text(draft.values.get(name, ""), text) for name, text in problem.problems.items()}
    return {}


def _problem_text(text: str, problem: str) -> str:
    """The engine's text about a field; for invalid JSON, the same text as in other editors."""
    if text.lstrip().startswith("{"):
        try:
            parse_json(text)
        except InvalidJson as error:
            return f"Not JSON: {error}"
    return problem


def _values(draft: EventDraft) -> dict[str, str]:
    return {name: str(getattr(draft, name)) for name in NAMES}
