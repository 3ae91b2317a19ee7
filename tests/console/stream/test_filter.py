"""The filter grammar, and the entries that a filter shows, live or past."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.stream.filter import FilterError, only_kind, parse_filter, without_kind
from console.model.stream.index import chunk_number
from console.model.stream.timeline import Timeline
from engine.api import Entry
from tests.support.console.stream_data import START, Lists, a_run, delta, entry, naive_rows, read

RUN = [
    entry(1, "run.started", {"runner_id": "r"}),
    delta(2, "Hello Kyoto"),
    delta(3, 'say "hi"'),
    entry(4, "tool.call.started", {"tool_call_id": "c_09", "tool_name": "weather"}, turn=2),
    entry(5, "tool.call.completed", '{"tool_call_id":"c_09","error":null}', turn=2, at=START + 804_000),
    entry(6, "tool.call.completed", '{"tool_call_id":"c_1","error":"too slow"}', turn=2, at=START + 804_100),
    entry(7, "state.updated", {"key": "error", "value": "kyoto"}, outcome="dropped", reason="no", turn=3),
    entry(8, "call.decided", {"call_id": "c_09"}, outcome="refused", reason="no", turn=3),
    entry(9, "message.completed", {"message": {"content": "bye"}}, outcome="warned", turn=3),
]


def shown_positions(text: str, entries: list[Entry] = RUN) -> list[int]:
    """Return the positions that a filter shows of a past run."""
    timeline, journals = Timeline("run", last=len(entries)), Lists(entries)
    timeline.show_raw(True)
    timeline.set_filter(parse_filter(text))
    read(timeline, journals, lambda: timeline.rows_after(0, len(entries)))
    assert timeline.progress is None
    rows = [span.first for span in timeline.rows_after(0, len(entries))]
    assert timeline.hidden == (len(entries) - len(rows) if parse_filter(text) else 0)
    return rows


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("kind:tool.*", [4, 5, 6]),
        ("kind:tool", [4, 5, 6]),
        ("kind:tool.call.completed", [5, 6]),
        ("kind:state.*,run.*", [1, 7]),
        ("!kind:message.delta !kind:tool.*", [1, 7, 8, 9]),
        ("turn:2", [4, 5, 6]),
        ("!turn:1 kind:tool", [4, 5, 6]),
        ("call:c_09", [4, 5, 8]),
        ("call:c_0", []),
        (">200ms", [5]),
        (">0.8s", []),
        ("err", [6, 7, 8]),
        ("!err kind:tool", [4, 5]),
        ("kyoto", [2, 7]),
        ("KYOTO hello", [2]),
        ("!kyoto kind:message.delta", [3]),
        ('"Hello Kyoto"', [2]),
        ('"say \\"hi\\""', [3]),
        ("updated", [7]),
        ("", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ('  ""  ', [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_all_conditions_must_match(text: str, positions: list[int]) -> None:
    assert shown_positions(text) == positions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("turn:x", "turn:x is not a turn. Write turn:3."),
        ("turn:", "turn: needs a value, such as turn:3."),
        (">200", ">200 is not a duration. Write >200ms, >1.5s or >2m."),
        ('"open', 'The text "open has no closing quotation mark.'),
        ("knd:tool.*", 'Unknown key knd:. Did you mean kind:? To search for the text, write "knd:tool.*".'),
    ],
)
def test_invalid_filter_shows_the_reason(text: str, words: str) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filter(text)

    assert str(raised.value) == words


def test_word_with_an_unknown_prefix_is_text() -> None:
    assert parse_filter("https://example.org") is not None


@pytest.mark.parametrize("kind", ["tool.call.started", "odd*kind", "[x]", "with blank", "a,b"])
def test_only_and_hide_match_exactly_one_kind(kind: str) -> None:
    entries = [entry(1, "other"), entry(2, kind), entry(3, "tool.call.started.more")]

    assert shown_positions(only_kind(kind), entries)[0] == 2
    assert 2 not in shown_positions(without_kind("", kind), entries)
    assert 1 in shown_positions(without_kind("", kind), entries)


def test_hidden_kinds_add_up_and_hiding_the_only_kind_inverts_the_filter() -> None:
    assert without_kind("kyoto", "a.b") == "kyoto !kind:a.b"
    assert without_kind("kind:a.b", "a.b") == "!kind:a.b"


TERMS = [
    "kind:tool", "!kind:message.delta", "turn:2", "err", "!err", "word1", '"word7 "', "!weather", ">500ms", "call:t2",
]  # fmt: skip
LONG = a_run(turns=3, deltas=3_000)


@given(
    st.lists(st.sampled_from(TERMS), min_size=1, max_size=3),
    st.integers(0, len(LONG)),
    st.sets(st.integers(1, len(LONG) - 1), max_size=6),
)
@settings(max_examples=30, deadline=None)
def test_live_entries_are_filtered_like_stored_ones(terms: list[str], seen_before: int, cuts: set[int]) -> None:
    """A filter that is set during a live run shows the same entries as one on the finished run."""
    text = " ".join(terms)
    timeline, journals = Timeline("run"), Lists(LONG)
    timeline.append(LONG[:seen_before])
    timeline.set_filter(parse_filter(text))
    for start, stop in pairwise([seen_before, *sorted(cut for cut in cuts if cut > seen_before), len(LONG)]):
        timeline.append(LONG[start:stop])
    read(timeline, journals, lambda: timeline.rows_after(0, 20_000))

    expected = set(shown_positions(text, LONG))
    rows = [(span.first, span.last, span.entry_count) for span in timeline.rows_after(0, 20_000)]
    assert rows == naive_rows(one for one in LONG if one.position in expected)
    assert timeline.hidden == len(LONG) - len(expected)


def test_filter_on_a_long_run_shows_progress_and_starts_with_the_newest() -> None:
    entries = [delta(position) for position in range(1, 60_001)]
    entries[59_990] = entry(59_991, "needle")
    timeline, journals = Timeline("run", last=60_000), Lists(entries)
    timeline.set_filter(parse_filter("needle"))
    timeline.rows_before(60_001, 40)
    requests = timeline.next_requests()

    assert timeline.progress == 0
    assert [type(request).__name__ for request in requests[:2]] == ["HeadsRequest", "MatchesRequest"]
    assert {getattr(requests[0], "number", None), getattr(requests[1], "last", None)} == {chunk_number(60_000), 60_000}
    for request in requests:
        timeline.read_failed(request)
    read(timeline, journals, lambda: timeline.rows_before(60_001, 40))
    assert timeline.progress is None
    assert [span.first for span in timeline.rows_before(60_001, 40)] == [59_991]
    assert timeline.hidden == 59_999
