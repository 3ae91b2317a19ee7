"""Loads the conversation of a session in windows, from its end or from one of its runs, upwards and downwards.

Only what is shown is read, and the loaded part has no gaps: a run that is longer than a window is read to its beginning
before the run above it. No message is loaded in halves: a window of a long run begins at a message start, or where no
text is streamed. The cost of a window does not depend on the length of its run.
"""

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.conversation.conversation import ConversationModel
from console.model.conversation.outline import (
    find_message_start,
    find_split_messages,
    find_unfinished_range,
    has_final_message,
)
from console.model.text.safe import one_line
from console.model.text.units import session_name

if TYPE_CHECKING:
    from engine.api import Engine, Entry, RunRow, TranscriptLine

WINDOW_RUNS: Final = 3
"""Runs of a session per window."""
WINDOW_ENTRIES: Final = 400
"""Entries of one run per window, without deltas, output and calls."""
MAX_WINDOW_ENTRIES: Final = 4_000
"""Entries up to which a window that begins inside a message is extended to the start of the message; 50 to 100 ms.

A longer message is cut; its text before the cut may be shown again at its end.
"""
LOOKBACK_POSITIONS: Final = 2_000
"""Positions above a window in which a delta shows that the window may begin inside a message."""
MAX_WINDOWS_TO_ENTRY: Final = 100
"""Windows of a long run that are read at most to reach an entry."""
WINDOW_LINES: Final = 100
"""Inherited transcript lines per window, if the session is a fork."""
MAX_END_ENTRIES: Final = 1_000
"""Entries that are read for an incomplete message, or for the end of a failed run."""
MAX_DELTAS: Final = 5_000
"""Deltas per window. If a message has more, the rest of its text is shown below its tool calls."""
STEP_ENTRIES: Final = 400
"""Entries that are applied before other tasks get a turn; 1 to 4 ms."""


class LoadedTop(NamedTuple):
    """The first loaded run, and the position after which its loaded entries begin: 0 if all are loaded."""

    run_id: str
    after: int


class ConversationLoader:
    """Loads one session as far as it is shown."""

    def __init__(self, engine: "Engine", session: str) -> None:
        self._engine = engine
        self.session = session
        self.conversation = ConversationModel()
        self._top: LoadedTop | None = None
        self._started_at: dict[str, int] = {}
        """Start times by run, whose first entries may not be loaded."""
        self._first_line: int | None = None
        """The first transcript line that was read, if the session is a fork."""
        self._has_fork_note = False
        self._is_at_start = False
        """The beginning of the session is loaded."""
        self._lock = asyncio.Lock()
        """Two requests in a row load two windows, not the same one twice."""

    async def read_end(self) -> None:
        """Load the end of the session."""
        await self._read_runs(await self._runs(before=None))
        if not self.conversation.blocks:
            await self.read_earlier()

    async def read_at(self, run_id: str, position: int | None = None) -> None:
        """Load a run and the runs before it; a long run as `read_back` describes."""
        run = await self._engine.runs.get(run_id)
        await self._read_runs([run, *await self._runs(before=run_id)])
        self.conversation.has_later = bool(await self._runs(after=run_id, limit=1))
        await self.read_back(run_id, position)

    async def read_back(self, run_id: str, position: int | None) -> None:
        """Load a run back to an entry.

        None means its beginning, except for the last run, which is shown from its end.
        """
        if position is None and self.conversation.ends_with(run_id):
            return
        position = position or 1
        async with self._lock:
            for _ in range(MAX_WINDOWS_TO_ENTRY):
                if self._top is None or self._top.run_id != run_id or self._top.after < position:
                    break
                await self._read_above()

    async def read_earlier(self) -> None:
        """Load one more window above, if any."""
        async with self._lock:
            count = len(self.conversation.blocks)
            while not self._is_at_start and len(self.conversation.blocks) == count:
                await self._read_above()

    async def read_later(self) -> None:
        """Load one more window below, if any."""
        async with self._lock:
            count = len(self.conversation.blocks)
            while self.conversation.has_later and len(self.conversation.blocks) == count:
                await self._read_below()

    # Upwards

    async def _read_above(self) -> None:
        top = self._top
        if top is not None and top.after:
            await self._read_window(top.run_id, before=top.after + 1)
        elif self._first_line is None and (runs := await self._runs(before=top.run_id if top else None)):
            await self._read_runs(runs)
        else:
            await self._read_lines()

    async def _read_runs(self, runs: "list[RunRow]") -> None:
        """Load these runs (newest first), up to the first that is longer than a window."""
        for run in runs:
            self._note_start(run)
            top = await self._read_window(run.run_id)
            if top.after:
                break

    async def _read_window(self, run_id: str, before: int | None = None) -> LoadedTop:
        """Load the part of a run before a position, or the end of the run."""
        outline, after = await self._outline(run_id, before)
        deltas = await self._split_deltas(outline, after=after, before=before)
        end = await self._end(outline, after=after) if before is None else []
        window = ConversationModel()
        if outline and run_id in self._started_at:
            window.run_blocks(run_id).set_start(self._started_at[run_id])
        entries = _in_order(outline, deltas, end)
        for start in range(0, len(entries), STEP_ENTRIES):
            window.apply(entries[start : start + STEP_ENTRIES])
            await asyncio.sleep(0)
        self.conversation.prepend(window)
        self._top = LoadedTop(run_id, after)
        return self._top

    async def _outline(self, run_id: str, before: int | None) -> "tuple[list[Entry], int]":
        """The end of an outline, or its part before a position, from a message start on; and the position before it."""
        outline: list[Entry] = []
        while len(outline) < MAX_WINDOW_ENTRIES:
            edge = outline[0].position if outline else before
            page = await self._engine.runs.outline(run_id, before=edge, limit=WINDOW_ENTRIES)
            outline = page + outline
            if len(page) < WINDOW_ENTRIES:
                return outline, 0
            start = find_message_start(outline, min_entries=max(1, WINDOW_ENTRIES // 2))
            if start is not None:
                return outline[start:], outline[start - 1].position
            if not has_final_message(outline) and not await self._has_deltas_above(page[0]):
                break
        return outline, outline[0].position - 1

    async def _has_deltas_above(self, entry: "Entry") -> bool:
        first = max(0, entry.position - LOOKBACK_POSITIONS)
        return bool(await self._engine.runs.deltas(entry.run_id, after=first, before=entry.position, limit=1))

    async def _read_lines(self) -> None:
        """Load inherited lines; a session that is not a fork has none."""
        from console.model.conversation.forked_lines import (  # noqa: PLC0415
            inherited_conversation,
            is_inherited,
            runs_without_message,
        )

        parent = await self._parent()
        page: list[TranscriptLine] = []
        if parent is not None:
            page = await self._engine.sessions.transcript(self.session, before=self._first_line, limit=WINDOW_LINES + 1)
        above = page[WINDOW_LINES:]
        del page[WINDOW_LINES:]
        self._is_at_start = not above
        if page:
            self._first_line = page[-1].seq
        # The lines of its own runs are the newest, and are loaded already.
        lines = [line for line in reversed(page) if is_inherited(line)]
        note = ""
        if lines and not self._has_fork_note:
            self._has_fork_note = True
            note = f"forked here from {await self._quoted_name(str(parent))}"
        run_ids = runs_without_message(lines, above[0] if above else None)
        pages = [await self._engine.runs.journal(run_id, limit=1) for run_id in run_ids]
        first_entries = {entry.run_id: entry for page in pages for entry in page}
        self.conversation.prepend(inherited_conversation(lines, first_entries, note))

    # Downwards

    async def _read_below(self) -> None:
        """Load the entries after the last loaded one; a long run in several windows."""
        run_id = self.conversation.run_ids[-1]
        after = self.conversation.last_position(run_id)
        outline = await self._engine.runs.outline(run_id, after=after, limit=WINDOW_ENTRIES)
        if not outline:
            runs = await self._runs(after=run_id, limit=1)
            if not runs:
                self.conversation.has_later = False
                return
            self._note_start(runs[0])
            after = 0
            outline = await self._engine.runs.outline(runs[0].run_id, after=after, limit=WINDOW_ENTRIES)
            if not outline:
                self.conversation.has_later = False  # the run was only created; its entries will arrive live
                return
        goes_on = len(outline) == WINDOW_ENTRIES
        end = [] if goes_on else await self._end(outline, after=after)
        before = outline[-1].position if goes_on else None
        deltas = await self._split_deltas(outline, after=after, before=before, is_inside=after > 0)
        self.conversation.apply(_in_order(outline, deltas, end))

    # Private

    def _note_start(self, run: "RunRow") -> None:
        if run.started_at is not None:
            self._started_at[run.run_id] = run.started_at

    async def _runs(
        self, *, before: str | None = None, after: str | None = None, limit: int = WINDOW_RUNS
    ) -> "list[RunRow]":
        return await self._engine.runs.list(conversation_id=self.session, before=before, after=after, limit=limit)

    async def _end(self, outline: "list[Entry]", *, after: int) -> "list[Entry]":
        """The entries that the end of a run needs in addition to its outline."""
        if (missing := find_unfinished_range(outline, after=after)) is None:
            return []
        entries = await self._engine.runs.journal(outline[0].run_id, before=missing[1], limit=MAX_END_ENTRIES)
        return [entry for entry in entries if entry.position > missing[0]]

    async def _split_deltas(
        self, outline: "list[Entry]", *, after: int, before: int | None, is_inside: bool = False
    ) -> "list[Entry]":
        """The deltas of messages with another block in their middle, the last message first."""
        found: list[Entry] = []
        for message in reversed(find_split_messages(outline, after=after, before=before, is_inside=is_inside)):
            # Without a delta above its last block the message is not split, and the other deltas are not needed.
            for first, last in ((message.after, message.last_block), (message.last_block, message.before)):
                limit = MAX_DELTAS - len(found)
                deltas = await self._engine.runs.deltas(outline[0].run_id, after=first, before=last, limit=limit)
                found += deltas
                if len(deltas) == limit:
                    return found
                if not deltas or last == message.before:
                    break
        return found

    async def _parent(self) -> str | None:
        """The session that this one was forked from."""
        from engine.api import NotFound  # noqa: PLC0415

        try:
            session = (await self._engine.sessions.get(self.session)).session
        except NotFound:
            return None
        parent = session.metadata.get("forked_from")
        return parent if isinstance(parent, str) else None

    async def _quoted_name(self, session: str) -> str:
        from console.data.session_names import names_of  # noqa: PLC0415

        names = await names_of(self._engine, [session])
        return f"“{one_line(names.get(session) or session_name(session, None), 60)}”"


def _in_order(*pages: "list[Entry]") -> "list[Entry]":
    """Entries of one run by position. An entry that is in two pages is there twice; the model skips it."""
    return sorted((entry for page in pages for entry in page), key=lambda entry: entry.position)
