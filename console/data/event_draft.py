"""From the fields of the form to an event, and from an event to the fields."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.model.composer.fields import NAMES, Values, is_touched
from console.model.state.json_text import InvalidJson, parse_json
from engine.api import DraftProblem, EventDraft, EventSource, EventType, default_draft, draft_of, example_draft

if TYPE_CHECKING:
    from engine.api import Attachment, Engine, EventEnvelope, PastEvent

TYPES = [str(one) for one in EventType]
SOURCES = [str(one) for one in EventSource]


@dataclass(slots=True, eq=False)
class EventDraftState:
    """An event that is being put together. It outlives the screen: who leaves it finds it again."""

    values: dict[str, str]
    attachments: list["Attachment"] = field(default_factory=list)
    base: "EventEnvelope | None" = None
    """The event that is edited."""
    lost: tuple[str, ...] = ()
    """In words, what of it could not be brought back."""
    session: str = ""
    """The session in which the draft was started; it is offered again only there."""

    @property
    def usual(self) -> Values:
        """What the fields of its type say where nobody has said anything."""
        return usual_values(self.values["event_type"])

    @property
    def is_begun(self) -> bool:
        """Whether a person has put anything of their own into it."""
        if self.base is None:
            return is_touched(self.values, self.usual) or bool(self.attachments)
        before = draft_of(self.base)
        return (self.values, tuple(self.attachments)) != (_values(before), before.attachments)

    def draft(self) -> EventDraft:
        return EventDraft(**self.values, attachments=tuple(self.attachments), base=self.base)


def new_writing(session: str) -> EventDraftState:
    """An empty one of this session."""
    return EventDraftState({**usual_values(EventType.MESSAGE_RECEIVED), "conversation_id": session}, session=session)


def writing_of(past: "PastEvent", session: str) -> EventDraftState:
    """One that begins as an event that came in before."""
    draft = draft_of(past.envelope)
    return EventDraftState(_values(draft), [*draft.attachments], past.envelope, past.lost, session)


def usual_values(event_type: str) -> dict[str, str]:
    return _values(default_draft(EventType(event_type)))


def example_values(event_type: str) -> dict[str, str]:
    return _values(example_draft(EventType(event_type)))


def problems(engine: "Engine", writing: EventDraftState) -> dict[str, str]:
    """What is wrong with it, by the names of the fields."""
    try:
        engine.runs.compose(writing.draft())
    except DraftProblem as problem:
        return {name: _in_words(writing.values.get(name, ""), words) for name, words in problem.problems.items()}
    return {}


def _in_words(text: str, words: str) -> str:
    """What the engine says is wrong with a text; where that was to be JSON, as it is said wherever JSON is written."""
    if text.lstrip().startswith("{"):
        try:
            parse_json(text)
        except InvalidJson as error:
            return f"not JSON: {error}"
    return words


def _values(draft: EventDraft) -> dict[str, str]:
    return {name: str(getattr(draft, name)) for name in NAMES}
