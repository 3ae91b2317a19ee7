"""Whatever a runner sends is shown as harmless text: in every pane, at every size, without a failure."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.text.safe import one_line, safe
from console.ui.conversation.markdown import MarkdownLayout
from console.ui.shared.fields import SafeInput, SafeTextArea
from engine.api import Engine
from tests.console.text.test_safe import hostile_in
from tests.support.console.pilot import at_the_screen, sees, shown, until

pytestmark = pytest.mark.usefixtures("every_frame")

SIZES = [(160, 45), (80, 24), (60, 15)]
TEXTS = {
    "escapes": "\x1b[2J\x1b]0;title\x07\x1b[31mred\x1bP\x1b\\",
    "C0 and C1": "".join(map(chr, (*range(9), 11, 12, *range(14, 32), *range(127, 160)))),
    "directions": "abc\u202edef\u2066ghi\u2069\u200fjkl\u061c",
    "surrogates": "half \ud800 pair \udfff",
    "joiners": "\u200d\ufe0f👨\u200d👩\u200d👧 ❤\ufe0f a\u200db \u200d",
    "marks": "Z" + "\u0301\u0302\u0323" * 500 + "algo",
    "markup": "[/x] [bold red]not red[/] \\[ [@click=app.quit]quit[/] [link=x] [[[",
    "wide": "漢字" * 60 + "👍🏽 ｆｕｌｌ",
    "tabs and lines": "a\tb\n\n\tc\r\nd\re\u2028f\u2029g\x0bh\x0ci\x85j",
    "nulls": "a\0b\0\0c",
    "invisible": "a\u200bb\u2060c\ufeffd\u00ade\U000e0041\u3164\u115f",
    "one long line": "x" * 100_000 + "漢" * 5_000,
    "markdown": "```[/x]\n\x1b[1m\n```\n| a | [b] |\n|---|---|\n| \u202e | \x1b |\n> [x](y:\x07)\n1. ![y](z\x9b)",
}
JSON_TEXTS = {name: text for name, text in TEXTS.items() if name != "surrogates"}
"""The texts that JSON, and so the wire, can carry: those without half of a surrogate pair."""
CONTROL_CODE_POINTS = {0x200D, 0xFE0F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
ALPHABET = st.characters(codec=None) | st.sampled_from("".join(TEXTS.values())[:2_000])


def check(app: Trackside, size: tuple[int, int]) -> None:
    """Check that no pane has failed, each row is as wide as the screen, and no control character is drawn."""
    assert [(pane, pane.failure.report) for pane in app.main.guarded if pane.failure is not None] == []
    strips = app.screen._compositor.render_strips()
    assert len(strips) == size[1]
    assert [one for one in app.screen.query(Input) if not isinstance(one, SafeInput)] == []
    assert [one for one in app.screen.query(TextArea) if not isinstance(one, SafeTextArea)] == []
    for strip in strips:
        text = strip.text
        assert hostile_in(text) == set()
        assert [character for character in text if is_control(character)] == []
        assert cell_len(text) == strip.cell_length == size[0], text


def is_control(character: str) -> bool:
    """Return whether a terminal would act on a character instead of showing it."""
    return unicodedata.category(character) in ("Cc", "Cs") or ord(character) in CONTROL_CODE_POINTS


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The hostile runner, with a file of its texts beside it."""
    (tmp_path / "texts.json").write_text(json.dumps(list(JSON_TEXTS.values())))
    path = tmp_path / "hostile_runner.py"
    path.write_text((Path(__file__).parents[2] / "support" / "console" / "hostile_runner.py").read_text("utf-8"))
    return path


async def check_every_pane(pilot: Pilot[None], app: Trackside, size: tuple[int, int]) -> None:
    """Visit every pane, each tab of the inspector, the palette and the help, and check the screen each time."""
    inspector, stream = app.main.inspector, app.main.stream
    for name in ("conversation", "stream", "rail", "prompt"):
        app.main.go_to(name)
        for key in ("home", "pagedown", "end") if name != "prompt" else ("up",):
            await pilot.press(key)
            check(app, size)
    for tab in inspector._order:
        app.main.go_to("inspector")
        inspector.choose(tab)
        stream.go_to(9 if size[0] > 100 else 23)
        await until(pilot, lambda tab=tab: inspector._tabs[tab].data is not None)
        await pilot.press("enter", "pagedown")
        check(app, size)
    for key in ("ctrl+p", "f1"):
        await pilot.press(key)
        await pilot.pause()
        check(app, size)
        await pilot.press("escape")


async def test_hostile_text_is_harmless_in_every_pane(runner: Path):
    app = Trackside(LaunchOptions(), lambda: Engine.open(runner, db=runner.with_name("facts.db")))
    async with at_the_screen(app, SIZES[0]) as pilot:
        for text in TEXTS.values():
            app.main.prompt.load(text)
            await pilot.pause()
            check(app, SIZES[0])
        app.main.prompt.load("".join(text[:300] for text in JSON_TEXTS.values()))
        await pilot.press("enter")
        await until(
            pilot, lambda: app.services.updater.view is not None and app.services.updater.view.status.entries > 50
        )
        app.main.prompt.load("then " + "".join(text[:300] for text in JSON_TEXTS.values()))
        await pilot.press("enter")
        await sees(pilot, "failed", "␛[2J", "[bold red]not red[/]")
        app.active_session.runner_id = TEXTS["markup"] + TEXTS["escapes"]
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await until(pilot, lambda size=size: app.main.size == size)
            for text in TEXTS.values():
                app.services.show_toast(text)
            await pilot.pause()
            check(app, size)
            app.clear_notifications()
            await check_every_pane(pilot, app, size)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_hostile_text_in_an_error_is_harmless(text: str):
    async def fail_to_open() -> Any:
        raise OSError(f"no such runner: {text[:300]}")

    app = Trackside(LaunchOptions(runner=text[:100], session=text[:100]), fail_to_open)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "no such runner" in shown(app))
        check(app, (80, 24))


def test_safe_text_has_no_control_characters():
    everything = "".join(map(chr, range(0x110000)))
    assert {character for character in safe(everything) if is_control(character)} == {"\t", "\n"}
    assert {character for character in one_line(everything, len(everything)) if is_control(character)} == set()


@settings(max_examples=150, deadline=None)
@given(st.text(ALPHABET, max_size=200))
def test_safe_text_can_be_encoded_and_measured(text: str):
    for shown_text in (safe(text), one_line(text, 60)):
        shown_text.encode()
        assert cell_len(shown_text) >= 0
    assert len(one_line(text, 60)) <= 61


@settings(max_examples=100, deadline=None)
@given(st.text(ALPHABET, max_size=300), st.integers(6, 80))
def test_markdown_of_any_text_fits_its_width(text: str, width: int):
    for line in MarkdownLayout().lines(text, width):
        assert line.cell_length <= width
        assert [character for character in line.plain if is_control(character)] == []
