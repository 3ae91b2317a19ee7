"""`sandbox:` in trackside.yaml, as `run` and `doctor` treat it."""

import json
from pathlib import Path

import pytest

from tests.support.commands import Trackside
from tests.support.sandboxes import require_sandbox, write_bwrap

RUNNER = """
import asyncio, os
from engine.protocol import AgentRunner, AgentRunResult, Message

class Runner(AgentRunner):
    async def run(self, ctx):
        if ctx.input.to_text() == "wait":
            await asyncio.sleep(3600)
        text = f"process {os.getpid()}, home {os.environ['HOME']}"
        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
        yield AgentRunResult.run_completed(ctx.run_id)
"""
CONFIG = """
runners: [runners/walled.py]
sandbox: bwrap
agents:
  - {id: inside, runner: walled}
  - {id: outside, runner: walled, sandbox: none}
"""


@pytest.fixture
def project(trackside: Trackside) -> Trackside:
    trackside.write("runners/walled.py", RUNNER)
    trackside.write("trackside.yaml", CONFIG)
    return trackside


def findings(trackside: Trackside, area: str, **environment: str) -> list[tuple[str, str]]:
    found = json.loads(trackside("doctor", "--json", env=environment).stdout)["findings"]
    return [(one["severity"], f"{one['text']} {one['fix']}".strip()) for one in found if one["area"] == area]


def test_run_is_sandboxed_unless_its_agent_is_excepted(project: Trackside):
    require_sandbox()
    assert "process 2, home /tmp" in project("run", "-m", "hi", "--runner", "inside").stdout
    outside = project("run", "-m", "hi", "--runner", "outside").stdout
    assert "process" in outside
    assert "process 2, home /tmp" not in outside
    late = project("run", "-m", "wait", "--runner", "inside", "--timeout", "0.5")
    assert late.returncode == 3
    assert "timeout" in late.stdout + late.stderr


def test_run_fails_if_its_database_is_in_the_folder_of_the_runner(project: Trackside, tmp_path: Path):
    write_bwrap(tmp_path / "fake", "exit 1")
    database = project.folder / "runners" / "trackside.db"
    done = project("run", "-m", "hi", "--runner", "inside", db=database, env={"PATH": f"{tmp_path}/fake:/usr/bin"})
    assert done.returncode == 2
    assert f"{database} is in {database.parent}, the folder of the runner" in done.stdout + done.stderr


def test_run_and_doctor_name_the_fix_if_bubblewrap_is_missing(project: Trackside, tmp_path: Path):
    fix = "Install it (Debian package: bubblewrap), or remove `sandbox:` from trackside.yaml."
    done = project("run", "-m", "hi", "--runner", "inside", env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert f"there is no bwrap on the PATH. {fix}" in done.stdout + done.stderr
    assert "process" not in done.stdout
    assert findings(project, "Sandbox", PATH=str(tmp_path)) == [
        ("problem", f"bwrap is not installed. {fix}"),
        ("ok", "trackside.yaml uses it for all runners, except outside"),
    ]


def test_doctor_reports_bubblewrap_that_does_not_start(project: Trackside, tmp_path: Path):
    path = write_bwrap(tmp_path / "fake", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    [problem, _] = findings(project, "Sandbox", PATH=f"{path.parent}:/usr/bin:/bin")
    assert problem == (
        "problem",
        "The runner's sandbox did not start: bwrap ended with code 1. bwrap: No permissions to create new namespace "
        "`trackside doctor` checks it. Allow user namespaces on this system, or remove `sandbox:` from trackside.yaml.",
    )
    project.write("trackside.yaml", "agents: []\n")
    assert findings(project, "Sandbox", PATH=f"{path.parent}:/usr/bin:/bin") == [
        ("ok", f"{path} cannot be used here, and is not needed"),
        ("ok", "not used"),
    ]


def test_doctor_starts_bubblewrap_and_names_who_uses_it(project: Trackside):
    require_sandbox()
    project.write("trackside.yaml", CONFIG.replace("sandbox: bwrap\n", "").replace("sandbox: none", "sandbox: bwrap"))
    [(severity, starts), used] = findings(project, "Sandbox")
    assert severity == "ok"
    assert starts.endswith(", starts")
    assert "bubblewrap" in starts
    assert used == ("ok", "trackside.yaml uses it for outside")


def test_doctor_starts_the_own_interpreter_of_a_sandboxed_runner_in_the_sandbox(project: Trackside, tmp_path: Path):
    require_sandbox()
    python = project.folder / "runners" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/escaped\necho 3.11.0; echo 2.11.0\n")
    python.chmod(0o755)
    (python.parents[1] / "pyvenv.cfg").write_text("home = /usr/bin\n")
    found = [text for _, text in findings(project, "Interpreters") if text.startswith(str(python))]
    assert found == [f"{python}  Python 3.11.0, pydantic 2.11.0"]
    assert not (tmp_path / "escaped").exists()
