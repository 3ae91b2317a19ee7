"""`trackside run --hold`: a held run, and what standard input wants done with it."""

import json
import os
import pty
import signal
import subprocess

from .conftest import Trackside, entries
from .stages import forecast

ALONE = "trackside: standard input is at its end, so the run is released wherever it is held.\n"
POSSIBLE = "Type one of: Enter or release, step, edit JSON, steer TEXT, stop, help. The run is still held.\n"


def answers(printed: str) -> list[str]:
    """What a run said."""
    journal = entries(printed)
    return [entry["data"]["message"]["content"] for entry in journal if entry["type"] == "message.completed"]


def test_the_answer_of_a_held_tool_is_edited_and_the_runner_goes_on_with_it(trackside: Trackside):
    project = forecast(trackside)
    typed = 'edit {"result": {"high_celsius": 3}}\nrelease\n'

    done = trackside("run", project, "-m", "hi", "--hold", "tool", "--jsonl", stdin=typed)
    told = trackside("run", project, "-m", "hi", "--hold", "tool", stdin=typed)

    journal = entries(done.stdout)
    held = [(entry["source"], entry["type"]) for entry in journal if entry["type"].startswith("hold.")]
    edited = next(entry["data"] for entry in journal if entry["type"] == "hold.edited")
    assert (done.returncode, done.stderr) == (0, "")
    assert answers(done.stdout) == ["3 degrees; heard []"]
    assert held == [
        ("person", "hold.armed"),
        ("host", "hold.reached"),
        ("person", "hold.edited"),
        ("person", "hold.released"),
    ]
    assert (edited["edit"], edited["editor"]) == ({"result": {"high_celsius": 3}}, "local")
    lines = told.stdout.splitlines()
    assert "  ‖ held  before call_tool  (tool)" in lines
    assert '  ‖ edit  {"result": {"high_celsius": 3}}' in lines
    assert any(line.startswith("  ▸ released  after ") for line in lines)
    assert (told.returncode, told.stderr) == (0, "")


def test_where_standard_input_ends_holds_are_released_so_that_no_script_hangs(trackside: Trackside):
    project = forecast(trackside)

    done = trackside("run", project, "-m", "hi", "--hold", "tool", "--hold", "pull", "--jsonl")
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *trackside.line("run", project, "-m", "hi", "--hold", "tool", "--jsonl")],
        env=trackside.environment, cwd=trackside.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

    types = [entry["type"] for entry in entries(done.stdout)]
    assert (done.returncode, done.stderr) == (0, ALONE)
    assert (types.count("hold.reached"), types.count("hold.released")) == (2, 2)
    assert answers(done.stdout) == ["19 degrees; heard []"]
    assert (closed.returncode, closed.stderr, answers(closed.stdout)) == (0, ALONE, ["19 degrees; heard []"])


def test_input_without_an_end_is_not_read_ahead(trackside: Trackside):
    line = trackside.line("run", forecast(trackside), "-m", "hi", "--hold", "tool", "--jsonl")

    done = subprocess.run(
        ["sh", "-c", 'yes step | "$@"', "sh", *line],
        env=trackside.environment, cwd=trackside.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

    reached = [entry["data"] for entry in entries(done.stdout) if entry["type"] == "hold.reached"]
    assert (done.returncode, done.stderr.replace("yes: standard output: Broken pipe\n", "")) == (0, "")
    assert [(one["when"], one["stage"], one.get("action") or one["type"]) for one in reached] == [
        ("tool", "before", "call_tool"),
        ("step", "reply", "call_tool"),
        ("step", "before", "steering_pull"),
        ("step", "result", "message.completed"),
        ("step", "result", "run.completed"),
    ]


def test_a_line_that_cannot_be_done_says_what_is_possible_and_the_run_stays_held(trackside: Trackside):
    lines = ("dance", "release now", "edit", "edit {", "edit 5", "steer", "release")

    done = trackside("run", forecast(trackside), "-m", "hi", "--hold", "tool", "--jsonl", stdin="\n".join(lines) + "\n")

    assert (done.returncode, answers(done.stdout)) == (0, ["19 degrees; heard []"])
    assert done.stderr == (
        f"trackside: 'dance' cannot be done. {POSSIBLE}"
        f"trackside: 'release now' cannot be done. {POSSIBLE}"
        f"trackside: 'edit' cannot be done. {POSSIBLE}"
        "trackside: behind edit stands the answer as JSON, on one line: Expecting property name enclosed in double "
        "quotes: line 1 column 2 (char 1). The run is still held.\n"
        "trackside: the answer of call_tool must be a JSON object, not int. The call is still held.\n"
        f"trackside: 'steer' cannot be done. {POSSIBLE}"
    )


def test_what_is_said_while_the_run_is_held_is_in_its_pull(trackside: Trackside):
    typed = "steer in Kelvin\nrelease\n"

    done = trackside("run", forecast(trackside), "-m", "hi", "--hold", "pull", stdin=typed)

    assert (done.returncode, done.stderr) == (0, "")
    assert "  ▲ steer  in Kelvin  queued\n" in done.stdout
    assert "  ▼ steer  in Kelvin  injected at turn 2\n" in done.stdout
    assert "19 degrees; heard ['in Kelvin']" in done.stdout


def test_what_the_run_ended_without_pulling_is_told_and_given_back(trackside: Trackside):
    typed = "steer too late\nrelease\n"

    done = trackside("run", forecast(trackside), "-m", "hi", "--hold", "message.completed", stdin=typed)

    assert done.returncode == 0
    assert "  ✗ steer  too late  dropped: run completed before it pulled\n" in done.stdout
    assert done.stderr == "trackside: not delivered: too late (run completed before it pulled)\n"


def test_stop_cancels_a_held_run_and_what_was_to_come_after_it_comes(trackside: Trackside):
    typed = ("run", forecast(trackside), "-m", "one", "--hold", "tool", "--after", "two", "--jsonl")

    done = trackside(*typed, stdin="stop\n\n")

    journal = entries(done.stdout)
    ends = [entry["data"]["status"] for entry in journal if entry["type"] == "run.finished"]
    assert (done.returncode, ends, done.stderr) == (4, ["cancelled", "completed"], "")
    assert answers(done.stdout) == ["19 degrees; heard []"]


def test_only_the_nth_is_held_where_that_is_wanted(trackside: Trackside):
    done = trackside("run", forecast(trackside), "-m", "hi", "--hold", "tool#2", "--jsonl", stdin="dance\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert "hold.reached" not in {entry["type"] for entry in entries(done.stdout)}


def test_a_point_that_there_is_not_and_an_input_that_is_taken_are_refused(trackside: Trackside):
    project = forecast(trackside)
    taken = "--hold reads from standard input what to do, so the message or event cannot come from there."

    assert trackside.error("run", project, "-m", "hi", "--hold", "tol").startswith(
        "'tol' is no point to hold at. Did you mean tool? Possible: pull; a group of calls (model, tool, "
    )
    assert trackside.error("run", project, "-m", "-", "--hold", "tool") == taken
    assert trackside.error("run", project, "--event", "-", "--hold", "tool") == taken
    assert trackside("runs").stdout == "No runs yet: `trackside run` starts one.\n"


def test_an_interrupt_ends_a_run_that_is_held(trackside: Trackside):
    process = subprocess.Popen(
        trackside.line("run", forecast(trackside), "-m", "hi", "--hold", "tool", "--jsonl"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=trackside.environment, cwd=trackside.folder, encoding="utf-8",
    )  # fmt: skip
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["type"] != "hold.reached":
        pass
    process.send_signal(signal.SIGINT)
    # Its input stays open: nobody has left, and the command ends all the same.
    rest = process.stdout.read()
    code = process.wait(timeout=30)
    _, complaint = process.communicate()

    assert (code, complaint) == (130, "")
    assert entries(rest)[-1]["data"]["status"] == "cancelled"


def test_on_a_terminal_what_is_held_is_shown_with_a_prompt(trackside: Trackside):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        trackside.line("run", forecast(trackside), "-m", "hi", "--hold", "tool"),
        stdin=theirs, stdout=theirs, stderr=theirs, env=trackside.environment | {"NO_COLOR": "1"}, cwd=trackside.folder,
    )  # fmt: skip
    os.close(theirs)
    seen = ""
    try:
        for line in ("help", "step", 'edit {"result": {"high_celsius": 4}}', "release", None):
            piece = _read(ours, "held> " if line else None)
            seen += piece
            if line is not None:
                os.write(ours, f"{line}\n".encode())
    finally:
        os.close(ours)

    shown = seen.replace("\r\n", "\n")
    assert process.wait(timeout=30) == 0
    assert shown.count("held> ") == 4
    assert shown.count("    type: Enter or release, step, edit JSON, steer TEXT, stop, help\n") == 1
    call = '    call_tool {"tool_name": "weather", "parameters": {"city": "Kyoto"}}\n'
    assert f"  ‖ held  before call_tool  (tool)\n{call}" in shown
    assert "  edit JSON        answer this call yourself" in shown
    assert (
        f'  ‖ held  the reply of call_tool  (step)\n{call}    its reply: {{"result": {{"high_celsius": 19}}}}\n'
        in shown
    )
    assert '    goes instead: {"result": {"high_celsius": 4}}\nheld> ' in shown
    assert "4 degrees; heard []" in shown


def _read(terminal: int, until: str | None) -> str:
    """What the command writes up to its prompt, or to its end."""
    seen = b""
    while until is None or not seen.endswith(until.encode()):
        try:
            piece = os.read(terminal, 4_096)
        except OSError:  # the other side is closed
            piece = b""
        if not piece:
            break
        seen += piece
    return seen.decode()
