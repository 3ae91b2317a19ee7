"""The timeline: a window on a run of any length, live or past."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.stream.cursor import StreamCursor
from console.model.stream.filter import parse_filter
from console.model.stream.index import CHUNK_ENTRIES, MAX_CHUNKS, EntriesRequest, HeadsRequest, NotRead
from console.model.stream.layout import Span
from console.model.stream.reader import perform_read
from console.model.stream.timeline import Timeline
from engine.api import Entry, EntryHead
from tests.support.console.stream_data import Lists, a_run, delta, entry, head_of, naive_rows, read

ALL = 100_000


def past_timeline(entries: list[Entry]) -> tuple[Timeline, Lists]:
    return Timeline("run", last=len(entries)), Lists(entries)


def live_timeline(entries: list[Entry]) -> Timeline:
    timeline = Timeline("run")
    timeline.append(entries)
    return timeline


def shape(spans: list[Span]) -> list[tuple[int, int, int]]:
    return [(span.first, span.last, span.entry_count) for span in spans]


@st.composite
def runs(draw: st.DrawFn) -> list[Entry]:
    """Runs over several chunks: deltas, interrupted by other entries, new turns and dropped deltas."""
    entries: list[Entry] = []
    turn = 1
    for _ in range(draw(st.integers(0, 12))):
        what = draw(st.sampled_from(("deltas", "many deltas", "tool", "turn", "wrong")))
        turn += what == "turn"
        for _ in range({"deltas": draw(st.integers(1, 30)), "many deltas": draw(st.integers(1, 6_000))}.get(what, 1)):
            position = len(entries) + 1
            outcome = "dropped" if what == "wrong" else None
            kind = "tool.call.started" if what == "tool" else "message.delta"
            entries.append(Entry("run", position, position * 10, "runner", kind, "{}", outcome, None, None, turn))
    return entries


# Rows


@given(runs(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_deltas_share_rows_like_the_reference(entries: list[Entry], raw: bool) -> None:
    timeline = Timeline("run")
    timeline.show_raw(raw)
    timeline.append(entries)
    journals = Lists(entries)
    read(timeline, journals, lambda: timeline.rows_after(0, ALL))

    assert shape(timeline.rows_after(0, ALL)) == naive_rows(entries, raw=raw)


@given(runs(), st.booleans(), st.integers(1, 50))
@settings(max_examples=60, deadline=None)
def test_rows_are_the_same_forward_and_backward(entries: list[Entry], hides: bool, step: int) -> None:
    timeline, journals = past_timeline(entries)
    timeline.set_filter(parse_filter("!kind:tool") if hides else None)
    read(timeline, journals, lambda: timeline.rows_after(0, ALL))
    forward: list[Span] = []
    while page := timeline.rows_after(forward[-1].first if forward else 0, step):
        forward += page
    backward: list[Span] = []
    while page := timeline.rows_before(backward[0].first if backward else timeline.last + 1, step):
        backward = page + backward

    assert forward == backward == timeline.rows_after(0, ALL)


@given(runs(), st.sets(st.integers(1, 20_000), max_size=8))
@settings(max_examples=60, deadline=None)
def test_live_rows_equal_stored_rows_for_any_batches(entries: list[Entry], cuts: set[int]) -> None:
    timeline = Timeline("run")
    edges = [0, *sorted(cut for cut in cuts if cut < len(entries)), len(entries)]
    for start, stop in pairwise(edges):
        timeline.append(entries[start:stop])
        timeline.rows_before(timeline.last + 1, 3)
    other, journals = past_timeline(entries)
    for each in (timeline, other):
        read(each, journals, lambda each=each: each.rows_after(0, ALL))

    assert timeline.rows_after(0, ALL) == other.rows_after(0, ALL)


def test_row_of_deltas_shows_number_size_and_duration() -> None:
    timeline = live_timeline([delta(1, "ab", at=0), delta(2, "cd", at=2_000_000), delta(3, "ef", at=5_900_000)])
    (span,) = timeline.rows_after(0, 10)

    assert (span.entry_count, span.at, span.until) == (3, 0, 5_900_000)
    assert timeline.row(span).summary.endswith("B · live")
    timeline.append([entry(4, "run.finished", {"status": "completed"})])
    assert timeline.row(timeline.rows_after(0, 10)[0]).summary.endswith("B · 5.9 s")


def test_repeated_entry_has_one_row() -> None:
    entries = a_run(1, 5)
    timeline = live_timeline(entries[:6])
    timeline.append(entries[3:])

    assert timeline.last == len(entries)
    assert shape(timeline.rows_after(0, 99)) == naive_rows(entries)


# Reading


def test_end_of_any_run_takes_two_small_reads() -> None:
    entries = [entry(position, "state.updated", {"key": "k"}) for position in range(1, 100_001)]
    timeline, journals = past_timeline(entries)
    look = StreamCursor(timeline)
    look.resize(45)
    read(timeline, journals, look.page)

    assert [shown.span.first for shown in look.page().rows] == list(range(99_956, 100_001))
    assert journals.heads_read <= 2 * CHUNK_ENTRIES
    assert journals.entries_read == 45


def test_unused_chunks_are_removed() -> None:
    entries = [entry(position, "output", {"text": "x"}) for position in range(1, 60 * CHUNK_ENTRIES)]
    timeline = live_timeline([])
    for start in range(0, len(entries), 1_000):
        timeline.append(entries[start : start + 1_000])
        timeline.rows_before(timeline.last + 1, 40)
        timeline.next_requests()

    assert len(list(timeline._chunks)) <= MAX_CHUNKS + 1


def test_screen_may_need_more_chunks_than_the_limit() -> None:
    entries = [delta(position) for position in range(1, 60 * CHUNK_ENTRIES + 1)]
    timeline, journals = past_timeline(entries)
    look = StreamCursor(timeline)
    look.resize(50)
    read(timeline, journals, look.page)

    assert len(look.page().rows) == 50
    assert not timeline.next_requests()


def test_live_run_opened_late_is_read_up_to_its_live_entries() -> None:
    entries = a_run(3, 3_000)
    timeline, journals = Timeline("run", last=6_000), Lists(entries)
    timeline.rows_before(timeline.last + 1, 40)
    (request,) = timeline.next_requests()
    timeline.append(entries[6_000:6_500])
    journals.entries = entries[:6_200]
    asyncio.run(perform_read(timeline, request, journals))
    timeline.append(entries[6_500:])
    journals.entries = entries
    read(timeline, journals, lambda: timeline.rows_after(0, ALL))

    assert shape(timeline.rows_after(0, ALL)) == naive_rows(entries)


@given(runs().filter(lambda entries: len(entries) > 3), st.data())
@settings(max_examples=30, deadline=None)
def test_entries_missed_between_batches_are_read(entries: list[Entry], data: st.DataObject) -> None:
    lost = data.draw(st.integers(1, len(entries) - 2))
    until = data.draw(st.integers(lost + 1, len(entries) - 1))
    timeline = live_timeline(entries[:lost])
    timeline.append(entries[until:])
    read(timeline, Lists(entries), lambda: timeline.rows_after(0, ALL))

    assert shape(timeline.rows_after(0, ALL)) == naive_rows(entries)


def test_failed_read_is_requested_again() -> None:
    timeline, _ = past_timeline(a_run())

    class Broken(Lists):
        async def index(self, run_id: str, *, after: int = 0, limit: int = 0) -> list[EntryHead]:
            raise OSError("the disk is gone")

    timeline.rows_before(timeline.last + 1, 5)
    (request,) = timeline.next_requests()
    timeline.rows_before(timeline.last + 1, 5)
    assert timeline.next_requests() == []
    with pytest.raises(OSError, match="gone"):
        asyncio.run(perform_read(timeline, request, Broken([])))
    timeline.rows_before(timeline.last + 1, 5)

    assert timeline.next_requests() == [request]
    assert isinstance(request, HeadsRequest)


def test_only_entries_of_visible_rows_are_read() -> None:
    entries = a_run(3, 500)
    timeline, journals = past_timeline(entries)
    look = StreamCursor(timeline)
    look.resize(4)
    read(timeline, journals, look.page)

    assert journals.entries_read == 4


@pytest.mark.parametrize(
    "gone", [{2, 5}, {1}, set(range(3, CHUNK_ENTRIES + 9)), set(range(CHUNK_ENTRIES - 3, 3 * CHUNK_ENTRIES))]
)
def test_gap_in_a_journal_has_no_row_and_causes_no_reads(gone: set[int]) -> None:
    entries = a_run(4, CHUNK_ENTRIES)

    class Holed(Lists):
        async def index(self, run_id: str, *, after: int = 0, limit: int = 0) -> list[EntryHead]:
            return [head_of(one) for one in entries[after:] if one.position not in gone][:limit]

    timeline, journals = Timeline("run", last=len(entries)), Holed(entries)
    read(timeline, journals, lambda: timeline.rows_after(0, 99))

    there = [one for one in entries if one.position not in gone]
    assert shape(timeline.rows_after(0, 99)) == naive_rows(there)


def test_deleted_run_is_not_requested_forever() -> None:
    timeline, journals = Timeline("run", last=9_000), Lists([])
    read(timeline, journals, lambda: timeline.rows_before(timeline.last + 1, 40))

    assert timeline.last == 0
    assert timeline.rows_after(0, 9) == []


# Positions to go to


def test_turn_in_a_long_run_is_found_by_binary_search() -> None:
    entries = [
        Entry("run", position, position, "runner", "output", "{}", None, None, None, 1 + position // 100_000)
        for position in range(1, 400_001)
    ]
    timeline, journals = past_timeline(entries)
    look = StreamCursor(timeline)
    look.resize(20)
    read(timeline, journals, look.page)
    look.move(-1)
    look.turn(-1)
    read(timeline, journals, lambda: (look.tick(), look.page()))
    assert look.cursor == 300_000
    look.turn(-1)
    read(timeline, journals, lambda: (look.tick(), look.page()))

    assert look.cursor == 200_000
    assert journals.heads_read < 20 * CHUNK_ENTRIES


def test_unread_turn_raises_not_read() -> None:
    timeline, _ = past_timeline(a_run())

    with pytest.raises(NotRead):
        timeline.turn_start(2)


def test_matches_are_visited_without_a_filter() -> None:
    entries = a_run(3, 2_000)
    timeline, journals = past_timeline(entries)
    look = StreamCursor(timeline)
    look.resize(10)
    timeline.set_filter(parse_filter("kind:state"))
    timeline.set_filter(None)
    read(timeline, journals, look.page)
    visited = []
    for step in (-1, -1, -1, 1):
        look.match(step)
        read(timeline, journals, lambda: (look.tick(), look.page()))
        visited.append(look.cursor)

    states = [one.position for one in entries if one.type == "state.updated"]
    assert visited == [states[2], states[1], states[0], states[1]]


def test_entries_of_a_page_are_requested_once() -> None:
    timeline = Timeline("run", last=50)
    entries = [entry(position, "output", {"text": str(position)}) for position in range(1, 51)]
    journals = Lists(entries)
    look = StreamCursor(timeline)
    look.resize(10)
    look.page()
    (marks,) = timeline.next_requests()
    asyncio.run(perform_read(timeline, marks, journals))
    look.page()

    assert timeline.next_requests() == [EntriesRequest(tuple(range(41, 51)))]
