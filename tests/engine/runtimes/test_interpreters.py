"""Errors for interpreters that cannot be used name the fix."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.runtimes.runtime import RuntimeProblem

RUNNER = "async def run(ctx):\n    yield 1\n"


async def test_a_missing_interpreter_is_named(harness):
    launch = harness.launch(RUNNER, python="/no/such/python")
    with pytest.raises(RuntimeProblem) as problem:
        await harness.begin(launch)
    assert str(problem.value) == (
        "There is no interpreter at /no/such/python. Name another one with --python, or `python:` in trackside.yaml."
    )


@pytest.fixture
def bare_python(tmp_path: Path) -> str:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    return str(tmp_path / "bare" / "bin" / "python")


async def test_the_error_for_an_interpreter_without_pydantic_has_the_pip_command(harness, bare_python):
    python = bare_python
    launch = harness.launch(RUNNER, python=python)
    for attempt in (harness.begin(launch), harness.pool.warm(launch)):
        with pytest.raises(RuntimeProblem) as problem:
            await attempt
        assert str(problem.value) == (
            f"{python} has no pydantic 2, which runners need. Install it: {python} -m pip install 'pydantic>=2.10,<3'"
        )


async def test_program_that_is_not_a_python_interpreter_has_its_own_error(harness, tmp_path):
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho not a snake >&2\nexit 7\n")
    script.chmod(0o755)
    with pytest.raises(RuntimeProblem) as problem:
        await harness.begin(harness.launch(RUNNER, python=str(script)))
    assert (
        str(problem.value) == f"{script} ended with code 7 before it was ready. Is it a Python interpreter? not a snake"
    )


async def test_a_file_that_may_not_be_executed_has_its_own_error(harness, tmp_path):
    script = tmp_path / "python"
    script.write_text("")
    with pytest.raises(RuntimeProblem, match="cannot be started: Permission denied"):
        await harness.begin(harness.launch(RUNNER, python=str(script)))


async def test_a_missing_working_folder_has_its_own_error(harness):
    launch = replace(harness.launch(RUNNER), cwd=Path("/no/such/folder"))
    with pytest.raises(RuntimeProblem, match="The working folder /no/such/folder does not exist"):
        await harness.begin(launch)


async def test_context_that_cannot_be_encoded_as_json_is_refused(harness):
    with pytest.raises(RuntimeProblem, match="cannot be sent to its runner"):
        await harness.begin(harness.launch(RUNNER), bad=float("nan"))
