"""Search hits and the journal entries that wrote them."""

from itertools import count
from typing import Any

from sqlalchemy import Connection

from engine.store import queue, runs, search, sessions, transcript
from engine.store.entries import Entry
from engine.store.row_mapping import ConversationKey
from engine.store.transcript import TranscriptLine
from tests.support.store_samples import queue_item, run_row, text_line, write_entries

CONVERSATION = ConversationKey("talk")


def entry(position: int, kind: str = "message.delta", *, at: int | None = None, outcome: str | None = None) -> Entry:
    return Entry("run_a", position, position * 10 if at is None else at, "runner", kind, "{}", outcome)


def line(conn: Connection, content: str, at: int, role: str = "assistant", **more: Any) -> TranscriptLine:
    names = {"transcript_id": f"{content}-{at}", "role": role, "created_at": at, "run_id": "run_a"} | more
    return transcript.line_of(conn, "talk", transcript.append(conn, text_line(at, content, **names)))


def test_pages_return_every_hit_once_newest_first_with_its_session_title(conn: Connection):
    sessions.ensure(conn, "talk", at=1, title="Trip")
    for number in range(7):
        transcript.append(conn, text_line(number, f"train {number}"))
        transcript.append(conn, text_line(100 + number, "tram"))

    met, totals = [], []
    for _ in range(4):
        page = search.page(conn, "train", None, before=met[-1].line.seq if met else None, limit=3)
        met += page.hits
        totals.append(page.total)

    assert [hit.line.content for hit in met] == [f"train {number}" for number in (6, 5, 4, 3, 2, 1, 0)]
    assert totals == [7, 4, 1, 0]
    assert {hit.title for hit in met} == {"Trip"}
    assert {hit.position for hit in met} == {None}


def test_a_line_is_found_at_the_entry_that_wrote_it(conn: Connection):
    kinds = {40: "message.completed", 90: "run.completed", 99: "run.finished"}
    write_entries(conn, *(entry(position, kinds.get(position, "message.delta")) for position in range(1, 100)))

    assert search.position_of(conn, line(conn, "one", 400)) == 40
    assert search.position_of(conn, line(conn, "two", 900)) == 90
    assert search.position_of(conn, line(conn, "three", 990)) == 99
    assert search.position_of(conn, line(conn, "none", 410)) is None
    assert search.position_of(conn, line(conn, "gone", 400, run_id="run_z")) is None
    assert search.position_of(conn, line(conn, "no run", 400, run_id=None)) is None


def test_lines_of_the_same_microsecond_are_distinguished_by_their_order(conn: Connection):
    write_entries(
        conn,
        entry(1, "run.started", at=5),
        entry(2, "message.completed", at=5),
        entry(3, "message.completed", at=5, outcome="dropped"),
        entry(4, "message.completed", at=5, outcome="warned"),
        entry(5, "run.completed", at=5),
    )
    first, second = line(conn, "one", 5), line(conn, "two", 5)

    assert [search.position_of(conn, each) for each in (first, second)] == [2, 4]


def test_a_user_line_is_found_at_the_start_of_the_run_or_at_its_pull(conn: Connection):
    runs.create(conn, run_row("run_a", event_id="e1", conversation_id="talk"))
    pulled = {"run_id": "run_a", "event_id": "e2", "pulled_position": 12, "metadata": {"queued_position": 9}}
    queue.add(conn, queue_item("i2", **pulled))
    queue.add(conn, queue_item("i3", run_id="run_a", event_id="e3", metadata={"queued_position": 15}))

    said_by = [line(conn, "x", at, "user", event_id=f"e{at}") for at in (1, 2, 3, 4)]

    assert [search.position_of(conn, each) for each in said_by] == [1, 12, 15, None]


def test_a_line_of_a_fork_leads_to_the_original_entry(conn: Connection):
    numbers = count()
    runs.create(conn, run_row("run_a", event_id="e1", conversation_id="talk"))
    write_entries(conn, entry(1, "run.started"), entry(2, "message.completed"))
    sessions.ensure(conn, "talk", at=1)
    line(conn, "question", 5, "user", event_id="e1")
    line(conn, "answer", 20)
    sessions.fork(conn, "talk", "fork", until=None, at=50, new_id=lambda: f"copy_{next(numbers)}", title="Side")

    found = (
        search.page(conn, "answer", ConversationKey("fork")).hits
        + search.page(conn, "question", ConversationKey("fork")).hits
    )

    assert [(hit.title, hit.line.run_id, hit.position) for hit in found] == [("Side", "run_a", 2), ("Side", "run_a", 1)]


def test_last_line_at_an_entry_belongs_to_the_run_and_not_to_a_fork(conn: Connection):
    runs.create(conn, run_row("run_a", conversation_id="talk", event_id="e"))
    kinds = {3: "message.completed", 5: "message.completed"}
    # All in one microsecond: only their entries distinguish them.
    write_entries(conn, *(entry(position, kinds.get(position, "message.delta"), at=7) for position in range(1, 7)))
    asked = line(conn, "asked", 7, role="user", event_id="e")
    first, second = line(conn, "first", 7), line(conn, "second", 7)
    transcript.append(
        conn, text_line(9, "copy", ConversationKey("fork"), run_id="run_a", role="assistant", created_at=7)
    )

    found = [search.line_at(conn, "run_a", position) for position in range(1, 7)]

    assert found == [asked, asked, first, first, second, second]
    assert search.line_at(conn, "run_a", 99) is None
