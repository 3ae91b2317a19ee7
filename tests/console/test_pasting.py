"""What a terminal sends in the brackets of a paste is one text, and nothing in it is a key."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from textual import events
from textual.message import Message

from console.terminal.pasting import WholePastes
from tests.console.driving import WIDE
from tests.console.terminal import TRACKSIDE, Terminal

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
    parser = WholePastes()
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
    parser = WholePastes()
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
        terminal.sees("Kyoto first ", "[31mred", "last!", "try it: it plans a day")
        assert "● running" not in terminal.text


def test_a_large_paste_in_a_real_terminal_is_a_token_and_the_next_key_is_answered(tmp_path: Path):
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto")
        for piece in _pieces(BEGIN + "\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m\n" * 40_000 + END, 2048):
            terminal.type(piece)
        terminal.type(" so")
        terminal.sees("Kyoto⟦pasted 1,200,000 characters⟧ so", "try it: it plans a day")
