"""`trackside sessions`: list, fork, rename and delete."""

import json
import os
import pty
import re
import tempfile
from typing import Any

import pytest

from tests.support.commands import Trackside, entries

MOODY = """
from engine.protocol import AgentRunResult, Message

permissions = {"history": ["page"]}

async def run(ctx):
    parts = [f"{ctx.state.conversation.get('mood')} after"]
    if ctx.context.has_history_before:
        page = await ctx.api.history_page(before_cursor=ctx.context.latest_cursor)
        parts += [item.content for item in page.items]
    yield AgentRunResult.state_updated(ctx.run_id, "mood", ctx.input.to_text(), "conversation")
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=" | ".join(parts)))
    yield AgentRunResult.run_completed(ctx.run_id)
"""


@pytest.fixture
def trip(trackside: Trackside) -> Trackside:
    """Session `trip`: two messages to a runner that answers with its state and the earlier messages."""
    trackside.write("moody.py", MOODY)
    for words in ("happy", "sad"):
        done = trackside("run", "moody.py", "-m", words, "--session", "trip")
        assert done.returncode == 0, done.stdout + done.stderr
    return trackside


def lines(trackside: Trackside, session: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trackside("transcript", session, "--jsonl").stdout.splitlines()]


def listed(trackside: Trackside) -> dict[str, dict[str, Any]]:
    return {row["session_id"]: row for row in json.loads(trackside("sessions", "--json").stdout)}


def test_fork_continues_from_a_line_of_the_transcript(trip: Trackside):
    shown = trip("transcript", "trip").stdout
    numbers = [int(line.rpartition(" line ")[2]) for line in shown.splitlines() if " line " in line]

    forked = trip("sessions", "fork", "trip", "--at", str(numbers[1]))
    child = next(iter(listed(trip)))
    again = trip("run", "moody.py", "-m", "curious", "--session", child, "--jsonl")

    assert numbers == [line["seq"] for line in lines(trip, "trip")]
    assert shown.startswith(f"user  just now  line {numbers[0]}\nhappy\n\n")
    assert forked.stdout == (
        f"Forked trip into {child} with 2 lines and the state at that line. Continue it:\n\n"
        f"  trackside run --session {child} -m TEXT --db {trip.database}\n"
    )
    (answer,) = [entry for entry in entries(again.stdout) if entry["type"] == "message.completed"]
    assert answer["data"]["message"]["content"] == "happy after | None after | happy"
    assert [line["content"] for line in lines(trip, "trip")][2:] == ["sad", "happy after | None after | happy"]


def test_fork_prints_json_and_takes_a_title(trip: Trackside):
    child = json.loads(trip("sessions", "fork", "last", "--title", "What \x1b[2J if", "--json").stdout)
    by_id = json.loads(
        trip("sessions", "fork", "trip", "--at", lines(trip, "trip")[0]["transcript_id"], "--json").stdout
    )

    last = lines(trip, "trip")[-1]
    assert child["parent_session_id"] == "trip"
    assert (child["title"], by_id["title"]) == ("What \x1b[2J if", "happy (fork)")
    assert child["metadata"] == {"forked_from": "trip", "forked_at": last["transcript_id"]}
    assert lines(trip, child["session_id"])[-1]["metadata"] == {"forked_from": last["transcript_id"]}
    assert len(lines(trip, by_id["session_id"])) == 1
    assert "What ␛[2J if" in trip("sessions").stdout
    kept = json.loads(trip("state", child["session_id"], "--json").stdout)
    assert [(row["key"], row["value"], row["editor"], row["run_id"]) for row in kept] == [("mood", "sad", "fork", None)]


def test_fork_of_unknown_line_or_session_is_refused(trip: Trackside):
    assert trip.error("sessions", "fork", "trip", "--at", "99") == (
        "Session trip has no line 99. `trackside transcript trip` shows the number of each."
    )
    assert trip.error("sessions", "fork", "nowhere") == "No session nowhere. `trackside sessions` lists them."
    assert list(listed(trip)) == ["trip"]


def test_session_is_renamed(trip: Trackside):
    renamed = trip("sessions", "rename", "trip", "My", "holiday")
    row = json.loads(trip("sessions", "rename", "last", "Two words \x1b[2J", "--json").stdout)

    assert renamed.stdout == "trip is now called 'My holiday'.\n"
    assert (row["session_id"], row["title"]) == ("trip", "Two words \x1b[2J")
    assert trip("sessions").stdout.endswith("Two words ␛[2J\n")
    assert trip("sessions", "rename", "trip", "").stdout == "trip now has no title.\n"
    assert listed(trip)["trip"]["title"] is None
    assert trip.error("sessions", "rename", "nowhere", "x") == "No session nowhere. `trackside sessions` lists them."
    assert trip.error("sessions", "rename", "trip") == (
        "The following arguments are required: TITLE. See `trackside sessions rename --help`."
    )


def test_session_is_deleted_after_the_user_confirms(trip: Trackside):
    trip("sessions", "fork", "trip")
    child = next(iter(listed(trip)))

    assert trip.error("sessions", "delete", "trip") == (
        "delete asks before it deletes, and there is no terminal to ask on. Add --yes."
    )
    refused = typed_at_a_terminal(trip, "n\n", "sessions", "delete", "trip")
    assert len(listed(trip)) == 2
    agreed = typed_at_a_terminal(trip, "y\n", "sessions", "delete", "trip")
    of_child = json.loads(trip("sessions", "delete", "--yes", child, "--json").stdout)

    question = (
        "Delete session trip (happy) with 4 lines, its state, artifacts and runs? Kept: the lines in 1 fork. [y/N] "
    )
    assert refused == (1, f"{question}Nothing was deleted.\n")
    code, words = agreed
    assert (code, words.startswith(f"{question}Deleted trip: 2 runs, ")) == (0, True)
    assert words.endswith(" journal entries, 4 lines of transcript, 0 artifacts, 1 key of state.\n")
    assert of_child["session_id"] == child
    assert (of_child["deleted"]["transcript"], of_child["deleted"]["state"], of_child["deleted"]["runs"]) == (4, 1, 0)
    assert trip("sessions").stdout == "No sessions yet. Start one: trackside run\n"
    assert trip("runs").stdout == "No runs yet. Start one: trackside run\n"


def test_fork_is_listed_under_its_parent_until_that_is_deleted(trip: Trackside):
    child, grandchild = (
        json.loads(trip("sessions", "fork", which, "--json").stdout)["session_id"] for which in ("trip", "last")
    )
    assert names(trip) == ["trip", f"  {child}", f"    {grandchild}"]
    assert names(trip, "--limit", "1") == [grandchild]

    trip("sessions", "delete", "trip", "--yes")
    trip("run", "moody.py", "-m", "unrelated", "--session", "other")
    assert names(trip) == ["other", child, f"  {grandchild}"]

    trip("sessions", "delete", child, "--yes")
    assert names(trip) == ["other", grandchild]


def names(trackside: Trackside, *typed: str) -> list[str]:
    """Return the listed ids with their indent."""
    return re.findall(r"^ *\S+", trackside("sessions", *typed).stdout, re.MULTILINE)


def test_busy_session_is_not_deleted_but_can_be_forked(trackside: Trackside):
    host = trackside.start("run", "--runner", "chaos", "-m", "hang", "--session", "busy", "--jsonl")
    try:
        assert host.stdout is not None
        run_id = json.loads(host.stdout.readline())["run_id"]

        assert trackside.error("sessions", "delete", "busy", "--yes") == (
            f"Session busy is busy with run {run_id}; stop it first: `trackside stop {run_id}`."
        )
        forked = json.loads(trackside("sessions", "fork", "busy", "--json").stdout)
    finally:
        host.kill()
        host.communicate()
    assert [line["content"] for line in lines(trackside, forked["session_id"])] == ["hang"]


def test_unknown_change_of_a_session_is_refused(trip: Trackside):
    assert trip.error("sessions", "bury", "trip") == (
        "Argument rename | delete | fork: invalid choice: 'bury' (choose from 'rename', 'delete', 'fork'). "
        "See `trackside sessions --help`."
    )
    assert trip("sessions", "--limit", "5").stdout == "trip  2 exchanges  just now  happy\n"


def typed_at_a_terminal(trackside: Trackside, keys: str, *typed: str) -> tuple[int, str]:
    """Return exit code and output of a command whose standard input is a terminal."""
    ours, theirs = pty.openpty()
    with tempfile.TemporaryFile() as output:
        process = trackside.start_with(*typed, streams=(theirs, output.fileno(), output.fileno()))
        os.close(theirs)
        try:
            os.write(ours, keys.encode())
            code = process.wait(timeout=60)
        finally:
            os.close(ours)
        output.seek(0)
        return code, output.read().decode()
