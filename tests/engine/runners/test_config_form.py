import pytest

from engine.protocol.manifest import AgentRunnerManifest
from engine.runners.config_form import ConfigForm, FieldProblem
from engine.runners.errors import FormError


def form(*items: dict) -> ConfigForm:
    return ConfigForm(AgentRunnerManifest(id="plugin:a/b/c", name="c", config_schema=list(items)))


def of_type(kind: str, **more) -> ConfigForm:
    return form({"name": "field", "type": kind, **more})


def test_defaults_are_merged_and_set_values_stay():
    both = form(
        {"name": "a", "type": "integer", "default": 1}, {"name": "b", "type": "array[string]", "default": ["x"]}
    )

    completed = both.complete({"a": 0, "more": 2})
    completed["b"].append("y")

    assert completed == {"a": 0, "b": ["x", "y"], "more": 2}
    assert both.complete({}) == {"a": 1, "b": ["x"]}


@pytest.mark.parametrize(
    ("kind", "good", "bad", "wanted"),
    [
        ("string", ["a", ""], [1, True, ["a"]], "text"),
        ("text", ["a"], [1.5, {}], "text"),
        ("integer", [1, 0, -5], ["1", 1.5, True], "an integer"),
        ("float", [1, 1.5], ["1", True], "a number"),
        ("boolean", [True, False], [0, "true"], "true or false"),
        (
            "prompt-editor",
            ["be kind", [{"role": "system", "content": "x"}]],
            [1, ["x"]],
            "text or a list of {role, content}",
        ),
        ("llm-model-selector", ["m1", "__none__"], [["m1"], 1], "the id of a model"),
        ("select-llm-model", ["m1"], [1], "the id of a model"),
        ("rerank-model-selector", ["m1", "__none"], [1], "the id of a model"),
        (
            "model-fallback-selector",
            ["m1", {"primary": "m1", "fallbacks": ["m2"]}, {"primary": ""}, {}],
            [1, {"primary": 1}, {"primary": "a", "fallbacks": "b"}, {"first": "a"}],
            "the id of a model or {primary, fallbacks: []}",
        ),
        ("knowledge-base-multi-selector", [["k"], [], "__none__"], ["k", [1]], "a list of knowledge base ids"),
        ("select-knowledge-bases", [["k"]], [1], "a list of knowledge base ids"),
        ("file", ["key", {"file_key": "k"}], [1], "a file key"),
        ("array[file]", [["key", {"file_key": "k"}]], ["key", [1]], "a list of file keys"),
        ("array[string]", [["a"], []], ["a", [1]], "a list of texts"),
    ],
)
def test_each_field_type_accepts_its_own_values(kind: str, good: list, bad: list, wanted: str):
    checked = of_type(kind)

    for value in good:
        assert checked.check({"field": value}) == []
    for value in bad:
        (problem,) = checked.check({"field": value})
        assert problem.message.startswith(f"must be {wanted}, not ")


@pytest.mark.parametrize("options", [["low", "high"], [{"name": "low", "label": {"en_US": "Low"}}, {"name": "high"}]])
def test_select_accepts_only_its_options(options: list):
    select = of_type("select", options=options)

    assert select.check({"field": "low"}) == []
    assert select.check({"field": "middle"}) == [FieldProblem("field", "must be one of low, high")]


@pytest.mark.parametrize("nothing", ["", "__none__", "__none", None])
def test_empty_choice_is_valid_unless_required(nothing: str | None):
    assert of_type("llm-model-selector").check({"field": nothing}) == []
    assert of_type("llm-model-selector", required=True).check({"field": nothing}) == [
        FieldProblem("field", "is required")
    ]


def test_a_required_list_must_not_be_empty():
    assert of_type("array[string]", required=True).check({"field": []}) == [FieldProblem("field", "is required")]
    assert of_type("integer", required=True).check({"field": 0}) == []
    assert of_type("boolean", required=True).check({"field": False}) == []


def test_unknown_key_is_kept_with_a_warning_except_keys_of_the_host():
    config = {"field": 1, "extra": 2, "timeout": 5}
    checked = of_type("integer")

    assert checked.require(config) == config
    assert checked.check(config) == [FieldProblem("extra", "is not in the runner's form", warning=True)]


@pytest.mark.parametrize(
    ("value", "wanted"), [("30", "a number of seconds"), (True, "a number of seconds"), (float("inf"), "finite")]
)
def test_timeout_that_disables_the_deadline_by_mistake_is_warned_about(value: object, wanted: str):
    odd = FieldProblem("timeout", f"must be {wanted}; with this value the run has no deadline", warning=True)
    for checked in (of_type("integer"), form({"name": "timeout", "type": "select"})):
        assert checked.require({"timeout": value})["timeout"] is value
        assert checked.check({"timeout": value}) == [odd] == [checked.check_field("timeout", value)]


@pytest.mark.parametrize("value", [30, 2.5, 0, -1, None, ""])
def test_timeout_in_seconds_or_none_is_valid(value: object):
    assert of_type("integer").check({"timeout": value}) == []
    assert of_type("integer").check_field("timeout", value) is None


def test_timeout_follows_the_type_of_its_form_field():
    assert len(form({"name": "timeout", "type": "integer"}).check({"timeout": "30"})) == 1
    assert form({"name": "timeout", "type": "string", "required": True}).check({"timeout": "30"}) == []


def test_an_error_names_the_runner_and_every_field_but_no_value():
    both = form({"name": "depth", "type": "integer"}, {"name": "model", "type": "llm-model-selector", "required": True})

    with pytest.raises(FormError) as caught:
        both.require({"depth": "sk-secret"})

    assert str(caught.value) == "config of plugin:a/b/c: depth must be an integer, not text; model is required."


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "5", "5"),
        ("integer", "5", 5),
        ("float", "0.5", 0.5),
        ("float", "2", 2),
        ("boolean", "yes", True),
        ("boolean", "off", False),
        ("llm-model-selector", "123", "123"),
        ("array[string]", "a, b", ["a", "b"]),
        ("array[string]", '["a", "b"]', ["a", "b"]),
        ("model-fallback-selector", "m1", "m1"),
        ("model-fallback-selector", '{"primary": "m1"}', {"primary": "m1"}),
    ],
)
def test_text_is_converted_to_the_type_of_the_field(kind: str, text: str, value: object):
    assert of_type(kind).read("field", text) == value


def test_text_for_an_unknown_field_is_json_or_text():
    assert of_type("string").read("other", "3") == 3
    assert of_type("string").read("other", "three") == "three"


def test_error_for_text_of_the_wrong_type_names_the_field():
    with pytest.raises(FormError) as caught:
        of_type("integer").read("field", "many")

    assert str(caught.value) == "config of plugin:a/b/c: field must be an integer, not text."


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("float", float("nan"), "must be finite"),
        ("float", float("inf"), "must be finite"),
        ("integer", 1.5, "must be an integer, not a decimal number"),
        ("integer", float("inf"), "must be an integer, not a number that is not finite"),
    ],
)
def test_the_error_for_a_number_of_the_wrong_kind_names_its_kind(kind: str, value: float, message: str):
    assert of_type(kind).check_field("field", value) == FieldProblem("field", message)


def test_nan_is_refused_as_a_number():
    with pytest.raises(FormError, match="must be a number"):
        of_type("float").read("field", "NaN")


def test_ids_chosen_in_selectors_are_returned():
    selectors = form(
        {"name": "one", "type": "llm-model-selector"},
        {"name": "many", "type": "model-fallback-selector"},
        {"name": "rank", "type": "rerank-model-selector"},
        {"name": "bases", "type": "select-knowledge-bases"},
        {"name": "file", "type": "file"},
        {"name": "files", "type": "array[file]"},
    )
    config = {
        "one": "m1",
        "many": {"primary": "m2", "fallbacks": ["m1", "__none__", "m3"]},
        "rank": "r1",
        "bases": ["k1", "", "k2"],
        "file": "f1",
        "files": [{"file_key": "f2"}],
    }

    assert selectors.language_models(config) == ("m1", "m2", "m3")
    assert selectors.language_models({"many": "m2", "one": "__none__"}) == ("m2",)
    assert selectors.rerank_models(config) == ("r1",)
    assert selectors.knowledge_bases(config) == ("k1", "k2")
    assert selectors.files(config) == ("f1", {"file_key": "f2"})


@pytest.mark.parametrize("name", ["field", "timeout", "unknown"])
def test_a_number_that_cannot_be_recorded_is_refused_before_the_run(name: str):
    with pytest.raises(FormError) as caught:
        of_type("integer").require({name: 2**64})

    assert str(caught.value) == (
        f"config of plugin:a/b/c: {name} must be valid JSON, with integers of at most 64 bits."
    )
