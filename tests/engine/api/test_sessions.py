"""Sessions and their tree of parents and children."""

from typing import Any

import pytest

from engine.api import NotFound, SessionDeleted, StoreError
from tests.support.engines import (
    Engines,
    FakeClock,
    ScriptRunner,
    artifact_created,
    done,
    events_of,
    failed,
    lines_of,
    message,
    said,
    send,
    state_updated,
    wait_for_entry,
    waits,
)


async def test_first_event_creates_a_root_session(run_script: ScriptRunner, clock: FakeClock):
    await run_script(done("x"))

    session = (await run_script.engine.sessions.get("s")).session
    assert (session.root_session_id, session.parent_session_id, session.depth) == ("s", None, 0)
    assert (session.user_id, session.created_at) == ("ann", clock.now())


async def test_message_count_counts_runs_that_failed_too_and_summary_has_history_length(run_script: ScriptRunner):
    await run_script(said("one"), said("two"), done())
    await run_script(failed())

    summary = await run_script.engine.sessions.get("s")
    assert (summary.session.message_count, summary.history_length) == (2, 4)


async def test_session_has_runner_agent_and_project_of_its_last_run(run_script: ScriptRunner):
    engine = run_script.engine
    await engine.sessions.create("s", user_id="bob", title="Mine", metadata={"a": 1})
    before = (await engine.sessions.get("s")).session
    run = await run_script(done("x"))
    after = (await engine.sessions.get("s")).session

    assert (before.message_count, before.runner_id, before.project) == (0, None, None)
    assert (after.runner_id, after.agent_id) == (run.row.runner_id, run.row.agent_id)
    assert after.project == str(engine.project.folder.absolute())
    assert (after.user_id, after.title, after.metadata) == ("bob", "Mine", {"a": 1})


async def test_transcript_has_all_threads_and_bots_and_can_be_filtered(run_script: ScriptRunner):
    engine = run_script.engine
    for text, where in (
        ("main", {}),
        ("aside", {"thread_id": "t1"}),
        ("other", {"bot_id": "b1"}),
        ("both", {"thread_id": "t1", "bot_id": "b1", "workspace_id": "w"}),
    ):
        await run_script(done(f"re: {text}"), event=message(text, **where))

    async def found(**filters: Any) -> list[str | None]:
        lines = await engine.sessions.transcript("s", **filters)
        return [line.content for line in reversed(lines) if line.role == "user"]

    assert [content for _, content in await lines_of(engine)][::2] == ["main", "aside", "other", "both"]
    assert await found() == ["main", "aside", "other", "both"]
    assert await found(thread_id="t1") == ["aside", "both"]
    assert await found(bot_id="b1") == ["other", "both"]
    assert await found(workspace_id="w") == ["both"]
    assert await found(thread_id="") == ["main", "other"]
    assert await found(thread_id="", bot_id="") == ["main"]
    assert await found(thread_id="%") == []
    (newest,) = await engine.sessions.transcript("s", thread_id="t1", limit=1)
    assert (newest.content, newest.thread_id, newest.bot_id) == ("re: both", "t1", "b1")


async def test_session_is_created_by_a_reader_and_found_by_a_beginning(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    made = await reader.sessions.create("19960@chatroom")
    child = await reader.sessions.spawn(made.session_id, "!abc:matrix.org", user_id="bob")

    assert (await host.sessions.find("1996")).session == made
    assert child.user_id == "bob"
    rows = await host.sessions.tree(made.session_id)
    assert {row.session.session_id: row.children for row in rows} == {"19960@chatroom": 1, "!abc:matrix.org": 0}
    with pytest.raises(NotFound):
        await host.sessions.get("1996")
    generated = await reader.sessions.create()
    assert generated.session_id.startswith("ses_")


async def test_sessions_of_a_user_are_listed_last_active_first(run_script: ScriptRunner, clock: FakeClock):
    for name, user in (("a", "ann"), ("b", "bob"), ("c", "ann"), ("a", "ann")):
        clock.advance(1)
        await run_script(done("x"), event=message(session=name, actor={"actor_type": "user", "actor_id": user}))

    names = [session.session_id for session in await run_script.engine.sessions.list(user_id="ann")]
    assert names == ["a", "c"]
    assert [session.session_id for session in await run_script.engine.sessions.list()] == ["a", "c", "b"]
    assert [session.session_id for session in await run_script.engine.sessions.list(before="a", limit=1)] == ["c"]


async def test_child_derives_root_depth_and_user_from_its_parent(run_script: ScriptRunner):
    await run_script(done("x"))
    child = await run_script.engine.sessions.spawn("s", title="aside")
    grandchild = await run_script.engine.sessions.spawn(child.session_id)

    assert (child.parent_session_id, child.root_session_id, child.depth) == ("s", "s", 1)
    assert (child.user_id, child.title) == ("ann", "aside")
    assert (grandchild.root_session_id, grandchild.depth) == ("s", 2)
    assert await lines_of(run_script.engine, child.session_id) == []


async def test_spawn_from_unknown_parent_raises_not_found(run_script: ScriptRunner):
    with pytest.raises(NotFound):
        await run_script.engine.sessions.spawn("nobody")


async def test_title_and_metadata_can_be_changed(run_script: ScriptRunner):
    await run_script(done("x"))
    await run_script.engine.sessions.rename("s", "Holiday")
    await run_script.engine.sessions.set_metadata("s", {"a": 1})
    session = await run_script.engine.sessions.set_metadata("s", {"b": 2})

    assert (session.title, session.metadata) == ("Holiday", {"a": 1, "b": 2})


async def test_deleting_session_deletes_its_data_and_not_its_children(run_script: ScriptRunner):
    run = await run_script(
        state_updated("k", 1), state_updated("mine", 1, "actor"), artifact_created(artifact_id="a"), done("x")
    )
    child = await run_script.engine.sessions.spawn("s")

    await run_script.engine.sessions.delete("s")

    engine = run_script.engine
    with pytest.raises(NotFound):
        await engine.sessions.get("s")
    with pytest.raises(NotFound):
        await engine.runs.get(run.run_id)
    assert await lines_of(engine) == []
    assert await engine.runs.journal(run.run_id) == []
    assert await engine.artifacts.list() == []
    assert [row.key for row in await engine.state.read()] == ["mine"]
    assert (await engine.sessions.get(child.session_id)).session.parent_session_id == "s"
    assert len(events_of(engine, "session.deleted")) == 1


async def test_event_that_continues_a_deleted_session_is_refused_and_leaves_nothing(run_script: ScriptRunner):
    await run_script(done("x"))
    engine = run_script.engine
    await engine.sessions.delete("s")
    logged = events_of(engine, "message.received")

    with pytest.raises(SessionDeleted, match="Session s was deleted"):
        await engine.runs.submit(message(engine.ids.new("evt"), "again", conversation_id="s"), continues=True)

    assert (await engine.runs.list(), await engine.sessions.exists("s")) == ([], False)
    assert events_of(engine, "message.received") == logged


async def test_session_with_run_in_progress_cannot_be_deleted(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.delta")

    with pytest.raises(StoreError, match=f"session s is busy with run {run_id}"):
        await engine.sessions.delete("s")


async def test_reader_can_rename_session_while_another_process_hosts(open_engine: Engines):
    host, reader = await open_engine(waits), await open_engine(mode="read")
    await send(host)
    await reader.sessions.rename("s", "Seen from here")

    assert (await host.sessions.get("s")).session.title == "Seen from here"
