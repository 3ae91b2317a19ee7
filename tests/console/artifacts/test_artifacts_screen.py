"""The artifacts browser: facts, preview, search, and saving to a file."""

import asyncio
import base64
import os
import struct
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from textual.pilot import Pilot

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.artifacts.file_name import suggested_name, target_path
from console.model.artifacts.image_size import ImageSize, image_size
from console.model.artifacts.preview import PREVIEW_BYTES, preview
from console.model.artifacts.rows import expiry
from console.model.text.folds import Folds
from console.ui.artifacts.screen import ArtifactsScreen
from engine.api import ArtifactRow, Engine
from engine.store import tables
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, sees, shown, until
from tests.support.engines import Engines, artifact_created, done, said

Size = tuple[int, int]
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 400) + b"\x03" * 12
GIF = b"GIF89a" + struct.pack("<HH", 7, 9)
WEBP = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (1023).to_bytes(3, "little") + (767).to_bytes(3, "little")
NOW = 1_000_000_000


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        (PNG, ImageSize("PNG", 640, 480)),
        (JPEG, ImageSize("JPEG", 400, 300)),
        (GIF, ImageSize("GIF", 7, 9)),
        (WEBP, ImageSize("WebP", 1024, 768)),
        (PNG[:20], None),
        (JPEG[:14], None),
        (b"\xff\xd8" + b"\xff" * 40, None),
        (b"\xff\xd8\xff\xe0\0\0" * 9, None),
        (b"hello", None),
        (b"", None),
    ],
)
def test_image_size_is_read_from_the_first_bytes(head: bytes, wanted: ImageSize | None):
    assert image_size(head) == wanted


def row(**given: Any) -> ArtifactRow:
    usual = {"artifact_id": "art_1", "artifact_type": "file", "storage": "blob", "source": "runner", "created_at": NOW}
    return ArtifactRow(**usual | given)


def preview_text(one: ArtifactRow, head: bytes | None, words: str = "") -> str:
    source = preview(one, head, NOW, Folds(), words)
    source.fit(80)
    rows = (source.row(at) for at in range(source.height))
    return "\n".join("".join(piece.text for piece in row.pieces) for row in rows)


def test_preview_depends_on_the_content():
    assert "second" in preview_text(row(), b"first\nsecond\n")
    assert "city" in preview_text(row(), b'{"city": "Kyoto", "days": 2}')
    assert "PNG image, 640 × 480 pixels" in preview_text(row(), PNG)
    assert "7f 45 4c 46 00" in preview_text(row(), b"\x7fELF\0")
    assert "9.8 KiB more. s saves the whole artifact" in preview_text(row(size_bytes=10_240), b"\0" * 300)
    assert "The artifact is empty." in preview_text(row(), b"")


def test_preview_warns_if_the_content_does_not_match_the_type():
    told = preview_text(row(name="bad.json"), b'{"a": ')
    assert told.index("Not JSON: line 1, column 7: a value belongs here") < told.index('{"a": ')
    assert "Not JSON: the content is not text." in preview_text(row(mime_type="application/json"), b"\0\1")
    assert "The declared type is image/png, but the content is not." in preview_text(
        row(mime_type="image/png"), b"hello"
    )
    for claim, head in (("application/json", b"12"), ("image/svg+xml", b"<svg/>"), ("image/jpeg", JPEG[:14])):
        assert "The declared type" not in preview_text(row(mime_type=claim), head)
        assert "Not JSON" not in preview_text(row(mime_type=claim), head)


def test_text_cut_within_a_character_is_shown_as_text():
    head = ("a" + "京" * 100).encode()[:-1]
    told = preview_text(row(size_bytes=10_000), head)
    assert "京" in told
    assert "more. s saves the whole artifact to a file." in told


def test_incomplete_json_is_shown_as_text():
    assert "3.0 KiB more" in preview_text(row(size_bytes=3 * 1024 + 8), b'{"a": [1')


def test_preview_escapes_control_characters():
    told = preview_text(row(name="a\x1b[31m[/b]", mime_type="\x9bx"), b"\x1b]0;title\x07 [bold]")
    assert not {"\x1b", "\x07", "\x9b"} & set(told)
    assert "[bold]" in told


def test_preview_says_why_there_is_no_content():
    assert "The content is not stored here." in preview_text(row(storage="url", location="https://example.org/x"), None)
    assert "https://example.org/x" in preview_text(row(storage="url", location="https://example.org/x"), None)
    assert "The artifact has expired." in preview_text(row(expires_at=NOW - 1), None)
    assert "the file is gone" in preview_text(row(), None, "the file is gone")


def test_expiry_text():
    assert expiry(row(), NOW) == "never"
    assert expiry(row(expires_at=NOW + 60_000_000), NOW) == "in 1 min 0 s"
    assert expiry(row(expires_at=NOW - 3_600_000_000), NOW).startswith("1 h ago; it can no longer be read")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("plan.json", "plan.json"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\x.txt", "x.txt"),
        (".bashrc", "bashrc"),
        ("a\x1b[31m\n.txt", "a__31m_.txt"),
        ("京都 plan.md", "京都 plan.md"),
        ("..", "art_1"),
        (None, "art_1"),
    ],
)
def test_suggested_name_stays_in_the_folder(name: str | None, wanted: str):
    assert suggested_name(name, "art_1") == wanted


def test_target_in_a_folder_gets_the_suggested_name(tmp_path: Path):
    assert target_path(str(tmp_path), "a.txt") == tmp_path / "a.txt"
    assert target_path(f"{tmp_path}/new/", "a.txt") == tmp_path / "new" / "a.txt"
    assert target_path(f"{tmp_path}/b.txt", "a.txt") == tmp_path / "b.txt"


# At the screen


async def set_expiry(engine: Engine, artifact_id: str, at: int | None) -> None:
    """Set the expiry, as only the clean-up of a host does."""
    change = update(tables.artifacts).where(tables.artifacts.c.artifact_id == artifact_id).values(expires_at=at)
    host = engine._core.host
    assert host is not None
    await host.writer.submit(lambda tx: tx.connection.execute(change))


async def maker(ctx: Any):
    yield said("Here they are.")
    for name, kind, content in (
        ("plan.json", "application/json", b'{"city": "Kyoto"}'),
        ("map.png", "image/png", PNG),
        ("long.txt", "text/plain", b"line\n" * (PREVIEW_BYTES // 4)),
    ):
        yield artifact_created(name=name, mime_type=kind, content_base64=base64.b64encode(content).decode())
    yield done()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


async def create_artifacts(pilot: Pilot[Any], app: Trackside) -> None:
    await pilot.press(*"go", "enter")
    await sees(pilot, "Here they are.")
    await until(pilot, lambda: not app.services.situation.is_running)


async def open_artifacts(pilot: Pilot[Any], app: Trackside) -> ArtifactsScreen:
    await app.action_perform("app.artifacts")
    await until(pilot, lambda: isinstance(app.screen, ArtifactsScreen))
    screen = app.screen
    assert isinstance(screen, ArtifactsScreen)
    return screen


@at_both_sizes
async def test_artifacts_are_listed_previewed_and_left(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app, size) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts of this session", "plan.json", "map.png", "long.txt")
        for key, words in (("home", "more. s saves"), ("down", "640 × 480 pixels"), ("down", '"Kyoto"')):
            await pilot.press(key, "enter")
            if words.startswith("more"):
                await pilot.press("end")
            await sees(pilot, words)
            await pilot.press("escape" if size == (80, 24) else "shift+tab")
        assert isinstance(app.screen, ArtifactsScreen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


@at_both_sizes
async def test_save_asks_before_it_overwrites_a_file(open_engine: Engines, size: Size, folder: Path):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app, size) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("end", "s")
        await sees(pilot, "Save to which file?", "plan.json")
        await pilot.press("enter")
        await sees(pilot, "Saved 17 B to plan.json")
        assert (folder / "plan.json").read_bytes() == b'{"city": "Kyoto"}'
        (folder / "plan.json").write_text("mine")
        for answer, wanted in (("escape", b"mine"), ("y", b'{"city": "Kyoto"}')):
            await pilot.press("s")
            await sees(pilot, "Save to which file?")
            await pilot.press("enter")
            await sees(pilot, "already exists")
            await pilot.press(answer)
            if answer == "escape":
                await sees(pilot, "Save to which file?", "plan.json was not overwritten. Choose another file.")
                await pilot.press("escape")
                await until(pilot, lambda: isinstance(app.screen, ArtifactsScreen))
            await until(pilot, lambda wanted=wanted: (folder / "plan.json").read_bytes() == wanted)
        assert os.listdir(folder) == ["plan.json"], "no temporary file is left"  # noqa: PTH208


async def test_refused_overwrite_asks_for_another_path(open_engine: Engines, folder: Path):
    (folder / "mine.json").write_text("mine")
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("end", "s")
        await sees(pilot, "Save to which file?")
        await pilot.press("ctrl+u", *"mine.json", "enter")
        await sees(pilot, "mine.json already exists")
        await pilot.press("n")
        await sees(pilot, "Save to which file?", "mine.json was not overwritten.")
        await pilot.press("home", *"not-", "enter")
        await sees(pilot, "Saved 17 B to not-mine.json")
        assert (folder / "mine.json").read_text() == "mine"


async def test_failed_save_says_why_and_asks_again(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("s")
        await sees(pilot, "Save to which file?")
        await pilot.press("home", *"no/", "enter")
        await sees(pilot, "no/long.txt cannot be written: No such file or directory.", "Save to which file?")
        await pilot.press("home", "delete", "delete", "delete", "enter")
        await sees(pilot, "to long.txt")


async def test_slow_save_shows_its_progress(open_engine: Engines, monkeypatch: pytest.MonkeyPatch, folder: Path):
    app, may_go_on = Trackside(LaunchOptions(), lambda: open_engine(maker)), asyncio.Event()
    async with at_the_screen(app) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts")
        read = app.active_session.engine.artifacts.read_bytes

        async def slowly(artifact_id: str, offset: int = 0, limit: int = 0) -> bytes:
            if offset:
                await may_go_on.wait()
            return await read(artifact_id, offset=offset, limit=PREVIEW_BYTES)

        monkeypatch.setattr(app.active_session.engine.artifacts, "read_bytes", slowly)
        await pilot.press("s")
        await sees(pilot, "Save to which file?")
        await pilot.press("enter")
        await sees(pilot, "Saving long.txt: 256 KiB · 80%")
        may_go_on.set()
        await sees(pilot, "Saved 320 KiB to long.txt", "3 artifacts of this session")
        assert (folder / "long.txt").stat().st_size == 5 * (PREVIEW_BYTES // 4)


async def test_search_by_name_or_type(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("slash", *"IMAGE")
        await sees(pilot, "1 artifact of this session", "640 × 480 pixels")
        await pilot.press("ctrl+u", *"nothing like it")
        await sees(pilot, "No artifact of this session has this in its name, type or", "esc shows all.")
        await pilot.press("escape")
        await sees(pilot, "3 artifacts of this session")


async def test_new_artifact_appears_by_itself(open_engine: Engines):
    cue = Cue()

    async def slow_maker(ctx: Any):
        yield said("One after another.")
        for name in ("first.txt", "second.txt"):
            await cue.wait()
            yield artifact_created(name=name, content_base64="aGk=")
        await cue.wait()
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(slow_maker))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"go", "enter")
        await sees(pilot, "One after another.")
        cue.go()
        await sees(pilot, "◆ first.txt")
        await open_artifacts(pilot, app)
        await sees(pilot, "1 artifact of this session", "first.txt")
        cue.go()
        await sees(pilot, "2 artifacts of this session", "second.txt")
        screen = app.screen
        assert isinstance(screen, ArtifactsScreen)
        assert screen.current is not None
        assert screen.current.name == "first.txt", "the cursor stays where it was"


async def test_expiry_is_shown_and_expired_content_cannot_be_saved(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await create_artifacts(pilot, app)
        engine = app.active_session.engine
        plan, image, long = await engine.artifacts.list(conversation_id=app.active_session.session_id)
        for row, expires_at in ((plan, engine.now() + 7_200_000_000), (image, engine.now() - 1), (long, None)):
            await set_expiry(engine, row.artifact_id, expires_at)
        await open_artifacts(pilot, app)
        await sees(pilot, "long.txt  2h left", "map.png  expired", "expires  in 2 h 0 min")
        await pilot.press("down")
        await sees(pilot, "just now; it can no longer be read", "The artifact has expired.")
        await pilot.press("s")
        await sees(pilot, "The content of this artifact is not stored here, or has expired.")


async def test_attached_file_opens_from_its_block(open_engine: Engines, folder: Path):
    (folder / "notes.txt").write_text("Two days in Kyoto")
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"see @note")
        await sees(pilot, "tab uses the path")
        await pilot.press("tab", "enter")
        await sees(pilot, "Here they are.", "◆ notes.txt", "text/plain · 17 B")
        await until(pilot, lambda: not app.services.situation.is_running)
        app.main.go_to("conversation")
        for _ in range(8):
            await pilot.press("alt+up")
        await sees(pilot, "a artifact")
        await pilot.press("a")
        await sees(pilot, "4 artifacts of this run", "notes.txt", "Two days in Kyoto")


@pytest.mark.parametrize(("size", "ascii_only"), [((160, 45), True), ((120, 35), False), ((60, 15), True)])
async def test_browser_fits_every_screen_size(open_engine: Engines, size: Size, ascii_only: bool):
    app = Trackside(LaunchOptions(ascii_only=ascii_only), lambda: open_engine(maker))
    async with at_the_screen(app, size) as pilot:
        await create_artifacts(pilot, app)
        await open_artifacts(pilot, app)
        await sees(pilot, "3 artifacts of this session", "plan.json", "map.png")
        await pilot.press("end", "tab")
        await sees(pilot, "Kyoto")
        assert not ascii_only or shown(app).isascii()
        await pilot.press("escape", "s")
        await sees(pilot, "Save to which file?", "plan.json")


async def test_empty_list_names_the_next_scope(open_engine: Engines):
    async def idle(ctx: Any):
        yield done("Nothing made.")

    app = Trackside(LaunchOptions(), lambda: open_engine(idle))
    async with at_the_screen(app) as pilot:
        await open_artifacts(pilot, app)
        await sees(pilot, "No artifacts of this session.", "w shows those of all sessions.")
        await pilot.press("s")
        await sees(pilot, "There is no artifact here.")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press(*"go", "enter")
        await sees(pilot, "Nothing made.")
        await until(pilot, lambda: not app.services.situation.is_running)
        await open_artifacts(pilot, app)
        for whose, following in (("this session", "this run"), ("this run", "all sessions")):
            await sees(pilot, f"No artifacts of {whose}.", f"w shows those of {following}.")
            await pilot.press("w")
        await sees(pilot, "No artifacts of all sessions.", "Send a message first.")


async def test_created_artifact_opens_from_its_block(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await create_artifacts(pilot, app)
        app.main.go_to("conversation")
        await pilot.press("alt+up", "alt+up", "alt+up", "alt+up")
        await sees(pilot, "a artifact")
        await pilot.press("a")
        await sees(pilot, "3 artifacts of this run", '"Kyoto"')


async def test_artifacts_are_loaded_page_by_page(open_engine: Engines):
    async def many(ctx: Any):
        for number in range(230):
            yield artifact_created(name=f"part-{number:03}.txt", content_base64="aGk=")
        yield done("All there.")

    app = Trackside(LaunchOptions(), lambda: open_engine(many))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"go", "enter")
        await sees(pilot, "All there.")
        await open_artifacts(pilot, app)
        await sees(pilot, "100+ artifacts of this session")
        for _ in range(3):
            await pilot.press("end")
            await pilot.pause()
        await sees(pilot, "230 artifacts of this session")
        assert "part-000.txt" in shown(app)
