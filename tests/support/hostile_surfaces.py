"""Draws a hostile text on each surface of the console, without a terminal.

Each surface takes a text or a JSON value and returns a function that draws it, so that only the drawing is measured.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

from rich.style import Style as RichStyle
from textual.strip import Strip
from textual.style import Style

from console.model.artifacts.preview import PREVIEW_BYTES, preview
from console.model.inspector.data import (
    EventData,
    OutputData,
    OutputLine,
    ScopeData,
    StateData,
    StateKey,
    TranscriptData,
    TranscriptRow,
)
from console.model.inspector.state_diff import Change
from console.model.journal.names import Names
from console.model.stream.cursor import PageRow
from console.model.stream.layout import Span
from console.model.stream.rows import entry_row
from console.model.stream.time_column import TimeMode
from console.model.text.folds import Folds
from console.model.text.lists import Row, Source
from console.ui.conversation.row_cache import RowCache, View
from console.ui.conversation.viewport import RowPosition, Viewport
from console.ui.inspector.tabs import EventTab, OutputTab, StateTab, TranscriptTab
from console.ui.shared.list import RowList
from console.ui.stream.row import Columns, RowStyle, draw_row
from engine.api import ArtifactRow, Entry
from tests.support.console.journal_writer import Journal

WIDTH, ROWS = 100, 60
"""A screen of usual width, and higher than most."""
MAX_OUTPUT_LINES: Final = 1_000
MAX_TRANSCRIPT_LINES: Final = 200
MAX_TRANSCRIPT_CHARS: Final = 4_000
Draw = Callable[[], list[Strip]]
_OTHER_KEYS: Final = [StateKey(f"key {number}", number, "by you", 1) for number in range(9_500)]
_STYLE: Final = Style.parse("white on black")


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def conversation(value: object) -> Draw:
    """A message that was just recorded, and the last screen of it."""
    text = as_text(value)
    journal = Journal().began(text[:20_000]).said(text)
    return lambda: _conversation_end(journal)


def tool_result(value: object) -> Draw:
    """The result of a tool in the conversation."""
    text = as_text(value)
    journal = Journal().began(text[:20_000]).tool(city=text[:100_000]).answered(value)
    return lambda: _conversation_end(journal)


def _conversation_end(journal: Journal) -> list[Strip]:
    model = journal.conversation()
    cache, view = _UnmountedRowCache(), View(width=WIDTH, base=_STYLE, selected=_STYLE)
    viewport = Viewport(lambda block, piece: len(cache.strips(model, block, piece, view)))
    viewport.height = ROWS
    viewport.show_conversation(model)

    def strip(position: RowPosition) -> Strip:
        block = model.block(position.number)
        assert block is not None
        return cache.strips(model, block, position.piece, view)[position.line]

    return [strip(position) for position in viewport.seen]


def stream(value: object) -> Draw:
    """Rows whose kind and data are the text."""
    entries = _stream_entries(value, as_text(value))
    return lambda: _stream_rows(entries)


def _stream_rows(entries: list[tuple[str, str]]) -> list[Strip]:
    style = RowStyle(Columns.fit(WIDTH, 99), TimeMode.RUN, 0, False, lambda _: RichStyle.null())
    drawn: list[Strip] = []
    for position, (kind, data) in enumerate(entries, 1):
        row = entry_row(Entry("run", position, position, "runner", kind, data), Names())
        shown = PageRow(Span(position, position, 1, len(data), position, position, kind, 1, False), row, None)
        drawn.append(draw_row(shown, style, is_current=False, is_pinned=False, is_flagged=False))
    return drawn


def _stream_entries(value: object, text: str) -> list[tuple[str, str]]:
    message = json.dumps({"message": {"role": "assistant", "content": text}})
    tool = json.dumps({"tool_call_id": "c", "tool_name": text[:500], "parameters": value})
    return [
        (text[:200], json.dumps(value)),
        ("message.completed", message),
        ("tool.call.started", tool),
        ("output", json.dumps({"stream": "stdout", "text": text})),
    ]


def inspector(value: object) -> Draw:
    """The data of an entry."""
    entry = Entry("run", 1, 1, "runner", as_text(value)[:200], "{}", reason=as_text(value)[:2_000], outcome="refused")
    data = value if isinstance(value, dict) else {"value": value}
    event = EventData(run_id="run", position=1, entry=entry, data=data, began_at=0, now=1)
    return lambda: _draw(EventTab().rows(event))


def output(value: object) -> Draw:
    """The output of a run, and a traceback."""
    text = as_text(value)[:65_536]
    line = text.replace("\n", " ")
    lines = [OutputLine(position, 1, "stdout", line) for position in range(MAX_OUTPUT_LINES)]
    lines.append(OutputLine(MAX_OUTPUT_LINES, 1, "traceback", text))
    data = OutputData(run_id="run", lines=lines, has_earlier=False)
    return lambda: _draw(OutputTab().rows(data))


def transcript(value: object) -> Draw:
    """A page of lines, each as long as the transcript stores them."""
    text = as_text(value)
    lines = [
        TranscriptRow(number, text[:20], 1, text[: 1_200 if number % 2 else MAX_TRANSCRIPT_CHARS], None, True)
        for number in range(MAX_TRANSCRIPT_LINES)
    ]
    data = TranscriptData(run_id="run", session="ses_1", lines=lines, has_earlier=True, later=0)
    return lambda: _draw(TranscriptTab().rows(data))


def artifacts(value: object) -> Draw:
    """The preview of an artifact whose name, type and content are the text."""
    text = as_text(value)
    content = text.encode("utf-8", "surrogatepass")
    row = ArtifactRow(
        artifact_id="art_1",
        artifact_type=text[:200],
        storage="blob",
        source="runner",
        created_at=0,
        mime_type=text[:200],
        name=text[:200],
        size_bytes=len(content),
    )
    return lambda: _draw(preview(row, content[:PREVIEW_BYTES], 1, Folds()))


def state(value: object) -> Draw:
    """Keys with the value, a change of it, and a scope of ten thousand keys."""
    text = as_text(value)
    small = value if len(text) <= 256 * 1024 else text[: 256 * 1024]
    keys = [StateKey(f"{text[:200]}{number}", small if number < 5 else number, text[:100], 1) for number in range(500)]
    after = [*small, 1] if isinstance(small, list) else small
    change = Change("conversation", text[:200], "changed", small, after, text[:100])
    scopes = [ScopeData("conversation", [*keys, *_OTHER_KEYS])]
    data = StateData(run_id="run", position=1, scopes=scopes, changes=[change])
    return lambda: _draw(StateTab().rows(data))


SURFACES: Final[Mapping[str, Callable[[object], Draw]]] = {
    "conversation": conversation,
    "tool result": tool_result,
    "stream": stream,
    "inspector": inspector,
    "output": output,
    "transcript": transcript,
    "artifacts": artifacts,
    "state": state,
}


class _UnmountedRowCache(RowCache):
    """Draws without an app, and so without colours."""

    def _style(self, text: str | Style) -> Style:
        return _STYLE


class _UnmountedList(RowList):
    """A list that is drawn without an app, and so without colours."""

    def _parse_style(self, text: str) -> RichStyle:
        return RichStyle.null()

    def draw(self, row: Row) -> Strip:
        return self._draw(row, WIDTH, is_cursor=False)


def _draw(source: Source) -> list[Strip]:
    """Draw the first and the last screen of a list, with the rows of the first screen unfolded."""
    source.fit(WIDTH)
    for index in range(min(ROWS, source.height) - 1, -1, -1):
        if source.row(index).is_open is False:
            source.toggle(index)
            break
    rows = [*range(min(ROWS, source.height)), *range(max(ROWS, source.height - ROWS), source.height)]
    pane = _UnmountedList()
    return [pane.draw(source.row(index)) for index in rows]
