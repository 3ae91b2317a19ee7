"""What a terminal sends in the brackets of a paste is one text, and nothing in it is a key."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from textual import events
from textual.message import Message
from textual.widgets import Input

from console.model.prompt.paste_tokens import MAX_JOINED_LINES, on_one_line
from console.ui.terminal.paste import WholePasteParser
from tests.support.console.pilot import WIDE, at_the_screen, sees, until
from tests.support.console.recorded_toasts import recording_console
from tests.support.console.terminal import TRACKSIDE, Terminal
from tests.support.engines import Engines

BEGIN, END = "\x1b[200~", "\x1b[201~"
COLOURED = "a\x1b[31mb\nc"


def told(messages: Iterable[Message]) -> list[str]:
    """Keys by their names, pastes in quotes."""
    return [
        repr(one.text) if isinstance(one, events.Paste) else one.key
        for one in messages
        if isinstance(one, events.Paste | events.Key)
    ]


def heard(*reads: str) -> list[str]:
    """What comes of it, as the terminal's words are read."""
    parser = WholePasteParser()
    return [one for read in reads for one in told(parser.feed(read))]


@pytest.mark.parametrize(
    "text",
    [COLOURED, "\x1b", "\x1b\x1b[20", "\x1b[A\r\n\x1bOP", "\x1b[M !!", f"{BEGIN}twice", "\x1b]0;title\x07", "", "é\r"],
)
def test_a_paste_is_one_text_with_all_that_is_in_it(text: str):
    assert heard(f"x{BEGIN}{text}{END}\ry") == ["x", repr(text), "enter", "y"]


def test_a_paste_may_come_in_any_pieces():
    whole = f"x{BEGIN}{COLOURED}{END}\r{BEGIN}more{END}y"
    wanted = ["x", repr(COLOURED), "enter", repr("more"), "y"]
    for size in range(1, len(whole) + 1):
        assert heard(*_pieces(whole, size)) == wanted, size


def test_a_large_paste_of_coloured_lines_is_one_text():
    text = "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n" * 40_000
    assert heard(*_pieces(BEGIN + text + END, 4096)) == [repr(text)]


def test_keys_are_keys_before_and_after():
    assert heard("\x1b[A\x1b[1;5C", f"\x1b{BEGIN}a{END}\x1b[B") == ["up", "ctrl+right", "escape", "'a'", "down"]


def test_what_is_typed_long_after_escape_begins_no_paste(monkeypatch: pytest.MonkeyPatch):
    now = 0.0
    monkeypatch.setattr("textual._parser.get_time", lambda: now)
    parser = WholePasteParser()
    keys = told(parser.feed("\x1b"))
    now = 10.0
    keys += told(parser.tick())
    keys += told(parser.feed("[200~q"))
    assert keys == ["escape", "left_square_bracket", "2", "0", "0", "tilde", "q"]


def _pieces(text: str, size: int) -> Sequence[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


def test_a_paste_in_a_real_terminal_waits_in_the_prompt_for_enter(tmp_path: Path):
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(f" {BEGIN}first \x1b[31mred\nlast{END}!")
        terminal.sees("│  first ", "[31mred", "last!", "run the example: plan a day")
        assert "● running" not in terminal.text


def test_a_large_paste_in_a_real_terminal_is_a_token_and_the_next_key_is_answered(tmp_path: Path):
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        for piece in _pieces(BEGIN + "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n" * 40_000 + END, 2048):
            terminal.type(piece)
        terminal.type(" so")
        terminal.sees("⟦pasted 1,200,000 characters⟧ so", "run the example: plan a day")


# Fields of one line


@pytest.mark.parametrize("text", ["", "one", "one\n", "\r\n one ", " ", "a\x1b[31mb"])
def test_a_line_that_is_pasted_is_a_line(text: str):
    assert on_one_line(text) == (text.strip("\r\n"), "")


def test_few_lines_become_one_and_many_are_refused():
    assert on_one_line("one\r\n  two\n\nthree\n")[0] == "one two three"
    assert on_one_line("x\n" * MAX_JOINED_LINES)[0] == " ".join("x" * MAX_JOINED_LINES)
    assert on_one_line("x\n" * (MAX_JOINED_LINES + 1)) == (
        "",
        "Nothing was pasted: this field takes one line, and the text has 11.",
    )


@pytest.mark.parametrize("way", ["terminal", "ctrl+v"])
async def test_lines_that_are_pasted_into_a_field_of_one_are_all_there_and_it_is_told(open_engine: Engines, way: str):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        for opens in ("app.sessions", "app.theme", "stream.filter"):
            before = app.screen
            if opens == "stream.filter":
                app.main.go_to("stream")
            else:
                await app.action_perform(opens)
                await until(pilot, lambda before=before: app.screen is not before)
            await pilot.press(*([] if opens == "app.theme" else ["slash"]))
            await until(pilot, lambda: isinstance(app.focused, Input))
            line = app.focused
            assert isinstance(line, Input)
            app.toasts.clear()
            for text, value in (("first\n  second\n", "first second"), ("x\n" * 50, "")):
                await pilot.press("ctrl+u")
                if way == "terminal":
                    app.post_message(events.Paste(text))
                else:
                    app.copy_to_clipboard(text)
                    await pilot.press("ctrl+v")
                await until(pilot, lambda line=line, value=value: bool(app.toasts) and line.value == value)
                await sees(pilot, app.toasts[-1])
                assert app.toasts == (
                    ["2 lines were joined with spaces: this field takes one line."] if value
                    else ["Nothing was pasted: this field takes one line, and the text has 50."]
                )  # fmt: skip
                app.toasts.clear()
            await pilot.press("escape", *(["escape"] if opens == "app.sessions" else []))
            await until(pilot, lambda: app.screen is app.main)


async def test_lines_that_are_no_files_are_one_line_in_the_field_for_a_path(open_engine: Engines, tmp_path: Path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press("ctrl+n")
        await sees(pilot, "New event")
        await pilot.press("tab")
        path = app.screen.query_one("#path", Input)
        await until(pilot, lambda: app.focused is path)
        app.post_message(events.Paste("some\nwords"))
        await until(pilot, lambda: path.value == "some words")
        assert app.toasts == ["2 lines were joined with spaces: this field takes one line."]
        await pilot.press("ctrl+u")
        app.post_message(events.Paste(f"{tmp_path}/a.txt\n{tmp_path}/c.txt"))
        await until(pilot, lambda: path.value == f"{tmp_path}/a.txt {tmp_path}/c.txt" and len(app.toasts) == 2)
        await pilot.press("ctrl+u")
        app.post_message(events.Paste(f"{tmp_path}/a.txt\n{tmp_path}/b.txt"))
        await sees(pilot, "◆ a.txt", "◆ b.txt")
        assert len(app.toasts) == 2
