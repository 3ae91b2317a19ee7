"""What a person changes about what runners remember, from the command line; and files that come with a message."""

import json
import os
import re

import pytest

from .conftest import Trackside

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
def kept(trackside: Trackside) -> Trackside:
    """With one run in session `trip`."""
    trackside.write("keeper.py", KEEPER)
    assert trackside("run", "keeper.py", "-m", "hi", "--session", "trip").returncode == 0
    return trackside


def state(trackside: Trackside) -> dict[str, object]:
    return {row["key"]: row["value"] for row in json.loads(trackside("state", "trip", "--json").stdout)}


def edit_of(text: str) -> str:
    found = re.search(r"trackside state restore (evt_\w+)\n", text)
    assert found is not None, text
    return found[1]


def test_a_key_is_set_deleted_and_taken_back(kept: Trackside):
    done = kept("state", "set", "trip", "mood", '{"is": "wild"}')
    assert done.stdout.startswith("Set mood in conversation trip of keeper. To take it back: trackside state restore ")
    assert state(kept)["mood"] == {"is": "wild"}

    kept("state", "set", "trip", "name", "Bob", "--text", "--scope", "actor")
    kept("state", "set", "trip", "long", "-", stdin="[1, 2]\n")
    deleted = edit_of(kept("state", "delete", "last", "mood").stdout)
    assert state(kept) == {"name": "Bob", "long": [1, 2]}

    assert kept("state", "restore", deleted).stdout.startswith("Restored 1 key in conversation trip of keeper. ")
    assert kept("state", "restore", edit_of(done.stdout)).returncode == 2
    assert state(kept)["mood"] == {"is": "wild"}


def test_a_scope_is_cleared_by_its_key_and_comes_back(kept: Trackside):
    rows = json.loads(kept("state", "--json").stdout)
    actor = next(row["scope_key"] for row in rows if row["scope"] == "actor")

    cleared = json.loads(kept("state", "clear", actor[:40], "--json").stdout)

    assert (cleared["kind"], cleared["count"], cleared["scope_key"]) == ("state.cleared", 1, actor)
    assert list(state(kept)) == ["mood"]
    kept("state", "restore", cleared["edit_id"])
    assert state(kept)["name"] == "Ann"


def test_the_history_of_a_key_tells_who_wrote_what(kept: Trackside):
    kept("state", "set", "trip", "mood", "1")
    kept("state", "delete", "trip", "mood")

    shown = kept("state", "history", "trip", "mood").stdout
    told = json.loads(kept("state", "history", "trip", "mood", "--json").stdout)

    who = [line.split("  ")[1].split()[0] for line in shown.splitlines()]
    assert who == ["person", "person", "runner"]
    assert "\x1b" not in shown
    assert [(one["editor"], one["deleted"], one["value"]) for one in told] == [
        ("person", True, None),
        ("person", False, 1),
        ("runner", False, "calm\x1b[2J"),
    ]
    assert told[2]["position"] > 1


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("set", "trip", "mood"), "`trackside state set` wants WHOSE KEY VALUE. "),
        (("set", "trip", "mood", "wild"), "VALUE is JSON: line 1, column 1: a value belongs here"),
        (("set", "trip", "mood", "1e999"), "VALUE is JSON: 1e999 is larger than any number that is kept"),
        (("set", "nowhere", "mood", "1"), "no session nowhere. "),
        (("set", "trip", "a", "1", "--scope", "subject"), "the last run of trip was not given the subject scope. "),
        (("set", "trip", "a", "1", "--runner", "other"), "trip has no run of other yet, "),
        (("set", "trip", "k" * 256, "1"), "a state key has 1 to 255 characters; this one has 256."),
        (("delete", "trip", "absent"), "nothing is kept under 'absent' there."),
        (("restore", "evt_nothing"), "no change of state evt_nothing by a person."),
        (("history", "trip", "absent"), "nothing was ever kept under 'absent' in conversation trip of keeper."),
        (("trip", "other"), "'trip' is none of set, delete, clear, restore, history, "),
    ],
    ids=lambda value: "" if isinstance(value, str) else value[0],
)
def test_what_cannot_be_done_is_said_in_one_line(kept: Trackside, typed: tuple[str, ...], words: str):
    assert kept.error("state", *typed).startswith(words)


def test_files_come_with_the_message(kept: Trackside):
    kept.write("a.png", "12345")
    kept.write("b.txt", "123")

    done = kept("run", "keeper.py", "--attach", "a.png", "--attach", "b.txt", "--session", "trip")

    assert done.returncode == 0, done.stderr
    assert (state(kept)["a.png"], state(kept)["b.txt"]) == (["image", 5], ["file", 3])
    assert kept("artifacts", "get", *_ids(kept, "b.txt")).stdout == "123"


def test_a_file_that_cannot_come_is_said_before_anything_runs(trackside: Trackside):
    trackside.write("keeper.py", KEEPER)
    os.mkfifo(trackside.folder / "pipe")
    trackside.write("big.bin", "x" * (1 << 20) + "y")

    assert trackside.error("run", "keeper.py", "--attach", "pipe").startswith("pipe is no regular file but a pipe, ")
    assert "an event carries files up to 1 MiB" in trackside.error("run", "keeper.py", "--attach", "big.bin")
    assert json.loads(trackside("runs", "--json").stdout) == []

    trackside.write("trackside.yaml", "runners: [keeper.py]\nfile_roots: [.]\n")
    assert trackside("run", "--attach", "big.bin", "--session", "trip").returncode == 0
    assert state(trackside)["big.bin"] == ["file", (1 << 20) + 1]


def _ids(trackside: Trackside, name: str) -> list[str]:
    rows = json.loads(trackside("artifacts", "trip", "--json").stdout)
    return [row["artifact_id"] for row in rows if row["name"] == name]
