"""Pages of the run's own conversation, event log and journal: opaque exclusive cursors, and one order for all."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from engine.access.reply_slots import MAX_LARGE_REPLIES
from engine.store import event_log, transcript
from engine.store.database import Database
from engine.store.event_log import EventRow
from engine.store.transcript import TranscriptLine
from tests.support.engines import START, Engines, FakeClock
from tests.support.own_and_foreign_data import (
    FOREIGN_PLACES,
    OWN_PLACE,
    AccessHarness,
    own_message,
    place_fields,
    raw_call,
)

LINES = 130
ITEM = {
    "transcript_id", "event_id", "conversation_id", "thread_id", "role", "item_type", "content", "content_json",
    "artifact_refs", "seq", "cursor", "created_at", "metadata",
}  # fmt: skip
RECORD = {
    "event_id", "event_type", "event_time", "source", "bot_id", "workspace_id", "conversation_id", "thread_id",
    "actor_type", "actor_id", "actor_name", "subject_type", "subject_id", "input_summary", "input_ref", "raw_ref",
    "seq", "cursor", "created_at", "metadata",
}  # fmt: skip


def said(number: int, place: Any = OWN_PLACE) -> TranscriptLine:
    return TranscriptLine(
        transcript_id=f"{place}-{number}",
        role="user",
        item_type="message",
        content=f"line {number}",
        artifact_refs=["art-1"],
        created_at=START,
        **place_fields(place),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def long(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[AccessHarness]:
    """A conversation of 130 lines, with lines of other conversations between them."""
    engines = Engines(tmp_path_factory.mktemp("pages"), FakeClock())
    harness = await AccessHarness(engines).open()

    def fill(conn: Any) -> None:
        for number in range(LINES):
            transcript.append(conn, said(number))
            for place in FOREIGN_PLACES.values():
                transcript.append(conn, said(number, place))
        for number in range(LINES):
            row = EventRow(
                event_id=f"e{number}", event_type="x", source="host", created_at=START, **place_fields(OWN_PLACE)
            )
            event_log.append(conn, row)
            event_log.append(conn, replace(row, event_id=f"o{number}", **place_fields(FOREIGN_PLACES["bot"])))

    await harness.write(fill)
    yield harness
    await engines.close_all()


def texts(page: Any) -> list[str]:
    return [item.content for item in page.items if item.content.startswith("line ")]


def down(first: int, last: int) -> list[str]:
    return [f"line {number}" for number in range(first, last - 1, -1)]


def up(first: int, last: int) -> list[str]:
    return [f"line {number}" for number in range(first, last + 1)]


async def page(harness: AccessHarness, **arguments: Any) -> Any:
    return await harness.do_in_run(lambda ctx: ctx.api.history_page(**arguments))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cursors(long: AccessHarness) -> list[str]:
    """The cursor of each of the 130 lines."""
    found: list[Any] = []
    before = None
    while True:
        items = (await page(long, before_cursor=before, limit=100)).items
        found += [item for item in items if item.content.startswith("line ")]
        if not items:
            break
        before = items[-1].cursor
    assert [item.content for item in found] == down(LINES - 1, 0)
    return [item.cursor for item in reversed(found)]


@pytest.mark.asyncio(loop_scope="module")
class TestHistory:
    async def test_backward_is_newest_first_and_exclusive(self, long: AccessHarness, cursors: list[str]):
        got = await page(long, before_cursor=cursors[50], limit=10)
        assert texts(got) == down(49, 40)
        assert (got.has_more, got.next_cursor, got.prev_cursor) == (True, cursors[40], cursors[49])

    async def test_forward_is_oldest_first_and_exclusive(self, long: AccessHarness, cursors: list[str]):
        got = await page(long, after_cursor=cursors[50], direction="forward", limit=10)
        assert texts(got) == up(51, 60)
        assert (got.has_more, got.next_cursor, got.prev_cursor) == (True, cursors[60], cursors[51])

    async def test_a_page_without_a_cursor_starts_at_the_newest_line_and_a_forward_one_at_the_first(
        self, long: AccessHarness, cursors: list[str]
    ):
        newest = await page(long, limit=3)
        assert [item.seq for item in newest.items] == sorted((item.seq for item in newest.items), reverse=True)
        assert (newest.has_more, newest.items[0].content) == (True, "please")
        first = await page(long, direction="forward", limit=3)
        assert (texts(first), first.has_more, first.next_cursor) == (up(0, 2), True, cursors[2])

    async def test_the_last_page_has_no_next_cursor(self, long: AccessHarness, cursors: list[str]):
        got = await page(long, before_cursor=cursors[10], limit=10)
        assert (texts(got), got.has_more, got.next_cursor) == (down(9, 0), False, None)

    async def test_an_empty_page_has_no_cursors(self, long: AccessHarness, cursors: list[str]):
        got = await page(long, before_cursor=cursors[0])
        assert (got.items, got.has_more, got.next_cursor, got.prev_cursor) == ([], False, None, None)

    async def test_a_limit_above_100_is_cut_to_100(self, long: AccessHarness, cursors: list[str]):
        got = await page(long, before_cursor=cursors[129], limit=10**6)
        assert (len(got.items), got.has_more) == (100, True)

    async def test_the_default_page_has_fifty_items(self, long: AccessHarness, cursors: list[str]):
        assert len((await page(long, before_cursor=cursors[129])).items) == 50

    async def test_pages_have_correct_edges_in_either_direction(self, long: AccessHarness, cursors: list[str]):
        edges = {"before_cursor": cursors[9], "after_cursor": cursors[4]}
        assert texts(await page(long, **edges)) == down(8, 5)
        got = await page(long, **edges, direction="forward", limit=3)
        assert (texts(got), got.next_cursor) == (up(5, 7), cursors[7])

    async def test_following_next_cursor_returns_every_item_once(self, long: AccessHarness, cursors: list[str]):
        seen: list[str] = []
        got = await page(long, after_cursor=cursors[0], before_cursor=cursors[129], direction="forward", limit=60)
        while True:
            seen += texts(got)
            if not got.has_more:
                break
            got = await page(
                long, after_cursor=got.next_cursor, before_cursor=cursors[129], direction="forward", limit=60
            )
        assert seen == up(1, 128)

    async def test_paging_back_from_latest_cursor_returns_all_earlier_lines(self, long: AccessHarness):
        async def look(ctx: Any) -> Any:
            newest = await ctx.api.history_page(limit=3)
            return newest, await ctx.api.history_page(before_cursor=ctx.context.latest_cursor, limit=2)

        newest, before = await long.do_in_run(look)
        assert newest.items[0].content == "please"
        assert [item.seq for item in before.items] == [item.seq for item in newest.items[1:]]

    async def test_naming_the_own_conversation_has_no_effect(self, long: AccessHarness, cursors: list[str]):
        assert texts(await page(long, conversation_id="ours", before_cursor=cursors[3])) == down(2, 0)

    async def test_page_includes_artifacts_only_on_request(self, long: AccessHarness, cursors: list[str]):
        for wanted, ids in ((False, []), (True, ["art-1"])):
            got = await page(long, before_cursor=cursors[1], include_artifacts=wanted)
            assert [[ref.artifact_id for ref in item.artifact_refs] for item in got.items] == [ids]

    async def test_history_item_has_the_fields_of_the_contract(self, long: AccessHarness):
        reply = await long.do_in_run(lambda ctx: raw_call(ctx, "history_page", run_id=ctx.run_id, limit=1))
        assert set(reply) == {"items", "next_cursor", "prev_cursor", "has_more", "total_count"}
        assert set(reply["items"][0]) == ITEM
        assert reply["items"][0]["created_at"] == START // 1_000_000


@pytest.mark.asyncio(loop_scope="module")
class TestEvents:
    async def test_pages_go_back_from_the_newest(self, long: AccessHarness):
        async def look(ctx: Any) -> Any:
            own_event = (await ctx.api.event_get("e9")).cursor
            return await ctx.api.event_page(before_cursor=own_event, limit=3), await ctx.api.event_page(limit=1)

        older, newest = await long.do_in_run(look)
        assert [item.event_id for item in older.items] == ["e8", "e7", "e6"]
        assert (older.has_more, older.next_cursor) == (True, older.items[-1].cursor)
        assert older.prev_cursor == older.items[0].cursor
        assert newest.items[0].input_summary == "please"

    async def test_a_limit_above_100_is_cut_to_100(self, long: AccessHarness):
        got = await long.do_in_run(lambda ctx: ctx.api.event_page(limit=101))
        assert (len(got.items), got.has_more) == (100, True)

    async def test_a_claim_that_was_stored_with_its_time_as_text_is_read_with_a_number(self, long: AccessHarness):
        steering = {"status": "queued", "claimed_at": "2026-01-02T03:04:05.500000Z"}
        names = {"event_id": "old", "event_type": "message.received", "source": "host"}
        row = EventRow(**names, created_at=START, metadata={"steering": steering}, **place_fields(OWN_PLACE))
        await long.write(lambda conn: event_log.append(conn, row))

        async def look(ctx: Any) -> Any:
            page = await ctx.api.event_page()
            return await ctx.api.event_get("old"), next(item for item in page.items if item.event_id == "old")

        got, paged = await long.do_in_run(look)
        assert got.metadata == paged.metadata == {"steering": steering | {"claimed_at": START // 1_000_000}}

    async def test_event_record_has_the_fields_of_the_contract_and_no_payload(self, long: AccessHarness):
        event = own_message("what was said", data={"secret": "payload"})
        reply = await long.do_in_run(
            lambda ctx: raw_call(ctx, "event_get", run_id=ctx.run_id, event_id=event.event_id), event
        )
        assert set(reply) == RECORD
        assert "payload" not in repr(reply)
        assert (reply["input_summary"], reply["actor_id"]) == ("what was said", "ann")


@pytest.mark.asyncio(loop_scope="module")
class TestOwnJournal:
    async def test_a_backward_page_is_newest_first_and_one_after_a_cursor_oldest_first(self, long: AccessHarness):
        async def look(ctx: Any) -> Any:
            newest = await ctx.api.run_events_page(limit=2, direction="backward")
            oldest = await ctx.api.run_events_page(before_cursor=newest.next_cursor, limit=100, direction="backward")
            return newest, oldest, await ctx.api.run_events_page(after_cursor=oldest.prev_cursor, limit=3)

        newest, oldest, after = await long.do_in_run(look)
        assert [(item.position, item.type) for item in newest.items] == [(5, "call.decided"), (4, "call.requested")]
        assert [(item.position, item.type) for item in oldest.items] == [
            (3, "warning"),  # for missing files that its config names
            (2, "warning"),
            (1, "run.started"),
        ]
        assert (oldest.has_more, oldest.next_cursor) == (False, None)
        assert ([item.position for item in after.items], after.has_more) == ([4, 5, 6], True)

    async def test_a_page_without_a_cursor_starts_at_the_first_entry(self, long: AccessHarness):
        async def look(ctx: Any) -> Any:
            first = await ctx.api.run_events_page(limit=2)
            return first, await ctx.api.run_events_page(after_cursor=first.items[0].cursor, limit=1)

        first, second = await long.do_in_run(look)
        assert [(item.position, item.type, item.at) for item in first.items] == [
            (1, "run.started", START // 1_000_000),
            (2, "warning", START // 1_000_000),
        ]
        assert (first.has_more, first.next_cursor) == (True, first.items[-1].cursor)
        assert [item.cursor for item in second.items] == [first.items[1].cursor]

    async def test_forward_pages_return_the_journal_in_order(self, long: AccessHarness):
        async def look(ctx: Any) -> list[int]:
            for number in range(5):
                await ctx.api.state_set("conversation", "n", number)
            cursor = (await ctx.api.run_events_page(limit=100, direction="backward")).prev_cursor
            page = await ctx.api.run_events_page(before_cursor=cursor, direction="forward", limit=4)
            seen = [item.position for item in page.items]
            while page.has_more:
                page = await ctx.api.run_events_page(
                    before_cursor=cursor, after_cursor=page.next_cursor, direction="forward", limit=4
                )
                seen += [item.position for item in page.items]
            return seen

        seen = await long.do_in_run(look)
        assert seen == list(range(1, len(seen) + 1))
        assert len(seen) > 15

    async def test_a_page_has_only_entries_of_the_run_itself(self, long: AccessHarness):
        async def look(ctx: Any) -> Any:
            return ctx.run_id, await ctx.api.run_events_page()

        run_id, got = await long.do_in_run(look)
        assert {item.run_id for item in got.items} == {run_id}


@pytest.mark.asyncio(loop_scope="module")
class TestLargeItems:
    """Pages whose items are large have fewer of them, and lead through everything all the same."""

    @pytest.fixture(autouse=True)
    def small_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for call in ("history", "event", "run"):
            monkeypatch.setattr(f"engine.access.calls.{call}.MAX_PAGE_CHARACTERS", 3_000)

    async def test_history(self, long: AccessHarness, cursors: list[str]):
        seen: list[str] = []
        got = await page(long, before_cursor=cursors[129], limit=100)
        while got.has_more:
            assert 0 < len(got.items) < 100
            assert got.next_cursor == got.items[-1].cursor
            seen += texts(got)
            got = await page(long, before_cursor=got.next_cursor, limit=100)
        assert seen + texts(got) == down(128, 0)

    async def test_an_item_that_is_too_large_alone_is_a_page(
        self, long: AccessHarness, cursors: list[str], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("engine.access.calls.history.MAX_PAGE_CHARACTERS", 1)
        got = await page(long, before_cursor=cursors[50], limit=10)
        assert (texts(got), got.has_more) == (down(49, 49), True)

    async def test_search(self, long: AccessHarness):
        got = await long.do_in_run(lambda ctx: ctx.api.history_search("line", top_k=100))
        assert 0 < len(got.items) < 100
        assert got.total_count >= LINES

    async def test_events(self, long: AccessHarness, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("engine.access.calls.event.MAX_PAGE_CHARACTERS", 300)
        got = await long.do_in_run(lambda ctx: ctx.api.event_page(limit=100))
        assert (0 < len(got.items) < 100, got.has_more) == (True, True)

    async def test_own_journal(self, long: AccessHarness):
        async def look(ctx: Any) -> tuple[list[int], list[int]]:
            for number in range(8):
                await ctx.api.state_set("conversation", "n", f"{number}" + "x" * 1_000)
            end = (await ctx.api.run_events_page(limit=1, direction="backward")).next_cursor
            forward: list[int] = []
            got = await ctx.api.run_events_page(before_cursor=end, direction="forward", limit=100)
            while True:
                assert len(got.items) < 100
                forward += [item.position for item in got.items]
                if not got.has_more:
                    break
                got = await ctx.api.run_events_page(
                    after_cursor=got.next_cursor, before_cursor=end, direction="forward", limit=100
                )
            backward: list[int] = []
            got = await ctx.api.run_events_page(before_cursor=end, direction="backward", limit=100)
            while True:
                backward += [item.position for item in got.items]
                if not got.has_more:
                    break
                got = await ctx.api.run_events_page(before_cursor=got.next_cursor, direction="backward", limit=100)
            return forward, backward

        forward, backward = await long.do_in_run(look)
        assert forward == list(range(1, len(forward) + 1))
        assert backward == forward[::-1]
        assert len(forward) > 20


@pytest.mark.asyncio(loop_scope="module")
async def test_few_large_replies_of_a_run_are_in_memory_at_once(long: AccessHarness, monkeypatch: pytest.MonkeyPatch):
    reading, most = 0, 0
    fetch = Database.fetch

    async def counted(self: Database, query: Any) -> Any:
        nonlocal reading, most
        if "transcript" not in query.statement:  # the host looks for requests meanwhile
            return await fetch(self, query)
        reading += 1
        most = max(most, reading)
        try:
            return await fetch(self, query)
        finally:
            reading -= 1

    monkeypatch.setattr(Database, "fetch", counted)

    async def look(ctx: Any) -> list[Any]:
        return await asyncio.gather(*(ctx.api.history_page(limit=1) for _ in range(20)))

    assert len(await long.do_in_run(look)) == 20
    assert most == MAX_LARGE_REPLIES
