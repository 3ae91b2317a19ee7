"""Data for tests of the stream: journals as lists, entries of every kind, and an app with only the pane."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from textual.app import ComposeResult
from textual.message import Message

from console.model.stream.index import chunk_number
from console.model.stream.reader import perform_read
from console.model.stream.timeline import Timeline
from console.ui.stream.pane import StreamPane
from engine.api import Entry, EntryHead
from engine.events import EntryKind
from tests.support.console.single_pane_app import SinglePaneApp
from tests.support.engines import START

STEP = 1_000
"""Microseconds between two entries by default."""


def entry(position: int, kind: str, data: Any = None, **fields: Any) -> Entry:
    """Make an entry; `data` is a JSON value, or the text as the journal has it."""
    text = data if isinstance(data, str) else json.dumps({} if data is None else data, ensure_ascii=False)
    source = fields.pop("source", "host" if kind.startswith(("run.s", "run.fin", "steering", "call.d")) else "runner")
    return Entry("run", position, fields.pop("at", START + position * STEP), source, kind, text, **fields)


def delta(position: int, text: str = "x", **fields: Any) -> Entry:
    return entry(position, EntryKind.MESSAGE_DELTA, {"chunk": {"role": "assistant", "content": text}}, **fields)


def head_of(one: Entry) -> EntryHead:
    return EntryHead(one.position, one.at, one.source, one.type, one.outcome, one.turn, len(one.data))


def a_run(turns: int = 3, deltas: int = 200) -> list[Entry]:
    """Make a typical run: each turn sends a message, uses a tool and stores a value."""
    said: list[Entry] = []

    def add(kind: str, data: Any, turn: int) -> None:
        said.append(entry(len(said) + 1, kind, data, turn=turn))

    add("run.started", {"runner_id": "plugin:trackside/rehearsal/default"}, 1)
    for turn in range(1, turns + 1):
        for number in range(deltas):
            add(EntryKind.MESSAGE_DELTA, {"chunk": {"role": "assistant", "content": f"word{number} "}}, turn)
        add("tool.call.started", {"tool_call_id": f"t{turn}", "tool_name": "weather", "parameters": {"n": turn}}, turn)
        add("tool.call.completed", {"tool_call_id": f"t{turn}", "tool_name": "weather", "result": "sun"}, turn)
        add("state.updated", {"scope": "conversation", "key": "turn", "value": turn}, turn)
    add("run.finished", {"status": "completed", "reason": "stop"}, turns)
    return said


class Lists:
    """Journals in memory, read like those of the engine. Counts the reads."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = list(entries)
        self.heads_read = 0
        self.entries_read = 0
        self.searched = 0

    async def index(self, run_id: str, *, after: int = 0, limit: int = 16_384) -> list[EntryHead]:
        found = [head_of(one) for one in self.entries[after : after + limit]]
        self.heads_read += len(found)
        return found

    async def entries_at(self, run_id: str, positions: Sequence[int]) -> list[Entry]:
        found = [self.entries[position - 1] for position in positions]
        self.entries_read += len(found)
        return found

    async def find_text(self, run_id: str, text: str, *, first: int, last: int) -> list[int]:
        self.searched += last - first + 1
        return [one.position for one in self.entries[first - 1 : last] if holds(one, text)]


def holds(one: Entry, text: str) -> bool:
    return text.lower() in one.data.lower() or text.lower() in one.type


def read(timeline: Timeline, journals: Lists, look: Callable[[], object], rounds: int = 2_000) -> None:
    """Tick until the timeline requests no more reads."""

    async def ticks() -> None:
        for _ in range(rounds):
            look()
            requests = timeline.next_requests()
            if not requests:
                return
            for request in requests:
                await perform_read(timeline, request, journals)
        raise AssertionError("it never has enough")

    asyncio.run(ticks())


def naive_rows(entries: Iterable[Entry], *, raw: bool = False) -> list[tuple[int, int, int]]:
    """Return first and last position and the number of entries of each row, computed in the simplest way."""

    def key(one: Entry) -> object:
        joins = one.type == EntryKind.MESSAGE_DELTA and one.outcome is None and not raw
        return (chunk_number(one.position), one.turn) if joins else one.position

    groups = [list(group) for _, group in groupby(entries, key)]
    return [(group[0].position, group[-1].position, len(group)) for group in groups]


class PaneApp(SinglePaneApp):
    """An app with only the pane. `tick` does what the console does 30 times a second."""

    def __init__(self, timeline: Timeline, journals: Lists, *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self.timeline = timeline
        self.journals = journals
        self.pane = StreamPane()
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.pane.show(self.timeline)
        self.pane.focus()

    async def tick(self, entries: Sequence[Entry] = ()) -> None:
        self.journals.entries.extend(entries)
        self.timeline.append(entries)
        self.pane.on_batch()
        for request in self.timeline.next_requests():
            await perform_read(self.timeline, request, self.journals)
        self.pane.on_batch()

    async def settle(self) -> None:
        """Tick until the pane requests no more reads."""
        for _ in range(500):
            before = self.timeline.version
            await self.tick()
            if self.timeline.version == before:
                return
        raise AssertionError("it never has enough")

    @property
    def screen_text(self) -> list[str]:
        """The lines of the pane without its border."""
        return [line[1:-1].rstrip() for line in self.screen_lines]

    def on_stream_pane_cursor_moved(self, event: StreamPane.CursorMoved) -> None:
        self.posted.append(event)

    def on_stream_pane_inspect(self, event: StreamPane.Inspect) -> None:
        self.posted.append(event)

    def on_stream_pane_toggle_breakpoint(self, event: StreamPane.ToggleBreakpoint) -> None:
        self.posted.append(event)

    def on_stream_pane_copy(self, event: StreamPane.Copy) -> None:
        self.posted.append(event)

    def on_stream_pane_filter(self, event: StreamPane.Filter) -> None:
        self.posted.append(event)
