"""`trackside run --steer` and `--after`: what is said to a run while it works, and what becomes of it."""

import json
import signal
import subprocess
import sys
from typing import Any

from console.cli import moments
from engine.protocol.results import ResultType

from .conftest import Trackside, entries
from .stages import deaf, listener

SILENT = """
import asyncio
from engine.protocol import AgentRunner

class Silent(AgentRunner):
    capabilities = {"steering": True}

    async def run(self, ctx):
        await asyncio.Event().wait()
        yield
"""
"""Could pull, and never does."""
FAILS = """
from engine.protocol import AgentRunResult

async def run(ctx):
    code = ctx.input.to_text()
    yield AgentRunResult.run_completed(ctx.run_id) if code == "no" else AgentRunResult.run_failed(ctx.run_id, "!", code)
"""
"""Fails with the code that it is told."""


def said(journal: list[dict[str, Any]]) -> list[str]:
    """What the runs of a journal answered."""
    return [entry["data"]["message"]["content"] for entry in journal if entry["type"] == "run.completed"]


def runs_in(journal: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["run_id"] for entry in journal))


def test_rehearsal_does_as_it_is_told_while_it_works(trackside: Trackside):
    done = trackside("run", "--set", "pace=0.5", "--steer", "tool.call.completed#1=use Fahrenheit")

    assert (done.returncode, done.stderr) == (0, "")
    assert "  ▲ steer  use Fahrenheit  queued\n" in done.stdout
    assert "  ▼ steer  use Fahrenheit  injected at turn " in done.stdout
    assert "Noted: use Fahrenheit." in done.stdout
    assert " 66 °F at most" in done.stdout
    assert done.stdout.count("✓ completed in ") == 1


def test_a_message_is_sent_at_the_nth_entry_of_a_type(trackside: Trackside):
    done = trackside("run", listener(trackside), "-m", "listen", "--steer", "tool.call.started#2=a=b", "--jsonl")

    journal = entries(done.stdout)
    types = [entry["type"] for entry in journal]
    queued = next(entry for entry in journal if entry["type"] == "steering.queued")
    assert (done.returncode, done.stderr) == (0, "")
    assert said(journal) == ["listen; a=b"]
    assert types[: types.index("steering.queued")].count("tool.call.started") == 2
    assert (queued["source"], queued["data"]["text"]) == ("person", "a=b")


def test_an_entry_of_the_host_and_a_time_are_moments_too(trackside: Trackside):
    for when in ("run.started", "call.requested", "call.replied#3", "+0", "+0.05"):
        done = trackside("run", listener(trackside), "-m", "listen", "--steer", f"{when}=there", "--jsonl")

        assert (done.returncode, done.stderr, said(entries(done.stdout))) == (0, "", ["listen; there"]), when


def test_what_is_said_at_the_same_moment_keeps_its_order(trackside: Trackside):
    typed = [word for text in ("one", "two", "three") for word in ("--steer", f"tool.call.started={text}")]
    timed = [word for text in ("four", "five") for word in ("--steer", f"+0.01={text}")]

    first = trackside("run", listener(trackside), "-m", "listen", "--set", "wants=3", *typed, "--jsonl")
    second = trackside("run", listener(trackside), "-m", "listen", "--set", "wants=2", *timed, "--jsonl")

    assert said(entries(first.stdout)) == ["listen; one; two; three"]
    assert said(entries(second.stdout)) == ["listen; four; five"]


def test_a_moment_that_never_came_is_told_and_changes_nothing_else(trackside: Trackside):
    for code, message in ((0, "no output"), (1, "raise")):
        done = trackside(
            "run", "--runner", "chaos", "-m", message, "--steer", "tool.call.started#3=x=y", "--steer", "+600=late"
        )

        assert done.returncode == code
        assert done.stderr == (
            "trackside: --steer 'tool.call.started#3=x=y': it never came to that; the message was not sent.\n"
            "trackside: --steer '+600=late': it never came to that; the message was not sent.\n"
        )


def test_a_runner_that_cannot_be_steered_answers_in_a_run_of_its_own(trackside: Trackside):
    host = trackside.start("run", deaf(trackside), "-m", "hi", "--steer", "tool.call.started=hurry", "--jsonl")
    assert host.stderr is not None
    why = host.stderr.readline()
    trackside.write("go", "")
    printed, complaint = host.communicate(timeout=30)

    assert why == (
        "trackside: 'hurry' does not go into the run: this runner cannot be steered: steering is not in "
        "the manifest's capabilities. It waits for the run's end, and becomes a run of its own.\n"
    )
    assert (host.returncode, complaint) == (0, "")
    assert said(entries(printed)) == ["answered hi", "answered hurry"]


def test_a_message_for_the_end_of_the_run_becomes_the_next_one(trackside: Trackside):
    done = trackside("run", "--runner", "echo", "-m", "one", "--steer", "run.finished=two")

    assert (done.returncode, done.stderr) == (0, "")
    assert "\n\none\n\n✓ completed in " in done.stdout
    assert "\n\ntwo\n\n✓ completed in " in done.stdout


def test_what_is_said_after_the_run_is_run_in_its_order_and_told(trackside: Trackside):
    told = trackside("run", "--runner", "echo", "-m", "one", "--after", "two", "--after", "three")
    done = trackside("run", "--runner", "echo", "-m", "one", "--after", "two", "--after", "three", "--jsonl")

    journal = entries(done.stdout)
    runs = json.loads(trackside("runs", "--json", "--limit", "3").stdout)
    assert (done.returncode, done.stderr, told.stderr) == (0, "", "")
    assert [run["metadata"]["input"] for run in runs] == ["three", "two", "one"]
    assert runs_in(journal) == [run["run_id"] for run in reversed(runs)]
    assert [entry["type"] for entry in journal].count("run.finished") == 3
    assert done.stdout == "".join(trackside("show", run["run_id"], "--jsonl").stdout for run in reversed(runs))
    heads = [line for line in told.stdout.splitlines() if line.startswith(("›", "✓ completed", "go on"))]
    assert [line.split()[0] for line in heads] == ["›", "✓", "›", "✓", "›", "✓", "go"]
    assert [line for line in heads if line.startswith("›")] == ["› one", "› two", "› three"]
    assert len({run["conversation_id"] for run in runs}) == 1


def test_a_message_for_after_the_run_is_not_offered_to_it(trackside: Trackside):
    typed = ("--after", "later", "--steer", "call.replied#2=now")

    done = trackside("run", listener(trackside), "-m", "listen", *typed, "--jsonl")

    assert (done.returncode, done.stderr) == (0, "")
    assert said(entries(done.stdout)) == ["listen; now", "later"]


def test_the_exit_code_is_that_of_the_first_run_that_did_not_complete(trackside: Trackside):
    runner = trackside.write("fails.py", FAILS)
    after = [word for text in ("runner.timeout", "runner.error", "no") for word in ("--after", text)]

    done = trackside("run", str(runner), "-m", "no", *after, "--jsonl")

    ends = [entry["data"]["status"] for entry in entries(done.stdout) if entry["type"] == "run.finished"]
    assert (done.returncode, ends) == (3, ["completed", "timeout", "failed", "completed"])


def test_an_interrupt_takes_back_what_waits_and_gives_every_undelivered_text_back(trackside: Trackside):
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
        "trackside: not delivered: and Oslo (it was withdrawn while it waited)\n"
        "trackside: not delivered: use metric (run was stopped before it pulled)\n"
        "trackside: --steer 'run.failed=never': it never came to that; the message was not sent.\n"
    )
    runs = json.loads(trackside("runs", "--json").stdout)
    lines = [json.loads(line)["content"] for line in trackside("transcript", "trip", "--jsonl").stdout.splitlines()]
    assert len(runs) == 1
    # It was withdrawn, so it was never said; the other was said, and nobody heard it.
    assert sorted(lines) == ["hi", "use metric"]


def test_an_interrupt_before_the_run_has_its_slot_sends_nothing(trackside: Trackside):
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

    assert (waiting.returncode, complaint) == (130, "trackside: not delivered: and me (it was not sent)\n")


def test_an_event_that_was_seen_before_is_not_spoken_to(trackside: Trackside):
    event = trackside.write("event.yaml", "event_type: message.received\nevent_id: once\ninput: {text: hello}\n")
    typed = ("run", "--runner", "echo", "--event", str(event))
    trackside(*typed)

    again = trackside(*typed, "--after", "more", "--steer", "run.started=now")

    assert again.stderr == (
        "trackside: event once was seen before; this is its first run. Nothing was started.\n"
        "trackside: not delivered: more (it was not sent)\n"
        "trackside: --steer 'run.started=now': it never came to that; the message was not sent.\n"
    )
    assert len(json.loads(trackside("runs", "--json").stdout)) == 1


def test_a_message_goes_where_its_event_came_from(trackside: Trackside):
    event = {
        "event_type": "schedule.triggered", "source": "scheduler", "conversation_id": "night", "thread_id": "t1",
        "bot_id": "b1", "workspace_id": "w1", "input": {"text": "listen"},
    }  # fmt: skip
    file = trackside.write("event.json", json.dumps(event))

    typed = ("--event", str(file), "--steer", "run.started=now", "--timeout", "15", "--jsonl")
    done = trackside("run", listener(trackside), *typed)

    assert (done.returncode, said(entries(done.stdout))) == (0, ["listen; now"])


def test_what_cannot_be_said_is_refused_before_anything_runs(trackside: Trackside):
    how = "wants WHEN=TEXT, as in 'tool.call.started#2=use metric' or '+1.5=hurry up'"
    kinds = f"Results: {', '.join(moments.RESULTS)}; of the host: {', '.join(moments.HOSTS)}"
    cases = {
        ("--steer", "hello"): f"--steer: {how}",
        ("--steer", "=hello"): f"--steer: {how}",
        ("--steer", "run.started= "): f"--steer: there is nothing to say in 'run.started= '; it {how}",
        ("--steer", "tool.called=x"): (
            f"--steer: nothing called 'tool.called' comes in a run. {kinds}; each with an optional #n; or +seconds"
        ),
        ("--steer", "message.delta#0=x"): (
            "--steer: 'message.delta#0' names no entry: message.delta#1 is the first, message.delta#2 the second"
        ),
        ("--steer", "message.delta#=x"): (
            "--steer: 'message.delta#' names no entry: message.delta#1 is the first, message.delta#2 the second"
        ),
        ("--steer", "+soon=x"): "--steer: '+soon' is no time: +1.5 is one and a half seconds after the start",
        ("--steer", "+-1=x"): "--steer: '+-1' is no time: +1.5 is one and a half seconds after the start",
        ("--after", " "): "--after: wants something to say",
    }
    for typed, words in cases.items():
        assert trackside.error("run", "-m", "hi", *typed) == f"argument {words}. `trackside run --help` shows how."
    assert not trackside.database.exists()


def test_an_event_without_a_session_and_an_agent_without_messages_cannot_be_spoken_to(trackside: Trackside):
    event = trackside.write("event.json", '{"event_type": "schedule.triggered", "conversation_id": null}')
    trackside.write("trackside.yaml", "agents:\n  - {id: nightly, runner: echo, events: [schedule.triggered]}\n")

    nowhere = trackside.error("run", "--event", str(event), "--after", "x")
    nobody = trackside.error("run", "--event", str(event), "--session", "night", "--after", "x")

    assert nowhere == "--steer and --after speak in the event's session, and this event has none."
    assert nobody.startswith("no enabled agent takes message.received")
    assert trackside("runs").stdout == "No runs yet: `trackside run` starts one.\n"


def test_the_moments_are_the_results_that_there_are():
    assert tuple(kind.value for kind in ResultType) == moments.RESULTS


def test_a_plain_run_waits_for_nothing_of_it(trackside: Trackside):
    probe = (
        "import sys; from console.cli.main import main\n"
        "main(sys.argv[1:])\n"
        "beside = {'moments', 'speaking', 'holding', 'typed', 'asides', 'fates'}\n"
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
    assert modules("--after", "x") == "['moments', 'speaking']"
