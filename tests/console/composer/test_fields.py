"""The fields of an event: what another type makes of them, and what an example does."""

import pytest

from console.data.event_draft import TYPES, example_values, new_writing, problems, usual_values
from console.model.composer.fields import ABOUT, NAMES, filled, is_touched, retyped
from engine.api import Engine
from tests.support.engines import Engines, done


async def silent(_: object):
    yield done()


@pytest.mark.parametrize("event_type", TYPES)
async def test_an_example_of_each_type_can_be_sent_as_it_is(open_engine: Engines, event_type: str):
    engine: Engine = await open_engine(silent)
    writing = new_writing("s")
    writing.values = retyped(writing.values, usual_values("message.received"), usual_values(event_type))
    writing.values["event_type"] = event_type
    writing.values = filled(writing.values, writing.usual, example_values(event_type))
    assert problems(engine, writing) == {}
    envelope = engine.runs.compose(writing.draft())
    assert (envelope.event_type, envelope.conversation_id) == (event_type, "s")


def test_another_type_changes_only_what_nobody_changed():
    before, after = usual_values("message.received"), usual_values("schedule.triggered")
    values = {**before, "event_type": "schedule.triggered", "actor_name": "Ann", "conversation_id": "s"}
    became = retyped(values, before, after)
    assert (became["actor_type"], became["subject_type"], became["source"]) == ("system", "schedule", "scheduler")
    assert (became["actor_name"], became["conversation_id"]) == ("Ann", "s")


def test_an_example_leaves_alone_what_was_typed():
    usual, example = usual_values("api.invoked"), example_values("api.invoked")
    became = filled({**usual, "text": "mine"}, usual, example)
    assert became["text"] == "mine"
    assert became["data"] == example["data"]


def test_where_it_happens_is_nobodys_own_words():
    usual = usual_values("message.received")
    assert not is_touched({**usual, "conversation_id": "s"}, usual)
    assert is_touched({**usual, "text": "hello"}, usual)


def test_every_field_of_the_form_is_one_of_the_engines():
    assert set(usual_values("message.received")) == set(NAMES)


def test_every_type_is_told_in_words():
    assert list(ABOUT) == TYPES
