"""What a person gets for bad input: one line that says what to do, exit code 2, and never a traceback of ours."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.facts.tables import SCHEMA_VERSION

from .conftest import Trackside, entries

BUNDLED = ", ".join(f"plugin:trackside/{name}/default" for name in ("chaos", "echo", "prober", "rehearsal"))
TWO_AGENTS = """
agents:
  - {id: first, runner: echo}
  - {id: second, runner: echo}
"""
FULL = """
import sqlite3, sys
connect = sqlite3.connect
def small(*given, **named):
    driver = connect(*given, **named)
    driver.execute("PRAGMA max_page_count = 260")
    return driver
sqlite3.connect = sqlite3.dbapi2.connect = small
from console.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""The command on a database that cannot grow: SQLite itself says that the disk is full."""


def test_an_unknown_target(trackside: Trackside):
    assert trackside.error("run", "nowhere.py", "-m", "hi") == (
        "no such file or folder: nowhere.py. Name a runner file (.py), a plugin folder (with manifest.yaml) "
        "or a project folder (with trackside.yaml)."
    )


def test_an_unknown_and_an_ambiguous_runner(trackside: Trackside):
    assert trackside.error("run", "--runner", "nobody", "-m", "hi") == f"no runner called 'nobody'. Found: {BUNDLED}."
    assert trackside.error("run", "--runner", "default", "-m", "hi") == (
        f"'default' could be any of {BUNDLED}. Name one by its whole id."
    )


def test_a_file_with_two_runners_or_none(trackside: Trackside):
    two = "class {}:\n    async def run(self, ctx):\n        yield\n"
    trackside.write("two.py", two.format("One") + two.format("Two"))
    none = trackside.write("none.py", "x = 1\n")

    assert trackside.error("run", "two.py", "-m", "hi") == (
        "there are 2 runners: plugin:local/two/One, plugin:local/two/Two. Name one with --runner."
    )
    assert trackside.error("run", "none.py", "-m", "hi") == (
        f"{none}: no runner in it. It needs `async def run(ctx)`, or a class derived from AgentRunner "
        "with `async def run(self, ctx)`"
    )


def test_an_ambiguous_binding_and_one_that_is_named(trackside: Trackside):
    trackside.write("trackside.yaml", TWO_AGENTS)

    assert trackside.error("run", "-m", "hi") == (
        "2 agents take message.received: first (plugin:trackside/echo/default), "
        "second (plugin:trackside/echo/default). Name one with --runner."
    )
    assert trackside("run", "-m", "hi", "--runner", "second").returncode == 0


def test_bad_yaml_names_its_line(trackside: Trackside):
    path = trackside.write("trackside.yaml", "agents:\n  - id: a\n    runner: [echo\n")

    message = trackside.error("run", "-m", "hi")

    assert message == f"{path}:4: not YAML: while parsing a flow sequence did not find expected ',' or ']'"


def test_a_wrong_type_in_the_config_names_its_path(trackside: Trackside):
    path = trackside.write("trackside.yaml", "agents:\n  - id: a\n    runner: echo\n    enabled: perhaps\n")
    assert trackside.error("run", "-m", "hi") == f"{path}:4: agents[0].enabled: must be true or false"

    path.write_text("agents:\n  - id: a\n    runner: rehearsal\n    config:\n      pace: fast\n")
    assert trackside.error("run", "-m", "hi") == f"{path}:5: agents[0].config.pace: must be a number, not text"


def test_bad_options(trackside: Trackside):
    cases = {
        ("--set", "pace"): "argument --set: wants key=value, as in --set pace=0.5",
        ("--timeout", "soon"): "argument --timeout: wants seconds, as in 30 or 2.5 (0 means no deadline)",
        ("--env", "KEY=secret-1"): (
            "argument --env: wants the name of a variable alone; its value is taken from the environment"
        ),
        ("-m", "hi", "--event", "e.json"): "argument --event: not allowed with argument -m/--message",
        ("--frobnicate",): "unrecognized arguments: --frobnicate",
    }
    for typed, words in cases.items():
        program = "trackside" if "--frobnicate" in typed else "trackside run"
        assert trackside.error("run", *typed) == f"{words}. `{program} --help` shows how."
    assert trackside.error("run", "--set", "pace=fast") == (
        "config of plugin:trackside/rehearsal/default: pace must be a number, not text."
    )
    assert trackside.error("run", "--env", "NO_SUCH_NAME") == (
        "--env NO_SUCH_NAME: the variable is not set. Set it, or leave the option out."
    )
    assert trackside.error("run", "--session", "a b") == (
        "--session wants 1 to 128 letters, digits or any of . _ : - (no spaces)."
    )
    assert trackside.error("run", "--runner", "echo") == (
        "there is nothing to say to the runner. Add -m TEXT (-m - reads standard input), or --event FILE."
    )


def test_bad_events(trackside: Trackside):
    trackside.write("text.json", '{"event_type": ')
    trackside.write("kind.json", '{"event_type": "message.sent"}')
    trackside.write("half.json", r'{"event_type": "api.invoked", "data": {"half": "\ud800"}}')
    trackside.write("deep.json", '{"event_type": "api.invoked", "data": {"deep": ' + "[" * 5_000 + "]" * 5_000 + "}}")

    assert trackside.error("run", "--event", "none.json") == "--event none.json: No such file or directory."
    assert trackside.error("run", "--event", "text.json").startswith("text.json: Expecting value: line 1 column")
    assert trackside.error("run", "--event", "kind.json").startswith("kind.json: event_type: ")
    assert trackside.error("run", "--event", "half.json") == (
        "half.json: str is not valid UTF-8: surrogates not allowed"
    )
    assert trackside.error("run", "--event", "deep.json").startswith("deep.json: maximum recursion depth exceeded")


def test_an_unknown_command(trackside: Trackside):
    file = trackside.write("mine.py", "")

    assert trackside.error("dance") == (
        "no command and no file called 'dance'. Commands: run, runs, show, steering, cancel, sessions, fork, "
        "transcript, search, state, artifacts, doctor, new, schema, keys, prune."
    )
    no_terminal = "there is no terminal here to draw on. `trackside run` does the same without one."
    assert trackside.error(str(file)) == trackside.error("-c") == no_terminal


def test_a_missing_interpreter(trackside: Trackside):
    words = (
        "There is no interpreter at /nowhere/python. Name another one with --python, or `python:` in trackside.yaml."
    )

    assert trackside.error("run", "--python", "/nowhere/python") == words
    assert trackside.error("run", "--python", "/nowhere/python", "--jsonl") == words


def test_an_interpreter_without_pydantic(trackside: Trackside):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", trackside.folder / "bare"], check=True)
    python = trackside.folder / "bare" / "bin" / "python"

    assert trackside.error("run", "--python", "bare/bin/python") == (
        f"{python} has no pydantic 2, which runners need. Install it: {python} -m pip install 'pydantic>=2.10,<3'"
    )


def test_a_file_that_does_not_import_shows_its_traceback(trackside: Trackside):
    path = trackside.write("broken.py", "import no_such_module\n\nasync def run(ctx):\n    yield {}\n")

    done = trackside("run", "broken.py", "-m", "hi")

    assert done.returncode == 2
    assert f'  │   File "{path}", line 1, in <module>\n  │     import no_such_module\n' in done.stdout
    assert "· runner.not_loaded: ModuleNotFoundError: No module named 'no_such_module'" in done.stdout
    assert done.stderr == (
        f"trackside: {path} does not load: ModuleNotFoundError: No module named 'no_such_module'. "
        "Mend it, or name an interpreter that has what it needs with --python.\n"
    )


def test_a_database_that_is_not_there_or_not_one(trackside: Trackside):
    path = trackside.database
    assert trackside.error("runs") == (
        f"there is no database at {path}. `trackside run` makes one; or name another file with --db."
    )
    path.write_text("This is a letter to my aunt, and by no means a database." * 100)
    assert trackside.error("run") == (
        f"{path} is not a database. It was left as it is; move it away, or name another file with --db."
    )
    assert path.read_text().startswith("This is a letter")


@pytest.fixture
def used(trackside: Trackside) -> Trackside:
    """With a database that holds one run."""
    assert trackside("run", "--runner", "echo", "-m", "hi").returncode == 0
    return trackside


def test_a_locked_database(used: Trackside):
    holder = sqlite3.connect(used.database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        message = used.error("run", "--runner", "echo", "-m", "hi")
        assert used("runs").returncode == 0
    finally:
        holder.close()

    assert message == (
        f"{used.database} is locked by another process. Wait for it or end it, then try again; "
        "or name another file with --db."
    )


def test_a_newer_and_a_damaged_database(used: Trackside):
    path = used.database
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    for command in ("run", "runs"):
        assert used.error(command) == (
            f"{path} was written by a newer Trackside (schema 9999, this one knows {SCHEMA_VERSION}). "
            "Upgrade trackside, or name another file with --db."
        )
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xee" * (len(whole) - 4096))
    assert used.error("run") == (
        f"{path} is damaged (database disk image is malformed). Copy it, try `sqlite3 {path} .recover` on the copy, "
        "or name another file with --db."
    )


def test_a_read_only_database(used: Trackside):
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may write anything, and there is no setpriv to give that up")
    without = ("setpriv", "--inh-caps=-all", "--bounding-set=-all") if os.geteuid() == 0 else ()
    used.database.chmod(0o444)

    message = used.error("run", "--runner", "echo", "-m", "hi", within=without)

    assert message == (
        f"{used.database} cannot be written. Make the file and its folder writable for you, "
        "or name another file with --db."
    )
    assert "echo" in used("runs", within=without).stdout


def _no_space(path: Path) -> str:
    return (
        f"no space is left for {path}. Free some space (`trackside prune` helps), or name a file elsewhere with --db. "
        "What was told as recorded is still there."
    )


def test_a_full_disk_loses_nothing_that_was_told(used: Trackside):
    typed = ["run", "--db", str(used.database), "--runner", "chaos", "-m", "flood forever", "--jsonl"]
    done = subprocess.run(
        [sys.executable, "-c", FULL, *typed],
        env=used.environment, cwd=used.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

    told = entries(done.stdout)
    again = used("show", told[0]["run_id"], "--jsonl").stdout
    assert done.returncode == 1
    assert done.stderr == f"trackside: {_no_space(used.database)}\n"
    assert again.startswith(done.stdout)
    assert used("run", "--runner", "echo", "-m", "hi").returncode == 0
    # Whether there is room for the end itself is a matter of bytes; if not, the next host writes it.
    end = entries(used("show", told[0]["run_id"], "--jsonl").stdout)[-1]
    assert (end["type"], end["data"]["status"]) == ("run.finished", "failed")
    assert end["data"]["reason"] in ("storage.failed", "host_restarted")


def test_a_disk_that_is_full_from_the_start(trackside: Trackside):
    disk = trackside.folder / "disk"
    disk.mkdir()
    mount = ("unshare", "--map-root-user", "--mount", "sh", "-c")
    ours = f'mount -t tmpfs -o size=64k tmpfs "{disk}"'
    if shutil.which("unshare") is None or subprocess.run([*mount, ours], capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")

    message = trackside.error("run", db=disk / "facts.db", within=(*mount, ours + ' && exec "$@"', "sh"))

    assert message == _no_space(disk / "facts.db")


def test_a_working_folder_that_is_gone(trackside: Trackside):
    nowhere = ("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh")

    for command in ("runs", "run", "doctor"):
        assert trackside.error(command, within=nowhere) == (
            "the working folder does not exist any more. Go to one that does: cd ~"
        )
