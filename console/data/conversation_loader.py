"""Loads the conversation of a session in windows, from its end or from one of its runs, upwards and downwards.

Only what is shown is read, and the loaded part has no gaps: a run that is longer than a window is read to its beginning
before the run above it.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from console.model.conversation.conversation import ConversationModel
from console.model.conversation.window_join import find_missing_range, find_split_messages
from console.model.text.safe import one_line
from console.model.text.units import session_name

if TYPE_CHECKING:
    from engine.api import Engine, Entry, RunRow, TranscriptLine

RUNS: Final = 3
"""Runs of a session per window."""
ENTRIES: Final = 400
"""Entries of one run per window, without deltas, output and calls."""
WINDOWS: Final = 100
"""Maximum number of windows of a long run that are read to reach an entry."""
LINES: Final = 100
"""Inherited transcript lines per window, if the session is a fork."""
TAIL: Final = 1_000
"""Entries that are read for an incomplete message, or for the end of a failed run."""
PIECES: Final = 5_000
"""Deltas per window. With more, a message is split before its tool call, not at it."""


class ConversationLoader:
    """Loads one session as far as it is shown."""

    def __init__(self, engine: "Engine", session: str) -> None:
        self._engine = engine
        self.session = session
        self.talk = ConversationModel()
        self._first: tuple[str, int] | None = None
        """The first loaded run and the position of its first loaded entry."""
        self._began: dict[str, int] = {}
        """Start times by run."""
        self._line: int | None = None
        """The first transcript line that was read, if the session is a fork."""
        self._is_fork_told = False
        self._is_whole = False
        """The beginning of the session is loaded."""
        self._reading = asyncio.Lock()
        """Two requests in a row load two windows, not the same one twice."""

    async def read_end(self) -> None:
        """Load the end of the session."""
        await self._read_runs(await self._runs(before=None))
        if not self.talk.blocks:
            await self.read_earlier()

    async def read_at(self, run_id: str, position: int | None = None) -> None:
        """Load a run and the runs before it; a long run as `read_back` describes."""
        run = await self._engine.runs.get(run_id)
        await self._read_runs([run, *await self._runs(before=run_id)])
        self.talk.has_later = bool(await self._runs(after=run_id, limit=1))
        await self.read_back(run_id, position)

    async def read_back(self, run_id: str, position: int | None) -> None:
        """Load a run back to an entry.

        None means its beginning, except for the last run, which is shown from its end.
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
        """Load one more window above, if any."""
        async with self._reading:
            count = len(self.talk.blocks)
            while not self._is_whole and len(self.talk.blocks) == count:
                await self._read_above()

    async def read_later(self) -> None:
        """Load one more window below, if any."""
        async with self._reading:
            count = len(self.talk.blocks)
            while self.talk.has_later and len(self.talk.blocks) == count:
                await self._read_below()

    # Upwards

    async def _read_above(self) -> None:
        if self._first is not None and self._first[1] > 1:
            run_id, position = self._first
            entries = await self._engine.runs.outline(run_id, before=position, limit=ENTRIES)
            self._first = run_id, _edge(entries)
            pieces = await self._pieces(entries, after=_start(entries), before=position)
            self.talk.put_above(ConversationModel.of(entries, pieces, began=self._began))
        elif self._line is None and (runs := await self._runs(before=self._first[0] if self._first else None)):
            await self._read_runs(runs)
        else:
            await self._read_lines()

    async def _read_runs(self, runs: "list[RunRow]") -> None:
        """Load these runs (newest first), up to the first that is longer than a window."""
        for run in runs:
            outline = await self._engine.runs.outline(run.run_id, limit=ENTRIES)
            self._note(run)
            pieces = await self._pieces(outline, after=_start(outline))
            self.talk.put_above(ConversationModel.of(outline, await self._rest(outline), pieces, began=self._began))
            self._first = run.run_id, _edge(outline)
            if self._first[1] > 1:
                break

    async def _read_lines(self) -> None:
        """Load inherited lines; a session that is not a fork has none."""
        from console.model.conversation.forked_lines import inherited, is_inherited, untold  # noqa: PLC0415

        parent = await self._forked_from()
        page: list[TranscriptLine] = []
        if parent is not None:
            page = await self._engine.sessions.transcript(self.session, before=self._line, limit=LINES + 1)
        above = page[LINES:]
        del page[LINES:]
        self._is_whole = not above
        if page:
            self._line = page[-1].seq
        # The lines of its own runs are the newest, and are loaded already.
        lines = [line for line in reversed(page) if is_inherited(line)]
        remark = ""
        if lines and not self._is_fork_told:
            self._is_fork_told = True
            remark = f"forked here from {await self._named(str(parent))}"
        runs = untold(lines, above[0] if above else None)
        first = {entry.run_id: entry for run_id in runs for entry in await self._engine.runs.journal(run_id, limit=1)}
        self.talk.put_above(inherited(lines, first, remark))

    # Downwards

    async def _read_below(self) -> None:
        """Load what follows the last loaded entry; a long run in several windows."""
        last = self.talk.run_ids[-1]
        after = self.talk.last_position(last)
        entries = await self._engine.runs.outline(last, after=after, limit=ENTRIES)
        if not entries:
            runs = await self._runs(after=last, limit=1)
            if not runs:
                self.talk.has_later = False
                return
            self._note(runs[0])
            after = 0
            entries = await self._engine.runs.outline(runs[0].run_id, after=after, limit=ENTRIES)
            if not entries:
                self.talk.has_later = False  # the run was only created; its entries will arrive live
                return
        goes_on = len(entries) == ENTRIES
        rest = await self._rest(entries) if not goes_on else []
        pieces = await self._pieces(entries, after=after, before=entries[-1].position if goes_on else None)
        self.talk.apply(sorted([*entries, *rest, *pieces], key=lambda entry: entry.position))

    # Private

    def _note(self, run: "RunRow") -> None:
        """Remember the start time of a run, whose first entry may not be loaded."""
        if run.started_at is not None:
            self._began[run.run_id] = run.started_at

    async def _runs(self, *, before: str | None = None, after: str | None = None, limit: int = RUNS) -> "list[RunRow]":
        return await self._engine.runs.list(conversation_id=self.session, before=before, after=after, limit=limit)

    async def _rest(self, outline: "list[Entry]") -> "list[Entry]":
        """The entries that are needed in addition to an outline."""
        if (gap := find_missing_range(outline)) is None:
            return []
        tail = await self._engine.runs.journal(outline[0].run_id, before=gap[1], limit=TAIL)
        return [entry for entry in reversed(tail) if entry.position > gap[0]]

    async def _pieces(self, outline: "list[Entry]", *, after: int, before: int | None = None) -> "list[Entry]":
        """The deltas of messages with another block in their middle, the last message first."""
        found: list[Entry] = []
        for cut in reversed(find_split_messages(outline, after=after, before=before)):
            run_id, left = outline[0].run_id, PIECES - len(found)
            some = await self._engine.runs.deltas(run_id, after=cut.after, before=cut.last, limit=left)
            if some and len(some) < left and cut.last < cut.before:
                some += await self._engine.runs.deltas(
                    run_id, after=cut.last, before=cut.before, limit=left - len(some)
                )
            if cut.is_whole or len(some) < left:
                found += some
            if len(some) == left:
                break
        return found

    async def _forked_from(self) -> str | None:
        from engine.api import NotFound  # noqa: PLC0415

        try:
            session = (await self._engine.sessions.get(self.session)).session
        except NotFound:
            return None
        parent = session.metadata.get("forked_from")
        return parent if isinstance(parent, str) else None

    async def _named(self, session: str) -> str:
        from console.data.session_names import names_of  # noqa: PLC0415

        names = await names_of(self._engine, [session])
        return f"“{one_line(names.get(session) or session_name(session, None), 60)}”"


def _start(window: "list[Entry]") -> int:
    """The entry after which a window may begin inside a message; 0 if it begins with its run."""
    return window[0].position if _edge(window) > 1 else 0


def _edge(window: "list[Entry]") -> int:
    """The first position of a window; 1 if nothing is before it."""
    return window[0].position if len(window) == ENTRIES else 1
