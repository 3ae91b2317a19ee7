"""Events that are composed from a form."""

from dataclasses import replace
from typing import Any

import pytest

from engine.api import DraftProblem, EventDraft, EventType, default_draft, draft_of, example_draft
from engine.intake.compose import compose
from engine.protocol.content import Attachment
from tests.support.engines import CountingIds, Engines, done, event, message, run_event

IDS = CountingIds()
FILE = Attachment(artifact_id="art", artifact_type="file", source="console", content="aGk=")


def problems(draft: EventDraft) -> dict[str, str]:
    with pytest.raises(DraftProblem) as caught:
        compose(draft, IDS)
    return caught.value.problems


@pytest.mark.parametrize("event_type", EventType)
async def test_example_of_each_event_type_can_be_run_unchanged(open_engine: Engines, event_type: EventType):
    async def takes(ctx):
        yield done("ok")

    engine = await open_engine(takes)

    run = await run_event(engine, engine.runs.compose(example_draft(event_type)), runner="takes")

    assert run.context["trigger"]["type"] == event_type
    assert run.row.status == "completed"
    assert run.context["subject"]["subject_id"]
    assert run.row.metadata.get("event_type") == (None if event_type is EventType.MESSAGE_RECEIVED else event_type)


async def test_input_of_a_message_with_only_a_file_is_the_file_name(open_engine: Engines):
    async def takes(ctx):
        yield done("ok")

    engine = await open_engine(takes)

    file = FILE.model_copy(update={"name": "notes.txt"})
    run = await run_event(engine, engine.runs.compose(EventDraft(attachments=(file,))), runner="takes")

    assert run.row.metadata["input"] == "notes.txt"


@pytest.mark.parametrize(
    ("event_type", "source", "actor", "subject"),
    [
        ("message.received", "console", "user", "message"),
        ("message.recalled", "platform", "user", "message"),
        ("group.member_joined", "platform", "user", "membership"),
        ("friend.request_received", "platform", "user", "friend_request"),
        ("schedule.triggered", "scheduler", "system", "schedule"),
        ("api.invoked", "api", "api_client", "request"),
    ],
)
def test_each_event_type_has_default_source_actor_and_subject(event_type: str, source: str, actor: str, subject: str):
    draft = default_draft(EventType(event_type))

    assert (draft.event_type, draft.source, draft.actor_type, draft.subject_type) == (
        event_type,
        source,
        actor,
        subject,
    )


def test_every_field_of_the_form_is_in_the_envelope():
    draft = EventDraft(
        event_type="api.invoked",
        text="go",
        source="api",
        source_event_type="post.trip",
        conversation_id="trip",
        thread_id="t",
        bot_id="b",
        workspace_id="w",
        actor_type="api_client",
        actor_id="site",
        actor_name="Site",
        subject_type="request",
        subject_id="r1",
        subject_data='{"path": "/trips"}',
        data="words: 100\ntags: [a, b]",
        attachments=(FILE,),
    )

    dumped = compose(draft, IDS).model_dump(exclude_none=True, exclude={"event_id", "delivery"})

    assert dumped == {
        "event_type": "api.invoked",
        "source": "api",
        "source_event_type": "post.trip",
        "conversation_id": "trip",
        "thread_id": "t",
        "bot_id": "b",
        "workspace_id": "w",
        "actor": {"actor_type": "api_client", "actor_id": "site", "actor_name": "Site", "metadata": {}},
        "subject": {"subject_type": "request", "subject_id": "r1", "data": {"path": "/trips"}},
        "input": {"text": "go", "contents": [], "attachments": [FILE.model_dump(exclude_none=True)]},
        "data": {"words": 100, "tags": ["a", "b"]},
    }


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"event_type": "message.sent"}, "event_type", "one of message.received, message.recalled, "),
        ({"source": "moon"}, "source", "one of platform, webui, api"),
        ({"text": " "}, "text", "a message needs text or a file"),
        ({"text": "\ud800"}, "text", "contains half of a surrogate pair"),
        ({"conversation_id": "two\nlines"}, "conversation_id", "1 to 255 characters, without line breaks"),
        ({"bot_id": "x" * 256}, "bot_id", "at most 255 characters"),
        ({"actor_type": "", "actor_id": "ann"}, "actor_type", "must name the kind of actor"),
        ({"subject_type": "", "subject_id": "m1"}, "subject_type", "must name the kind of subject"),
        ({"data": "[1, 2]"}, "data", "must be an object"),
        ({"data": '{"a": }'}, "data", "line 1 column 7"),
        ({"subject_data": "a: ["}, "subject_data", "line 1, column 5"),
        ({"event_time": "soon"}, "event_time", "must be a time such as 2026-01-02T03:04:05Z"),
        ({"event_time": "9" * 18}, "event_time", "must be a time such as 2026-01-02T03:04:05Z"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." not in value else "",
)
def test_a_problem_is_reported_for_its_field(fields: dict[str, Any], field: str, words: str):
    found = problems(replace(example_draft(EventType.MESSAGE_RECEIVED), **fields))

    assert list(found) == [field]
    assert words in found[field]


def test_all_problems_are_reported_at_once():
    found = problems(EventDraft(text="", source="moon", data="[]", actor_id="x", bot_id="x" * 256))

    assert sorted(found) == ["actor_type", "bot_id", "data", "source", "text"]


@pytest.mark.parametrize(("typed", "time"), [("", None), ("0", 0), (" 1970-01-01T00:00:01Z ", 1_000_000)])
def test_the_time_of_an_event_keeps_the_form_of_its_platform(typed: str, time: int | None):
    envelope = compose(EventDraft(text="hi", event_time=typed), IDS)

    assert envelope.time == time
    assert draft_of(envelope).event_time == typed.strip()


def test_a_message_may_have_a_file_and_no_text():
    assert compose(EventDraft(attachments=(FILE,)), IDS).input.to_text() == ""


def test_edited_event_keeps_data_that_the_form_does_not_show():
    before = event(
        actor={"actor_type": "user", "actor_id": "ann", "metadata": {"level": 3}},
        input={"contents": [{"type": "text", "text": "old"}, {"type": "image_url", "image_url": {"url": "https://x"}}]},
        delivery={"surface": "shop", "supports_edit": True},
        data={"n": 1},
    )

    after = compose(replace(draft_of(before), text="new"), IDS)

    assert after.event_id != before.event_id
    assert (after.delivery, after.actor, after.data) == (before.delivery, before.actor, before.data)
    assert [part.type for part in after.input.contents] == ["text", "image_url"]
    assert after.input.to_text() == "new"


def test_unchanged_event_differs_only_in_its_id_and_the_ids_of_its_files():
    before = message("hi", input={"text": "hi", "attachments": [FILE]}, subject={"subject_type": "m", "data": {"a": 1}})

    after = compose(draft_of(before), IDS)

    (file,) = after.input.attachments
    assert (file.artifact_id != "art", file.content) == (True, FILE.content)
    own = {"event_id": before.event_id, "input": before.input}
    assert after.model_copy(update=own) == before


def test_changed_actor_does_not_keep_data_of_the_previous_actor():
    before = message(actor={"actor_type": "user", "actor_id": "ann", "metadata": {"level": 3}})

    after = compose(replace(draft_of(before), actor_id="bob"), IDS)

    assert after.actor is not None
    assert (after.actor.actor_id, after.actor.metadata) == ("bob", {})
