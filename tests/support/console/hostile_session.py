"""The console in a real terminal, on a runner that sends hostile text."""

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.support.console.terminal import TRACKSIDE, Terminal

ENTER, QUIT = "\r", "\x11"
RUNNER = """
from pathlib import Path

TEXT = Path(__file__).with_name("text.txt").read_text("utf-8")

async def run(ctx):
    yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": TEXT}}}
    yield {"type": KIND, "data": {"text": TEXT}}
"""
SENDER = """
import asyncio
import json
from itertools import cycle
from pathlib import Path

capabilities = {"steering": True}
TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text("utf-8"))

async def run(ctx):
    for text in cycle(TEXTS):
        for piece in (text[: len(text) // 2], text):
            yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": piece}}}
        yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": text}}}
        yield {"type": "x.text", "data": {"text": text[:50_000]}}
        print(text[:2_000].encode("ascii", "replace"))
        await asyncio.sleep(0.02)
"""
"""A runner that sends hostile texts without end."""
KEYS = ("", "\t", "\t\t", "\t\t\t", "\x10", "\x0f", "\x1b[1;3A", "2", "3", "hello", "\x1b[5~", "?")
"""Keys before the end: panes, the palette, jumps, blocks, pages, text in the prompt."""
SIZE = (160, 45)
_OWN_SEQUENCES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, the cursor, modes
    rb"|\x1b[()][0-9A-B]|\x1b[=>78]|\x1bP\+q[0-9a-fA-F;]*\x1b\\"
    rb"|\x1b\](?:0|2|10|11|12|104|110|111|112|22);?[^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and colours
)
_HOSTILE = re.compile("[\x00-\x06\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff]")


@contextmanager
def hostile_console(folder: Path, text: str, kind: str = "x.text", message: str = "go") -> Iterator[Terminal]:
    """Open the console on the runner and send it a message."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text(text, "utf-8")
    runner = folder / "hostile.py"
    runner.write_text(RUNNER.replace("KIND", repr(kind)), "utf-8")
    with Terminal([TRACKSIDE, runner], folder / "home", SIZE) as terminal:
        terminal.sees("f1 help", "idle")
        terminal.type(message + ENTER)
        yield terminal


def hostile_output(terminal: Terminal) -> str:
    """Return every character that the program wrote, outside of Textual's own sequences, and that a terminal obeys."""
    text = _OWN_SEQUENCES.sub(b"", bytes(terminal.sent)).decode("utf-8", "replace")
    return "".join(_HOSTILE.findall(text))


def quit_milliseconds(folder: Path, texts: Sequence[str], random: Random) -> float:
    """Return the time from ^q at a random moment to the end of the console, while a runner sends these texts.

    The question whether to stop the run is answered by ^q again, and so is the notice that the run takes long to stop.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "texts.json").write_text(json.dumps(texts), "utf-8")
    runner = folder / "sender.py"
    runner.write_text(SENDER, "utf-8")
    with Terminal([TRACKSIDE, runner], folder / "home", SIZE) as terminal:
        terminal.sees("f1 help", "idle")
        terminal.type("go" + ENTER)
        terminal.read_for(random.uniform(0, 1.5))
        terminal.type(random.choice(KEYS))
        terminal.read_for(random.uniform(0, 0.5))
        before = time.perf_counter()
        while terminal.process.poll() is None:
            terminal.type(QUIT)
            terminal.read_for(0.2)
        return 1_000 * (time.perf_counter() - before)
