"""Sessions from the shell: fork one at a line and go on, rename it, delete it."""

import json
import os
import pty
import re
import subprocess
from typing import Any

import pytest

from .conftest import Trackside, entries

MOODY = """
from engine.protocol import AgentRunResult, Message

permissions = {"history": ["page"]}

async def run(ctx):
    told = [f"{ctx.state.conversation.get('mood')} after"]
    if ctx.context.has_history_before:
        page = await ctx.api.history_page(before_cursor=ctx.context.latest_cursor)
        told += [item.content for item in page.items]
    yield AgentRunResult.state_updated(ctx.run_id, "mood", ctx.input.to_text(), "conversation")
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=" | ".join(told)))
    yield AgentRunResult.run_completed(ctx.run_id)
"""


@pytest.fixture
def told(trackside: Trackside) -> Trackside:
    """Session `trip`: two exchanges with a runner that tells its mood and what was said before."""
    trackside.write("moody.py", MOODY)
    for words in ("happy", "sad"):
        done = trackside("run", "moody.py", "-m", words, "--session", "trip")
        assert done.returncode == 0, done.stdout + done.stderr
    return trackside


def lines(trackside: Trackside, session: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trackside("transcript", session, "--jsonl").stdout.splitlines()]


def listed(trackside: Trackside) -> dict[str, dict[str, Any]]:
    return {row["session_id"]: row for row in json.loads(trackside("sessions", "--json").stdout)}


def test_a_fork_goes_on_from_the_line_that_the_transcript_numbers(told: Trackside):
    shown = told("transcript", "trip").stdout
    numbers = [int(line.rpartition(" line ")[2]) for line in shown.splitlines() if " line " in line]

    forked = told("fork", "trip", "--at", str(numbers[1]))
    child = next(iter(listed(told)))
    again = told("run", "moody.py", "-m", "curious", "--session", child, "--jsonl")

    assert numbers == [line["seq"] for line in lines(told, "trip")]
    assert shown.startswith(f"user  just now  line {numbers[0]}\nhappy\n\n")
    assert forked.stdout == (
        f"Forked trip into {child}: 2 lines and the state of then. Now:\n\n"
        f"  trackside run --session {child} -m TEXT --db {told.database}\n"
    )
    (answer,) = [entry for entry in entries(again.stdout) if entry["type"] == "message.completed"]
    assert answer["data"]["message"]["content"] == "happy after | None after | happy"
    assert [line["content"] for line in lines(told, "trip")][2:] == ["sad", "happy after | None after | happy"]


def test_a_fork_can_be_taken_as_json_and_named(told: Trackside):
    child = json.loads(told("fork", "last", "--title", "What \x1b[2J if", "--json").stdout)
    by_id = json.loads(told("fork", "trip", "--at", lines(told, "trip")[0]["transcript_id"], "--json").stdout)

    last = lines(told, "trip")[-1]
    assert child["parent_session_id"] == "trip"
    assert (child["title"], by_id["title"]) == ("What \x1b[2J if", "happy (fork)")
    assert child["metadata"] == {"forked_from": "trip", "forked_at": last["transcript_id"]}
    assert lines(told, child["session_id"])[-1]["metadata"] == {"forked_from": last["transcript_id"]}
    assert len(lines(told, by_id["session_id"])) == 1
    assert "What ␛[2J if" in told("sessions").stdout
    kept = json.loads(told("state", child["session_id"], "--json").stdout)
    assert [(row["key"], row["value"], row["editor"], row["run_id"]) for row in kept] == [("mood", "sad", "fork", None)]


def test_a_fork_of_what_is_not_there_says_what_is(told: Trackside):
    assert told.error("fork", "trip", "--at", "99") == (
        "trip has no line 99. `trackside transcript trip` shows the number of each."
    )
    assert told.error("fork", "nowhere") == "no session nowhere. `trackside sessions` lists them."
    assert list(listed(told)) == ["trip"]


def test_a_session_can_be_renamed(told: Trackside):
    renamed = told("sessions", "rename", "trip", "My", "holiday")
    row = json.loads(told("sessions", "rename", "last", "Two words \x1b[2J", "--json").stdout)

    assert renamed.stdout == "trip is called 'My holiday' now.\n"
    assert (row["session_id"], row["title"]) == ("trip", "Two words \x1b[2J")
    assert told("sessions").stdout.endswith("Two words ␛[2J\n")
    assert told("sessions", "rename", "trip", "").stdout == "trip has no title now.\n"
    assert listed(told)["trip"]["title"] is None
    assert told.error("sessions", "rename", "nowhere", "x") == "no session nowhere. `trackside sessions` lists them."
    assert told.error("sessions", "rename", "trip") == (
        "the following arguments are required: TITLE. `trackside sessions rename --help` shows how."
    )


def test_a_session_is_deleted_when_someone_agrees_and_what_went_is_told(told: Trackside):
    told("fork", "trip")
    child = next(iter(listed(told)))

    assert told.error("sessions", "delete", "trip") == (
        "delete asks before it deletes, and there is no terminal to ask on. Add --yes."
    )
    refused = typed_at_a_terminal(told, "n\n", "sessions", "delete", "trip")
    assert len(listed(told)) == 2
    agreed = typed_at_a_terminal(told, "y\n", "sessions", "delete", "trip")
    of_child = json.loads(told("sessions", "delete", "--yes", child, "--json").stdout)

    question = "Delete session trip (happy) with 4 lines, its state, artifacts and runs? [y/N] "
    assert refused == (4, f"{question}Nothing was deleted.\n")
    code, words = agreed
    assert (code, words.startswith(f"{question}Deleted trip: 2 runs, ")) == (0, True)
    assert words.endswith(" journal entries, 4 lines of transcript, 0 artifacts, 1 key of state.\n")
    assert of_child["session_id"] == child
    assert (of_child["deleted"]["transcript"], of_child["deleted"]["state"], of_child["deleted"]["runs"]) == (4, 1, 0)
    assert told("sessions").stdout == "No sessions yet: `trackside run` starts one.\n"
    assert told("runs").stdout == "No runs yet: `trackside run` starts one.\n"


def test_a_fork_stands_under_its_parent_and_for_itself_when_that_is_gone(told: Trackside):
    child, grandchild = (json.loads(told("fork", which, "--json").stdout)["session_id"] for which in ("trip", "last"))
    assert names(told) == ["trip", f"  {child}", f"    {grandchild}"]
    assert names(told, "--limit", "1") == [grandchild]

    told("sessions", "delete", "trip", "--yes")
    told("run", "moody.py", "-m", "unrelated", "--session", "other")
    assert names(told) == ["other", child, f"  {grandchild}"]

    told("sessions", "delete", child, "--yes")
    assert names(told) == ["other", grandchild]


def names(trackside: Trackside, *typed: str) -> list[str]:
    """The ids that are listed, as far to the right as they stand."""
    return re.findall(r"^ *\S+", trackside("sessions", *typed).stdout, re.MULTILINE)


def test_a_session_at_work_is_not_deleted_but_can_be_forked(trackside: Trackside):
    host = trackside.start("run", "--runner", "chaos", "-m", "hang", "--session", "busy", "--jsonl")
    try:
        assert host.stdout is not None
        run_id = json.loads(host.stdout.readline())["run_id"]

        assert trackside.error("sessions", "delete", "busy", "--yes") == (
            f"session busy is busy with run {run_id}; cancel it first: `trackside cancel {run_id}`."
        )
        forked = json.loads(trackside("fork", "busy", "--json").stdout)
    finally:
        host.kill()
        host.communicate()
    assert [line["content"] for line in lines(trackside, forked["session_id"])] == ["hang"]


def test_a_change_that_there_is_not_is_refused_and_the_list_stays_as_it_was(told: Trackside):
    assert told.error("sessions", "bury", "trip") == (
        "argument rename | delete: invalid choice: 'bury' (choose from 'rename', 'delete'). "
        "`trackside sessions --help` shows how."
    )
    assert told("sessions", "--limit", "5").stdout == "trip  2 exchanges  just now  happy\n"


def typed_at_a_terminal(trackside: Trackside, keys: str, *typed: str) -> tuple[int, str]:
    """Exit code and output of a command whose input is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        trackside.line(*typed),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=trackside.environment,
        cwd=trackside.folder,
        encoding="utf-8",
    )
    os.close(theirs)
    try:
        os.write(ours, keys.encode())
        output, _ = process.communicate(timeout=60)
    finally:
        os.close(ours)
    return process.returncode, output
