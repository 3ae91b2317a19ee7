"""The row of an entry, which is exactly one safe line, whatever a runner sends."""

import json
from typing import Any
from unicodedata import category

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from console.model.journal.names import MAX_NAME_CHARS, Names
from console.model.stream.cursor import PageRow
from console.model.stream.layout import Span
from console.model.stream.rows import MAX_CACHED_CHARS, MAX_CACHED_ENTRIES, TONES, EntryCache, Row, entry_row, kind_tone
from console.model.stream.time_column import TimeMode, format_elapsed, format_step, format_time
from console.ui.stream.row import Columns, RowStyle, draw_heading, draw_row
from console.ui.terminal.ascii_filter import ASCII
from tests.support.console.stream_data import START, entry
from tests.support.console.unsafe_screen_texts import HOSTILE_TEXTS


def row_of(kind: str, data: Any = None, **fields: Any) -> Row:
    return entry_row(entry(7, kind, data, **fields), Names())


@pytest.mark.parametrize(
    ("kind", "data", "glyph", "summary"),
    [
        ("run.started", {"runner_id": "plugin:a/echo/default", "context": {"event": {"event_type": "api.invoked"}}},
         "event", "api.invoked echo"),
        ("run.started", {"runner_id": "plugin:a/echo/default", "context": {"input": {"text": "hi"}}}, "running",
         "echo “hi”"),
        ("message.delta", {"chunk": {"content": "a word"}}, "", "a word"),
        ("message.completed", {"message": {"content": [{"type": "text", "text": "all"}]}}, "", "all"),
        ("tool.call.started", {"tool_name": "price", "parameters": {"ids": [3, 9]}}, "", "price(ids=[3,9])"),
        ("tool.call.completed", {"tool_name": "price", "result": "3 rows", "error": None}, "completed", "price 3 rows"),
        ("tool.call.completed", {"tool_name": "price", "error": "no net"}, "failed", "price no net"),
        ("state.updated", {"scope": "runner", "key": "a.b", "value": {"x": 1}}, "", 'runner a.b = {"x":1}'),
        ("artifact.created", {"name": "plan.md", "size_bytes": 2_100}, "", "plan.md  2.1 KiB"),
        ("action.requested", {"action": "ban"}, "", "requests ban (recorded, not carried out)"),
        ("run.completed", {"finish_reason": "stop"}, "completed", "stop"),
        ("run.failed", {"code": "runner.error", "error": "no"}, "failed", "runner.error: no"),
        ("run.finished", {"status": "completed", "reason": "no output"}, "completed", "completed with no output"),
        ("run.finished", {"status": "cancelled"}, "cancelled", "stopped"),
        ("call.requested", {"call_id": "c1", "action": "state_get", "arguments": {"key": "k"}}, "", "state_get(key=k)"),
        ("call.decided", {"call_id": "c1", "allowed": True, "clause": "it may"}, "completed", "c1 allowed: it may"),
        ("call.replied", {"call_id": "c1", "reply": {"v": 1}}, "completed", 'c1 {"v":1}'),
        ("call.replied", {"call_id": "c1", "error": {"code": "x", "message": "m"}}, "failed", "c1 x: m"),
        ("steering.queued", {"item_id": "i", "text": "no buses"}, "queued", "“no buses”"),
        ("steering.pulled", {"items": ["i", "j"]}, "pulled", "2 messages"),
        ("steering.pulled", {"items": []}, "", "no queued messages"),
        ("steering.dropped", {"item_id": "i", "reason": "failed"}, "dropped",
         "i dropped: run failed before it pulled"),
        ("pause.started", {"when": "pull", "stage": "before", "action": "steering_pull"}, "paused",
         "paused before steering_pull"),
        ("pause.ended", {"seconds": 2.5, "how": "step"}, "running", "stepped after 2.5 s"),
        ("output", {"stream": "stderr", "text": "oops"}, "", "stderr oops"),
        ("warning", {"message": "odd"}, "lost", "odd"),
        ("made.up", {"a": 1}, "", '{"a": 1}'),
        ("cancel.requested", {}, "", ""),
    ],
)  # fmt: skip
def test_each_kind_has_its_summary(kind: str, data: Any, glyph: str, summary: str) -> None:
    row = row_of(kind, data)

    assert (row.glyph, row.summary) == (glyph, summary)
    assert row.tone in TONES


def test_entry_without_effect_begins_with_its_outcome() -> None:
    row = row_of("state.updated", {"key": "k"}, outcome="dropped", reason="too large")

    assert row.summary.startswith("dropped: too large")
    assert (row.tone, row.glyph) == ("error", "failed")


def test_refused_call_shows_its_clause() -> None:
    names = Names()
    names.learn(entry(1, "call.requested", {"call_id": "c1", "action": "call_tool"}))
    data = {"call_id": "c1", "allowed": False, "clause": 'permissions.tools has no "call"', "resource": "tool:x"}
    row = entry_row(entry(2, "call.decided", data, outcome="refused", reason="…"), names)

    assert row.summary == 'call_tool tool:x refused: permissions.tools has no "call"'
    assert row.tone == "error"


def test_entries_with_an_item_id_show_the_text_of_the_message() -> None:
    names = Names()
    names.learn(entry(1, "steering.queued", {"item_id": "i1", "text": "use metric"}))

    assert entry_row(entry(2, "steering.injected", {"item_id": "i1"}), names).summary == "“use metric”"


@pytest.mark.parametrize("kind", ["message.delta", "tool.call.completed", "run.finished", "steering.edited", "output"])
@pytest.mark.parametrize("data", ["null", "[]", '"text"', "{", "", "7", '{"chunk":3}', '{"items":{},"message":[]}'])
def test_data_of_any_shape_has_a_row(kind: str, data: str) -> None:
    assert "\n" not in row_of(kind, data).summary


def test_unknown_kind_has_the_tone_of_its_source() -> None:
    assert kind_tone("made.up", "user") == "user"
    assert kind_tone("made.up", "error") == "error"
    assert kind_tone("made.up", "nobody") == "runner"


# Exactly one line


def drawn_lines(row: Row, width: int, *, entries: int = 1) -> list[str]:
    span = Span(row.position, row.position, entries, 1, row.at, row.at, row.kind, 1, entries > 1)
    columns = Columns.fit(width, row.position)
    row_style = RowStyle(columns, TimeMode.STEP, START, False, lambda _: Style())
    strips = [
        draw_row(PageRow(span, row, START), row_style, is_current=True, is_pinned=True, is_flagged=True),
        draw_heading(row_style),
    ]
    assert all(strip.cell_length == width for strip in strips)
    return ["".join(segment.text for segment in strip) for strip in strips]


@given(st.text(st.characters(), max_size=80), st.integers(3, 170), st.integers(1, 10**7))
@example("\u200d漢\ufe0f", 12, 1)
@settings(max_examples=300, deadline=None)
def test_row_has_exactly_the_given_width(text: str, width: int, position: int) -> None:
    row = entry_row(entry(position, text or "k", json.dumps({"a": text})), Names())
    (line, head) = drawn_lines(row, width, entries=position % 3 + 1)

    assert cell_len(line) == cell_len(head) == width
    line.encode()
    assert not any(category(character) in ("Cc", "Cs", "Zl", "Zp") for character in line)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
@pytest.mark.parametrize("width", [40, 66, 80, 160])
def test_hostile_text_stays_on_one_row(text: str, width: int) -> None:
    for kind, data in (("output", {"stream": "out", "text": text}), (text[:200], {"a": text}), ("made.up", text)):
        shown = json.dumps(data) if isinstance(data, dict) else data
        (line, _) = drawn_lines(entry_row(entry(1, kind, shown), Names()), width)

        assert cell_len(line) == width
        assert not {"\x1b", "\n", "\r", "\t", "\x07", "\u202e"} & set(line)
        line.encode()


def test_huge_data_is_shown_by_size_and_beginning() -> None:
    row = row_of("output", {"stream": "out", "text": "x" * 1_000_000})

    assert row.summary.startswith('977 KiB · {"stream"')
    assert len(row.summary) <= MAX_NAME_CHARS + 1


def test_ascii_mode_replaces_every_glyph_of_a_row() -> None:
    row = entry_row(entry(1, "tool.call.completed", {"tool_name": "n", "result": "r" * 400}), Names())
    for line in drawn_lines(row, 80, entries=214):
        assert line.translate(ASCII).isascii()


def test_narrow_rows_hide_the_time_and_then_the_position() -> None:
    wide, medium, narrow = (Columns.fit(width, 2_082) for width in (66, 52, 40))

    assert wide.time > 0
    assert wide.position > 0
    assert medium.time == 0
    assert medium.position > 0
    assert (narrow.time, narrow.position) == (0, 0)
    assert narrow.summary >= 20


def test_long_kinds_are_shortened_in_the_middle() -> None:
    (line, _) = drawn_lines(Row(1, 0, "tool.call.completed", "done", "tool"), 40)

    assert "tool…completed" in line


def test_number_of_deltas_moves_to_the_summary_if_the_kind_is_too_narrow() -> None:
    row = Row(1, 0, "message.delta", "3 KiB · 5.9 s", "message")

    assert "message.delta ×1,214" in drawn_lines(row, 100, entries=1_214)[0]
    assert "×1,214 · 3 KiB" in drawn_lines(row, 40, entries=1_214)[0]


# Cache


def test_entry_cache_is_bounded_in_number_and_size() -> None:
    recent = EntryCache()
    recent.add(entry(position, "output", {"text": "x"}) for position in range(1, 3 * MAX_CACHED_ENTRIES))
    assert recent.row(MAX_CACHED_ENTRIES // 2) is None
    assert recent.row(3 * MAX_CACHED_ENTRIES - 1) is not None
    recent.add(entry(10**6 + number, "output", "x" * 1_000_000) for number in range(20))

    assert sum(len(one.data) for one in recent._entries.values()) <= MAX_CACHED_CHARS


# Times


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(412, "0.412"), (3_000, "3.0"), (812_000, "812.0"), (999_960, "1.00s"), (125_000_000, "2m05s"),
     (11_520_000_000, "3h12m")],
)  # fmt: skip
def test_short_steps_are_shown_in_milliseconds(microseconds: int, text: str) -> None:
    assert format_step(microseconds) == text


def test_times_since_the_start_of_the_run() -> None:
    assert format_elapsed(14_203_000) == "00:14.203"
    assert format_elapsed(3_727_000_000) == "1:02:07"


def test_unknown_time_is_empty() -> None:
    assert format_time(TimeMode.STEP, START, previous_at=None, began=START) == ""
    assert format_time(TimeMode.RUN, START, previous_at=START, began=None) == ""
    assert format_time(TimeMode.RUN, START + 1_000, previous_at=None, began=START) == "00:00.001"
