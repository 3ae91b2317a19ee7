"""Search of the run's own conversation."""

from dataclasses import replace
from typing import Any

import pytest

from engine.store import transcript
from tests.engine.access.test_paging import said
from tests.support.engines import START
from tests.support.own_and_foreign_data import FOREIGN_PLACES, OWN_PLACE, AccessHarness


def line(number: int, content: str, place: Any = OWN_PLACE, **fields: Any) -> Any:

    return replace(said(number, place), content=content, **fields)


@pytest.fixture
async def talked(harness: AccessHarness) -> AccessHarness:
    lines = [
        line(1, "the quick brown fox"),
        line(2, "今天天气怎么样"),
        line(3, "明天下雨，带伞", role="assistant"),
        line(4, "100% of _everything_", item_type="note"),
        line(5, "quick again", role="assistant", created_at=START + 1),
        *(line(9, "quick 天气 100%", place) for place in FOREIGN_PLACES.values()),
    ]

    def fill(conn: Any) -> None:
        for each in lines:
            transcript.append(conn, each)

    await harness.write(fill)
    return harness


@pytest.mark.parametrize(
    ("query", "filters", "found"),
    [
        ("quick", None, ["quick again", "the quick brown fox"]),
        ("fox quick", None, ["the quick brown fox"]),
        ("QUICK", {"roles": ["user"]}, ["the quick brown fox"]),
        ("quick", {"roles": []}, ["quick again", "the quick brown fox"]),
        ("天气", None, ["今天天气怎么样"]),
        ("下雨", {"roles": ["assistant"]}, ["明天下雨，带伞"]),
        ("雨", None, ["明天下雨，带伞"]),
        ("天气", {"roles": ["assistant"]}, []),
        ("气天", None, []),
        ("100%", None, ["100% of _everything_"]),
        ("everything", {"item_types": ["note"]}, ["100% of _everything_"]),
        ("everything", {"item_types": ["message"]}, []),
        ("quick", {"conversation_id": "ours", "thread_id": "t1"}, ["quick again", "the quick brown fox"]),
        ("fox", {"event_types": ["message.received"]}, ["the quick brown fox"]),
        ("absent", None, []),
        ("", None, []),
    ],
)
async def test_search_finds_words_in_the_runs_conversation_newest_first(
    talked: AccessHarness, query: str, filters: Any, found: list[str]
):
    result = await talked.do_in_run(lambda ctx: ctx.api.history_search(query, filters))
    assert [item.content for item in result.items] == found
    assert (result.total_count, result.query) == (len(found), query)


async def test_top_k_limits_items_but_not_the_count_and_items_have_artifacts(talked: AccessHarness):
    result = await talked.do_in_run(lambda ctx: ctx.api.history_search("quick", top_k=1))
    assert ([item.content for item in result.items], result.total_count) == (["quick again"], 2)
    assert [ref.artifact_id for ref in result.items[0].artifact_refs] == ["art-1"]


async def test_unknown_filters_are_ignored_with_a_warning_that_names_them(talked: AccessHarness):
    filters = {"event_types": ["x"], "roles": ["user"], "conversation_id": "ours"}
    outcome = await talked.try_in_run(lambda ctx: ctx.api.history_search("quick", filters))
    assert [item.content for item in outcome.value.items] == ["the quick brown fox"]
    assert outcome.run.warnings[-1] == (
        "history_search ignored unknown filters: 'event_types'. It knows roles and item_types."
    )


async def test_very_many_unknown_filters_are_one_short_warning(talked: AccessHarness):
    filters = {f"{number}-{'x' * 1_000}": 1 for number in range(500)}
    outcome = await talked.try_in_run(lambda ctx: ctx.api.history_search("quick", filters))
    (warning,) = [text for text in outcome.run.warnings if text.startswith("history_search")]
    assert " and 490 more. " in warning
    assert len(warning) < 1_000


async def test_found_line_has_its_history_cursor(talked: AccessHarness):
    async def look(ctx: Any) -> Any:
        (hit,) = (await ctx.api.history_search("fox")).items
        return await ctx.api.history_page(after_cursor=hit.cursor, direction="forward", limit=1)

    assert [item.content for item in (await talked.do_in_run(look)).items] == ["今天天气怎么样"]
