"""Attached files: completed by path, shown as a token, sent with the message."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual import events

from console.app import Trackside
from console.launch import LaunchOptions
from engine.api.runs import RunsApi
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, listener, sees, shown, until
from tests.support.console.recording_runner import RecordingRunner
from tests.support.console.sample_files import folder_of_files
from tests.support.engines import Engines

Size = tuple[int, int]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a few files."""
    here = folder_of_files(tmp_path)
    monkeypatch.chdir(here)
    return here


async def type_and_wait_for_offer(pilot: Any, text: str, offered: str) -> None:
    """Type a text and wait until this name is offered."""
    await pilot.press(*text)
    await until(pilot, lambda: any(one.name == offered for one in pilot.app.main.prompt.attachments.picker.candidates))


@at_both_sizes
async def test_file_is_completed_and_attached(open_engine: Engines, size: Size):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app, size) as pilot:
        await type_and_wait_for_offer(pilot, "read @note", "notes.txt")
        await sees(pilot, "notes.txt", "tab uses the path")
        await pilot.press("tab")
        assert app.main.prompt.text == "read ⟦notes.txt · text/plain · 18 B⟧ "
        await pilot.press("enter")
        await sees(pilot, "That was number 1.", "◆ notes.txt", "text/plain · 18 B")
        assert recorder.messages == [("read notes.txt", ["notes.txt"])]
        (row,) = await app.active_session.engine.artifacts.list(conversation_id=app.active_session.session_id)
        assert await app.active_session.engine.artifacts.read_bytes(row.artifact_id) == b"Two days in Kyoto\n"


@at_both_sizes
async def test_footer_shows_the_keys_of_the_path_picker(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app, size) as pilot:
        await type_and_wait_for_offer(pilot, "@", "notes.txt")
        await sees(pilot, "  tab uses the path · esc closes", " enter send", " tab use", " esc close")
        await pilot.press(*"note")
        await sees(pilot, "enter or tab uses the path", " enter use  tab use  esc close")
        assert "enter send" not in shown(app)

        await app.action_perform("paths.enter")  # as a click on it does
        await sees(pilot, "⟦notes.txt · text/plain · 18 B⟧", " enter send")
        assert not app.main.prompt.attachments.picker.is_open


async def test_folder_can_be_completed_even_with_a_space(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "@my", "my maps/")
        await pilot.press("tab")
        assert app.main.prompt.text == '@"my maps/'
        await type_and_wait_for_offer(pilot, "", "city map.txt")
        await pilot.press("enter", *"where?", "enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("city map.txt where?", ["city map.txt"])]


async def test_outdated_completion_is_not_taken(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "@no", "notes.txt")
        prompt = app.main.prompt
        setattr(prompt, "offer", lambda *_: None)  # noqa: B010  (the disk is slow)
        await pilot.press("t", "tab")
        assert prompt.text.startswith("⟦notes.txt"), "and not the first that began with no"


async def test_arrows_choose_a_path_and_escape_closes_the_picker(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "@no", "notes.txt")
        await pilot.press("down", "tab")
        assert app.main.prompt.text.startswith("⟦notes.txt")
        await type_and_wait_for_offer(pilot, "@no", "notes.txt")
        await until(pilot, lambda: app.main.prompt.attachments.picker.is_open)
        await pilot.press("escape")
        assert not app.main.prompt.attachments.picker.is_open
        assert app.main.prompt.text.endswith("@no")
        assert app.main.where() == "prompt"


async def test_late_answer_of_the_disk_does_not_move_the_chosen_path(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "@no", "notes.txt")
        attachments = app.main.prompt.attachments
        await pilot.press("down")
        attachments.offer_paths("no", [one for one in attachments.picker.candidates if one.fits("no")])
        await pilot.press("tab")
        assert app.main.prompt.text.startswith("⟦notes.txt")


async def test_token_is_deleted_with_its_file_by_one_key(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "hello @note", "notes.txt")
        await pilot.press("tab", "backspace", "backspace")
        assert app.main.prompt.text == "hello "
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("hello ", [])]


async def test_files_that_were_not_chosen_are_not_attached(open_engine: Engines):
    """Pasted text must not attach files by itself."""
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.post_message(events.Paste("say hello @notes.txt please"))
        await sees(pilot, "please")
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("say hello @notes.txt please", [])]


async def test_pasted_path_becomes_a_file_and_undo_restores_the_text(open_engine: Engines, folder: Path):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        path = str(folder / "notes.txt")
        app.main.prompt.post_message(events.Paste(path))
        await until(pilot, lambda: app.main.prompt.text.startswith("⟦notes.txt"))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: app.main.prompt.text == path)
        await pilot.press("ctrl+y", "enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("", ["notes.txt"])]


async def test_several_pasted_paths_are_attached(open_engine: Engines, folder: Path):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"see")
        await pilot.press("ctrl+j")
        urls = [(folder / name).as_uri() for name in ("notes.txt", "my maps/city map.txt")]
        app.main.prompt.post_message(events.Paste("\r\n".join(urls)))
        await until(pilot, lambda: app.main.prompt.text.count("⟦") == 2)
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("see\nnotes.txt city map.txt", ["notes.txt", "city map.txt"])]


@pytest.mark.parametrize("way", ["{}", "'{}'"])
async def test_pasted_path_may_have_spaces_and_non_ascii_letters(open_engine: Engines, folder: Path, way: str):
    (folder / "京都 plan.txt").write_text("day one")
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.post_message(events.Paste(way.format(folder / "京都 plan.txt")))
        await until(pilot, lambda: app.main.prompt.text.startswith("⟦京都 plan.txt"))
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("", ["京都 plan.txt"])]


@pytest.mark.parametrize(("name", "words"), [("my maps", "is a folder"), ("gone.txt", "does not exist")])
async def test_pasted_path_that_is_not_a_file_stays_text_with_a_reason(
    open_engine: Engines, folder: Path, name: str, words: str
):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        app.main.prompt.post_message(events.Paste(str(folder / name)))
        await sees(pilot, words, "The path stays in the message as text.")
        assert app.main.prompt.text == str(folder / name)


async def test_unreadable_file_shows_an_error(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("engine.intake.attachments._read", refuse)
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "@note", "notes.txt")
        await pilot.press("tab")
        await sees(pilot, "notes.txt cannot be read: permission denied. Change its permissions.")
        assert app.main.prompt.text == "@notes.txt "


async def test_picker_without_matches_takes_no_key(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hi @nobody")
        await sees(pilot, "No file or folder matches nobody")
        await pilot.press(*" there")
        await until(pilot, lambda: "No file or folder" not in shown(app))
        await pilot.press(*" @qq")
        await sees(pilot, "No file or folder matches qq")
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("hi @nobody there @qq", [])]


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)])
async def test_prompt_stays_visible_with_many_offered_paths(open_engine: Engines, folder: Path, size: Size):
    for number in range(20):
        (folder / f"part-{number:02}.txt").touch()
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app, size) as pilot:
        app.main.show_card(is_shown=True)
        await type_and_wait_for_offer(pilot, "see @part", "part-00.txt")
        await sees(pilot, "see @part", "1 of 20", "part-00.txt")
        await pilot.press(*["down"] * 10)
        await sees(pilot, "see @part", "11 of 20", "› part-10.txt")


async def test_home_folder_is_completed(open_engine: Engines, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(folder))
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "@~", "~/")
        await pilot.press("tab")
        await type_and_wait_for_offer(pilot, ".hid", ".hidden")
        await pilot.press("tab", "enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [("", [".hidden"])]


async def test_history_restores_attached_files(open_engine: Engines):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "read @note", "notes.txt")
        await pilot.press("tab", "enter")
        await sees(pilot, "That was number 1.")
        await until(pilot, lambda: not app.services.situation.is_running)
        await pilot.press("up", "end", "enter")
        await sees(pilot, "That was number 2.")
        assert recorder.messages == [("read notes.txt", ["notes.txt"])] * 2


async def test_unusable_file_is_reported_and_becomes_text_again(open_engine: Engines, folder: Path):
    (folder / "large.bin").write_bytes(b"\0" * (1024 * 1024 + 1))
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app, (160, 45)) as pilot:
        await type_and_wait_for_offer(pilot, "see @lar", "large.bin")
        await pilot.press("tab")
        await sees(pilot, "an event carries files up to 1 MiB")
        assert app.main.prompt.text == "see @large.bin "


async def test_file_is_sent_as_it_was_when_attached(open_engine: Engines, folder: Path):
    """The size in the token stays true although the file changes."""
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "read @note", "notes.txt")
        await pilot.press("tab")
        await until(pilot, lambda: "notes.txt" in app.active_session._held_files)
        (folder / "notes.txt").unlink()
        await pilot.press("enter")
        await sees(pilot, "That was number 1.", "◆ notes.txt", "text/plain · 18 B")
        assert not app.active_session._held_files, "and nothing of it is held any longer"
        await until(pilot, lambda: not app.services.situation.is_running)
        await pilot.press("up", "end", "enter")
        await sees(pilot, "notes.txt does not exist.")
        await until(pilot, lambda: app.main.prompt.text == "read @notes.txt ")
        await pilot.press("enter")
        await sees(pilot, "notes.txt is not attached. Press enter again to send the message without it.")
        assert recorder.messages == [("read notes.txt", ["notes.txt"])]


@pytest.fixture
def slow_file(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Attached files are read only after this event is set."""
    go, at_once = asyncio.Event(), RunsApi.attach

    async def slowly(runs: RunsApi, path: Path) -> Any:
        await go.wait()
        return await at_once(runs, path)

    monkeypatch.setattr(RunsApi, "attach", slowly)
    return go


async def send_with_slow_file(pilot: Any, app: Trackside) -> None:
    """Send a message with a file that has not been read yet."""
    await type_and_wait_for_offer(pilot, "@note", "notes.txt")
    await pilot.press("tab", *"read it", "enter")
    await until(pilot, lambda: len(app.controllers.sender.sending) == 1)


async def test_message_with_a_slow_file_goes_to_the_session_it_was_sent_in(
    open_engine: Engines, slow_file: asyncio.Event
):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(session="kyoto"), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        await send_with_slow_file(pilot, app)
        await app.controllers.sessions.resume("lima")
        slow_file.set()
        await until(pilot, lambda: not app.controllers.sender.sending)
        (run,) = await app.active_session.engine.runs.list()
        assert (run.conversation_id, app.active_session.session_id) == ("kyoto", "lima")


async def test_message_after_a_slow_file_keeps_its_order(open_engine: Engines, slow_file: asyncio.Event):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: app.controllers.drafts.is_open)
        await send_with_slow_file(pilot, app)
        await pilot.press(*"and this", "enter")
        await until(pilot, lambda: len(app.controllers.sender.sending) == 2)
        await pilot.press(*"typed on")
        assert app.main.prompt.text == "typed on"
        slow_file.set()
        await sees(pilot, "That was number 2.")
        assert [text for text, _ in recorder.messages] == ["notes.txt read it", "and this"]


async def test_file_is_delivered_to_a_run_in_progress(open_engine: Engines):
    cue, heard = Cue(), list[str]()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue, heard)))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "You said: hello")
        await type_and_wait_for_offer(pilot, "see @note", "notes.txt")
        await pilot.press("tab", "enter")
        await sees(pilot, "1 queued", "see notes.txt · 1 file")
        cue.go()
        await sees(pilot, "Then you said: see notes.txt", "▼ steered", "◆ notes.txt", "text/plain · 18 B")
        names = [
            row.name
            for row in await app.active_session.engine.artifacts.list(conversation_id=app.active_session.session_id)
        ]
        assert names == ["notes.txt"]


async def test_file_without_text_is_delivered_to_a_run_in_progress(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "You said: hello")
        await type_and_wait_for_offer(pilot, "@note", "notes.txt")
        await pilot.press("tab", "enter")
        await sees(pilot, "1 queued", "▲ steer   notes.txt")
        cue.go()
        await sees(pilot, "▼ steered · delivered", "◆ notes.txt")
        assert "said before" not in shown(app)


class LateEngine:
    """An app whose engine opens on request, or fails to at first; a message is sent before."""

    def __init__(self, open_engine: Engines, *, fails: bool = False) -> None:
        self.recorder, self._may_open, self._fails = RecordingRunner(), asyncio.Event(), fails
        self._open_engine = open_engine
        self.app = Trackside(LaunchOptions(), self._opened)

    async def _opened(self) -> Any:
        await self._may_open.wait()
        if self._fails and self.app.health.problem is None:
            raise RuntimeError("the disk is full")
        return await self._open_engine(self.recorder.runner)

    async def send_early(self, pilot: Any) -> None:
        await until(pilot, lambda: self.app.main.prompt.has_focus)
        await type_and_wait_for_offer(pilot, "read @note", "notes.txt")
        await pilot.press("tab", "enter")
        await until(pilot, lambda: bool(self.app.controllers.sender.early))
        assert self.app.controllers.drafts.unsent == "read ⟦notes.txt · text/plain · 18 B⟧ "
        self._may_open.set()


async def test_message_sent_before_the_engine_is_open_keeps_its_file(open_engine: Engines):
    late = LateEngine(open_engine)
    async with late.app.run_test(size=(160, 45), notifications=True) as pilot:
        await late.send_early(pilot)
        await sees(pilot, "That was number 1.", "◆ notes.txt")
        assert late.recorder.messages == [("read notes.txt", ["notes.txt"])]


async def test_message_that_cannot_be_sent_comes_back_with_its_file(open_engine: Engines):
    late = LateEngine(open_engine, fails=True)
    async with late.app.run_test(size=(160, 45), notifications=True) as pilot:
        await late.send_early(pilot)
        await until(pilot, lambda: late.app.main.prompt.text == "read ⟦notes.txt · text/plain · 18 B⟧ ")
        await until(pilot, lambda: late.app.active_session.is_open)
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert late.recorder.messages == [("read notes.txt", ["notes.txt"])]


async def test_unsent_message_is_restored_with_its_files(
    open_engine: Engines, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    recorder = RecordingRunner()
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await type_and_wait_for_offer(pilot, "read @note", "notes.txt")
        await pilot.press("tab")
        await type_and_wait_for_offer(pilot, "and @nor", "north.png")
        await pilot.press("tab")
    (folder / "north.png").unlink()
    monkeypatch.chdir(folder.parent)
    app = Trackside(LaunchOptions(), lambda: open_engine(recorder.runner))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "Your unsent text is back in the prompt", "north.png does not exist.")
        await until(pilot, lambda: f"and @{folder}/north.png" in app.main.prompt.text)
        await pilot.press("enter")
        await sees(pilot, "north.png is not attached. Press enter again to send the message without it.")
        await pilot.press("enter")
        await sees(pilot, "That was number 1.")
        assert recorder.messages == [(f"read notes.txt and @{folder}/north.png", ["notes.txt"])]


async def test_edited_queued_message_keeps_its_files(open_engine: Engines):
    cue = Cue()
    app = Trackside(LaunchOptions(), lambda: open_engine(listener(cue)))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"hello", "enter")
        await sees(pilot, "You said: hello")
        await pilot.press(*"later", "enter")
        await sees(pilot, "1 queued")
        await pilot.press("up", "enter")
        await until(pilot, lambda: app.main.prompt.item_id is not None)
        await type_and_wait_for_offer(pilot, " @note", "notes.txt")
        await pilot.press("tab", "enter")
        await sees(pilot, "A queued message keeps its own files")
        assert app.main.prompt.item_id is not None


async def test_palette_begins_a_path(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(RecordingRunner().runner))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"read")
        await app.action_perform("app.attach")
        await until(pilot, lambda: app.main.prompt.attachments.picker.is_open)
        assert app.main.prompt.text == "read @"
        await pilot.press("enter")  # a lone @ does not select the first file
        await sees(pilot, "That was number 1.")
        assert "⟦" not in shown(app)
