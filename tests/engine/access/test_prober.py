"""The bundled prober in a child process, with the resources of fixtures/scripts. prober.md has the expected replies."""

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from engine.api import Engine, RunOptions, message
from engine.protocol.api import RunnerAPI
from engine.version import VERSION

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parents[2] / "fixtures/scripts"
AGENT = {
    "id": "probe",
    "runner": "prober",
    "config": {
        "model": "weather-model",
        "rerank": "weather-rerank",
        "knowledge-bases": ["travel-notes"],
        "files": ["kb/paris.txt"],
        "prompt": "Be brief.",
    },
    "resources": {"allowed_tool_names": ["get_weather"], "allow_workspace_storage": True},
}
NEEDS_A_GRANT = {
    "invoke_llm",
    "invoke_llm_stream",
    "count_tokens",
    "invoke_rerank",
    "get_tool_detail",
    "call_tool",
    "retrieve_knowledge",
    "get_file",
}


async def probe(project: Path, runner: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the message of a run of the prober, and the rows of its artifact."""
    async with await Engine.open(project, db=project / "facts.db") as engine:
        ticket = await engine.runs.submit(message("evt_1", "Berlin", conversation_id="s"), RunOptions(runner=runner))
        run = await engine.runs.wait_for_end(await ticket.started)
        assert (run.status, run.status_reason) == ("completed", "stop")
        (line,) = [line for line in await engine.sessions.transcript("s") if line.role == "assistant"]
        (made,) = [row for row in await engine.artifacts.list(run_id=run.run_id) if row.name == "prober.json"]
        assert line.content_json is not None
        return line.content_json["content"], json.loads(await engine.artifacts.read_bytes(made.artifact_id))


async def test_prober_reports_the_expected_outcome_of_each_call(tmp_path: Path):
    project = tmp_path / "project"
    shutil.copytree(SCRIPTS, project)
    config = yaml.safe_load((project / "trackside.yaml").read_text())
    (project / "trackside.yaml").write_text(json.dumps(config | {"agents": [AGENT], "file_roots": ["."]}))

    said, rows = await probe(project, "probe")

    assert said.replace(VERSION, "VERSION").splitlines() == (HERE / "prober.md").read_text().splitlines()
    listed = [line.removeprefix("| ").split(" | ")[:3] for line in said.splitlines()[4:]]
    assert listed == [[row["call"], row["case"], row["code"] or "ok"] for row in rows]
    assert {row["outcome"] for row in rows if row["code"]} == {"refused"}


async def test_without_configuration_calls_that_need_a_grant_are_refused(tmp_path: Path):
    (tmp_path / "trackside.yaml").write_text("")

    _, rows = await probe(tmp_path, "prober")

    granted = [row for row in rows if row["call"] in NEEDS_A_GRANT]
    assert {row["code"] for row in granted} == {"unauthorized", "invalid_argument"}
    workspace = [row for row in rows if "workspace" in row["call"] and row["case"] != "value is text"]
    assert {row["message"] for row in workspace} == {"resource_policy.allow_workspace_storage is false"}
    others = [row for row in rows if row not in granted and row not in workspace]
    assert sum(row["outcome"] == "ok" for row in others) > 25


async def test_the_prober_tries_every_call_of_the_api():
    tried = {line.split(" | ")[0].removeprefix("| ") for line in (HERE / "prober.md").read_text().splitlines()[4:]}
    calls = {name for name, _ in inspect.getmembers(RunnerAPI, inspect.isfunction) if not name.startswith("_")}
    assert tried == calls
