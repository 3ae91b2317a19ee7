"""`trackside steer`: messages to a run of another process; and the commands for idle runs."""

import json
import sqlite3
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from engine.store.database import Database
from tests.support.command_server import CommandProcess
from tests.support.commands import Trackside
from tests.support.faults.faults import other_process, read_line, wait_until, write_line
from tests.support.queue.steering import check_stored_data
from tests.support.steerable_runners import deaf, listener

CONSOLE = Path(__file__).parents[2] / "support" / "queue" / "steering_console.py"


def start_listener(trackside: Trackside, wants: int) -> tuple[CommandProcess, str]:
    """A run of another process that ends when it has received this many messages, and its id."""
    typed = ("-m", "listen", "--set", f"wants={wants}", "--session", "demo", "--jsonl")
    host = trackside.start("run", listener(trackside), *typed)
    assert host.stdout is not None
    for line in host.stdout:
        entry = json.loads(line)
        if entry["type"] == "tool.call.started":
            return host, entry["run_id"]
    raise AssertionError("the run ended")


def test_message_is_delivered_to_a_run_of_another_process(trackside: Trackside):
    host, run_id = start_listener(trackside, 2)

    told = trackside("steer", run_id, "in Fahrenheit")
    receipt = json.loads(trackside("steer", "last", "and in Oslo", "--json").stdout)

    said, _ = host.communicate(timeout=60)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"Sent to {run_id}: in Fahrenheit  (item_")
    assert (receipt["text"], receipt["mode"]) == ("and in Oslo", "steer")
    assert "listen; in Fahrenheit; and in Oslo" in said
    fates = [one["fate"] for one in json.loads(trackside("receipts", run_id, "--json").stdout)]
    assert fates == ["injected", "injected"]


def test_queued_message_is_edited_and_withdrawn_from_another_process(trackside: Trackside):
    # A paused run pulls nothing, so that both messages stay in the queue.
    typed = ("-m", "listen", "--set", "wants=1", "--break", "steering", "--jsonl")
    host = trackside.start("run", listener(trackside), *typed, stdin=-1)
    assert host.stdout is not None
    run_id = next(entry["run_id"] for entry in map(json.loads, host.stdout) if entry["type"] == "pause.started")
    kept, gone = (json.loads(trackside("steer", run_id, text, "--json").stdout)["id"] for text in ("one", "two"))

    edited = trackside("steer", run_id, "one, edited", "--edit", kept)
    withdrawn = json.loads(trackside("steer", run_id, "--withdraw", gone, "--json").stdout)
    late = trackside.error("steer", run_id, "--withdraw", gone, code=1)
    foreign = trackside.error("steer", run_id, "--withdraw", "item_none")

    assert edited.stdout == f"Changed for {run_id}: one, edited  ({kept})\n"
    assert withdrawn["fate"] == "withdrawn"
    assert late == f"Message {gone} is withdrawn; it can no longer be changed."
    assert foreign == f"Run {run_id} has no message 'item_none'. `trackside receipts {run_id} --json` lists them."
    host.stdin.write("continue\n")
    said, _ = host.communicate(timeout=60)
    assert "listen; one, edited" in said


def test_message_that_cannot_be_delivered_is_refused_with_the_reason(trackside: Trackside):
    host = trackside.start("run", deaf(trackside), "-m", "hi", "--jsonl")
    assert host.stdout is not None
    run_id = json.loads(host.stdout.readline())["run_id"]

    refused = trackside.error("steer", run_id, "hello", code=1)

    assert refused.startswith("This runner cannot be steered: ")
    trackside.write("go", "")
    host.communicate(timeout=60)
    ended = trackside.error("steer", run_id, "hello", code=1)
    assert ended == f"Run {run_id} is completed; only a run in progress can receive a message."
    assert trackside.error("steer", run_id) == "TEXT is missing: the message to send. See `trackside steer --help`."
    assert trackside.error("steer", run_id, "x", "--withdraw", "y") == (
        "--withdraw takes no TEXT. See `trackside steer --help`."
    )
    assert json.loads(trackside("receipts", run_id, "--json").stdout) == []


def test_message_to_a_killed_host_says_that_the_host_is_gone(trackside: Trackside):
    host, run_id = start_listener(trackside, 1)
    host.kill()
    host.communicate()

    gone = trackside.error("steer", run_id, "hello", code=1)

    assert gone == (
        f"The host is gone: the process that hosted run {run_id} has ended. "
        "The next `trackside run` or console on this database closes what it left."
    )


# Idle runs


def age_activity(trackside: Trackside, run_id: str, hours: int) -> None:
    """Make the last activity of a run older, once its host has written it."""
    is_written = "SELECT last_activity_at FROM runs WHERE run_id = ?"
    with closing(sqlite3.connect(trackside.database, isolation_level=None)) as database:
        wait_until(lambda: database.execute(is_written, (run_id,)).fetchone()[0])
        database.execute(
            "UPDATE runs SET last_activity_at = ? WHERE run_id = ?",
            (time.time_ns() // 1_000 - hours * 3_600_000_000, run_id),
        )


def test_idle_run_is_listed_and_reported_and_only_closed_if_nothing_executes_it(trackside: Trackside):
    host = trackside.start("run", deaf(trackside), "-m", "hi", "--jsonl")
    assert host.stdout is not None
    run_id = json.loads(host.stdout.readline())["run_id"]
    assert trackside("runs", "--idle", "1h").stdout == "No runs match.\n"
    before = trackside("doctor").stdout
    age_activity(trackside, run_id, 2)

    (idle,) = json.loads(trackside("runs", "--idle", "1h", "--json").stdout)
    listed = trackside("runs").stdout
    doctor = trackside("doctor").stdout
    closed = trackside("stop", "--stale")

    assert idle["run_id"] == run_id
    assert "last_activity_at" in idle
    assert ", idle 2 h" in listed
    assert "1 run in progress, last activity " in before
    assert f"! {run_id} has had no activity for 2 h" in doctor
    assert "trackside stop --stale" in doctor
    assert (closed.returncode, closed.stdout) == (0, "No run was left open.\n")
    both = "Name one RUN, or use --stale without one. See `trackside stop --help`."
    assert trackside.error("stop", run_id, "--stale") == trackside.error("stop") == both
    trackside.write("go", "")
    host.communicate(timeout=60)
    assert json.loads(trackside("show", run_id, "--json").stdout)["status"] == "completed"


# Several processes at the same time

PULLS = """
import asyncio
from pathlib import Path
from engine.protocol import AgentRunner, AgentRunResult, Message

class Pulls(AgentRunner):
    capabilities = {"steering": True}
    config = [{"name": "timeout", "type": "integer", "label": {"en_US": "Timeout"}, "default": 0}]

    async def run(self, ctx):
        if ctx.input.to_text() != "go":
            yield AgentRunResult.run_completed(ctx.run_id, Message(role="assistant", content="done"))
            return
        yield AgentRunResult.tool_call_started(ctx.run_id, "1", "listen", {})
        while not Path(__file__).with_name("end").exists():
            for item in (await ctx.api.steering_pull(mode="one")).items:
                yield AgentRunResult.message_completed(
                    ctx.run_id, Message(role="assistant", content=item.input.to_text())
                )
            await asyncio.sleep(0.03)
        yield AgentRunResult.run_completed(ctx.run_id)
"""
MESSAGES = 12


def read_outcomes(process: Any) -> list[dict[str, Any]]:
    """The lines of a console, up to its end or to the line that says that it has sent everything."""
    outcomes: list[dict[str, Any]] = []
    for line in process.stdout:
        if line.endswith("\n"):
            outcomes.append(json.loads(line))
            if "done" in outcomes[-1]:
                break
    return outcomes


@pytest.mark.parametrize("killed", ["the owner", "the other console"])
def test_every_message_has_one_fate_if_two_consoles_and_a_command_steer_one_run(killed: str, trackside: Trackside):
    runner = trackside.write("pulls.py", PULLS)
    environment = {"HOME": trackside.environment["HOME"], "XDG_DATA_HOME": trackside.environment["XDG_DATA_HOME"]}
    outcomes: list[dict[str, Any]] = []
    with ExitStack() as processes:
        owner, other = (
            processes.enter_context(
                other_process(CONSOLE, trackside.database, runner, name, 7, MESSAGES, *start, environment=environment)
            )
            for name, start in (("owner", ["start"]), ("other", []))
        )
        run_id = json.loads(read_line(owner))["run_id"]
        read_line(other)
        threads = [Thread(target=lambda p=process: outcomes.extend(read_outcomes(p))) for process in (owner, other)]
        for process, thread in zip((owner, other), threads, strict=True):
            write_line(process)
            thread.start()
        for number in range(6):
            if number == 3:
                (owner if killed == "the owner" else other).kill()
            done = trackside("steer", run_id, f"command {number}", "--json")
            given = json.loads(done.stdout) if done.returncode == 0 else {}
            outcomes.append({"text": f"command {number}", "item_id": given.get("id"), "words": done.stderr})
            outcomes.append({"sends": f"command {number}"})
        for thread in threads:
            thread.join(120)
        trackside.write("end", "")
        for process in (owner, other):
            if process.poll() is None:
                process.stdin.close()
                process.wait(120)
    closed = trackside("run", "--runner", "echo", "-m", "close what is left")  # recovers the runs of a killed host
    assert closed.returncode == 0, closed.stderr

    check_stored_data(trackside.database)
    # A killed sender may leave the one request that it waited for.
    check_outcomes(trackside.database, outcomes, max_requests=int(killed == "the other console"))
    words = [str(outcome.get("words")) for outcome in outcomes if outcome.get("text", "").startswith("command")]
    assert any("The host is gone" in text for text in words) == (killed == "the owner")


def check_outcomes(path: Path, outcomes: list[dict[str, Any]], *, max_requests: int) -> None:
    """Check each message against what its sender was told; a sender that was killed was told nothing."""
    database = Database.open(path, write=False)
    try:
        rows = database.read_now(
            lambda conn: conn.exec_driver_sql(
                "SELECT item_id, json_extract(envelope, '$.input.text'), fate FROM queue"
            ).fetchall()
        )
        started = database.read_now(
            lambda conn: [row[0] for row in conn.exec_driver_sql("SELECT json_extract(metadata, '$.input') FROM runs")]
        )
        left = database.read_now(lambda conn: conn.exec_driver_sql("SELECT count(*) FROM requests").scalar())
    finally:
        database.close()
    queued = Counter(text for _, text, _ in rows)
    items = {item_id: text for item_id, text, _ in rows}
    told = {outcome["text"]: outcome for outcome in outcomes if "text" in outcome}
    assert len(told) > MESSAGES
    for text in {outcome["sends"] for outcome in outcomes if "sends" in outcome}:
        answer = told.get(text)
        assert queued[text] <= 1, text
        if answer is None:
            continue
        if answer["item_id"] is not None:
            assert items[answer["item_id"]] == text
        elif "words" in answer:
            assert queued[text] == 0, (text, answer)
        else:
            assert text in started, text
    assert left <= max_requests
