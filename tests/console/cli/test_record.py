"""`trackside record`: results on standard input become a run, with the exit codes of `trackside run`."""

import json
import signal
import subprocess
from typing import Any

import pytest

from tests.support.command_server import CommandProcess
from tests.support.commands import Trackside, after_header, entries
from tests.support.limits import MAX_WAIT_SECONDS


def lines(*results: dict[str, Any]) -> str:
    return "".join(json.dumps(result) + "\n" for result in results)


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}, **more}


DONE = {"type": "run.completed", "data": {"finish_reason": "stop"}}
ECHO = ("--runner", "echo", "-m", "Hi")


def test_results_become_a_run_that_is_shown_like_any_other(trackside: Trackside):
    given = lines(said("Hello", run_id="abc")) + "\n  \nno result\n" + json.dumps(DONE)

    done = trackside("record", *ECHO, "--session", "demo", "--run-id", "abc", stdin=given)

    assert (done.returncode, done.stderr) == (0, "session 'demo' is new.\n" if done.stderr else "")
    assert done.stdout.startswith("▸ echo  demo  run_")
    assert done.stdout.splitlines()[0].endswith("  executed elsewhere")
    assert "\n\nHello\n" in done.stdout
    assert "✓ completed in " in done.stdout
    assert trackside("show", "last").stdout == done.stdout
    assert [line for line in trackside("transcript", "demo").stdout.splitlines() if line in ("Hi", "Hello")] == [
        "Hi",
        "Hello",
    ]
    journal = entries(trackside("show", "last", "--jsonl").stdout)
    assert [entry["type"] for entry in journal] == [
        "run.started",
        "message.completed",
        "result.unreadable",
        "run.completed",
        "run.finished",
    ]


def test_jsonl_prints_the_entries_as_they_are_committed(trackside: Trackside):
    done = trackside("record", *ECHO, "--jsonl", stdin=lines(said("Hello"), DONE))

    assert [entry["type"] for entry in entries(done.stdout)][1:] == [
        "message.completed",
        "run.completed",
        "run.finished",
    ]
    assert after_header(trackside("show", "last", "--jsonl").stdout) == done.stdout


@pytest.mark.parametrize(
    ("results", "code", "error"),
    [
        ([{"type": "run.failed", "data": {"error": "no"}}], 1, ""),
        ([{"type": "run.failed", "data": {"error": "slow", "code": "runner.timeout"}}], 3, ""),
        ([{"type": "run.failed", "data": {"error": "enough", "code": "cancelled"}}], 4, ""),
        ([], 0, ""),
        (
            [said("x", run_id="abc")],
            1,
            "trackside: run_id 'abc' is not this run's. If it is the run's id elsewhere, name it with --run-id.\n",
        ),
    ],
)
def test_exit_code_is_that_of_the_run(trackside: Trackside, results: list, code: int, error: str):
    done = trackside("record", *ECHO, stdin=lines(*results))

    assert (done.returncode, done.stderr) == (code, error)


def start(trackside: Trackside, *typed: str) -> tuple[CommandProcess, str]:
    """Start to record a run whose input stays open. Returns the command and the id of the run."""
    process = trackside.start("record", *ECHO, *typed, "--jsonl", stdin=subprocess.PIPE)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())["run_id"]


def end(process: CommandProcess) -> int:
    """Wait until the command ends with its input still open. Returns its exit code."""
    code = process.wait(MAX_WAIT_SECONDS)
    process.communicate()
    return code


def test_a_deadline_a_stop_and_a_signal_end_the_command_while_its_input_is_open(trackside: Trackside):
    late, _ = start(trackside, "--timeout", "0.2")
    assert end(late) == 3

    stopped, run_id = start(trackside)
    assert trackside("stop", run_id).returncode == 0
    assert end(stopped) == 4

    interrupted, _ = start(trackside)
    interrupted.send_signal(signal.SIGINT)
    assert end(interrupted) == 130
    statuses = [run["status"] for run in json.loads(trackside("runs", "--json").stdout)]
    assert statuses == ["cancelled", "cancelled", "timeout"]


def test_a_busy_session_is_refused_at_once(trackside: Trackside):
    first, run_id = start(trackside, "--session", "s")

    assert trackside.error("record", *ECHO, "--session", "s", stdin=lines(DONE)) == (
        f"Session s is busy with run {run_id}; wait for it or stop it."
    )
    assert first.stdin is not None
    first.stdin.write(lines(DONE))
    first.stdin.flush()
    first.communicate()
    assert first.returncode == 0


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["--runner", "echo"], "The run needs the message that it answers. Add -m TEXT, or --event FILE."),
        (["-m", "-"], "Standard input has the results, so the message or event cannot come from there."),
        (["--event", "-"], "Standard input has the results, so the message or event cannot come from there."),
        (["--runner", "nobody", "-m", "x"], None),
    ],
)
def test_wrong_usage_names_the_fix(trackside: Trackside, typed: list[str], words: str | None):
    message = trackside.error("record", *typed)

    assert words is None or message == words
