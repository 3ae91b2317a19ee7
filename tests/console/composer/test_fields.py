"""Fields of the composer: defaults by type, and examples."""

import pytest

from console.data.event_draft import TYPES, default_values, example_values, find_problems, new_draft
from console.model.composer.fields import NAMES, TYPE_HINTS, change_defaults, fill_example, has_changes
from engine.api import Engine
from tests.support.engines import Engines, done


async def silent(_: object):
    yield done()


@pytest.mark.parametrize("event_type", TYPES)
async def test_example_of_every_type_is_valid(open_engine: Engines, event_type: str):
    engine: Engine = await open_engine(silent)
    draft = new_draft("s")
    draft.values = change_defaults(draft.values, default_values("message.received"), default_values(event_type))
    draft.values["event_type"] = event_type
    draft.values = fill_example(draft.values, draft.defaults, example_values(event_type))
    assert find_problems(engine, draft) == {}
    envelope = engine.runs.compose(draft.event_draft())
    assert (envelope.event_type, envelope.conversation_id) == (event_type, "s")


def test_another_type_changes_only_default_values():
    before, after = default_values("message.received"), default_values("schedule.triggered")
    values = {**before, "event_type": "schedule.triggered", "actor_name": "Ann", "conversation_id": "s"}
    became = change_defaults(values, before, after)
    assert (became["actor_type"], became["subject_type"], became["source"]) == ("system", "schedule", "scheduler")
    assert (became["actor_name"], became["conversation_id"]) == ("Ann", "s")


def test_example_keeps_typed_values():
    defaults, example = default_values("api.invoked"), example_values("api.invoked")
    became = fill_example({**defaults, "text": "mine"}, defaults, example)
    assert became["text"] == "mine"
    assert became["data"] == example["data"]


def test_location_does_not_count_as_a_change():
    defaults = default_values("message.received")
    assert not has_changes({**defaults, "conversation_id": "s"}, defaults)
    assert has_changes({**defaults, "text": "hello"}, defaults)


def test_fields_are_those_of_the_engine():
    assert set(default_values("message.received")) == set(NAMES)


def test_every_type_has_a_hint():
    assert list(TYPE_HINTS) == TYPES
