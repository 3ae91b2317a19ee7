"""The event log, the transcript, and the base64 that is removed from both."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection

from engine.store import event_log, transcript
from engine.store.errors import EventTaken, NotFound
from engine.store.event_log import EventRow
from engine.store.redact import redact
from engine.store.row_mapping import ConversationKey
from engine.store.transcript import TranscriptLine

CONVERSATION = ConversationKey("talk")
IMAGE = "data:image/png;base64,AAAA"


def event(event_id: str, **more: Any) -> EventRow:
    return EventRow(event_id=event_id, event_type="message.received", source="console", created_at=1, **more)


def line(number: int, **more: Any) -> TranscriptLine:
    return TranscriptLine(
        **{"transcript_id": f"line_{number}", "conversation_id": "talk", "role": "user", "created_at": 1} | more
    )


def test_an_event_is_logged_once_and_found_again(conn: Connection):
    seq = event_log.append(conn, event("e1", actor_id="me", metadata={"a": 1}))
    assert event_log.get(conn, "e1") == event("e1", actor_id="me", metadata={"a": 1}, seq=seq)
    assert event_log.seen(conn, "e2") is None
    with pytest.raises(EventTaken, match="event e1 is in the log already"):
        event_log.append(conn, event("e1"))
    with pytest.raises(NotFound, match="no event e2"):
        event_log.get(conn, "e2")


def test_an_event_keeps_its_first_run(conn: Connection):
    event_log.append(conn, event("e1"))
    event_log.attach(conn, "e1", "run_1")
    event_log.attach(conn, "e1", "run_2")
    assert event_log.get(conn, "e1").run_id == "run_1"


def test_a_summary_has_at_most_a_thousand_characters(conn: Connection):
    event_log.append(conn, event("e1", input_summary="é" * 1_001))
    assert event_log.get(conn, "e1").input_summary == "é" * 1_000


def test_inline_base64_never_reaches_the_log(conn: Connection):
    event_log.append(conn, event("e1", metadata={"attachments": [{"name": "a", "content": "AAAA"}]}))
    assert event_log.get(conn, "e1").metadata == {
        "attachments": [{"name": "a", "content": None, "content_redacted": True}]
    }


def test_events_of_one_place_come_newest_first(conn: Connection):
    places: list[dict[str, str]] = [{}, {"thread_id": "t"}, {"bot_id": "b"}, {"workspace_id": "w"}]
    for number in range(8):
        event_log.append(conn, event(f"e{number}", conversation_id="talk", **places[number % 4]))
    found = event_log.page(conn, CONVERSATION)
    assert [each.event_id for each in found] == ["e4", "e0"]
    assert [each.event_id for each in event_log.page(conn, CONVERSATION, before=found[0].seq)] == ["e0"]
    assert [each.event_id for each in event_log.page(conn, ConversationKey("talk", thread_id="t"), limit=1)] == ["e5"]
    assert event_log.latest_seq(conn, CONVERSATION) == found[0].seq
    assert event_log.latest_seq(conn, ConversationKey("other")) is None


def test_last_line_of_a_place_ignores_other_threads_bots_and_workspaces(conn: Connection):
    seq = transcript.append(conn, line(1))
    for number, other in enumerate(({"thread_id": "t"}, {"bot_id": "b"}, {"workspace_id": "w"}), 2):
        transcript.append(conn, line(number, **other))
    assert transcript.latest_seq(conn, CONVERSATION) == seq
    assert transcript.length(conn, "talk") == 4


def test_transcript_is_paged_in_both_directions(conn: Connection):
    seqs = [transcript.append(conn, line(number)) for number in range(1, 6)]

    def numbers(**edge: Any) -> list[str]:
        return [each.transcript_id[-1] for each in transcript.page(conn, CONVERSATION, **edge)]

    assert numbers(limit=2) == ["5", "4"]
    assert numbers(before=seqs[3], limit=2) == ["3", "2"]
    assert numbers(after=seqs[1], limit=2) == ["3", "4"]
    assert numbers(after=seqs[4]) == []
    assert numbers(limit=2, oldest_first=True) == ["1", "2"]
    assert numbers(before=seqs[3], limit=2, oldest_first=True) == ["1", "2"]
    assert numbers(after=seqs[1], limit=2, oldest_first=False) == ["5", "4"]
    assert numbers(after=seqs[0], before=seqs[4], limit=2) == ["2", "3"]
    assert numbers(after=seqs[0], before=seqs[4], limit=2, oldest_first=False) == ["4", "3"]


@pytest.mark.parametrize("length", [3_999, 4_000, 4_001, 9_000])
def test_long_text_is_cut_and_the_whole_text_is_stored(conn: Connection, length: int):
    text = "x" * length
    transcript.append(conn, line(1, content=text))
    (kept,) = transcript.page(conn, CONVERSATION)
    if length <= 4_000:
        assert (kept.content, kept.content_json) == (text, None)
    else:
        assert kept.content == "x" * 3_997 + "..."
        assert kept.content_json == {"role": "user", "content": text}


def test_a_line_keeps_its_message_without_inline_base64(conn: Connection):
    message = {
        "role": "user",
        "content": [{"type": "image_base64", "image_base64": "AAAA"}, {"type": "text", "text": "hi"}],
    }
    transcript.append(conn, line(1, content="hi", content_json=message, artifact_refs=[{"artifact_id": "a"}]))
    (kept,) = transcript.page(conn, CONVERSATION)
    assert kept.content_json["content"] == [
        {"type": "image_base64", "image_base64": None, "content_redacted": True},
        {"type": "text", "text": "hi"},
    ]
    assert kept.artifact_refs == [{"artifact_id": "a"}]
    assert message["content"][0]["image_base64"] == "AAAA"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"content_base64": "AA"}, {"content_base64": None, "content_redacted": True}),
        ({"file_base64": "AA", "n": 1}, {"file_base64": None, "n": 1, "content_redacted": True}),
        ([{"image_url": {"url": IMAGE}}], [{"image_url": {"url": None, "content_redacted": True}}]),
        ({"url": "https://example.org/;base64,"}, None),
        ({"content": "AAAA", "text": IMAGE}, None),
        ({"content_base64": None}, None),
        ({"attachments": [{"content": "AA"}]}, {"attachments": [{"content": None, "content_redacted": True}]}),
        ("AAAA", None),
    ],
)
def test_only_inline_base64_is_redacted(value: Any, expected: Any):
    assert redact(value) == (value if expected is None else expected)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "chunk", "content"]), inner),
)


@given(JSON)
def test_a_value_without_base64_is_not_copied(value: Any):
    assert redact(value) is value


@given(JSON)
def test_base64_is_removed_at_any_depth_without_changing_the_input(value: Any):
    given_value = {"a": [value, [{"b": {"content_base64": "AA"}}]]}
    assert redact(given_value) == {"a": [value, [{"b": {"content_base64": None, "content_redacted": True}}]]}
    assert given_value["a"][1] == [{"b": {"content_base64": "AA"}}]
