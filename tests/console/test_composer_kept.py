"""An event that was begun outlives the console, as the text of the prompt does."""

from pathlib import Path

import pytest

from console.app import Trackside
from console.opening import Opening
from console.screens.composer import kept
from console.screens.composer.desk import Writing, new_writing, usual_values
from console.screens.composer.kept import read, written
from console.screens.composer.screen import Composer
from engine.api import Attachment
from tests.console.driving import Cue, at_the_screen, listener, sees, until
from tests.console.test_composer import Ear, composing
from tests.support import Engines


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if ".event-" in path.name]


def _begun(text: str) -> Writing:
    writing = new_writing("s")
    writing.values["text"] = text
    return writing


# The console


async def test_a_begun_event_is_there_again_after_a_restart(open_engine: Engines, tmp_path: Path):
    ear = Ear()
    app = Trackside(Opening(), lambda: open_engine(ear.runner))
    (tmp_path / "notes.txt").write_text("hello")
    async with at_the_screen(app) as pilot:
        screen = await composing(pilot, app)
        await pilot.press(*"half a thought")
        await screen._add_file(str(tmp_path / "notes.txt"))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app.is_leaving)  # without a question: nothing is lost
    assert len(_files(tmp_path)) == 1
    app = Trackside(Opening(), lambda: open_engine(ear.runner))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "the event that you began the last time is kept; ^n goes on with it")
        await composing(pilot, app)
        await sees(pilot, "half a thought", "◆ notes.txt")
        await pilot.press("f9")
        await sees(pilot, "That was number 1.")
        assert [file.name for file in ear.heard[0].input.attachments] == ["notes.txt"]
    assert _files(tmp_path) == [], "it was sent"


async def test_it_is_kept_while_it_is_typed(open_engine: Engines, tmp_path: Path):
    app = Trackside(Opening(), lambda: open_engine(Ear().runner))
    async with at_the_screen(app) as pilot:
        await composing(pilot, app)
        await pilot.press(*"half a thought")
        await until(pilot, lambda: any("half a thought" in path.read_text() for path in _files(tmp_path)))


async def test_a_screen_that_has_no_fields_yet_takes_nothing_away(open_engine: Engines):
    app = Trackside(Opening(), lambda: open_engine(Ear().runner))
    async with at_the_screen(app):
        writing = _begun("half a thought")
        Composer(app.glyphs, writing).collect()
        assert writing.values["text"] == "half a thought"


async def test_where_something_else_is_lost_it_is_said_that_the_event_is_not(open_engine: Engines):
    cue = Cue()
    app = Trackside(Opening(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "You said: hello")
        await composing(pilot, app)
        await pilot.press(*"half a thought", "ctrl+q")
        await sees(pilot, "A run is at work", "The event that you put together is kept.")


async def test_what_has_no_room_is_told_before_one_leaves(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept, "MOST", 100)
    app = Trackside(Opening(), lambda: open_engine(Ear().runner))
    async with at_the_screen(app) as pilot:
        await composing(pilot, app)
        await pilot.press(*"half a thought", "ctrl+q")
        await sees(pilot, "put together is not kept", "Leave?")


# The file


def test_what_is_written_is_read_as_it_was():
    one, other = _begun("one"), _begun("other")
    other.attachments.append(
        Attachment(artifact_id="a", artifact_type="file", source="console", name="x", content="eA==")
    )
    found = read(written([one, new_writing("s"), other]).text)
    assert [each.values for each in found] == [one.values, other.values], "and one that nobody began is not"
    assert found[1].attachments == other.attachments


def test_a_file_without_room_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch):
    writing = _begun("one")
    for name, size in (("large.bin", 3_000), ("small.txt", 4)):
        file = Attachment(artifact_id=name, artifact_type="file", source="console", name=name, content="x" * size)
        writing.attachments.append(file)
    monkeypatch.setattr(kept, "MOST", 2_000)
    text, lost = written([writing])
    (found,) = read(text)
    assert [file.name for file in found.attachments] == ["small.txt"]
    assert found.lost == lost == ("large.bin is too large to be kept: attach it again",)


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"values": []}]', '[{"values": {"event_type": "x"}}]', "[" * 9_000])
def test_a_file_of_anything_else_has_none(text: str):
    assert read(text) == []


def test_the_rest_of_a_longer_one_and_fields_of_another_version_do_no_harm():
    text = written([_begun("one")]).text.replace('"message.received"', '"no.such.type"')
    (found,) = read(text.replace('"values":{', '"values":{"odd": 1, ') + '"}]')
    assert found.values == {**usual_values("message.received"), "conversation_id": "s", "text": "one"}
