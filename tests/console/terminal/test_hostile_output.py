"""Hostile text in a real terminal: the raw bytes have no sequence but Textual's own, and ^q works."""

import json
from pathlib import Path

from tests.support.console.hostile_session import QUIT, hostile_console, hostile_output
from tests.support.console.terminal import TRACKSIDE, Terminal

ESCAPE, PALETTE = "\x1b", "\x10"
CLIPBOARD = "\x1b]52;c;YQ==\x07"
HOSTILE = f"{CLIPBOARD}\x9b2J\x7f\u202eabc\u2066\u200b\u200c\u3164"
MARKDOWN = "last &#8238;line&#27;]52;c;YQ==&#7; [link&#x9b;](http://a/&#8238;)"
CHAPEL = '```chapel\n"' + "\\" * 60 + "\n```\n\n"
"""Its lexer takes longer than the universe exists."""


def test_no_character_of_a_runner_is_obeyed_and_quitting_works(tmp_path: Path):
    """The type and the text of a result as rows and as Markdown, and the type in the filter line and the palette."""
    with hostile_console(tmp_path, CHAPEL + MARKDOWN, kind=f"x.{HOSTILE}") as terminal:
        terminal.sees("completed", "\\u202eline")
        terminal.type("\t\t")
        terminal.sees("o only kind")
        terminal.type("k")
        terminal.sees("#3  x.")
        terminal.type("o")
        terminal.sees("3 hidden")
        terminal.type("/")
        terminal.sees("enter apply")
        terminal.type(ESCAPE)
        terminal.sees("o only kind")
        terminal.type(PALETTE)
        terminal.sees("Search for commands")
        terminal.type(f"\x1b[200~{HOSTILE}\x1b[201~")
        terminal.sees("YQ==␇�2J␡�abc")
        terminal.type(QUIT)
        assert terminal.ends() == 0
        assert hostile_output(terminal) == ""


def test_json_on_a_terminal_has_escapes(tmp_path: Path):
    (tmp_path / "hostile.py").write_text(
        f"async def run(ctx):\n    yield {{'type': 'x.text', 'data': {{'text': {HOSTILE!r}}}}}\n"
    )
    command = [TRACKSIDE, "run", tmp_path / "hostile.py", "-m", "go", "--jsonl"]
    with Terminal(command, tmp_path / "home", (200, 50)) as run:
        assert run.ends() == 0
        assert hostile_output(run) == ""
        entries = [json.loads(line) for line in bytes(run.sent).decode().splitlines()]
    assert [entry["data"]["text"] for entry in entries if entry["type"] == "x.text"] == [HOSTILE]
