"""`trackside sessions`: list, show, create, fork, rename, change and delete."""

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
    assert names(trip) == ["trip", f"  {child[:24]}", f"    {grandchild[:24]}"]
    assert names(trip, "--limit", "1") == [grandchild[:24]]
    assert names(trip, "tree", child) == [child[:24], f"  {grandchild[:24]}"]
    assert names(trip, "tree", "trip", "--limit", "2") == ["trip", f"  {child[:24]}", "…"]
    tree = [json.loads(line) for line in trip("sessions", "tree", "trip", "--jsonl").stdout.splitlines()]
    assert [(one["session_id"], one["depth"]) for one in tree] == [("trip", 0), (child, 1), (grandchild, 2)]

    trip("sessions", "delete", "trip", "--yes")
    trip("run", "moody.py", "-m", "unrelated", "--session", "other")
    assert names(trip) == ["other", child[:24], f"  {grandchild[:24]}"]

    trip("sessions", "delete", child, "--yes")
    assert names(trip) == ["other", grandchild[:24]]


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
        "Argument COMMAND: invalid choice: 'bury' (choose from 'list', 'show', 'new', 'spawn', 'fork', 'tree', "
        "'rename', 'set', 'delete'). See `trackside sessions --help`."
    )
    row = r"trip  2 events  [\d.]+ KiB  just now  happy\n"
    assert re.fullmatch(row, trip("sessions", "--limit", "5").stdout)
    assert re.fullmatch(row, trip("sessions", "list", "--limit", "5").stdout)


def test_session_is_created_shown_and_changed_before_its_first_message(trackside: Trackside):
    created = trackside(
        "sessions", "new", "19960@chatroom", "--user", "ann", "--title", "Group", "--metadata", "city=Kyoto",
        "--metadata", "days=2",
    )  # fmt: skip
    child = json.loads(trackside("sessions", "spawn", "1996", "--user", "bob", "--title", "Aside", "--json").stdout)
    named = trackside("sessions", "spawn", "19960@chatroom", "--id", "two words", "--metadata", "a=1")
    changed = trackside("sessions", "set", "19960", "days=3", "note=[not JSON", "--remove", "city")
    as_text = trackside("sessions", "set", "19960", "days=3", "--text")
    shown = trackside("sessions", "show", "19960")
    facts = json.loads(trackside("sessions", "show", "19960", "--json").stdout)

    assert created.stdout == (
        "Created 19960@chatroom. Continue it:\n\n"
        f"  trackside run --session 19960@chatroom -m TEXT --db {trackside.database}\n"
    )
    assert (child["parent_session_id"], child["user_id"], child["depth"]) == ("19960@chatroom", "bob", 1)
    assert "Created two words as a child of 19960@chatroom. Continue it:" in named.stdout
    assert "trackside run --session 'two words' -m TEXT" in named.stdout
    assert changed.stdout == 'Metadata of 19960@chatroom: {"days": 3, "note": "[not JSON"}\n'
    assert as_text.stdout == 'Metadata of 19960@chatroom: {"days": "3", "note": "[not JSON"}\n'
    assert [line.split(maxsplit=1) for line in shown.stdout.splitlines()] == [
        ["id", "19960@chatroom"], ["title", "Group"], ["user", "ann"], ["created", "just now"],
        ["last", "active  just now"], ["metadata", '{"days": "3", "note": "[not JSON"}'], ["children", "2"],
        ["events", "0"], ["lines", "0"], ["size", "0 B"],
    ]  # fmt: skip
    assert (facts["user_id"], facts["message_count"], facts["history_length"]) == ("ann", 0, 0)
    assert [row["session_id"] for row in json.loads(trackside("sessions", "--user", "bob", "--json").stdout)] == [
        child["session_id"]
    ]
    assert trackside.error("sessions", "new", "19960@chatroom") == (
        "Session 19960@chatroom exists already; choose another id."
    )
    assert trackside.error("sessions", "spawn", "nowhere") == "No session nowhere. `trackside sessions` lists them."
    assert trackside.error("sessions", "set", "19960") == (
        "There is nothing to set or remove. Add KEY=VALUE or --remove KEY."
    )
    assert trackside.error("sessions", "set", "19960", "forked_from=x") == (
        "forked_from is set by a fork and cannot be changed. Use another key."
    )


def test_run_fills_in_the_runner_agent_and_project_of_a_created_session(trip: Trackside):
    trip("sessions", "new", "C012/1699.22", "--title", "Mine")
    trip("run", "moody.py", "-m", "hello", "--session", "C012/1699.22")
    facts = json.loads(trip("sessions", "show", "C012", "--json").stdout)
    shown = trip("sessions", "show", "C012").stdout

    assert (facts["title"], facts["user_id"], facts["message_count"]) == ("Mine", None, 1)
    assert (facts["runner_id"], facts["project"]) == ("plugin:local/moody/default", str(trip.folder))
    assert re.search(r"^runner +moody$", shown, re.MULTILINE)
    assert str(trip.folder) in shown


IDS = (
    "19960@chatroom",
    "!abc:matrix.org",
    "C012/1699.22",
    "../../up",
    "群聊 一",
    "delete",
    "-abc",
    "\u202eevil",
    "x" * 255,
)


def test_commands_take_ids_of_real_platforms_and_never_use_them_as_a_path(trip: Trackside):
    before = sorted(path.name for path in trip.folder.rglob("*") if "__pycache__" not in path.parts)
    for session in IDS:
        done = trip("run", "moody.py", "-m", "hi", f"--session={session}")
        assert done.returncode == 0, done.stdout + done.stderr
        assert trip("transcript", "--", session).stdout.startswith("user  just now  line ")
        assert json.loads(trip("sessions", "show", "--json", "--", session).stdout)["session_id"] == session
        assert "mood" in trip("state", "--", session).stdout or session == "delete"
        assert trip("sessions", "rename", "--", session, "T").returncode == 0
        assert trip("sessions", "fork", "--", session).returncode == 0
        assert trip("runs", f"--session={session}").stdout.count("completed") == 1
        assert trip("search", "hi", f"--session={session}").returncode == 0
    after = sorted(path.name for path in trip.folder.rglob("*") if "__pycache__" not in path.parts)
    listed = trip("sessions", "--limit", "100").stdout

    assert after == before
    assert "\u202e" not in listed
    assert "x" * 24 in listed
    assert "x" * 25 not in listed
    for session in IDS:
        deleted = trip("sessions", "delete", "--yes", "--json", "--", session)
        assert json.loads(deleted.stdout)["session_id"] == session


def test_beginning_of_an_id_names_a_session_unless_a_new_one_may_be_meant(trip: Trackside):
    long = "wxid_conversation_of_the_year"
    trip("sessions", "new", long)
    trip("sessions", "new", "trip-2")
    continued = trip("run", "moody.py", "-m", "hi", "--session", long[:24])
    new = trip("run", "moody.py", "-m", "hi", "--session", "tri")

    assert "is new" not in continued.stderr
    assert "Session tri is new. Did you mean trip?" in new.stderr
    assert listed(trip)[long]["message_count"] == 1
    assert trip.error("transcript", "t") == ("'t' matches several sessions: tri, trip, trip-2. Type more of the id.")
    assert json.loads(trip("sessions", "show", "trip", "--json").stdout)["session_id"] == "trip"
    trip("sessions", "new", "last")
    assert json.loads(trip("sessions", "show", "last", "--json").stdout)["session_id"] == "last"


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
