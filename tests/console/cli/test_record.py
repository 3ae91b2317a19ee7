"""`trackside record`: results on standard input become a run, with the exit codes of `trackside run`."""

import json
import signal
import subprocess
from typing import Any

import pytest

from tests.support.commands import Trackside, entries


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
    assert trackside("show", "last", "--jsonl").stdout == done.stdout


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


def test_a_deadline_and_a_stop_end_the_command_while_its_input_is_open(trackside: Trackside):
    late = trackside.start("record", *ECHO, "--timeout", "0.2", stdin=subprocess.PIPE)
    assert late.wait(60) == 3

    stopped = trackside.start("record", *ECHO, "--session", "s", "--jsonl", stdin=subprocess.PIPE)
    run_id = json.loads(stopped.stdout.readline())["run_id"]
    assert trackside("stop", run_id, "--wait", "30").returncode == 0
    assert stopped.wait(60) == 4

    interrupted = trackside.start("record", *ECHO, "--jsonl", stdin=subprocess.PIPE)
    interrupted.stdout.readline()
    interrupted.send_signal(signal.SIGINT)
    assert interrupted.wait(60) == 130
    assert trackside("runs", "--json").stdout.count('"status": "cancelled"') == 2


def test_a_busy_session_is_refused_at_once(trackside: Trackside):
    first = trackside.start("record", *ECHO, "--session", "s", "--jsonl", stdin=subprocess.PIPE)
    run_id = json.loads(first.stdout.readline())["run_id"]

    assert trackside.error("record", *ECHO, "--session", "s", stdin=lines(DONE)) == (
        f"Session s is busy with run {run_id}; wait for it or stop it."
    )
    first.stdin.write(lines(DONE))
    first.stdin.close()
    assert first.wait(60) == 0


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["--runner", "echo"], "One of the arguments -m/--message --event is required. See `trackside record --help`."),
        (["-m", "-"], "Standard input has the results, so the message or event cannot come from there."),
        (["--event", "-"], "Standard input has the results, so the message or event cannot come from there."),
        (["--runner", "nobody", "-m", "x"], None),
    ],
)
def test_wrong_usage_names_the_fix(trackside: Trackside, typed: list[str], words: str | None):
    message = trackside.error("record", *typed)

    assert words is None or message == words
