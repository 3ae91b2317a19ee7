"""`trackside state`: changes, history and undo; and files attached to a message."""

import json
import os
import re

import pytest

from tests.support.commands import Trackside

KEEPER = """
from engine.protocol import AgentRunResult

async def run(ctx):
    for attachment in ctx.input.attachments:
        await ctx.api.state_set("conversation", attachment.name, [attachment.artifact_type, attachment.size])
    await ctx.api.state_set("conversation", "mood", "calm\\x1b[2J")
    await ctx.api.state_set("actor", "name", "Ann")
    yield AgentRunResult.run_completed(ctx.run_id)
"""


@pytest.fixture
def trip(trackside: Trackside) -> Trackside:
    """A database with one run in session `trip`."""
    trackside.write("keeper.py", KEEPER)
    assert trackside("run", "keeper.py", "-m", "hi", "--session", "trip").returncode == 0
    return trackside


def state(trackside: Trackside) -> dict[str, object]:
    return {row["key"]: row["value"] for row in json.loads(trackside("state", "trip", "--json").stdout)}


def edit_of(text: str) -> str:
    found = re.search(r"trackside state restore (evt_\w+)\n", text)
    assert found is not None, text
    return found[1]


def test_key_is_set_deleted_and_restored(trip: Trackside):
    done = trip("state", "set", "trip", "mood", '{"is": "wild"}')
    assert done.stdout.startswith("Set mood in conversation trip of keeper. Undo: trackside state restore ")
    assert state(trip)["mood"] == {"is": "wild"}

    trip("state", "set", "trip", "name", "Bob", "--text", "--scope", "actor")
    trip("state", "set", "trip", "long", "-", stdin="[1, 2]\n")
    deleted = edit_of(trip("state", "delete", "last", "mood").stdout)
    assert state(trip) == {"name": "Bob", "long": [1, 2]}

    assert trip("state", "restore", deleted).stdout.startswith("Restored 1 key in conversation trip of keeper. ")
    assert trip("state", "restore", edit_of(done.stdout)).returncode == 2
    assert state(trip)["mood"] == {"is": "wild"}


def test_scope_is_cleared_by_its_key_and_restored(trip: Trackside):
    rows = json.loads(trip("state", "--json").stdout)
    actor = next(row["scope_key"] for row in rows if row["scope"] == "actor")

    cleared = json.loads(trip("state", "clear", actor[:40], "--json").stdout)

    assert (cleared["kind"], cleared["count"], cleared["scope_key"]) == ("state.cleared", 1, actor)
    assert list(state(trip)) == ["mood"]
    trip("state", "restore", cleared["edit_id"])
    assert state(trip)["name"] == "Ann"


def test_history_of_a_key_has_its_writers(trip: Trackside):
    trip("state", "set", "trip", "mood", "1")
    trip("state", "delete", "trip", "mood")

    shown = trip("state", "history", "trip", "mood").stdout
    told = json.loads(trip("state", "history", "trip", "mood", "--json").stdout)

    who = [line.split("  ")[1].split()[0] for line in shown.splitlines()]
    assert who == ["user", "user", "runner"]
    assert "\x1b" not in shown
    assert [(one["editor"], one["deleted"], one["value"]) for one in told] == [
        ("user", True, None),
        ("user", False, 1),
        ("runner", False, "calm\x1b[2J"),
    ]
    assert told[2]["position"] > 1


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("set", "trip", "mood"), "`trackside state set` needs SCOPE KEY VALUE. "),
        (("set", "trip", "mood", "wild"), "VALUE is not JSON: line 1, column 1: a value belongs here"),
        (("set", "trip", "mood", "1e999"), "VALUE is not JSON: 1e999 is too large to be stored"),
        (("set", "nowhere", "mood", "1"), "No session nowhere. "),
        (("set", "trip", "a", "1", "--scope", "subject"), "The last run of trip has no subject scope. "),
        (("set", "trip", "a", "1", "--runner", "other"), "Session trip has no run of other yet. "),
        (("set", "trip", "k" * 256, "1"), "A state key has 1 to 255 characters; this one has 256."),
        (("delete", "trip", "absent"), "The scope has no key 'absent'."),
        (("restore", "evt_nothing"), "No edit of state evt_nothing by the user."),
        (("history", "trip", "absent"), "'absent' was never set in conversation trip of keeper."),
        (("trip", "other"), "There is no command 'trip'. Use set, delete, clear, restore, history, "),
    ],
    ids=lambda value: "" if isinstance(value, str) else value[0],
)
def test_invalid_change_of_state_is_refused(trip: Trackside, typed: tuple[str, ...], words: str):
    assert trip.error("state", *typed).startswith(words)


def test_files_are_attached_to_the_message(trip: Trackside):
    trip.write("a.png", "12345")
    trip.write("b.txt", "123")

    done = trip("run", "keeper.py", "--attach", "a.png", "--attach", "b.txt", "--session", "trip")

    assert done.returncode == 0, done.stderr
    assert (state(trip)["a.png"], state(trip)["b.txt"]) == (["image", 5], ["file", 3])
    assert trip("artifacts", "get", *_ids(trip, "b.txt")).stdout == "123"


def test_file_that_cannot_be_attached_is_refused_before_the_run(trackside: Trackside):
    trackside.write("keeper.py", KEEPER)
    os.mkfifo(trackside.folder / "pipe")
    trackside.write("big.bin", "x" * (1 << 20) + "y")

    assert trackside.error("run", "keeper.py", "--attach", "pipe").startswith("pipe is not a regular file but a pipe, ")
    assert "an event carries files up to 1 MiB" in trackside.error("run", "keeper.py", "--attach", "big.bin")
    assert json.loads(trackside("runs", "--json").stdout) == []

    trackside.write("trackside.yaml", "runners: [keeper.py]\nfile_roots: [.]\n")
    assert trackside("run", "--attach", "big.bin", "--session", "trip").returncode == 0
    assert state(trackside)["big.bin"] == ["file", (1 << 20) + 1]


def _ids(trackside: Trackside, name: str) -> list[str]:
    rows = json.loads(trackside("artifacts", "trip", "--json").stdout)
    return [row["artifact_id"] for row in rows if row["name"] == name]
