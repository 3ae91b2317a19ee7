"""A session's talk, read in windows: from its end or from one of its runs, back to its first words and on to its last.

Nothing is read that nobody looks at, and what is read has no gap: a run that is longer than a window is read to its
beginning before the run above it.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from console.model.safe import one_line
from console.model.talk.gaps import cuts, missing
from console.model.talk.talk import Talk
from console.model.words import session_name

if TYPE_CHECKING:
    from engine.api import Engine, Entry, Line, RunRow

RUNS: Final = 3
"""Runs of a session that are read together."""
ENTRIES: Final = 400
"""Entries that are read of one run together, without its deltas, output and calls."""
WINDOWS: Final = 100
"""Windows of a long run that are read at most to come to one of its entries."""
LINES: Final = 100
"""Lines of another session that are read together, where this one is a fork."""
TAIL: Final = 1_000
"""Entries that are read of a message that was never completed, or of the end of a run that failed."""
PIECES: Final = 5_000
"""Deltas that are read in one window. Where there are more, a message is parted before its tool call, not at it."""


class Telling:
    """Reads one session, as far as someone looks."""

    def __init__(self, engine: "Engine", session: str) -> None:
        self._engine = engine
        self._session = session
        self.talk = Talk()
        self._first: tuple[str, int] | None = None
        """The first run that was read, and the position of its first entry that was."""
        self._began: dict[str, int] = {}
        """When each run did."""
        self._line: int | None = None
        """The first line of the transcript that was looked at, where the session is a fork."""
        self._is_fork_told = False
        self._is_whole = False
        """There is nothing before what was read."""
        self._reading = asyncio.Lock()
        """Who asks twice gets two windows, not the same one twice."""

    async def read_end(self) -> None:
        """The last that was said."""
        await self._read_runs(await self._runs(before=None))
        if not self.talk.blocks:
            await self.read_earlier()

    async def read_at(self, run_id: str, position: int | None = None) -> None:
        """A run, and what was said before it; one that is longer than a window as `read_back` says."""
        run = await self._engine.run(run_id)
        await self._read_runs([run, *await self._runs(before=run_id)])
        self.talk.has_later = bool(await self._runs(after=run_id, limit=1))
        await self.read_back(run_id, position)

    async def read_back(self, run_id: str, position: int | None) -> None:
        """Up to an entry of a run, where only what comes after it was read.

        None is its beginning; but for the last run, which is seen from its end.
        """
        if position is None and self.talk.ends_with(run_id):
            return
        position = position or 1
        async with self._reading:
            for _ in range(WINDOWS):
                if self._first is None or self._first[0] != run_id or self._first[1] <= position:
                    break
                await self._read_above()

    async def read_earlier(self) -> None:
        """One more window above, unless all is read."""
        async with self._reading:
            count = len(self.talk.blocks)
            while not self._is_whole and len(self.talk.blocks) == count:
                await self._read_above()

    async def read_later(self) -> None:
        """One more window below, unless all is read."""
        async with self._reading:
            count = len(self.talk.blocks)
            while self.talk.has_later and len(self.talk.blocks) == count:
                await self._read_below()

    # Upwards

    async def _read_above(self) -> None:
        if self._first is not None and self._first[1] > 1:
            run_id, position = self._first
            entries = await self._engine.outline(run_id, before=position, limit=ENTRIES)
            self._first = run_id, _edge(entries)
            pieces = await self._pieces(entries, after=_start(entries), before=position)
            self.talk.put_above(Talk.of(entries, pieces, began=self._began))
        elif self._line is None and (runs := await self._runs(before=self._first[0] if self._first else None)):
            await self._read_runs(runs)
        else:
            await self._read_lines()

    async def _read_runs(self, runs: "list[RunRow]") -> None:
        """These, newest first, up to one that is longer than a window."""
        for run in runs:
            outline = await self._engine.outline(run.run_id, limit=ENTRIES)
            self._note(run)
            pieces = await self._pieces(outline, after=_start(outline))
            self.talk.put_above(Talk.of(outline, await self._rest(outline), pieces, began=self._began))
            self._first = run.run_id, _edge(outline)
            if self._first[1] > 1:
                break

    async def _read_lines(self) -> None:
        """What a fork began with; a session that is none began with nothing."""
        from console.model.talk.heritage import inherited, is_inherited, untold  # noqa: PLC0415

        parent = await self._forked_from()
        page: list[Line] = []
        if parent is not None:
            page = await self._engine.transcript(self._session, before=self._line, limit=LINES + 1)
        above = page[LINES:]
        del page[LINES:]
        self._is_whole = not above
        if page:
            self._line = page[-1].seq
        # The lines of its own runs are the newest, and they were told already.
        lines = [line for line in reversed(page) if is_inherited(line)]
        remark = ""
        if lines and not self._is_fork_told:
            self._is_fork_told = True
            remark = f"forked here from {await self._named(str(parent))}"
        runs = untold(lines, above[0] if above else None)
        first = {entry.run_id: entry for run_id in runs for entry in await self._engine.journal(run_id, limit=1)}
        self.talk.put_above(inherited(lines, first, remark))

    # Downwards

    async def _read_below(self) -> None:
        """What comes after the last entry that was read; a run that is longer than a window in as many as it needs."""
        last = self.talk.run_ids[-1]
        after = self.talk.last_position(last)
        entries = await self._engine.outline(last, after=after, limit=ENTRIES)
        if not entries:
            runs = await self._runs(after=last, limit=1)
            if not runs:
                self.talk.has_later = False
                return
            self._note(runs[0])
            after = 0
            entries = await self._engine.outline(runs[0].run_id, after=after, limit=ENTRIES)
            if not entries:
                self.talk.has_later = False  # it has only been created; what it says will be told
                return
        goes_on = len(entries) == ENTRIES
        rest = await self._rest(entries) if not goes_on else []
        pieces = await self._pieces(entries, after=after, before=entries[-1].position if goes_on else None)
        self.talk.apply(sorted([*entries, *rest, *pieces], key=lambda entry: entry.position))

    # Inside

    def _note(self, run: "RunRow") -> None:
        """A window need not hold the beginning to tell the time since."""
        if run.started_at is not None:
            self._began[run.run_id] = run.started_at

    async def _runs(self, *, before: str | None = None, after: str | None = None, limit: int = RUNS) -> "list[RunRow]":
        return await self._engine.runs(conversation_id=self._session, before=before, after=after, limit=limit)

    async def _rest(self, outline: "list[Entry]") -> "list[Entry]":
        """What an outline leaves out and the talk needs."""
        if (gap := missing(outline)) is None:
            return []
        tail = await self._engine.journal(outline[0].run_id, before=gap[1], limit=TAIL)
        return [entry for entry in reversed(tail) if entry.position > gap[0]]

    async def _pieces(self, outline: "list[Entry]", *, after: int, before: int | None = None) -> "list[Entry]":
        """Of messages that something was told in the middle of, what was streamed; the last of them first."""
        found: list[Entry] = []
        for cut in reversed(cuts(outline, after=after, before=before)):
            run_id, left = outline[0].run_id, PIECES - len(found)
            some = await self._engine.deltas(run_id, after=cut.after, before=cut.last, limit=left)
            if some and len(some) < left and cut.last < cut.before:
                some += await self._engine.deltas(run_id, after=cut.last, before=cut.before, limit=left - len(some))
            if cut.is_whole or len(some) < left:
                found += some
            if len(some) == left:
                break
        return found

    async def _forked_from(self) -> str | None:
        from engine.api import NotFound  # noqa: PLC0415

        try:
            session = (await self._engine.session(self._session)).session
        except NotFound:
            return None
        parent = session.metadata.get("forked_from")
        return parent if isinstance(parent, str) else None

    async def _named(self, session: str) -> str:
        from console.naming import names_of  # noqa: PLC0415

        names = await names_of(self._engine, [session])
        return f"“{one_line(names.get(session) or session_name(session, None), 60)}”"


def _start(window: "list[Entry]") -> int:
    """After which entry a window may begin in the middle of a message; 0 where it begins with its run."""
    return window[0].position if _edge(window) > 1 else 0


def _edge(window: "list[Entry]") -> int:
    """Where a window begins; 1 where nothing is before it."""
    return window[0].position if len(window) == ENTRIES else 1
