"""Sessions: conversations with a place in a tree."""

import pytest

from engine.api import FactsError, NotFound
from tests.support import (
    Engines,
    FakeClock,
    Stage,
    done,
    events_of,
    failed,
    kept,
    lines_of,
    made,
    message,
    said,
    send,
    until,
    waits,
)


async def test_a_session_comes_with_its_first_event_and_is_a_root(play: Stage, clock: FakeClock):
    await play(done("x"))

    session = (await play.engine.session("s")).session
    assert (session.root_session_id, session.parent_session_id, session.depth) == ("s", None, 0)
    assert (session.user_id, session.created_at) == ("ann", clock.now())


async def test_message_count_counts_exchanges_and_the_summary_adds_the_length_of_the_history(play: Stage):
    await play(said("one"), said("two"), done())
    await play(failed())

    summary = await play.engine.session("s")
    assert (summary.session.message_count, summary.history_length) == (1, 4)


async def test_sessions_are_listed_by_user_the_last_active_first(play: Stage, clock: FakeClock):
    for name, user in (("a", "ann"), ("b", "bob"), ("c", "ann"), ("a", "ann")):
        clock.advance(1)
        await play(done("x"), event=message(session=name, actor={"actor_type": "user", "actor_id": user}))

    names = [session.session_id for session in await play.engine.sessions(user_id="ann")]
    assert names == ["a", "c"]
    assert [session.session_id for session in await play.engine.sessions()] == ["a", "c", "b"]
    assert [session.session_id for session in await play.engine.sessions(before="a", limit=1)] == ["c"]


async def test_a_childs_root_and_depth_follow_from_its_parent_and_the_user_is_inherited(play: Stage):
    await play(done("x"))
    child = await play.engine.spawn_session("s", title="aside")
    grandchild = await play.engine.spawn_session(child.session_id)

    assert (child.parent_session_id, child.root_session_id, child.depth) == ("s", "s", 1)
    assert (child.user_id, child.title) == ("ann", "aside")
    assert (grandchild.root_session_id, grandchild.depth) == ("s", 2)
    assert await lines_of(play.engine, child.session_id) == []


async def test_an_unknown_parent_is_not_found(play: Stage):
    with pytest.raises(NotFound):
        await play.engine.spawn_session("nobody")


async def test_title_and_metadata_can_be_changed(play: Stage):
    await play(done("x"))
    await play.engine.rename_session("s", "Holiday")
    await play.engine.set_session_metadata("s", {"a": 1})
    session = await play.engine.set_session_metadata("s", {"b": 2})

    assert (session.title, session.metadata) == ("Holiday", {"a": 1, "b": 2})


async def test_deleting_a_session_deletes_its_facts_and_its_children_live_on(play: Stage):
    run = await play(kept("k", 1), kept("mine", 1, "actor"), made(artifact_id="a"), done("x"))
    child = await play.engine.spawn_session("s")

    await play.engine.delete_session("s")

    engine = play.engine
    with pytest.raises(NotFound):
        await engine.session("s")
    with pytest.raises(NotFound):
        await engine.run(run.run_id)
    assert await lines_of(engine) == []
    assert await engine.journal(run.run_id) == []
    assert await engine.artifacts() == []
    assert [row.key for row in await engine.state()] == ["mine"]
    assert (await engine.session(child.session_id)).session.parent_session_id == "s"
    assert len(events_of(engine, "session.deleted")) == 1


async def test_a_session_that_works_is_not_deleted(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await until(engine, run_id, "message.delta")

    with pytest.raises(FactsError, match=f"session s is busy with run {run_id}"):
        await engine.delete_session("s")


async def test_a_reader_may_rename_a_session_beside_a_live_host(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    await send(host)
    await reader.rename_session("s", "Seen from here")

    assert (await host.session("s")).session.title == "Seen from here"
