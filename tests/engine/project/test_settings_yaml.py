"""Settings as YAML and back, with problems reported by line."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.api import KeptSettings, LineProblem, to_yaml
from engine.project.agents import DeliveryPolicy, ResourcePolicy, StatePolicy
from engine.project.settings_yaml import from_yaml
from engine.protocol.manifest import AgentRunnerManifest
from engine.runners.config_form import ConfigForm

FORM = ConfigForm(
    AgentRunnerManifest.model_validate(
        {
            "id": "plugin:a/b/c",
            "name": "c",
            "config_schema": [
                {"name": "depth", "type": "integer"},
                {"name": "model", "type": "llm-model-selector", "required": True},
            ],
        }
    )
)
texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@example({"a": "one\x85two", "b": "\u2028", "c": "one\rtwo"})
@given(st.dictionaries(texts.filter(lambda name: name not in {"depth", "model"}), values, max_size=4))
def test_settings_survive_a_yaml_round_trip(config: dict[str, Any]):
    again, problems = from_yaml(to_yaml(KeptSettings(config=config)), FORM)
    assert again is not None, problems
    assert again.config == config
    assert [type(value) for value in again.config.values()] == [type(value) for value in config.values()]


def test_policies_survive_round_trip_and_unset_values_are_not_written():
    kept = KeptSettings(
        config={"depth": 3},
        resources=ResourcePolicy(allowed_tool_names=("a", "b")),
        state=StatePolicy(enable_state=False),
        delivery=DeliveryPolicy(max_message_size=10),
        updated_at=5,
    )
    text = to_yaml(kept)
    assert text == (
        "config:\n  depth: 3\nresources:\n  allowed_tool_names:\n  - a\n  - b\n"
        "state:\n  enable_state: false\ndelivery:\n  max_message_size: 10\n"
    )
    assert from_yaml(text, FORM) == (kept.model_copy(update={"updated_at": None}), ())
    assert to_yaml(KeptSettings()) == ""
    assert from_yaml("", FORM) == (KeptSettings(), ())
    assert from_yaml("config:\nstate:\n", FORM) == (KeptSettings(), ())


def test_multi_line_text_is_written_as_a_block():
    text = to_yaml(KeptSettings(config={"prompt": "You are terse.\n\nAnswer in one line.\n", "depth": 1}))
    assert text == "config:\n  prompt: |\n    You are terse.\n\n    Answer in one line.\n  depth: 1\n"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("config:\n  depth: deep\n", ["line 2: config.depth must be an integer, not text"]),
        ("config:\n  depth: 1\n  model: 5\n", ["line 3: config.model must be the id of a model, not a number"]),
        ("config:\n  model: ''\n", ["line 2: config.model is required"]),
        ("config: [1]\n", ["line 1: config must be a mapping"]),
        (
            "state:\n  state_scopes: [moon]\nmoon: 1\n",
            [
                "line 2: state.state_scopes[0] must be 'conversation', 'actor', 'subject' or 'runner'",
                "line 3: moon unknown key",
            ],
        ),
        ("delivery:\n  max_message_size: 0\n", ["line 2: delivery.max_message_size must be greater than 0"]),
        ("config:\n  a: 1\n  a: 2\n", ["line 3: the key 'a' is written twice"]),
        ("- 1\n", ["must be a mapping"]),
    ],
)
def test_problems_are_reported_with_their_line(text: str, problems: list[str]):
    kept, found = from_yaml(text, FORM)
    assert kept is None
    assert [str(problem) for problem in found] == problems


def test_yaml_syntax_error_is_reported_with_its_line():
    kept, [problem] = from_yaml("config:\n  depth: [1\n", FORM)
    assert kept is None
    assert problem.line is not None
    assert problem.message.startswith("not YAML")
    assert from_yaml("config: {a: \udc80}", FORM)[0] is None


def test_unknown_field_is_a_warning_and_missing_fields_are_valid():
    assert from_yaml("config:\n  moon: full\n", FORM) == (
        KeptSettings(config={"moon": "full"}),
        (LineProblem(2, "config.moon", "is not in the runner's form", warning=True),),
    )
