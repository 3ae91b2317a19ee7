"""Artifacts: what is known of each, what is in it, and how it gets into a file."""

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
from console.model.artifacts.file_name import proposed_name, target_of
from console.model.artifacts.image_size import Pixels, pixels
from console.model.artifacts.preview import WINDOW, preview
from console.model.artifacts.rows import expiry
from console.model.text.folds import Folds
from console.ui.artifacts.screen import ArtifactsScreen
from engine.api import ArtifactRow, Engine
from engine.store import tables
from tests.support.console.pilot import Cue, at_both_sizes, at_the_screen, sees, shown, until
from tests.support.engines import Engines, done, made, said

Size = tuple[int, int]
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", 300, 400) + b"\x03" * 12
GIF = b"GIF89a" + struct.pack("<HH", 7, 9)
WEBP = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + (1023).to_bytes(3, "little") + (767).to_bytes(3, "little")
NOW = 1_000_000_000


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        (PNG, Pixels("PNG", 640, 480)),
        (JPEG, Pixels("JPEG", 400, 300)),
        (GIF, Pixels("GIF", 7, 9)),
        (WEBP, Pixels("WebP", 1024, 768)),
        (PNG[:20], None),
        (JPEG[:14], None),
        (b"\xff\xd8" + b"\xff" * 40, None),
        (b"\xff\xd8\xff\xe0\0\0" * 9, None),
        (b"hello", None),
        (b"", None),
    ],
)
def test_an_image_tells_its_size_in_its_first_bytes(head: bytes, wanted: Pixels | None):
    assert pixels(head) == wanted


def row(**given: Any) -> ArtifactRow:
    usual = {"artifact_id": "art_1", "artifact_type": "file", "storage": "blob", "source": "runner", "created_at": NOW}
    return ArtifactRow(**usual | given)


def seen(one: ArtifactRow, head: bytes | None, words: str = "") -> str:
    source = preview(one, head, NOW, Folds(), words)
    source.fit(80)
    rows = (source.row(at) for at in range(source.height))
    return "\n".join("".join(piece.text for piece in row.pieces) for row in rows)


def test_text_json_images_and_bytes_are_shown_as_what_they_are():
    assert "second" in seen(row(), b"first\nsecond\n")
    assert "city" in seen(row(), b'{"city": "Kyoto", "days": 2}')
    assert "PNG image, 640 × 480 pixels" in seen(row(), PNG)
    assert "7f 45 4c 46 00" in seen(row(), b"\x7fELF\0")
    assert "9.8 KiB more: s saves all of it" in seen(row(size_bytes=10_240), b"\0" * 300)
    assert "It is empty." in seen(row(), b"")


def test_what_is_not_what_it_claims_to_be_says_so_above_its_text():
    told = seen(row(name="bad.json"), b'{"a": ')
    assert told.index("not JSON: line 1, column 7: a value belongs here") < told.index('{"a": ')
    assert "not JSON: its bytes are no text" in seen(row(mime_type="application/json"), b"\0\1")
    assert "no picture, though it says image/png" in seen(row(mime_type="image/png"), b"hello")
    for claim, head in (("application/json", b"12"), ("image/svg+xml", b"<svg/>"), ("image/jpeg", JPEG[:14])):
        assert "no picture" not in seen(row(mime_type=claim), head)
        assert "not JSON" not in seen(row(mime_type=claim), head)


def test_a_window_that_ends_within_a_character_is_still_text():
    head = ("a" + "京" * 100).encode()[:-1]
    told = seen(row(size_bytes=10_000), head)
    assert "京" in told
    assert "more: s saves all of it to a file." in told


def test_json_that_is_not_whole_is_text():
    assert "3.0 KiB more" in seen(row(size_bytes=3 * 1024 + 8), b'{"a": [1')


def test_what_a_terminal_would_obey_is_only_text():
    told = seen(row(name="a\x1b[31m[/b]", mime_type="\x9bx"), b"\x1b]0;title\x07 [bold]")
    assert not {"\x1b", "\x07", "\x9b"} & set(told)
    assert "[bold]" in told


def test_what_has_no_bytes_here_or_no_longer_says_so():
    assert "Its bytes are not here." in seen(row(storage="url", location="https://example.org/x"), None)
    assert "https://example.org/x" in seen(row(storage="url", location="https://example.org/x"), None)
    assert "It has expired." in seen(row(expires_at=NOW - 1), None)
    assert "the file is gone" in seen(row(), None, "the file is gone")


def test_expiry_is_told():
    assert expiry(row(), NOW) == "never"
    assert expiry(row(expires_at=NOW + 60_000_000), NOW) == "in 1 min 0 s"
    assert expiry(row(expires_at=NOW - 3_600_000_000), NOW).startswith("1 h ago: it can no longer be read")


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
def test_a_proposed_name_leads_nowhere_else(name: str | None, wanted: str):
    assert proposed_name(name, "art_1") == wanted


def test_a_folder_means_the_name_in_it(tmp_path: Path):
    assert target_of(str(tmp_path), "a.txt") == tmp_path / "a.txt"
    assert target_of(f"{tmp_path}/new/", "a.txt") == tmp_path / "new" / "a.txt"
    assert target_of(f"{tmp_path}/b.txt", "a.txt") == tmp_path / "b.txt"


# At the screen


async def expire(engine: Engine, artifact_id: str, at: int | None) -> None:
    """Nothing sets this but a host's own clean-up."""
    change = update(tables.artifacts).where(tables.artifacts.c.artifact_id == artifact_id).values(expires_at=at)
    host = engine._core.host
    assert host is not None
    await host.writer.submit(lambda tx: tx.connection.execute(change))


async def maker(ctx: Any):
    yield said("Here they are.")
    for name, kind, content in (
        ("plan.json", "application/json", b'{"city": "Kyoto"}'),
        ("map.png", "image/png", PNG),
        ("long.txt", "text/plain", b"line\n" * (WINDOW // 4)),
    ):
        yield made(name=name, mime_type=kind, content_base64=base64.b64encode(content).decode())
    yield done()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


async def made_some(pilot: Pilot[Any], app: Trackside) -> None:
    await pilot.press(*"go", "enter")
    await sees(pilot, "Here they are.")
    await until(pilot, lambda: not app.situation.is_running)


async def browsing(pilot: Pilot[Any], app: Trackside) -> ArtifactsScreen:
    await app.action_perform("app.artifacts")
    await until(pilot, lambda: isinstance(app.screen, ArtifactsScreen))
    screen = app.screen
    assert isinstance(screen, ArtifactsScreen)
    return screen


@at_both_sizes
async def test_they_are_listed_looked_into_and_left(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app, size) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts of this session", "plan.json", "map.png", "long.txt")
        for key, words in (("home", "more: s saves"), ("down", "640 × 480 pixels"), ("down", '"Kyoto"')):
            await pilot.press(key, "enter")
            if words.startswith("more"):
                await pilot.press("end")
            await sees(pilot, words)
            await pilot.press("escape" if size == (80, 24) else "shift+tab")
        assert isinstance(app.screen, ArtifactsScreen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)


@at_both_sizes
async def test_one_is_saved_and_nothing_is_overwritten_unasked(open_engine: Engines, size: Size, folder: Path):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app, size) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("end", "s")
        await sees(pilot, "Save to which file?", "plan.json")
        await pilot.press("enter")
        await sees(pilot, "17 B saved to plan.json")
        assert (folder / "plan.json").read_bytes() == b'{"city": "Kyoto"}'
        (folder / "plan.json").write_text("mine")
        for answer, wanted in (("escape", b"mine"), ("y", b'{"city": "Kyoto"}')):
            await pilot.press("s")
            await sees(pilot, "Save to which file?")
            await pilot.press("enter")
            await sees(pilot, "already exists")
            await pilot.press(answer)
            if answer == "escape":
                await sees(pilot, "Save to which file?", "plan.json stays as it is. Name another file.")
                await pilot.press("escape")
                await until(pilot, lambda: isinstance(app.screen, ArtifactsScreen))
            await until(pilot, lambda wanted=wanted: (folder / "plan.json").read_bytes() == wanted)
        assert os.listdir(folder) == ["plan.json"], "nothing else is left behind"  # noqa: PTH208


async def test_who_keeps_a_file_names_another_from_the_name_that_was_typed(open_engine: Engines, folder: Path):
    (folder / "mine.json").write_text("mine")
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("end", "s")
        await sees(pilot, "Save to which file?")
        await pilot.press("ctrl+u", *"mine.json", "enter")
        await sees(pilot, "mine.json already exists")
        await pilot.press("n")
        await sees(pilot, "Save to which file?", "mine.json stays as it is.")
        await pilot.press("home", *"not-", "enter")
        await sees(pilot, "17 B saved to not-mine.json")
        assert (folder / "mine.json").read_text() == "mine"


async def test_what_cannot_be_written_says_why(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("s")
        await sees(pilot, "Save to which file?")
        await pilot.press("home", *"no/", "enter")
        await sees(pilot, "no/long.txt cannot be written: No such file or directory.", "Save to which file?")
        await pilot.press("home", "delete", "delete", "delete", "enter")
        await sees(pilot, "saved to long.txt")


async def test_what_takes_long_says_how_far_it_is(open_engine: Engines, monkeypatch: pytest.MonkeyPatch, folder: Path):
    app, may_go_on = Trackside(LaunchOptions(), lambda: open_engine(maker)), asyncio.Event()
    async with at_the_screen(app) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts")
        read = app.stage.engine.artifacts.read_bytes

        async def slowly(artifact_id: str, offset: int = 0, limit: int = 0) -> bytes:
            if offset:
                await may_go_on.wait()
            return await read(artifact_id, offset=offset, limit=WINDOW)

        monkeypatch.setattr(app.stage.engine.artifacts, "read_bytes", slowly)
        await pilot.press("s")
        await sees(pilot, "Save to which file?")
        await pilot.press("enter")
        await sees(pilot, "saving long.txt: 256 KiB · 80%")
        may_go_on.set()
        await sees(pilot, "320 KiB saved to long.txt", "3 artifacts of this session")
        assert (folder / "long.txt").stat().st_size == 5 * (WINDOW // 4)


async def test_one_is_found_by_a_part_of_its_name_or_type(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts")
        await pilot.press("slash", *"IMAGE")
        await sees(pilot, "1 artifact of this session", "640 × 480 pixels")
        await pilot.press("ctrl+u", *"nothing like it")
        await sees(pilot, "No artifact of this session holds that in its name, type or", "esc shows all.")
        await pilot.press("escape")
        await sees(pilot, "3 artifacts of this session")


async def test_what_is_made_meanwhile_is_listed_by_itself(open_engine: Engines):
    cue = Cue()

    async def slow_maker(ctx: Any):
        yield said("One after another.")
        for name in ("first.txt", "second.txt"):
            await cue.wait()
            yield made(name=name, content_base64="aGk=")
        await cue.wait()
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(slow_maker))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"go", "enter")
        await sees(pilot, "One after another.")
        cue.go()
        await sees(pilot, "◆ first.txt")
        await browsing(pilot, app)
        await sees(pilot, "1 artifact of this session", "first.txt")
        cue.go()
        await sees(pilot, "2 artifacts of this session", "second.txt")
        screen = app.screen
        assert isinstance(screen, ArtifactsScreen)
        assert screen.current is not None
        assert screen.current.name == "first.txt", "the cursor stays where it was"


async def test_what_expires_and_what_has_expired_is_told(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await made_some(pilot, app)
        engine = app.stage.engine
        plan, image, long = await engine.artifacts.list(conversation_id=app.stage.session)
        for row, expires_at in ((plan, engine.now() + 7_200_000_000), (image, engine.now() - 1), (long, None)):
            await expire(engine, row.artifact_id, expires_at)
        await browsing(pilot, app)
        await sees(pilot, "long.txt  2h left", "map.png  expired", "expires  in 2 h 0 min")
        await pilot.press("down")
        await sees(pilot, "just now: it can no longer be read", "It has expired.")
        await pilot.press("s")
        await sees(pilot, "there is nothing to save")


async def test_a_file_that_came_with_a_message_is_seen_from_its_block(open_engine: Engines, folder: Path):
    (folder / "notes.txt").write_text("Two days in Kyoto")
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"see @note")
        await sees(pilot, "tab takes the path")
        await pilot.press("tab", "enter")
        await sees(pilot, "Here they are.", "◆ notes.txt", "text/plain · 17 B")
        await until(pilot, lambda: not app.situation.is_running)
        app.main.go_to("conversation")
        for _ in range(8):
            await pilot.press("alt+up")
        await sees(pilot, "a artifact")
        await pilot.press("a")
        await sees(pilot, "4 artifacts of this run", "notes.txt", "Two days in Kyoto")


@pytest.mark.parametrize(("size", "ascii_only"), [((160, 45), True), ((120, 35), False), ((60, 15), True)])
async def test_it_fits_every_screen(open_engine: Engines, size: Size, ascii_only: bool):
    app = Trackside(LaunchOptions(ascii_only=ascii_only), lambda: open_engine(maker))
    async with at_the_screen(app, size) as pilot:
        await made_some(pilot, app)
        await browsing(pilot, app)
        await sees(pilot, "3 artifacts of this session", "plan.json", "map.png")
        await pilot.press("end", "tab")
        await sees(pilot, "Kyoto")
        assert not ascii_only or shown(app).isascii()
        await pilot.press("escape", "s")
        await sees(pilot, "Save to which file?", "plan.json")


async def test_none_says_what_to_do(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await browsing(pilot, app)
        await sees(pilot, "No artifacts of this session.", "w shows those of all sessions.")
        await pilot.press("s")
        await sees(pilot, "there is no artifact here")
        await pilot.press("w")
        await sees(pilot, "No artifacts of all sessions.")


async def test_where_there_are_none_w_shows_what_it_says(open_engine: Engines):
    async def idle(ctx: Any):
        yield done("Nothing made.")

    app = Trackside(LaunchOptions(), lambda: open_engine(idle))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"go", "enter")
        await sees(pilot, "Nothing made.")
        await until(pilot, lambda: not app.situation.is_running)
        await browsing(pilot, app)
        for whose, following in (("this session", "this run"), ("this run", "all sessions")):
            await sees(pilot, f"No artifacts of {whose}.", f"w shows those of {following}.")
            await pilot.press("w")
        await sees(pilot, "No artifacts of all sessions.", "Send something first.")


async def test_an_artifact_of_the_conversation_is_opened_from_its_block(open_engine: Engines):
    app = Trackside(LaunchOptions(), lambda: open_engine(maker))
    async with at_the_screen(app) as pilot:
        await made_some(pilot, app)
        app.main.go_to("conversation")
        await pilot.press("alt+up", "alt+up", "alt+up", "alt+up")
        await sees(pilot, "a artifact")
        await pilot.press("a")
        await sees(pilot, "3 artifacts of this run", '"Kyoto"')


async def test_a_page_at_a_time(open_engine: Engines):
    async def many(ctx: Any):
        for number in range(230):
            yield made(name=f"part-{number:03}.txt", content_base64="aGk=")
        yield done("All there.")

    app = Trackside(LaunchOptions(), lambda: open_engine(many))
    async with at_the_screen(app) as pilot:
        await pilot.press(*"go", "enter")
        await sees(pilot, "All there.")
        await browsing(pilot, app)
        await sees(pilot, "100+ artifacts of this session")
        for _ in range(3):
            await pilot.press("end")
            await pilot.pause()
        await sees(pilot, "230 artifacts of this session")
        assert "part-000.txt" in shown(app)
