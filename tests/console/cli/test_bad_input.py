"""Wrong input gives one line that says what to do, exit code 2, and no traceback of Trackside."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from console.cli.main import RESERVED
from engine.store.tables import SCHEMA_VERSION
from tests.support.commands import Trackside, after_header, entries

BUNDLED = ", ".join(f"plugin:trackside/{name}/default" for name in ("chaos", "echo", "prober", "rehearsal"))
TWO_AGENTS = """
agents:
  - {id: first, runner: echo}
  - {id: second, runner: echo}
"""
FULL = """
import sqlite3, sys
connect = sqlite3.connect
def connect_small(*args, **options):
    driver = connect(*args, **options)
    driver.execute("PRAGMA max_page_count = 260")
    return driver
sqlite3.connect = sqlite3.dbapi2.connect = connect_small
from console.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs the command on a database that cannot grow, so that SQLite reports a full disk."""


def test_unknown_target_is_refused(trackside: Trackside):
    assert trackside.error("run", "nowhere.py", "-m", "hi") == (
        "No such file or folder: nowhere.py. Name a runner file (.py), a plugin folder (with manifest.yaml) "
        "or a project folder (with trackside.yaml)."
    )


def test_unknown_and_ambiguous_runner_are_refused(trackside: Trackside):
    assert trackside.error("run", "--runner", "nobody", "-m", "hi") == f"No runner called 'nobody'. Found: {BUNDLED}."
    assert trackside.error("run", "--runner", "default", "-m", "hi") == (
        f"'default' could be any of {BUNDLED}. Name one by its whole id."
    )


def test_file_with_two_runners_or_none_is_refused(trackside: Trackside):
    two = "class {}:\n    async def run(self, ctx):\n        yield\n"
    trackside.write("two.py", two.format("One") + two.format("Two"))
    none = trackside.write("none.py", "x = 1\n")

    assert trackside.error("run", "two.py", "-m", "hi") == (
        "There are 2 runners: plugin:local/two/One, plugin:local/two/Two. Name one with --runner."
    )
    assert trackside.error("run", "none.py", "-m", "hi") == (
        f"{none}: the file has no runner. Add `async def run(ctx)`, or a class derived from AgentRunner "
        "with `async def run(self, ctx)`"
    )


def test_two_agents_for_one_event_need_runner_option(trackside: Trackside):
    trackside.write("trackside.yaml", TWO_AGENTS)

    assert trackside.error("run", "-m", "hi") == (
        "2 agents handle message.received: first (plugin:trackside/echo/default), "
        "second (plugin:trackside/echo/default). Name one with --runner."
    )
    assert trackside("run", "-m", "hi", "--runner", "second").returncode == 0


def test_yaml_error_names_its_line(trackside: Trackside):
    path = trackside.write("trackside.yaml", "agents:\n  - id: a\n    runner: [echo\n")

    message = trackside.error("run", "-m", "hi")

    assert message == f"{path}:4: not YAML: while parsing a flow sequence did not find expected ',' or ']'"


def test_wrong_type_in_config_names_line_and_key(trackside: Trackside):
    path = trackside.write("trackside.yaml", "agents:\n  - id: a\n    runner: echo\n    enabled: perhaps\n")
    assert trackside.error("run", "-m", "hi") == f"{path}:4: agents[0].enabled: must be true or false"

    path.write_text("agents:\n  - id: a\n    runner: rehearsal\n    config:\n      pace: fast\n")
    assert trackside.error("run", "-m", "hi") == f"{path}:5: agents[0].config.pace: must be a number, not text"


def test_wrong_options_are_refused(trackside: Trackside):
    cases = {
        ("--set", "pace"): "Argument --set: must be key=value, such as --set pace=0.5",
        (
            "--timeout",
            "soon",
        ): "Argument --timeout: must be a number of seconds, such as 30 or 2.5 (0 means no deadline)",
        ("--env", "KEY=secret-1"): (
            "Argument --env: must be the name of a variable; its value is taken from the environment"
        ),
        ("-m", "hi", "--event", "e.json"): "Argument --event: not allowed with argument -m/--message",
        ("--frobnicate",): "Unrecognized arguments: --frobnicate",
    }
    for typed, words in cases.items():
        program = "trackside" if "--frobnicate" in typed else "trackside run"
        assert trackside.error("run", *typed) == f"{words}. See `{program} --help`."
    assert trackside.error("run", "--set", "pace=fast") == (
        "Config of plugin:trackside/rehearsal/default: pace must be a number, not text."
    )
    assert trackside.error("run", "--env", "NO_SUCH_NAME") == (
        "--env NO_SUCH_NAME: the variable is not set. Set it, or leave the option out."
    )
    assert trackside.error("run", "--session", "a\nb") == (
        "--session must be 1 to 255 characters, without line breaks or other control characters."
    )
    assert trackside.error("run", "--runner", "echo") == (
        "The runner needs a message or an event. Add -m TEXT (-m - reads standard input), or --event FILE."
    )


def test_invalid_event_files_are_refused(trackside: Trackside):
    trackside.write("text.json", '{"event_type": ')
    trackside.write("kind.json", '{"event_type": "message.sent"}')
    trackside.write("half.json", r'{"event_type": "api.invoked", "data": {"half": "\ud800"}}')
    trackside.write("deep.json", '{"event_type": "api.invoked", "data": {"deep": ' + "[" * 5_000 + "]" * 5_000 + "}}")

    assert trackside.error("run", "--event", "none.json") == (
        "--event none.json cannot be read: No such file or directory. Name another file, or - for standard input."
    )
    assert trackside.error("run", "--event", "text.json").startswith("text.json: Expecting value: line 1 column")
    assert trackside.error("run", "--event", "kind.json").startswith("kind.json: event_type: ")
    assert trackside.error("run", "--event", "half.json") == (
        "half.json: str is not valid UTF-8: surrogates not allowed"
    )
    assert trackside.error("run", "--event", "deep.json").startswith("deep.json: maximum recursion depth exceeded")


def test_unknown_command_is_refused(trackside: Trackside):
    file = trackside.write("mine.py", "")

    assert trackside.error("dance") == (
        "No command and no file called 'dance'. Commands: run, record, runs, show, receipts, steer, stop, sessions, "
        "transcript, search, state, artifacts, doctor, new, schema, keys, prune, backup."
    )
    no_terminal = "The console needs a terminal. `trackside run` works without one."
    assert trackside.error(str(file)) == trackside.error("-c") == no_terminal


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_command_is_refused_also_if_a_folder_has_its_name(trackside: Trackside, name: str):
    (trackside.folder / name).mkdir()

    message = trackside.error(name)

    assert message.startswith(f"The command {name!r} does not exist yet in this version.")
    assert message.endswith(f" To open a file or folder of that name: trackside ./{name}")
    assert ("trackside sessions fork SESSION" in message) == (name == "fork")


def test_command_wins_over_a_folder_of_its_name_and_its_error_names_the_path(trackside: Trackside):
    (trackside.folder / "stop").mkdir()
    trackside.write("runs", "")

    required = "Name one RUN, or use --stale without one. See `trackside stop --help`."
    assert trackside.error("stop") == f"{required} 'stop' is a command; to open the folder: trackside ./stop"
    assert trackside.error("runs", "x") == (
        "Unrecognized arguments: x. See `trackside --help`. 'runs' is a command; to open the file: trackside ./runs"
    )
    assert trackside.error("./stop") == "The console needs a terminal. `trackside run` works without one."


def test_missing_interpreter_is_reported(trackside: Trackside):
    words = (
        "There is no interpreter at /nowhere/python. Name another one with --python, or `python:` in trackside.yaml."
    )

    assert trackside.error("run", "--python", "/nowhere/python") == words
    assert trackside.error("run", "--python", "/nowhere/python", "--jsonl") == words


def test_interpreter_without_pydantic_is_reported_with_pip_line(trackside: Trackside):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", trackside.folder / "bare"], check=True)
    python = trackside.folder / "bare" / "bin" / "python"

    assert trackside.error("run", "--python", "bare/bin/python") == (
        f"{python} has no pydantic 2, which runners need. Install it: {python} -m pip install 'pydantic>=2.10,<3'"
    )


def test_runner_that_does_not_import_shows_its_traceback(trackside: Trackside):
    path = trackside.write("broken.py", "import no_such_module\n\nasync def run(ctx):\n    yield {}\n")

    done = trackside("run", "broken.py", "-m", "hi")

    assert done.returncode == 2
    assert f'  │   File "{path}", line 1, in <module>\n  │     import no_such_module\n' in done.stdout
    assert "· runner.not_loaded: ModuleNotFoundError: No module named 'no_such_module'" in done.stdout
    assert done.stderr == (
        f"trackside: {path} does not load: ModuleNotFoundError: No module named 'no_such_module'. "
        "Fix it, or name an interpreter that has its dependencies with --python.\n"
    )


def test_missing_database_and_other_file_are_refused(trackside: Trackside):
    path = trackside.database
    assert trackside.error("runs") == (
        f"There is no database at {path}. `trackside run` creates one; or name another file with --db."
    )
    path.write_text("This is a letter to my aunt, and by no means a database." * 100)
    assert trackside.error("run") == (
        f"{path} is not a database. The file was not changed. Move it, or name another file with --db."
    )
    assert path.read_text().startswith("This is a letter")


@pytest.fixture
def with_run(trackside: Trackside) -> Trackside:
    """A database with one run."""
    assert trackside("run", "--runner", "echo", "-m", "hi").returncode == 0
    return trackside


def test_locked_database_is_refused_for_runs_and_readable(with_run: Trackside):
    holder = sqlite3.connect(with_run.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        message = with_run.error("run", "--runner", "echo", "-m", "hi")
        assert with_run("runs").returncode == 0
    finally:
        holder.close()

    assert message == (
        f"{with_run.database} is locked by another process. Wait for it or end it, then try again; "
        "or name another file with --db."
    )


def test_newer_and_damaged_database_are_refused(with_run: Trackside):
    path = with_run.database
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    for command in ("run", "runs"):
        assert with_run.error(command) == (
            f"{path} was written by a newer Trackside (schema 9999, this one knows {SCHEMA_VERSION}). "
            "Upgrade Trackside, or name another file with --db."
        )
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xee" * (len(whole) - 4096))
    assert with_run.error("run") == (
        f"{path} is damaged (database disk image is malformed). Copy it, try `sqlite3 {path} .recover` on the copy, "
        "or name another file with --db."
    )


def test_read_only_database_is_refused_for_runs_and_readable(with_run: Trackside):
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root can write every file, and there is no setpriv to drop that right")
    without = ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if os.geteuid() == 0 else ()
    with_run.database.chmod(0o444)

    message = with_run.error("run", "--runner", "echo", "-m", "hi", within=without)

    assert message == (
        f"{with_run.database} cannot be written. Make the file and its folder writable for you, "
        "or name another file with --db."
    )
    assert "echo" in with_run("runs", within=without).stdout


def _no_space(path: Path) -> str:
    return (
        f"No space is left for {path}. Free some space (`trackside prune` helps), or name a file elsewhere with --db. "
        "Everything recorded before is safe."
    )


def test_full_disk_loses_no_printed_entry(with_run: Trackside):
    typed = ["run", "--db", str(with_run.database), "--runner", "chaos", "-m", "flood forever", "--jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", FULL, *typed],
        env=with_run.environment, cwd=with_run.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

    printed = entries(done.stdout)
    again = with_run("show", printed[0]["run_id"], "--jsonl").stdout
    assert done.returncode == 1
    assert done.stderr == f"trackside: {_no_space(with_run.database)}\n"
    assert after_header(again).startswith(done.stdout)
    assert with_run("run", "--runner", "echo", "-m", "hi").returncode == 0
    # The last entry may not fit; then the next host writes it.
    end = entries(with_run("show", printed[0]["run_id"], "--jsonl").stdout)[-1]
    assert (end["type"], end["data"]["status"]) == ("run.finished", "failed")
    assert end["data"]["reason"] in ("storage.failed", "host_restarted")


def test_disk_that_is_full_at_the_start_is_reported(trackside: Trackside):
    disk = trackside.folder / "disk"
    disk.mkdir()
    mount = ("unshare", "--map-root-user", "--mount", "sh", "-c")
    ours = f'mount -t tmpfs -o size=64k tmpfs "{disk}"'
    if shutil.which("unshare") is None or subprocess.run([*mount, ours], capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")

    message = trackside.error("run", db=disk / "facts.db", within=(*mount, ours + ' && exec "$@"', "sh"))

    assert message == _no_space(disk / "facts.db")


def test_deleted_working_folder_is_reported(trackside: Trackside):
    nowhere = ("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh")

    for command in ("runs", "run", "doctor"):
        assert trackside.error(command, within=nowhere) == (
            "The working folder no longer exists. Change to another folder: cd ~"
        )
