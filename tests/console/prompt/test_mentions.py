"""Paths mentioned after an @: attached if the file exists, otherwise sent as text after a warning."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual import events

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.prompt.mentions import find_mentioned_files, mention_before, mentions
from console.model.text.paths import Candidate
from tests.support.console.pilot import at_the_screen, sees, until
from tests.support.console.recording_runner import RecordingRunner
from tests.support.console.sample_files import folder_of_files
from tests.support.engines import Engines


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a few files."""
    here = folder_of_files(tmp_path)
    monkeypatch.chdir(here)
    return here


def _is_text(app: Trackside, text: str) -> bool:
    return app.main.prompt.text == text


# Mentions in a text


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("read @notes.txt now", ["notes.txt"]),
        ('@"my maps/city map.txt", and\n@a/b', ["my maps/city map.txt", "a/b"]),
        ("ann@example.org, a@b.txt, @ alone", []),
        ('@"open', []),
    ],
)
def test_at_that_begins_a_word_mentions_a_path(text: str, paths: Sequence[str]):
    assert [one.path for one in mentions(text)] == paths


def test_mention_before_the_cursor_is_found():
    assert mention_before("see @notes.txt", 14) == "notes.txt"
    assert mention_before("see @notes.txt now", 18) is None
    assert mention_before('@"my maps/ci', 12) is None, "there its quotation goes on"


def test_file_before_punctuation_is_found_and_only_paths_are_reported_missing():
    assert find_mentioned_files(["notes.txt?"]) == {"notes.txt?": Candidate("notes.txt", 18)}
    assert find_mentioned_files(["./typo.txt", "typo.txt,", "~/no-such-thing"]) == {
        "./typo.txt": "./typo.txt does not exist",
        "typo.txt,": "typo.txt does not exist",
        "~/no-such-thing": "~/no-such-thing does not exist",
    }
    assert find_mentioned_files(["./my"]) == {"./my": "./my does not exist"}
    assert find_mentioned_files(["./"]) == {"./": "./ is a folder; attach its files one by one"}
    assert find_mentioned_files(["ann", "v1.2", "...", "\0"]) == dict.fromkeys(["ann", "v1.2", "...", "\0"], "")


# While typing


async def test_space_after_a_path_attaches_the_file(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"read @./notes.txt now")
        await until(pilot, lambda: _is_text(app, "read ⟦notes.txt · text/plain · 18 B⟧ now"))
        await pilot.press(*", please", "enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("read notes.txt now, please", ["notes.txt"])]


async def test_undone_attachment_is_sent_as_text(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"@notes.txt ")
        await until(pilot, lambda: app.main.prompt.text.startswith("⟦notes.txt"))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: _is_text(app, "@notes.txt "))
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("@notes.txt ", [])]


async def test_mentions_in_pasted_text_are_not_attached(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.post_message(events.Paste("they said @notes.txt"))
        await until(pilot, lambda: app.main.prompt.text.endswith("txt"))
        await pilot.press("escape", *" is it", "enter")
        await sees(pilot, "That was number 1.")
        await until(pilot, lambda: not app.services.situation.is_running)
        await pilot.press("up", "end", "enter")
        await sees(pilot, "That was number 2.")
        assert recorder.messages == [("they said @notes.txt is it", [])] * 2


# On sending


@pytest.mark.parametrize("text", ["read @notes.txt now", 'read @"my maps/city map.txt", now', "is it @notes.txt?"])
async def test_mentions_are_attached_on_sending(open_engine: Engines, text: str):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.load(text)
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        name = mentions(text)[0].path.rpartition("/")[2].removesuffix("?")
        said = text.replace(f'@"my maps/{name}"', name).replace(f"@{name}", name)
        assert recorder.messages == [(said, [name])]


async def test_missing_path_is_reported_before_it_is_sent_as_text(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"read @./files/typo.txt now", "enter")
        await sees(pilot, "./files/typo.txt does not exist. Press enter again to send it as text.")
        assert _is_text(app, "read @./files/typo.txt now")
        assert recorder.messages == []
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("read @./files/typo.txt now", [])]


async def test_plain_name_after_an_at_is_sent_without_a_warning(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello @ann, how are you", "enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("hello @ann, how are you", [])]


async def test_text_typed_while_the_disk_is_read_is_not_sent(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    threads = list[str]()

    def slow(paths: Any) -> Any:
        threads.append(threading.current_thread().name)
        return find_mentioned_files(paths)

    monkeypatch.setattr("console.ui.prompt.attachments.find_mentioned_files", slow)
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.load("read @notes.txt now")
        for key in ("enter", "x", "y"):  # all at once, as from a terminal that was busy
            app.main.prompt.post_message(events.Key(key, None if key == "enter" else key))
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("read notes.txt now", ["notes.txt"])]
        assert _is_text(app, "xy")
        assert len(threads) == 1
        assert threads != [threading.main_thread().name]


# Unusable files


@pytest.fixture
def large(folder: Path) -> Path:
    """A file that is larger than an event may carry."""
    path = folder / "large.bin"
    path.write_bytes(b"\0" * (1024 * 1024 + 1))
    return path


async def test_unusable_file_is_reported_again_before_sending_without_it(open_engine: Engines, large: Path):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*f"see @{large.name} now")
        await sees(pilot, "an event carries files up to 1 MiB")
        await until(pilot, lambda: _is_text(app, "see @large.bin now"))
        await pilot.press("enter")
        await sees(pilot, "large.bin is not attached. Press enter again to send the message without it.")
        assert recorder.messages == []
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("see @large.bin now", [])]


async def test_removed_unusable_file_is_not_reported(open_engine: Engines, large: Path):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*f"@{large.name} ")
        await sees(pilot, "an event carries files up to 1 MiB")
        await pilot.press("ctrl+u", *"hello", "enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("hello", [])]


async def test_unusable_pasted_path_stays_as_pasted(open_engine: Engines, large: Path):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"look")
        app.main.prompt.post_message(events.Paste(str(large)))
        await sees(pilot, "an event carries files up to 1 MiB")
        await until(pilot, lambda: _is_text(app, f"look {large} "))
        await pilot.press("enter")
        await sees(pilot, "large.bin is not attached. Press enter again to send the message without it.")


async def test_file_refused_on_sending_restores_the_message_with_a_hint(open_engine: Engines, large: Path):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.load(f"see @{large.name} now")
        await pilot.press("enter")
        await sees(pilot, "an event carries files up to 1 MiB")
        await until(pilot, lambda: _is_text(app, "see @large.bin now"))
        await pilot.press("enter")
        await sees(pilot, "large.bin is not attached. Press enter again to send the message without it.")
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
