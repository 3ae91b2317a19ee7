"""`trackside run --steer` and `--after`: messages to a run in progress, and what becomes of them."""

import json
import signal
import subprocess
import sys
from typing import Any

from console.cli import scheduled_messages
from engine.protocol.results import ResultType
from tests.support.commands import Trackside, after_header, entries
from tests.support.steerable_runners import deaf, listener

SILENT = """
import asyncio
from engine.protocol import AgentRunner

class Silent(AgentRunner):
    capabilities = {"steering": True}

    async def run(self, ctx):
        await asyncio.Event().wait()
        yield
"""
"""Has the steering capability and never pulls."""
FAILS = """
from engine.protocol import AgentRunResult

async def run(ctx):
    code = ctx.input.to_text()
    yield AgentRunResult.run_completed(ctx.run_id) if code == "no" else AgentRunResult.run_failed(ctx.run_id, "!", code)
"""
"""Fails with the code in its message; "no" completes."""


def answers(journal: list[dict[str, Any]]) -> list[str]:
    """Return the answers of the runs of a journal."""
    return [entry["data"]["message"]["content"] for entry in journal if entry["type"] == "run.completed"]


def runs_in(journal: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["run_id"] for entry in journal))


def test_rehearsal_follows_a_steering_message(trackside: Trackside):
    done = trackside("run", "--set", "pace=0.5", "--steer", "tool.call.completed#1=use Fahrenheit")

    assert (done.returncode, done.stderr) == (0, "")
    assert "  ▲ steer  use Fahrenheit  queued\n" in done.stdout
    assert "  ▼ steer  use Fahrenheit  delivered at turn " in done.stdout
    assert "Noted: use Fahrenheit." in done.stdout
    assert " 66 °F at most" in done.stdout
    assert done.stdout.count("✓ completed in ") == 1


def test_message_is_sent_at_the_nth_entry_of_a_type(trackside: Trackside):
    done = trackside("run", listener(trackside), "-m", "listen", "--steer", "tool.call.started#2=a=b", "--jsonl")

    journal = entries(done.stdout)
    types = [entry["type"] for entry in journal]
    queued = next(entry for entry in journal if entry["type"] == "steering.queued")
    assert (done.returncode, done.stderr) == (0, "")
    assert answers(journal) == ["listen; a=b"]
    assert types[: types.index("steering.queued")].count("tool.call.started") == 2
    assert (queued["source"], queued["data"]["text"]) == ("user", "a=b")


def test_message_is_sent_at_a_host_entry_or_a_time(trackside: Trackside):
    for when in ("run.started", "call.requested", "call.replied#3", "+0", "+0.05"):
        done = trackside("run", listener(trackside), "-m", "listen", "--steer", f"{when}=there", "--jsonl")

        assert (done.returncode, done.stderr, answers(entries(done.stdout))) == (0, "", ["listen; there"]), when


def test_messages_of_the_same_time_keep_their_order(trackside: Trackside):
    typed = [word for text in ("one", "two", "three") for word in ("--steer", f"tool.call.started={text}")]
    timed = [word for text in ("four", "five") for word in ("--steer", f"+0.01={text}")]

    first = trackside("run", listener(trackside), "-m", "listen", "--set", "wants=3", *typed, "--jsonl")
    second = trackside("run", listener(trackside), "-m", "listen", "--set", "wants=2", *timed, "--jsonl")

    assert answers(entries(first.stdout)) == ["listen; one; two; three"]
    assert answers(entries(second.stdout)) == ["listen; four; five"]


def test_message_whose_time_never_came_is_reported(trackside: Trackside):
    for code, message in ((0, "no output"), (1, "raise")):
        done = trackside(
            "run", "--runner", "chaos", "-m", message, "--steer", "tool.call.started#3=x=y", "--steer", "+600=late"
        )

        assert done.returncode == code
        assert done.stderr == (
            "trackside: --steer 'tool.call.started#3=x=y': not sent, because the run did not reach this point.\n"
            "trackside: --steer '+600=late': not sent, because the run did not reach this point.\n"
        )


def test_message_to_a_runner_without_steering_becomes_its_own_run(trackside: Trackside):
    host = trackside.start("run", deaf(trackside), "-m", "hi", "--steer", "tool.call.started=hurry", "--jsonl")
    assert host.stderr is not None
    why = host.stderr.readline()
    trackside.write("go", "")
    printed, complaint = host.communicate(timeout=30)

    assert why == (
        "trackside: 'hurry' cannot steer the run: this runner cannot be steered: steering is not in "
        "the manifest's capabilities. It is queued until the run ends, and then becomes a run of its own.\n"
    )
    assert (host.returncode, complaint) == (0, "")
    assert answers(entries(printed)) == ["answered hi", "answered hurry"]


def test_message_sent_at_the_end_becomes_the_next_run(trackside: Trackside):
    done = trackside("run", "--runner", "echo", "-m", "one", "--steer", "run.finished=two")

    assert (done.returncode, done.stderr) == (0, "")
    assert "\n\none\n\n✓ completed in " in done.stdout
    assert "\n\ntwo\n\n✓ completed in " in done.stdout


def test_messages_after_the_run_run_in_order(trackside: Trackside):
    printed = trackside("run", "--runner", "echo", "-m", "one", "--after", "two", "--after", "three")
    done = trackside("run", "--runner", "echo", "-m", "one", "--after", "two", "--after", "three", "--jsonl")

    journal = entries(done.stdout)
    runs = json.loads(trackside("runs", "--json", "--limit", "3").stdout)
    assert (done.returncode, done.stderr, printed.stderr) == (0, "", "")
    assert [run["metadata"]["input"] for run in runs] == ["three", "two", "one"]
    assert runs_in(journal) == [run["run_id"] for run in reversed(runs)]
    assert [entry["type"] for entry in journal].count("run.finished") == 3
    recordings = [trackside("show", run["run_id"], "--jsonl").stdout for run in reversed(runs)]
    assert done.stdout == "".join(map(after_header, recordings))
    heads = [line for line in printed.stdout.splitlines() if line.startswith(("›", "✓ completed", "Continue"))]
    assert [line.split()[0] for line in heads] == ["›", "✓", "›", "✓", "›", "✓", "Continue:"]
    assert [line for line in heads if line.startswith("›")] == ["› one", "› two", "› three"]
    assert len({run["conversation_id"] for run in runs}) == 1


def test_message_for_after_the_run_does_not_steer_it(trackside: Trackside):
    typed = ("--after", "later", "--steer", "call.replied#2=now")

    done = trackside("run", listener(trackside), "-m", "listen", *typed, "--jsonl")

    assert (done.returncode, done.stderr) == (0, "")
    assert answers(entries(done.stdout)) == ["listen; now", "later"]


def test_exit_code_is_that_of_the_first_run_that_did_not_complete(trackside: Trackside):
    runner = trackside.write("fails.py", FAILS)
    after = [word for text in ("runner.timeout", "runner.error", "no") for word in ("--after", text)]

    done = trackside("run", str(runner), "-m", "no", *after, "--jsonl")

    ends = [entry["data"]["status"] for entry in entries(done.stdout) if entry["type"] == "run.finished"]
    assert (done.returncode, ends) == (3, ["completed", "timeout", "failed", "completed"])


def test_interrupt_withdraws_queued_messages_and_reports_undelivered_ones(trackside: Trackside):
    runner = trackside.write("silent.py", SILENT)
    typed = ("--steer", "run.started=use metric", "--after", "and Oslo", "--steer", "run.failed=never")
    host = trackside.start("run", str(runner), "-m", "hi", *typed, "--session", "trip", "--jsonl")
    assert host.stdout is not None
    while json.loads(host.stdout.readline())["type"] != "steering.queued":
        pass
    host.send_signal(signal.SIGINT)
    rest, complaint = host.communicate(timeout=30)

    assert host.returncode == 130
    assert [entry["type"] for entry in entries(rest)] == ["cancel.requested", "steering.dropped", "run.finished"]
    assert complaint == (
        "trackside: Not delivered: and Oslo (it was withdrawn while queued)\n"
        "trackside: Not delivered: use metric (run was stopped before it pulled)\n"
        "trackside: --steer 'run.failed=never': not sent, because the run did not reach this point.\n"
    )
    runs = json.loads(trackside("runs", "--json").stdout)
    lines = [json.loads(line)["content"] for line in trackside("transcript", "trip", "--jsonl").stdout.splitlines()]
    assert len(runs) == 1
    # The withdrawn message is not in the transcript; the dropped one is.
    assert sorted(lines) == ["hi", "use metric"]


def test_interrupt_before_the_start_sends_nothing(trackside: Trackside):
    working = trackside.start("run", "--runner", "chaos", "-m", "hang", "--session", "demo", "--jsonl")
    assert working.stdout is not None
    working.stdout.readline()
    waiting = trackside.start("run", "--runner", "echo", "-m", "me too", "--session", "demo", "--after", "and me")
    assert waiting.stderr is not None
    waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    _, complaint = waiting.communicate(timeout=30)
    working.kill()
    working.communicate()

    assert (waiting.returncode, complaint) == (130, "trackside: Not delivered: and me (it was not sent)\n")


def test_repeated_event_gets_no_messages(trackside: Trackside):
    event = trackside.write("event.yaml", "event_type: message.received\nevent_id: once\ninput: {text: hello}\n")
    typed = ("run", "--runner", "echo", "--event", str(event))
    trackside(*typed)

    again = trackside(*typed, "--after", "more", "--steer", "run.started=now")

    assert again.stderr == (
        "trackside: Event once was submitted before. This is its first run; nothing was started.\n"
        "trackside: Not delivered: more (it was not sent)\n"
        "trackside: --steer 'run.started=now': not sent, because the run did not reach this point.\n"
    )
    assert len(json.loads(trackside("runs", "--json").stdout)) == 1


def test_message_belongs_to_the_session_of_its_event(trackside: Trackside):
    event = {
        "event_type": "schedule.triggered", "source": "scheduler", "conversation_id": "night", "thread_id": "t1",
        "bot_id": "b1", "workspace_id": "w1", "input": {"text": "listen"},
    }  # fmt: skip
    file = trackside.write("event.json", json.dumps(event))

    typed = ("--event", str(file), "--steer", "run.started=now", "--timeout", "15", "--jsonl")
    done = trackside("run", listener(trackside), *typed)

    assert (done.returncode, answers(entries(done.stdout))) == (0, ["listen; now"])


def test_invalid_message_options_are_refused_before_the_run(trackside: Trackside):
    how = "must be WHEN=TEXT, such as 'tool.call.started#2=use metric' or '+1.5=hurry up'"
    results, host_types = ", ".join(scheduled_messages.RESULT_TYPES), ", ".join(scheduled_messages.HOST_TYPES)
    kinds = f"Results: {results}; of the host: {host_types}"
    cases = {
        ("--steer", "hello"): f"--steer: {how}",
        ("--steer", "=hello"): f"--steer: {how}",
        ("--steer", "run.started= "): f"--steer: 'run.started= ' has no text; it {how}",
        ("--steer", "tool.called=x"): (
            f"--steer: there is no entry type 'tool.called'. {kinds}; each with an optional #n; or +seconds"
        ),
        ("--steer", "message.delta#0=x"): (
            "--steer: 'message.delta#0' is not an entry: message.delta#1 is the first, message.delta#2 the second"
        ),
        ("--steer", "message.delta#=x"): (
            "--steer: 'message.delta#' is not an entry: message.delta#1 is the first, message.delta#2 the second"
        ),
        ("--steer", "+soon=x"): "--steer: '+soon' is not a time: +1.5 is 1.5 seconds after the start",
        ("--steer", "+-1=x"): "--steer: '+-1' is not a time: +1.5 is 1.5 seconds after the start",
        ("--after", " "): "--after: must not be empty",
    }
    for typed, words in cases.items():
        assert trackside.error("run", "-m", "hi", *typed) == f"Argument {words}. See `trackside run --help`."
    assert not trackside.database.exists()


def test_messages_need_a_session_and_an_agent_for_messages(trackside: Trackside):
    event = trackside.write("event.json", '{"event_type": "schedule.triggered", "conversation_id": null}')
    trackside.write("trackside.yaml", "agents:\n  - {id: nightly, runner: echo, events: [schedule.triggered]}\n")

    nowhere = trackside.error("run", "--event", str(event), "--after", "x")
    nobody = trackside.error("run", "--event", str(event), "--session", "night", "--after", "x")

    assert nowhere == "--steer and --after need a session, and this event has none."
    assert nobody.startswith("No enabled agent handles message.received")
    assert trackside("runs").stdout == "No runs yet. Start one: trackside run\n"


def test_result_types_of_steer_option_are_those_of_the_protocol():
    assert tuple(kind.value for kind in ResultType) == scheduled_messages.RESULT_TYPES


def test_plain_run_does_not_load_message_modules(trackside: Trackside):
    probe = (
        "import sys; from console.cli.main import main\n"
        "main(sys.argv[1:])\n"
        "beside = {'scheduled_messages', 'debug_prompt', 'receipts'}\n"
        "print(sorted(beside & {name.removeprefix('console.cli.') for name in sys.modules}))"
    )

    def modules(*typed: str) -> str:
        line = [
            sys.executable,
            "-c",
            probe,
            "run",
            "--runner",
            "echo",
            "-m",
            "hi",
            "--db",
            str(trackside.database),
            *typed,
        ]
        done = subprocess.run(line, env=trackside.environment, capture_output=True, encoding="utf-8", check=True)
        return done.stdout.splitlines()[-1]

    assert modules() == "[]"
    assert modules("--after", "x") == "['scheduled_messages']"
