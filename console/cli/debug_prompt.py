"""The prompt of a paused run: shows where it paused, and carries out commands from standard input."""

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import suppress
from threading import Semaphore, Thread
from typing import Final

from console.cli.scheduled_messages import MessageScheduler
from console.cli.terminal import Output, print_error
from console.model.text.safe import one_line
from engine.api import Engine, Entry, Pause, StoreError
from engine.events import EntryKind

READ_BYTES: Final = 64 * 1024


class StdinLines:
    """Reads standard input line by line, without reading ahead: input such as that of `yes` has no end."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._requests = Semaphore(0)
        self._is_requested = False
        self._reader: Thread | None = None
        self._has_ended = sys.stdin is None
        self.is_terminal = sys.stdin is not None and sys.stdin.isatty()

    async def next_line(self) -> str | None:
        """Return the next line, or None at the end of the input."""
        if self._has_ended:
            return None
        if self._reader is None:
            # A daemon thread that bypasses Python's buffer: a blocked read must not keep the command from ending.
            self._reader = Thread(target=self._read, args=(asyncio.get_running_loop(),), daemon=True)
            self._reader.start()
        if not self._is_requested:  # else the line of a cancelled call is still coming
            self._is_requested = True
            self._requests.release()
        line = await self._lines.get()
        self._is_requested = False
        self._has_ended = line is None
        return line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        buffer = b""
        while self._requests.acquire():
            while b"\n" not in buffer:
                try:
                    piece = os.read(sys.stdin.fileno(), READ_BYTES)
                except OSError:
                    piece = b""
                if not piece:
                    break
                buffer += piece
            line, _, buffer = buffer.partition(b"\n") if buffer else (None, b"", b"")
            text = None if line is None else line.decode("utf-8", "replace")
            with suppress(RuntimeError):  # the command has ended
                loop.call_soon_threadsafe(self._lines.put_nowait, text)
            if text is None:
                return


COMMANDS: Final = "Enter or continue, step, edit JSON, steer TEXT, stop, help"
HELP: Final = """\
  Enter, continue  continue to the next breakpoint
  step             continue to the reply of this call, or else to the next call or result
  edit JSON        replace the reply of this call: edit {"result": 12}; then continue
  steer TEXT       send a steering message to the run
  stop             stop the run
  help             print this list"""
PROMPT: Final = "paused> "
MAX_JSON_CHARACTERS: Final = 2_000


class DebugPrompt:
    """Asks for a command whenever the run is paused. At the end of standard input the run continues."""

    def __init__(self, engine: Engine, scheduler: MessageScheduler, out: Output, *, is_json: bool) -> None:
        self._engine = engine
        self._scheduler = scheduler
        # The prompt goes to the terminal; standard output may be read by a program, or be a file.
        self._screen = out if out.is_terminal and not is_json else Output(sys.stderr)
        self._input = StdinLines()
        self._has_shown_commands = False
        self._has_reported_end = False
        """Whether the end of standard input was reported."""
        self._counts: Counter[str] = Counter()
        """Printed entries by type."""
        self._before: Counter[str] = Counter()
        """The same at the time of the last command."""
        self._paused_at = 0
        """Time of the last printed pause."""
        self._printed = asyncio.Event()

    def note_printed(self, entries: list[Entry]) -> None:
        """Note entries that were printed: the prompt for a pause comes after its entry."""
        for entry in entries:
            self._counts[entry.type] += 1
            if entry.type == EntryKind.PAUSE_STARTED:
                self._paused_at = entry.at
        self._printed.set()

    async def serve(self, run_id: str) -> None:
        """Ask whenever the run is paused, until cancelled."""
        while True:
            self._printed.clear()
            pause = await self._engine.runs.current_pause(run_id)
            # The prompt waits until the entry of the pause is printed.
            if pause is None or pause.since > self._paused_at:
                await self._printed.wait()
                continue
            await self._ask(run_id, pause)

    async def _ask(self, run_id: str, pause: Pause) -> None:
        if self._input.is_terminal and not self._has_reported_end:
            self._show(pause)
        line = await self._input.next_line()
        if line is None:
            if await self._engine.runs.current_pause(run_id) is None:
                return  # the run ended meanwhile
            self._report_end_of_input()
        try:
            await self._execute(run_id, line or "")
        except StoreError as error:
            print_error(str(error))

    def _report_end_of_input(self) -> None:
        if not self._has_reported_end:
            self._has_reported_end = True
            print_error("standard input has ended, so the run continues at every breakpoint.")

    async def _execute(self, run_id: str, line: str) -> None:
        self._before = self._counts.copy()
        command, _, rest = line.strip().partition(" ")
        match command, rest.strip():
            case "" | "continue", "":
                await self._engine.runs.continue_run(run_id)
                await self._wait_until_printed(EntryKind.PAUSE_ENDED)
            case "step", "":
                await self._engine.runs.step(run_id)
                await self._wait_until_printed(EntryKind.PAUSE_ENDED)
            case "stop", "":
                await self._engine.runs.cancel(run_id)
            case "help", "":
                self._screen.line(HELP)
            case "edit", text if text:
                await self._edit(run_id, text)
            case "steer", text if text:
                await self._steer(run_id, text)
            case _:
                typed = one_line(line, 80)
                print_error(f"{typed!r} is not a command. Type one of: {COMMANDS}. The run is still paused.")

    async def _edit(self, run_id: str, text: str) -> None:
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError) as error:
            print_error(f"`edit` needs the reply as JSON on one line: {error}. The run is still paused.")
            return
        await self._engine.runs.edit_reply(run_id, reply)
        await self._wait_until_printed(EntryKind.PAUSE_EDITED)

    async def _steer(self, run_id: str, text: str) -> None:
        if not self._scheduler.has_session:
            print_error("the event of this run has no session, so it cannot be steered. The run is still paused.")
            return
        ticket = await self._scheduler.send(text)
        if ticket is not None and ticket.claimed_by == run_id:
            await self._wait_until_printed(EntryKind.STEERING_QUEUED)

    async def _wait_until_printed(self, kind: str) -> None:
        """Wait until an entry of this type was printed since the last command."""
        while self._counts[kind] == self._before[kind]:
            self._printed.clear()
            await self._printed.wait()

    def _show(self, pause: Pause) -> None:
        """Print the paused call or result, and the prompt."""
        screen = self._screen
        if pause.action is not None:
            screen.line(screen.paint("dim", f"    {pause.action} {_json(pause.arguments)}"))
        if pause.original is not None:
            screen.line(screen.paint("dim", f"    reply: {_json(pause.original)}"))
        if pause.edit is not None:
            screen.line(screen.paint("dim", f"    edited reply: {_json(pause.edit)}"))
        if not self._has_shown_commands:
            self._has_shown_commands = True
            screen.line(screen.paint("dim", f"    commands: {COMMANDS}"))
        screen.write(PROMPT)


def _json(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), MAX_JSON_CHARACTERS)
