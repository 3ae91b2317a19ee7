"""`trackside run --break`: a paused run and the commands on standard input."""

import json
import os
import pty
import signal
import subprocess

from tests.support.commands import Trackside, entries
from tests.support.steerable_runners import forecast

INPUT_ENDED = "trackside: Standard input has ended, so the run continues at every breakpoint.\n"
COMMANDS = "Type one of: Enter or continue, step, edit JSON, steer TEXT, stop, help. The run is still paused.\n"


def answers(printed: str) -> list[str]:
    """Return the messages of a run."""
    journal = entries(printed)
    return [entry["data"]["message"]["content"] for entry in journal if entry["type"] == "message.completed"]


def test_edited_reply_of_paused_tool_call_reaches_the_runner(trackside: Trackside):
    project = forecast(trackside)
    typed = 'edit {"result": {"high_celsius": 3}}\ncontinue\n'

    done = trackside("run", project, "-m", "hi", "--break", "tool", "--jsonl", stdin=typed)
    printed = trackside("run", project, "-m", "hi", "--break", "tool", stdin=typed)

    journal = entries(done.stdout)
    pauses = [
        (entry["source"], entry["type"]) for entry in journal if entry["type"].startswith(("breakpoint.", "pause."))
    ]
    edited = next(entry["data"] for entry in journal if entry["type"] == "pause.edited")
    assert (done.returncode, done.stderr) == (0, "")
    assert answers(done.stdout) == ["3 degrees; heard []"]
    assert pauses == [
        ("user", "breakpoint.set"),
        ("host", "pause.started"),
        ("user", "pause.edited"),
        ("user", "pause.ended"),
    ]
    assert (edited["edit"], edited["editor"]) == ({"result": {"high_celsius": 3}}, "local")
    lines = printed.stdout.splitlines()
    assert "  ‖ paused  before call_tool  (tool)" in lines
    assert '  ‖ edit  {"result": {"high_celsius": 3}}' in lines
    assert any(line.startswith("  ▸ continued  after ") for line in lines)
    assert (printed.returncode, printed.stderr) == (0, "")


def test_run_continues_at_end_of_standard_input(trackside: Trackside):
    project = forecast(trackside)

    done = trackside("run", project, "-m", "hi", "--break", "tool", "--break", "steering", "--jsonl")
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *trackside.line("run", project, "-m", "hi", "--break", "tool", "--jsonl")],
        env=trackside.environment, cwd=trackside.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

    types = [entry["type"] for entry in entries(done.stdout)]
    assert (done.returncode, done.stderr) == (0, INPUT_ENDED)
    assert (types.count("pause.started"), types.count("pause.ended")) == (2, 2)
    assert answers(done.stdout) == ["19 degrees; heard []"]
    assert (closed.returncode, closed.stderr, answers(closed.stdout)) == (0, INPUT_ENDED, ["19 degrees; heard []"])


def test_endless_input_is_not_read_ahead(trackside: Trackside):
    line = trackside.line("run", forecast(trackside), "-m", "hi", "--break", "tool", "--jsonl")

    done = subprocess.run(
        ["sh", "-c", 'yes step | "$@"', "sh", *line],
        env=trackside.environment, cwd=trackside.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

    reached = [entry["data"] for entry in entries(done.stdout) if entry["type"] == "pause.started"]
    assert (done.returncode, done.stderr.replace("yes: standard output: Broken pipe\n", "")) == (0, "")
    assert [(one["when"], one["stage"], one.get("action") or one["type"]) for one in reached] == [
        ("tool", "before", "call_tool"),
        ("step", "reply", "call_tool"),
        ("step", "before", "steering_pull"),
        ("step", "result", "message.completed"),
        ("step", "result", "run.completed"),
    ]


def test_invalid_prompt_command_lists_the_commands_and_the_run_stays_paused(trackside: Trackside):
    lines = ("dance", "continue now", "edit", "edit {", "edit 5", "steer", "continue")

    done = trackside(
        "run", forecast(trackside), "-m", "hi", "--break", "tool", "--jsonl", stdin="\n".join(lines) + "\n"
    )

    assert (done.returncode, answers(done.stdout)) == (0, ["19 degrees; heard []"])
    assert done.stderr == (
        f"trackside: 'dance' is not a command. {COMMANDS}"
        f"trackside: 'continue now' is not a command. {COMMANDS}"
        f"trackside: 'edit' is not a command. {COMMANDS}"
        "trackside: `edit` needs the reply as JSON on one line: Expecting property name enclosed in double "
        "quotes: line 1 column 2 (char 1). The run is still paused.\n"
        "trackside: The reply of call_tool must be a JSON object, not int. The run is still paused.\n"
        f"trackside: 'steer' is not a command. {COMMANDS}"
    )


def test_message_sent_while_paused_is_delivered_by_the_next_pull(trackside: Trackside):
    typed = "steer in Kelvin\ncontinue\n"

    done = trackside("run", forecast(trackside), "-m", "hi", "--break", "steering", stdin=typed)

    assert (done.returncode, done.stderr) == (0, "")
    assert "  ▲ steer  in Kelvin  queued\n" in done.stdout
    assert "  ▼ steer  in Kelvin  delivered at turn 1\n" in done.stdout
    assert "19 degrees; heard ['in Kelvin']" in done.stdout


def test_message_that_the_run_did_not_pull_is_reported(trackside: Trackside):
    typed = "steer too late\ncontinue\n"

    done = trackside("run", forecast(trackside), "-m", "hi", "--break", "message.completed", stdin=typed)

    assert done.returncode == 0
    assert "  ✗ steer  too late  dropped: run completed before it pulled\n" in done.stdout
    assert done.stderr == "trackside: Not delivered: too late (run completed before it pulled)\n"


def test_stop_ends_a_paused_run_and_the_message_after_it_runs(trackside: Trackside):
    typed = ("run", forecast(trackside), "-m", "one", "--break", "tool", "--after", "two", "--jsonl")

    done = trackside(*typed, stdin="stop\n\n")

    journal = entries(done.stdout)
    ends = [entry["data"]["status"] for entry in journal if entry["type"] == "run.finished"]
    assert (done.returncode, ends, done.stderr) == (4, ["cancelled", "completed"], "")
    assert answers(done.stdout) == ["19 degrees; heard []"]


def test_breakpoint_with_number_pauses_only_at_the_nth(trackside: Trackside):
    done = trackside("run", forecast(trackside), "-m", "hi", "--break", "tool#2", "--jsonl", stdin="dance\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert "pause.started" not in {entry["type"] for entry in entries(done.stdout)}


def test_unknown_breakpoint_and_message_from_standard_input_are_refused(trackside: Trackside):
    project = forecast(trackside)
    taken = "--break reads commands from standard input, so the message or event cannot come from there."

    assert trackside.error("run", project, "-m", "hi", "--break", "tol").startswith(
        "'tol' is not a breakpoint location. Did you mean tool? Possible: steering; a group of calls (model, tool, "
    )
    assert trackside.error("run", project, "-m", "-", "--break", "tool") == taken
    assert trackside.error("run", project, "--event", "-", "--break", "tool") == taken
    assert trackside("runs").stdout == "No runs yet. Start one: trackside run\n"


def test_interrupt_ends_a_paused_run(trackside: Trackside):
    process = trackside.start(
        "run", forecast(trackside), "-m", "hi", "--break", "tool", "--jsonl", stdin=subprocess.PIPE
    )
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["type"] != "pause.started":
        pass
    process.send_signal(signal.SIGINT)
    # Standard input is still open; the command ends all the same.
    rest = process.stdout.read()
    code = process.wait(timeout=30)
    _, complaint = process.communicate()

    assert (code, complaint) == (130, "")
    assert entries(rest)[-1]["data"]["status"] == "cancelled"


def test_terminal_shows_paused_call_and_prompt(trackside: Trackside):
    ours, theirs = pty.openpty()
    process = trackside.start_with(
        "run", forecast(trackside), "-m", "hi", "--break", "tool", streams=(theirs,) * 3, env={"NO_COLOR": "1"}
    )
    os.close(theirs)
    seen = ""
    try:
        for line in ("help", "step", 'edit {"result": {"high_celsius": 4}}', "continue", None):
            piece = _read(ours, "paused> " if line else None)
            seen += piece
            if line is not None:
                os.write(ours, f"{line}\n".encode())
    finally:
        os.close(ours)

    shown = seen.replace("\r\n", "\n")
    assert process.wait(timeout=30) == 0
    assert shown.count("paused> ") == 4
    assert shown.count("    commands: Enter or continue, step, edit JSON, steer TEXT, stop, help\n") == 1
    call = '    call_tool {"tool_name": "weather", "parameters": {"city": "Kyoto"}}\n'
    assert f"  ‖ paused  before call_tool  (tool)\n{call}" in shown
    assert "  edit JSON        replace the reply of this call" in shown
    assert (
        f'  ‖ paused  with the reply of call_tool  (step)\n{call}    reply: {{"result": {{"high_celsius": 19}}}}\n'
        in shown
    )
    assert '    edited reply: {"result": {"high_celsius": 4}}\npaused> ' in shown
    assert "4 degrees; heard []" in shown


def _read(terminal: int, until: str | None) -> str:
    """Return what the command writes up to its prompt, or to its end."""
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
