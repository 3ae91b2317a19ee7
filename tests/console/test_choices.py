"""What of console.yaml is in force is told, and the file is read again while the console is open."""

from pathlib import Path

import pytest

from console.opening import Opening
from console.screens.choices import Choices
from console.screens.help import Help
from console.settling import settled
from tests.console.driving import SIZES, WIDE, Cue, at_the_screen, listener, sees, shown, until
from tests.console.telling import Telling
from tests.support import Engines


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a person would write it."""
    for kind in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    path = tmp_path / "config" / "trackside" / "console.yaml"
    path.parent.mkdir(parents=True)
    return path


def write(file: Path, text: str) -> None:
    file.write_text(text)


def remove(file: Path) -> None:
    file.unlink()


def opened(open_engine: Engines, *, ascii_only: bool = False) -> Telling:
    return Telling(Opening(settled=settled(), ascii_only=ascii_only), lambda: open_engine(listener(Cue())))


async def asked(app: Telling) -> None:
    await app.action_perform("app.choices")


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_where_there_is_no_file_it_is_told_where_and_how_to_write_one(
    open_engine: Engines, file: Path, size: tuple[int, int]
):
    app = opened(open_engine)
    async with at_the_screen(app, size) as pilot:
        await asked(app)
        await sees(pilot, str(file)[:20], "there is none; write one, and r reads it", "theme: dark")
        await pilot.press("end")
        await sees(pilot, "# no key: found by its name", 'accent: "#ffb454"')


async def test_what_the_file_changed_and_what_is_wrong_in_it_is_told(open_engine: Engines, file: Path):
    write(file, "theme: light\nkeys:\n  app.help: alt+h\n  app.zoom: null\n  app.hodl: f5\nthemes:\n  mine: {}\n")
    app = opened(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await asked(app)
        await sees(
            pilot, "it is there, and was read as it is now", "theme: light, as the file says", "your own: mine",
            "app.help: alt+h, in place of f1", "app.zoom: no key, in place of f2", "line 5: there is no command",
        )  # fmt: skip


async def test_a_file_that_was_saved_is_read_again_when_asked_and_holds_at_once(open_engine: Engines, file: Path):
    write(file, "keys:\n  app.help: alt+h\n  app.theme: alt+t\n")
    app = opened(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        await sees(pilot, "alt+h help")
        write(file, "theme: light\nascii: true\nkeys:\n  app.help: alt+j\n  app.stop: f6\n")
        await asked(app)
        await sees(pilot, "it was saved since it was read; r reads it again", "theme: dark", "app.help: alt+h")
        await pilot.press("r")
        await sees(pilot, "theme: light, as the file says", "ascii: true, as the file says", "app.help: alt+j")
        await sees(pilot, "line 5: app.stop: f6 belongs to app.hold", "read again; 1 line to mend")
        assert app.theme == "light"
        await pilot.press("escape")
        await sees(pilot, "alt+j help")
        await pilot.press("alt+t", "alt+h")  # neither is a key any more
        await pilot.press("alt+j")
        await until(pilot, lambda: isinstance(app.screen, Help))
        assert "alt+j" in shown(app)


async def test_a_file_that_is_gone_is_read_again_as_nothing(open_engine: Engines, file: Path):
    write(file, "theme: light\nascii: true\nkeys:\n  app.help: alt+h\n")
    app = opened(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        remove(file)
        await asked(app)
        await sees(pilot, "it is gone since it was read")
        await pilot.press("r")
        await sees(
            pilot, "there is none; write one", "theme: dark, the file names none", "ascii: false", "keys: all as"
        )
        assert (app.theme, app.glyphs.is_ascii) == ("dark", False)
        await pilot.press("escape", "f1")
        await until(pilot, lambda: isinstance(app.screen, Help))


async def test_colours_of_a_theme_that_is_worn_are_read_again_too(open_engine: Engines, file: Path):
    write(file, 'theme: mine\nthemes:\n  mine:\n    background: "#101010"\n')
    app = opened(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        write(file, 'theme: mine\nthemes:\n  mine:\n    background: "#202020"\n')
        await asked(app)
        await until(pilot, lambda: isinstance(app.screen, Choices))
        await pilot.press("r", "escape")
        await until(pilot, lambda: app.main.background_colors[1].hex == "#202020")
        assert app.theme == "mine"


async def test_what_was_asked_for_on_the_command_line_counts_for_more_than_the_file(open_engine: Engines, file: Path):
    app = opened(open_engine, ascii_only=True)
    async with at_the_screen(app, WIDE) as pilot:
        write(file, "theme: light\nascii: false\n")
        await asked(app)
        await until(pilot, lambda: isinstance(app.screen, Choices))
        await pilot.press("r")
        await sees(pilot, "theme: light, as the file says", "ascii: true, the file says false")
        assert shown(app).isascii()


async def test_a_path_is_taken_by_the_key_that_holds_now(open_engine: Engines, file: Path, tmp_path: Path):
    (tmp_path / "notes.txt").touch()
    app = opened(open_engine)
    async with at_the_screen(app, WIDE) as pilot:
        prompt = app.main.prompt
        await pilot.press(*f"@{tmp_path}/no")
        await until(pilot, lambda: prompt.picks.is_open)
        await pilot.press("down", "escape")
        write(file, "keys:\n  paths.take: alt+t\n")
        await asked(app)
        await until(pilot, lambda: isinstance(app.screen, Choices))
        await pilot.press("r")
        await until(pilot, lambda: "console.yaml was read again; what it says holds now" in app.told)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("t")
        await until(pilot, lambda: prompt.picks.is_open)
        await sees(pilot, "alt+t takes it")
        await pilot.press("alt+t")
        await until(pilot, lambda: prompt.text.startswith("⟦notes.txt"))
