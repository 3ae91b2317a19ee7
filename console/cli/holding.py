"""A held run and the person at the command: what is held is shown, and what they type is done."""

import asyncio
import json
import sys
from collections import Counter
from typing import Final

from console.cli.speaking import Speaker
from console.cli.terminal import Output, complain
from console.cli.typed import Typed
from console.model.safe import one_line
from engine.api import Engine, Entry, FactsError, Held

REACHED: Final = "hold.reached"
HOW: Final = "Enter or release, step, edit JSON, steer TEXT, stop, help"
HELP: Final = """\
  Enter, release   let it go on until it comes to a hold again
  step             let it go on to the reply of this call, or else to the next boundary
  edit JSON        answer this call yourself: edit {"result": 12}; then release
  steer TEXT       say something to the run
  stop             cancel the run
  help             this list"""
PROMPT: Final = "held> "
_SHOWN: Final = 2_000


class Holding:
    """Asks what to do whenever the run is held. Where nobody is left to ask, it is released."""

    def __init__(self, engine: Engine, speaker: Speaker, out: Output, *, is_json: bool) -> None:
        self._engine = engine
        self._speaker = speaker
        # Where a person looks while they type; the output may be for a program, or go to a file.
        self._screen = out if out.is_terminal and not is_json else Output(sys.stderr)
        self._typed = Typed()
        self._has_helped = False
        self._is_alone = False
        """Nobody is left to ask, and that was said."""
        self._counts: Counter[str] = Counter()
        """What has been told, by type."""
        self._before: Counter[str] = Counter()
        """The same when the last line was typed."""
        self._reached_at = 0
        """When the last hold was reached that has been told."""
        self._news = asyncio.Event()

    def told(self, entries: list[Entry]) -> None:
        """These have been shown: what is asked from here on stands below them."""
        for entry in entries:
            self._counts[entry.type] += 1
            if entry.type == REACHED:
                self._reached_at = entry.at
        self._news.set()

    async def attend(self, run_id: str) -> None:
        """Stay with the run until cancelled."""
        while True:
            self._news.clear()
            held = await self._engine.held(run_id)
            # What the journal has not told yet is asked about when it has.
            if held is None or held.since > self._reached_at:
                await self._news.wait()
                continue
            await self._ask(run_id, held)

    async def _ask(self, run_id: str, held: Held) -> None:
        if self._typed.is_terminal and not self._is_alone:
            self._show(held)
        line = await self._typed.line()
        if line is None:
            if await self._engine.held(run_id) is None:
                return  # it ended meanwhile
            self._say_that_nobody_is_left()
        try:
            await self._do(run_id, line or "")
        except FactsError as error:
            complain(str(error))

    def _say_that_nobody_is_left(self) -> None:
        if not self._is_alone:
            self._is_alone = True
            complain("standard input is at its end, so the run is released wherever it is held.")

    async def _do(self, run_id: str, line: str) -> None:
        self._before = self._counts.copy()
        command, _, rest = line.strip().partition(" ")
        match command, rest.strip():
            case "" | "release", "":
                await self._engine.release(run_id)
                await self._shown("hold.released")
            case "step", "":
                await self._engine.step(run_id)
                await self._shown("hold.released")
            case "stop", "":
                await self._engine.cancel(run_id)
            case "help", "":
                self._screen.line(HELP)
            case "edit", text if text:
                await self._edit(run_id, text)
            case "steer", text if text:
                await self._steer(run_id, text)
            case _:
                complain(f"{one_line(line, 80)!r} cannot be done. Type one of: {HOW}. The run is still held.")

    async def _edit(self, run_id: str, text: str) -> None:
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError) as error:
            complain(f"behind edit stands the answer as JSON, on one line: {error}. The run is still held.")
            return
        await self._engine.edit_held(run_id, reply)
        await self._shown("hold.edited")

    async def _steer(self, run_id: str, text: str) -> None:
        if not self._speaker.has_session:
            complain("the event of this run has no session to speak in. The run is still held.")
            return
        ticket = await self._speaker.send(text)
        if ticket is not None and ticket.claimed_by == run_id:
            await self._shown("steering.queued")

    async def _shown(self, kind: str) -> None:
        """Return when the journal has told of what was just done."""
        while self._counts[kind] == self._before[kind]:
            self._news.clear()
            await self._news.wait()

    def _show(self, held: Held) -> None:
        """What waits, and the prompt."""
        screen = self._screen
        if held.action is not None:
            screen.line(screen.paint("dim", f"    {held.action} {_json(held.arguments)}"))
        if held.original is not None:
            screen.line(screen.paint("dim", f"    its reply: {_json(held.original)}"))
        if held.edit is not None:
            screen.line(screen.paint("dim", f"    goes instead: {_json(held.edit)}"))
        if not self._has_helped:
            self._has_helped = True
            screen.line(screen.paint("dim", f"    type: {HOW}"))
        screen.write(PROMPT)


def _json(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), _SHOWN)
