"""`runs`, `doctor`, `schema`, `prune`, `--help` and `--version`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.version import VERSION
from tests.support.commands import Trackside


def test_help_and_version_do_not_load_the_engine(trackside: Trackside):
    probe = (
        "import sys; from console.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(sorted({'engine.api', 'sqlalchemy', 'pydantic', 'asyncio', 'textual', 'rich'} & set(sys.modules)))"
    )

    def modules(*typed: str) -> str:
        line = [sys.executable, "-c", probe, *typed]
        done = subprocess.run(line, env=trackside.environment, capture_output=True, encoding="utf-8", check=True)
        return done.stdout.splitlines()[-1]

    assert modules("--version") == modules("--help") == modules("run", "--help") == modules() == "[]"
    ran = modules("run", "--runner", "echo", "-m", "hi", "--db", str(trackside.database))
    assert ran == "['asyncio', 'engine.api', 'pydantic', 'sqlalchemy']"


def test_runs_and_sessions_are_listed_newest_first(trackside: Trackside):
    for message, session in (("one", "a"), ("raise", "b")):
        trackside("run", "--runner", "chaos" if session == "b" else "echo", "-m", message, "--session", session)

    table = trackside("runs").stdout.splitlines()
    rows = json.loads(trackside("runs", "--json").stdout)
    failed = trackside("runs", "--status", "failed", "--jsonl").stdout.splitlines()
    older = json.loads(trackside("runs", "--json", "--before", rows[0]["run_id"]).stdout)
    sessions = [json.loads(line)["session_id"] for line in trackside("sessions", "--jsonl").stdout.splitlines()]

    assert [line.split()[:2] for line in table] == [["✗", "failed"], ["✓", "completed"]]
    assert table[0].split()[2] == rows[0]["run_id"][:17]
    assert [json.loads(line)["run_id"] for line in failed] == [rows[0]["run_id"]]
    assert older == rows[1:]
    assert rows[0]["created_at"].endswith("Z")
    assert sessions == ["b", "a"]


def test_unknown_run_cannot_be_shown_and_ended_run_cannot_be_stopped(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "one")
    trackside("run", "--runner", "echo", "-m", "two")
    newest, oldest = [run["run_id"] for run in json.loads(trackside("runs", "--json").stdout)]

    assert trackside.error("show", "run_none") == "No run run_none. `trackside runs` lists them."
    assert trackside.error("show", "run_") == f"'run_' matches several runs: {newest}, {oldest}. Type more of the id."
    assert trackside.error("stop", "last") == f"Run {newest} is completed already; there is nothing to stop."


def test_doctor_finds_no_problems(trackside: Trackside):
    done = trackside("doctor")

    assert done.returncode == 0
    assert done.stdout.endswith("\nNo problems found.\n")
    assert f"  ✓ {trackside.database} does not exist yet; `trackside run` creates it\n" in done.stdout
    assert not trackside.database.exists()


def test_doctor_prints_problems_and_warnings_with_their_fix(trackside: Trackside):
    trackside.write("broken.py", "async def run(:\n")
    trackside.write(
        "needy.py",
        "config = [{'name': 'model', 'type': 'string', 'label': {'en_US': 'Model'}, 'required': True}]\n"
        "async def run(ctx):\n    yield {}\n",
    )
    path = trackside.write(
        "trackside.yaml",
        "runners: [broken.py, needy.py]\npython: /nowhere/python\nenv: [NO_SUCH_NAME]\n"
        "agents:\n  - {id: a, runner: echo}\n  - {id: b, runner: echo}\n",
    )
    trackside.database.write_text("no database at all" * 1_000)

    done = trackside("doctor")
    found = json.loads(trackside("doctor", "--json").stdout)

    assert done.returncode == 1
    assert (found["problems"], found["warnings"]) == (3, 3)
    assert done.stdout.endswith("\n3 problems found, 3 warnings.\n")
    for line in (
        f"  ✗ {trackside.folder / 'broken.py'}:1: SyntaxError: invalid syntax",
        "  ! needy  plugin:local/needy/default  project: model is required. Set it: --set model=…",
        "  ! env: NO_SUCH_NAME is not set, so no runner will see it. Set it, or remove it from `env`.",
        "  ! 2 agents handle message.received: a, b. Name one with --runner.",
        "  ✗ There is no Python interpreter at /nowhere/python. Name another one with `python:` in trackside.yaml, "
        "or --python.",
        f"  ✗ {trackside.database} is not a database. The file was not changed. Move it, or name another file "
        "with --db.",
    ):
        assert line in done.stdout.splitlines()

    path.write_text("agents: 5\n")
    invalid = trackside("doctor")
    assert f"  ✗ {path}:1: agents: must be a list" in invalid.stdout.splitlines()


@pytest.mark.parametrize(
    ("first", "second", "is_warned"),
    [
        ("", "scope: {bot: b1}", True),
        ("match: {thread_id: t*}", "scope: {bot: b1}", False),
        ("", "scope: {agent: b}", False),
    ],
)
def test_doctor_shows_scopes_and_warns_of_an_agent_that_handles_the_events_of_another(
    trackside: Trackside, first: str, second: str, is_warned: bool
):
    agents = f"agents:\n  - {{id: a, runner: echo, {first}}}\n  - {{id: b, runner: echo, {second}}}\n"
    trackside.write("trackside.yaml", agents)

    lines = trackside("doctor").stdout.splitlines()

    limits = "senders that name it" if "agent" in second else "bot b1"
    assert f"  ✓ b: echo, handles message.received ({limits})" in lines
    assert ("  ! 2 agents handle message.received: a, b. Name one with --runner." in lines) == is_warned


def test_doctor_names_the_line_of_a_syntax_error(trackside: Trackside):
    path = trackside.write("runners/half.py", "class Half\n    pass\n")
    trackside.write("trackside.yaml", "runners: [runners]\n")

    assert f"  ✗ {path}:1: SyntaxError: expected ':'" in trackside("doctor").stdout.splitlines()


def test_doctor_lists_other_processes_on_the_database(trackside: Trackside):
    host = trackside.start("run", "--runner", "chaos", "-m", "hang", "--jsonl")
    assert host.stdout is not None
    host.stdout.readline()

    while_it_lives = trackside("doctor").stdout
    host.kill()
    host.communicate()
    after = trackside("doctor")

    uses = rf"  ✓ process {host.pid} also uses this database \(1 run in progress, last activity .+ ago, "
    assert re.search(uses + rf"trackside {VERSION}\)", while_it_lives)
    assert (
        f"  ! process {host.pid} is gone and left 1 run in progress. "
        "The next `trackside run` closes every run that is left." in after.stdout
    )
    assert after.returncode == 0


def test_schema_has_the_keys_of_the_config(trackside: Trackside):
    schema = json.loads(trackside("schema").stdout)

    assert {"runners", "agents", "env", "python", "database"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False


def test_prune_asks_and_prints_what_it_deleted(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "hi")

    assert trackside.error("prune", "--older-than", "1d") == (
        "prune asks before it deletes, and there is no terminal to ask on. Add --yes."
    )
    assert trackside.error("prune", "--older-than", "soon") == (
        "Argument --older-than: must be an age, such as 30d (also s, m, h, w). See `trackside prune --help`."
    )
    kept = json.loads(trackside("prune", "--older-than", "1d", "--yes", "--json").stdout)
    gone = trackside("prune", "--older-than", "0s", "--yes").stdout

    assert (kept["deleted"]["runs"], kept["sessions"], kept["freed_bytes"]) == (0, [], 0)
    assert ": 1 run, 5 journal entries, " in gone
    assert " became free. The database " in gone
    assert trackside("runs").stdout == "No runs yet. Start one: trackside run\n"


def test_prune_without_an_age_says_what_it_needs(trackside: Trackside):
    for typed in (("prune",), ("prune", "--yes"), ("prune", "--dry-run")):
        assert trackside.error(*typed) == (
            "An age is missing, and without one nothing is deleted. "
            "`trackside prune --older-than 30d --dry-run` lists what is older than 30 days."
        )


def test_dry_run_lists_by_session_what_prune_then_deletes(trackside: Trackside):
    for session in ("one", "two"):
        trackside("run", "--runner", "echo", "-m", "hi", "--session", session)

    shown = trackside("prune", "--older-than", "0s", "--dry-run").stdout
    listed = json.loads(trackside("prune", "--older-than", "0s", "--dry-run", "--json").stdout)
    assert len(trackside("runs").stdout.splitlines()) >= 2, "nothing is deleted"
    deleted = json.loads(trackside("prune", "--older-than", "0s", "--yes", "--json").stdout)

    assert "  one  " in shown
    assert "2 runs, 10 journal entries, " in shown
    assert shown.endswith(" Nothing was deleted.\n")
    assert listed["dry_run"] is True
    assert [session["session_id"] for session in listed["sessions"]] == ["one", "two"]
    assert listed["sessions"][0]["data"]["journal"]["count"] == 5
    assert sum(session["bytes"] for session in listed["sessions"]) == listed["bytes"] > 0
    assert (deleted["deleted"], deleted["sessions"]) == (listed["deleted"], listed["sessions"])
    assert deleted["freed_bytes"] >= 0
    assert trackside("prune", "--older-than", "0s", "--dry-run").stdout.startswith("Older than ")


def test_unwritable_output_exits_1():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "console", "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert (done.returncode, "Cannot write the output" in done.stderr) == (1, True)
