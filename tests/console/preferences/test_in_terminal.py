"""The editor, console.yaml and the saved choices, with the `trackside` command in a real terminal."""

import json
import sys
from pathlib import Path

from tests.support.console.pilot import WIDE
from tests.support.console.terminal import TRACKSIDE, Terminal

ENTER, CTRL_Q, CTRL_G, CTRL_P, CTRL_C = "\r", "\x11", "\x07", "\x10", "\x03"
NOTEPAD = """
import pathlib, signal, sys

signal.signal(signal.SIGINT, lambda *_: print("interrupted"))
file = pathlib.Path(sys.argv[1])
print("\\x1b[2J\\x1b[Hnotepad holds", repr(file.read_text()))
while (line := sys.stdin.readline()) == "\\n":
    pass
file.write_text(line)
"""


def test_editor_uses_the_terminal_while_the_run_continues(tmp_path: Path):
    notepad = tmp_path / "notepad.py"
    notepad.write_text(NOTEPAD)
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE, {"EDITOR": f"{sys.executable} {notepad}"}) as terminal:
        terminal.sees("run the example: plan a day")
        terminal.type(ENTER)
        terminal.sees("● running", "steer ▸")
        terminal.type(f"also{CTRL_G}")
        terminal.sees("notepad holds 'also'")
        terminal.type(CTRL_C)
        terminal.sees("interrupted")
        assert "trackside" not in terminal.text, "nothing is drawn over the editor"

        terminal.type(f"use Fahrenheit{ENTER}")
        terminal.sees("use Fahrenheit", "Conversation")
        terminal.type(f"{ENTER}")
        terminal.sees("✓ completed")
        terminal.type(CTRL_Q)
        assert terminal.ends() == 0
        assert terminal.left_on() == set()


def test_failed_editor_changes_nothing_and_the_console_returns(tmp_path: Path):
    with Terminal([TRACKSIDE], tmp_path / "home", WIDE, {"EDITOR": f"{sys.executable} -c exit(3)"}) as terminal:
        terminal.sees("run the example: plan a day")
        terminal.type(f"Kyoto, please{CTRL_G}")
        terminal.sees("ended with status 3. The message is", "unchanged.", "Kyoto, please")
        terminal.type(CTRL_Q)
        assert terminal.ends() == 0
        assert terminal.left_on() == set()


def test_key_with_alt_is_not_typed_as_a_letter(tmp_path: Path):
    home = tmp_path / "home"
    config = home / "xdg_config_home" / "trackside"
    config.mkdir(parents=True)
    (config / "console.yaml").write_text("keys:\n  app.help: alt+a\n")
    with Terminal([TRACKSIDE], home, WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto", "alt+a help")
        terminal.type("\x1ba")
        terminal.sees("Help · prompt")
        terminal.type("\x1ba")
        terminal.until(lambda: "Help · prompt" not in terminal.text, "help to close")
        terminal.type("\x1b[C\x1bx")
        terminal.sees("Plan a day in Kyotox")
        terminal.type(CTRL_Q)
        assert terminal.ends() == 0


def test_file_is_read_and_a_choice_is_saved(tmp_path: Path):
    home = tmp_path / "home"
    config = home / "xdg_config_home" / "trackside"
    config.mkdir(parents=True)
    (config / "console.yaml").write_text("ascii: true\nkeys:\n  app.puase: f5\n")
    with Terminal([TRACKSIDE], home, WIDE) as terminal:
        terminal.sees("Plan a day in Kyoto", "+- ", "line 3: Unknown command", "app.puase")
        terminal.type(CTRL_P)
        terminal.sees("help: Keys")
        terminal.type("view: Theme")
        terminal.until(lambda: "help: Keys" not in terminal.text and "view: Theme" in terminal.text, "the search")
        terminal.type(ENTER)
        terminal.sees("Type to search")
        terminal.type(f"nord{ENTER}")
        terminal.until(lambda: "Type to search" not in terminal.text, "the choice")
        terminal.type(CTRL_Q)
        assert terminal.ends() == 0
    choices = json.loads((home / "xdg_config_home" / "trackside" / "console.json").read_text())
    assert choices["theme"] == "nord"
