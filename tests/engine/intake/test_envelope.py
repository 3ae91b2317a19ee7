"""Event envelopes: six types in one form, typed by the user or sent by a platform."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from engine.intake.envelope import EventEnvelope, EventProblem, message, read_event
from engine.protocol.event import EventType

DEFAULTS = {"event_id": "e", "source": "console"}


@pytest.mark.parametrize("kind", list(EventType))
def test_each_of_the_six_event_types_has_an_envelope(kind: EventType):
    envelope = EventEnvelope(event_id="e", event_type=kind, source="platform")

    assert envelope.input.to_text() == ""
    assert envelope.is_message is (kind == "message.received")


@pytest.mark.parametrize("field", ["event_type", "source"])
def test_platform_names_never_become_event_types_or_sources(field: str):
    with pytest.raises(ValidationError):
        EventEnvelope.model_validate(DEFAULTS | {"event_type": "message.received", field: "discord.MESSAGE_CREATE"})


def test_a_platforms_own_name_goes_to_source_event_type():
    envelope = read_event('{"event_type": "message.received", "source_event_type": "im.msg"}', "e", defaults=DEFAULTS)

    assert envelope.source_event_type == "im.msg"


def test_typed_text_becomes_a_message_from_the_console():
    envelope = message("e", "hello", conversation_id="s", thread_id="t")

    assert (envelope.event_type, envelope.source) == ("message.received", "console")
    assert (envelope.conversation_id, envelope.thread_id) == ("s", "t")
    assert (envelope.actor.actor_id, envelope.input.text) == ("local", "hello")
    assert (envelope.delivery.surface, envelope.delivery.supports_streaming) == ("console", True)


@pytest.mark.parametrize("session", ["19960@chatroom", "!abc:matrix.org", "C012/1699.22", "群聊 1", "x" * 255])
def test_conversation_ids_of_real_platforms_are_accepted(session: str):
    written = json.dumps({"event_type": "message.received", "conversation_id": session})

    assert message("e", "x", conversation_id=session).conversation_id == session
    assert read_event(written, "e", defaults=DEFAULTS).conversation_id == session


@pytest.mark.parametrize("session", ["", "x" * 256, "a\n", "a\x1b", "\x9f"])
def test_conversation_id_has_1_to_255_characters_and_no_control_characters(session: str):
    written = json.dumps({"event_type": "message.received", "conversation_id": session})

    with pytest.raises(EventProblem, match=r"is not a valid session id\. Use 1 to 255 characters, without"):
        message("e", "x", conversation_id=session)
    with pytest.raises(EventProblem, match="e: conversation_id: must be 1 to 255 characters, without line breaks"):
        read_event(written, "e", defaults=DEFAULTS)


def test_an_event_is_read_from_yaml_as_well_as_from_json():
    written = {"event_type": "schedule.triggered", "subject": {"subject_type": "schedule", "subject_id": "nightly"}}

    from_json = read_event(json.dumps(written), "event.json", defaults=DEFAULTS)
    from_yaml = read_event(
        "event_type: schedule.triggered\nsubject: {subject_type: schedule, subject_id: nightly}",
        "event.yaml",
        defaults=DEFAULTS,
    )

    assert from_json == from_yaml
    assert from_json.subject.subject_id == "nightly"


def test_written_values_override_the_defaults():
    assert read_event('{"event_type": "api.invoked", "event_id": "mine"}', "x", defaults=DEFAULTS).event_id == "mine"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"event_type": "message.edited"}', "e.json: event_type: Input should be 'message.received'"),
        ("{}", "e.json: event_type: Field required"),
        ('{"event_type": "api.invoked", "colour": 1}', "e.json: colour: Extra inputs are not permitted"),
        ('{"event_type": "api.invoked", "actor": {}}', "e.json: actor.actor_type: Field required"),
        ("- a list", "e.json: an event must be an object with at least event_type"),
        ("a: b: c", "e.json: mapping values are not allowed here"),
        ("{", "e.json: Expecting property name"),
        ('{"event_type": "api.invoked", "event_time": "yesterday"}', "e.json: event_time: Value error, Invalid iso"),
        ('{"event_type": "api.invoked", "event_time": 1e300}', "e.json: event_time: Value error, not a time"),
        ('{"event_type": "api.invoked", "event_time": -1e11}', "e.json: event_time: Value error, not a time"),
    ],
)
def test_a_bad_event_names_the_file_and_the_field(text: str, problem: str):
    with pytest.raises(EventProblem) as caught:
        read_event(text, "e.json", defaults=DEFAULTS)

    assert str(caught.value).startswith(problem)


def test_yaml_is_loaded_safely(tmp_path: Path):
    made = tmp_path / "made"
    with pytest.raises(EventProblem, match="could not determine a constructor"):
        read_event(f"event_type: !!python/object/apply:os.mkdir [{made}]", "e", defaults=DEFAULTS)
    assert not made.exists()


@pytest.mark.parametrize(
    ("given", "stamp"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01T00:00:01", 1_000_000),
        (1.5, 1_500_000),
        (2, 2_000_000),
        (None, None),
    ],
)
def test_event_time_is_rfc_3339_or_seconds_and_utc_without_a_zone(given: object, stamp: int | None):
    envelope = EventEnvelope(event_id="e", event_type="api.invoked", source="api", event_time=given)

    assert envelope.time == stamp
