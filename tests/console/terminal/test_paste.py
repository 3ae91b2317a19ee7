"""A bracketed paste of a terminal is one text, and nothing in it is handled as a key."""

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


def describe(messages: Iterable[Message]) -> list[str]:
    """Return keys by their names and pastes in quotes."""
    return [
        repr(item.text) if isinstance(item, events.Paste) else item.key
        for item in messages
        if isinstance(item, events.Paste | events.Key)
    ]


def parse(*reads: str) -> list[str]:
    """Parse what a terminal sends in these reads, and describe the events."""
    parser = WholePasteParser()
    return [item for read in reads for item in describe(parser.feed(read))]


@pytest.mark.parametrize(
    "text",
    [COLOURED, "\x1b", "\x1b\x1b[20", "\x1b[A\r\n\x1bOP", "\x1b[M !!", f"{BEGIN}twice", "\x1b]0;title\x07", "", "é\r"],
)
def test_paste_is_one_text_including_its_escape_sequences(text: str):
    assert parse(f"x{BEGIN}{text}{END}\ry") == ["x", repr(text), "enter", "y"]


def test_paste_may_be_split_into_any_pieces():
    whole = f"x{BEGIN}{COLOURED}{END}\r{BEGIN}more{END}y"
    expected = ["x", repr(COLOURED), "enter", repr("more"), "y"]
    for size in range(1, len(whole) + 1):
        assert parse(*_pieces(whole, size)) == expected, size


def test_large_paste_of_coloured_lines_is_one_text():
    text = "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n" * 40_000
    assert parse(*_pieces(BEGIN + text + END, 4096)) == [repr(text)]


def test_keys_before_and_after_a_paste_are_keys():
    assert parse("\x1b[A\x1b[1;5C", f"\x1b{BEGIN}a{END}\x1b[B") == ["up", "ctrl+right", "escape", "'a'", "down"]


def test_text_typed_long_after_escape_does_not_start_a_paste(monkeypatch: pytest.MonkeyPatch):
    now = 0.0
    monkeypatch.setattr("textual._parser.get_time", lambda: now)
    parser = WholePasteParser()
    keys = describe(parser.feed("\x1b"))
    now = 10.0
    keys += describe(parser.tick())
    keys += describe(parser.feed("[200~q"))
    assert keys == ["escape", "left_square_bracket", "2", "0", "0", "tilde", "q"]


def _pieces(text: str, size: int) -> Sequence[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def test_paste_in_a_real_terminal_is_not_sent_before_enter(tmp_path: Path):
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        terminal.type(f" {BEGIN}first \x1b[31mred\nlast{END}!")
        terminal.sees("│  first ", "[31mred", "last!", "run the example: plan a day")
        assert "● running" not in terminal.text


def test_large_paste_in_a_real_terminal_becomes_a_token_and_the_next_key_works(tmp_path: Path):
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        for piece in _pieces(BEGIN + "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n" * 40_000 + END, 2048):
            terminal.type(piece)
        terminal.type(" so")
        terminal.sees("⟦pasted 1,200,000 characters⟧ so", "run the example: plan a day")


# Single-line fields


@pytest.mark.parametrize("text", ["", "one", "one\n", "\r\n one ", " ", "a\x1b[31mb"])
def test_single_pasted_line_is_unchanged(text: str):
    assert on_one_line(text) == (text.strip("\r\n"), "")


def test_few_pasted_lines_are_joined_and_many_are_refused():
    assert on_one_line("one\r\n  two\n\nthree\n")[0] == "one two three"
    assert on_one_line("x\n" * MAX_JOINED_LINES)[0] == " ".join("x" * MAX_JOINED_LINES)
    assert on_one_line("x\n" * (MAX_JOINED_LINES + 1)) == (
        "",
        "Nothing was pasted: this field takes one line, and the text has 11.",
    )


@pytest.mark.parametrize("source", ["terminal", "ctrl+v"])
async def test_lines_pasted_into_a_single_line_field_are_joined_or_refused_with_a_toast(
    open_engine: Engines, source: str
):
    app = recording_console(open_engine)
    async with at_the_screen(app) as pilot:
        for command in ("app.sessions", "app.theme", "stream.filter"):
            before = app.screen
            if command == "stream.filter":
                app.main.go_to("stream")
            else:
                await app.action_perform(command)
                await until(pilot, lambda before=before: app.screen is not before)
            await pilot.press(*([] if command == "app.theme" else ["slash"]))
            await until(pilot, lambda: isinstance(app.focused, Input))
            field = app.focused
            assert isinstance(field, Input)
            app.toasts.clear()
            for text, value in (("first\n  second\n", "first second"), ("x\n" * 50, "")):
                await pilot.press("ctrl+u")
                if source == "terminal":
                    app.post_message(events.Paste(text))
                else:
                    app.copy_to_clipboard(text)
                    await pilot.press("ctrl+v")
                await until(pilot, lambda field=field, value=value: bool(app.toasts) and field.value == value)
                await sees(pilot, app.toasts[-1])
                assert app.toasts == (
                    ["2 lines were joined with spaces: this field takes one line."] if value
                    else ["Nothing was pasted: this field takes one line, and the text has 50."]
                )  # fmt: skip
                app.toasts.clear()
            await pilot.press("escape", *(["escape"] if command == "app.sessions" else []))
            await until(pilot, lambda: app.screen is app.main)


async def test_pasted_lines_that_are_not_all_files_are_joined_in_the_path_field(open_engine: Engines, tmp_path: Path):
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
