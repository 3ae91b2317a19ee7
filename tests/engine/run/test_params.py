"""Parameters of a run: what its runner never sees, and the warning that names each."""

import math
from datetime import date
from typing import Any

import pytest

from tests.support.engines import ScriptRunner

DEEPEST = 94
"""Levels of the deepest value that fits into the frame of a context."""


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


async def params_of(run_script: ScriptRunner, params: dict[Any, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters that the runner received, and the warnings."""
    run = await run_script(params={**params, "city": "Kyoto"})
    assert run.row.status == "completed"
    return run.context["adapter"]["extra"]["params"], run.warnings


@pytest.mark.parametrize(
    "name", ["_internal", "_", "api_key", "KEYBOARD", "AuthToken", "password2", "a-secret", "credentials"]
)
async def test_internal_and_secret_names_are_left_out_with_a_warning(run_script: ScriptRunner, name: str):
    passed, warnings = await params_of(run_script, {name: "planted"})

    assert passed == {"city": "Kyoto"}
    (warning,) = warnings
    assert warning.startswith(f"The parameter {name!r} was left out: names that ")
    assert "planted" not in warning


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "when: nan is not JSON"),
        (date(2026, 1, 2), "when: a date is not JSON"),
        ([1, {2}], "when[1]: a set is not JSON"),
        ({"a": {1: 2}}, "when['a']: the key 1 is not text"),
        (2**64, "when: an integer beyond 64 bits"),
        (nested(DEEPEST + 1), "when: deeper than 100 levels"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_a_value_that_is_not_json_is_left_out_with_a_warning(run_script: ScriptRunner, value: Any, reason: str):
    passed, warnings = await params_of(run_script, {"when": value})

    assert (passed, warnings) == ({"city": "Kyoto"}, [f"The parameter 'when' was left out: {reason}."])


async def test_each_parameter_that_is_left_out_has_its_own_warning(run_script: ScriptRunner):
    _, warnings = await params_of(run_script, {"_a": 1, "_b": 2, 3: 4})

    assert [warning.split(" was ")[0] for warning in warnings] == [
        "The parameter '_a'",
        "The parameter '_b'",
        "The parameter 3",
    ]


async def test_other_values_reach_the_runner_as_json(run_script: ScriptRunner):
    given = {"n": 1.5, "pair": (1, "é"), "deep": nested(DEEPEST), "nothing": None}

    passed, warnings = await params_of(run_script, given)

    assert passed == {**given, "pair": [1, "é"], "city": "Kyoto"}
    assert warnings == []


async def test_a_run_whose_parameters_are_all_left_out_has_no_adapter(run_script: ScriptRunner):
    assert (await run_script(params={"_a": 1})).context["adapter"] is None
