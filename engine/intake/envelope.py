"""The host's form of an event, and how user input becomes one."""

import json
from typing import Annotated, Any, Final, cast

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from engine.clock import Ids, microseconds
from engine.events import SESSION_ID, SESSION_ID_RULE
from engine.intake.errors import IntakeError
from engine.protocol.base import Moment
from engine.protocol.content import ContentElement, RunnerInput
from engine.protocol.event import ActorContext, DeliveryContext, EventSource, EventType, SubjectContext

Identifier = Annotated[str, Field(min_length=1, max_length=255)]


def _checked_session_id(text: str) -> str:
    if SESSION_ID.fullmatch(text) is None:
        raise PydanticCustomError("session_id", f"must be {SESSION_ID_RULE}")
    return text


class EventEnvelope(BaseModel):
    """One event as the host stores it. The runner sees a projection."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    event_id: Identifier
    event_type: EventType
    event_time: Moment | None = None
    """As the platform reported it: RFC 3339, or seconds since 1970."""
    source: EventSource
    source_event_type: str | None = None
    bot_id: Identifier | None = None
    workspace_id: Identifier | None = None
    conversation_id: Annotated[str, AfterValidator(_checked_session_id)] | None = None
    thread_id: Identifier | None = None
    actor: ActorContext | None = None
    subject: SubjectContext | None = None
    input: RunnerInput = Field(default_factory=RunnerInput)
    delivery: DeliveryContext = Field(default_factory=lambda: DeliveryContext(surface="console"))
    raw_ref: str | None = None
    data: dict[str, Any] = Field(default_factory=dict[str, Any])

    @field_validator("event_time")
    @classmethod
    def _is_a_time(cls, value: Moment | None) -> Moment | None:
        if value is not None:
            to_microseconds(value)
        return value

    @property
    def time(self) -> int | None:
        """`event_time` in microseconds."""
        return None if self.event_time is None else to_microseconds(self.event_time)

    @property
    def is_message(self) -> bool:
        """Whether the event is a user's message. Only messages write a user line."""
        return self.event_type is EventType.MESSAGE_RECEIVED


class EventProblem(IntakeError):
    """An event that violates the contract. The message names the field."""


_FIRST, _LAST = microseconds("0001-01-01T00:00:00Z"), microseconds("9999-12-31T23:59:59Z")
LOCAL_ACTOR: Final = ActorContext(actor_type="user", actor_id="local", actor_name="you")
CONSOLE_DELIVERY: Final = DeliveryContext(surface="console", supports_streaming=True)


def to_microseconds(moment: Moment) -> int:
    """Convert a time from JSON (RFC 3339 or seconds) to microseconds since 1970."""
    stamp = microseconds(moment) if isinstance(moment, str) else moment * 1_000_000
    if not _FIRST <= stamp <= _LAST:
        raise ValueError("not a time: use RFC 3339 or seconds since 1970")
    return int(stamp)


def message(event_id: str, text: str, *, conversation_id: str | None, thread_id: str | None = None) -> EventEnvelope:
    """Build the event for a message that the user typed."""
    if conversation_id is not None and SESSION_ID.fullmatch(conversation_id) is None:
        raise EventProblem(f"{conversation_id[:140]!r} is not a valid session id. Use {SESSION_ID_RULE}.")
    return EventEnvelope(
        event_id=event_id,
        event_type=EventType.MESSAGE_RECEIVED,
        source=EventSource.CONSOLE,
        conversation_id=conversation_id,
        thread_id=thread_id,
        actor=LOCAL_ACTOR,
        input=RunnerInput(text=text),
        delivery=CONSOLE_DELIVERY,
    )


def read_event(text: str, where: str, *, defaults: dict[str, Any]) -> EventEnvelope:
    """Parse an envelope from JSON or YAML text; `defaults` fill missing keys."""
    try:
        written = parse_json_or_yaml(text)
    except EventProblem as problem:
        raise EventProblem(f"{where}: {problem}") from None
    if not isinstance(written, dict):
        raise EventProblem(f"{where}: an event must be an object with at least event_type")
    try:
        return EventEnvelope.model_validate({**defaults, **cast("dict[str, Any]", written)})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "event"
        raise EventProblem(f"{where}: {field}: {first['msg']}") from None


def parse_json_or_yaml(text: str) -> object:
    """Parse JSON or YAML. Raises EventProblem for values that JSON cannot hold."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else _yaml(text)
        # Encoding it once finds what JSON cannot hold: half a surrogate pair, a set, too deep nesting.
        return orjson.loads(orjson.dumps(found))
    except (ValueError, TypeError, RecursionError) as error:
        raise EventProblem(str(error)) from None


def with_text(envelope: EventEnvelope, text: str | None) -> EventEnvelope:
    """Return the event with another text. Images and files stay."""
    given = envelope.input
    if text is None or text == given.to_text():
        return envelope
    others = [part for part in given.contents if part.type != "text"]
    contents = [ContentElement(type="text", text=text), *others] if given.contents else []
    return envelope.model_copy(update={"input": given.model_copy(update={"text": text, "contents": contents})})


def copy_with_new_ids(envelope: EventEnvelope, ids: Ids) -> EventEnvelope:
    """Return a copy of the event with a new id and new attachment ids, to be sent again."""
    attachments = [one.model_copy(update={"artifact_id": ids.new("art")}) for one in envelope.input.attachments]
    given = envelope.input.model_copy(update={"attachments": attachments})
    return envelope.model_copy(update={"event_id": ids.new("evt"), "input": given})


def _yaml(text: str) -> object:
    import yaml  # noqa: PLC0415  (importing yaml takes 18 ms, which a plain message need not pay)

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        raise ValueError(f"{error.problem or error.context or 'not YAML'}{where}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None
