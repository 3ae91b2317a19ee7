"""Deleting a session in two steps: hidden and restorable for eight seconds, then purged until no file has its words."""

import asyncio
import base64
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engine.api import Engine, NotFound, SessionDeleted
from engine.store import cleanup, index_cleanup
from engine.store import database as database_module
from engine.store.database import Database
from engine.store.errors import SessionRefused
from tests.support.engines import (
    Engines,
    FakeClock,
    ScriptRunner,
    artifact_created,
    declares,
    delta,
    done,
    events_of,
    lines_of,
    message,
    run_event,
    said,
    send,
    state_updated,
    waits,
)
from tests.support.files import files_containing
from tests.support.limits import MAX_WAIT_SECONDS

ROOT = Path(__file__).parents[3]
WORDS = ("xylophone", "quagmire", "zeppelin", "bazooka", "kumquat")


@pytest.fixture(autouse=True)
def fast_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "START_SECONDS", 0.0)


async def becomes(read: Callable[[], Awaitable[object]], wanted: object) -> None:
    """Wait until something has a value."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while await read() != wanted:  # noqa: ASYNC110  (written by another task, or another process)
            await asyncio.sleep(0.01)


async def is_clean(engine: Engine) -> bool:
    """Whether everything that was deleted is out of the files."""
    return not await engine._core.read(index_cleanup.pending)


async def talk(run_script: ScriptRunner, session: str = "s", words: tuple[str, ...] = WORDS) -> None:
    """A conversation that leaves its words in every table."""
    asked, answered, kept, stored, named = words
    content = base64.b64encode(f"{stored} in a file".encode()).decode()
    for number in range(5):
        await run_script(
            delta(f"{answered}{number} begins"),
            state_updated(f"{kept} key {number}", f"{kept} value"),
            artifact_created(name=f"{named} {number}", content_base64=content, metadata={"title": named}),
            said(f"{answered}{number} and so on"),
            done(),
            event=message(f"tell me about {asked}{number}", session),
        )


async def test_hidden_session_is_restored_within_eight_seconds_and_purged_then(
    run_script: ScriptRunner, clock: FakeClock
):
    engine = run_script.engine
    await talk(run_script)
    before = await lines_of(engine)

    hidden = await engine.sessions.hide("s")

    assert await engine.sessions.list() == await engine.runs.list() == await engine.artifacts.list() == []
    assert await engine.state.read() == await lines_of(engine) == []
    assert (await engine.search.hits(WORDS[0])).hits == []
    assert not await engine.sessions.exists("s")
    assert await engine.sessions.list_restorable() == [hidden]
    clock.advance(7.9)
    assert (await engine.sessions.restore("s")).session_id == "s"
    assert await lines_of(engine) == before
    assert (await engine.search.hits(f"{WORDS[0]}1")).total == 1

    timer = engine._core.cleanup._timer
    await engine.sessions.hide("s")
    assert [one.deleted_at for one in await engine.sessions.list_restorable()] == [clock.now()]
    await becomes(lambda: has_new_timer(engine, timer), True)
    clock.advance(8)
    assert await engine.sessions.list_restorable() == []
    await becomes(lambda: deleted_events(engine), 1)
    with pytest.raises(NotFound, match="no deleted session s"):
        await engine.sessions.restore("s")


async def has_new_timer(engine: Engine, before: object) -> bool:
    return engine._core.cleanup._timer is not before


async def deleted_events(engine: Engine) -> int:
    return len(events_of(engine, "session.deleted"))


async def test_session_is_restored_by_another_process(open_engine: Engines, run_script: ScriptRunner):
    await run_script(done("x"))
    await run_script.engine.sessions.hide("s")
    other = await open_engine()
    assert [one.session_id for one in await other.sessions.list_restorable()] == ["s"]
    await other.sessions.restore("s")
    await open_engine.close(run_script.engine)
    assert [one.session_id for one in await other.sessions.list()] == ["s"], "the first one does not purge it"


async def test_too_late_to_restore(run_script: ScriptRunner, clock: FakeClock, monkeypatch: pytest.MonkeyPatch):
    await run_script(done("x"))
    run_script.engine._core.cleanup._task.cancel()
    await run_script.engine.sessions.hide("s")
    clock.advance(8)
    with pytest.raises(SessionRefused, match="deleted more than 8 seconds ago"):
        await run_script.engine.sessions.restore("s")


async def test_closing_the_engine_purges_what_it_has_hidden(open_engine: Engines, run_script: ScriptRunner):
    await talk(run_script)
    await run_script.engine.sessions.hide("s")
    await open_engine.close(run_script.engine)
    engine = await open_engine()
    assert await engine.sessions.list_restorable() == []
    assert await deleted_events(engine) == 1


async def test_event_for_a_hidden_session_starts_an_empty_one(open_engine: Engines):
    pages: list[Any] = []

    @declares(permissions={"history": ["page", "search"], "events": ["get", "page"]})
    async def looks(ctx):
        history, events = await ctx.api.history_page(), await ctx.api.event_page()
        found = await ctx.api.history_search("words")
        pages.append((len(history.items), [item.event_type for item in events.items], found.total_count))
        yield done("my words")

    engine = await open_engine(looks)
    first = message("old words")
    old = await run_event(engine, first)
    await engine.sessions.hide("s")
    with pytest.raises(SessionDeleted):
        await engine.runs.submit(message("goes on"), continues=True)

    new = await run_event(engine, message("new words"))

    assert pages[1] == (1, ["message.received"], 1), "it sees its own message and nothing before"
    assert await lines_of(engine) == [("user", "new words"), ("assistant", "my words")]
    assert [run.run_id for run in await engine.runs.list()] == [new.run_id]
    again = await run_event(engine, first)
    assert again.run_id not in (old.run_id, new.run_id), "the event of a deleted session is a new event"
    assert await deleted_events(engine) == 1


async def test_event_that_is_sent_to_another_session_again_is_new_after_hiding(run_script: ScriptRunner):
    first = await run_script(done("x"), event=message(event_id="same"))
    await run_script.engine.sessions.hide("s")
    second = await run_script(done("y"), event=message(session="other", event_id="same"))
    assert second.run_id != first.run_id
    assert second.row.conversation_id == "other"


async def test_event_of_a_pruned_run_is_new(run_script: ScriptRunner, clock: FakeClock):
    first = await run_script(done("x"), event=message(event_id="same"))
    repeated = await run_script.engine.runs.submit(message(event_id="same"))
    assert await repeated.started == first.run_id
    clock.advance(60)
    await run_script.engine.prune(clock.now())
    assert (await run_script(done("x"), event=message(event_id="same"))).run_id != first.run_id


async def test_no_file_has_the_words_of_a_purged_session(
    open_engine: Engines, run_script: ScriptRunner, clock: FakeClock, tmp_path: Path
):
    engine = run_script.engine
    await talk(run_script, "other", ("one", "two", "three", "four", "five"))
    await talk(run_script)
    await engine.state.set((await engine.state.browse(text=WORDS[2]))[0].identity, f"{WORDS[2]} by hand", WORDS[3])
    fork = await engine.sessions.fork("other")
    await talk(run_script, "other", ("one", "two", "three", "four", "five"))
    assert files_containing(tmp_path, WORDS[0]) == ["facts.db-wal"]

    await engine.sessions.hide("s")
    clock.advance(8)
    await becomes(lambda: deleted_events(engine), 1)
    await becomes(lambda: is_clean(engine), True)

    found = [word for word in WORDS if files_containing(tmp_path, word, base64.b64encode(word.encode()).decode()[:8])]
    assert found == []
    assert len(await lines_of(engine, "other")) == 20
    assert len(await lines_of(engine, fork.session_id)) == 10
    assert (await engine.search.hits("one1")).total == 3
    assert await engine.integrity() == []
    await open_engine.close(engine)
    assert files_containing(tmp_path, *WORDS) == []


@pytest.fixture
def rewrites(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were rewritten."""
    found, rewrite = list[Path](), Database.rewrite
    monkeypatch.setattr(Database, "rewrite", lambda database: found.append(database.path) or rewrite(database))
    return found


async def test_file_is_rewritten_only_while_no_run_is_in_progress(
    open_engine: Engines, rewrites: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(cleanup, "RETRY_SECONDS", 0.01)
    engine = await open_engine(waits)
    deleted = await send(engine, message("xylophone"))
    await engine.runs.stop(deleted)
    live = await send(engine, message("hi", "other"))
    await engine.sessions.delete("s")

    await becomes(lambda: is_emptied(open_engine.db), True)
    assert (rewrites, await is_clean(engine)) == ([], False)
    await engine.runs.stop(live)
    await becomes(lambda: is_clean(engine), True)
    assert rewrites == [open_engine.db]
    assert files_containing(tmp_path, "xylophone") == []


async def is_emptied(database: Path) -> bool:
    return database.with_name(f"{database.name}-wal").stat().st_size == 0


async def test_large_file_is_not_rewritten(
    run_script: ScriptRunner, rewrites: list[Path], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(database_module, "MAX_REWRITTEN_BYTES", 1_000)
    await run_script(done("x"))
    await run_script.engine.sessions.delete("s")
    await becomes(lambda: is_clean(run_script.engine), True)
    assert rewrites == []


async def test_killed_between_hide_and_purge(open_engine: Engines, run_script: ScriptRunner, tmp_path: Path):
    await talk(run_script)
    await talk(run_script, "kept", ("one", "two", "three", "four", "five"))
    await open_engine.close(run_script.engine)
    for restores in (True, False):
        hidden_at = await die_after_hiding(open_engine.db, "s")
        open_engine.clock = FakeClock(hidden_at + 1_000_000)
        engine = await open_engine()
        assert [one.session_id for one in await engine.sessions.list()] == ["kept"]
        assert (await engine.search.hits(WORDS[0])).hits == []
        if restores:
            assert [one.session_id for one in await engine.sessions.list_restorable()] == ["s"]
            await engine.sessions.restore("s")
            assert len(await lines_of(engine)) == 10
            await open_engine.close(engine)
    await open_engine.close(engine)

    # A host that opens the database later finds the session and purges it, without being asked.
    open_engine.clock = FakeClock(hidden_at + 8_000_000)
    engine = await open_engine()
    with pytest.raises(SessionRefused):
        await engine.sessions.restore("s")
    await becomes(lambda: deleted_events(engine), 1)
    await becomes(lambda: is_clean(engine), True)
    assert files_containing(tmp_path, *WORDS) == []
    assert len(await lines_of(engine, "kept")) == 10


async def die_after_hiding(database: Path, session_id: str) -> int:
    """Hide a session in a process, and kill that before it can purge the session. Returns when it was hidden."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "tests" / "support" / "hiding_host.py"),
        str(database),
        session_id,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    hidden_at = await child.stdout.readline()
    child.kill()
    await child.communicate()
    return int(hidden_at)
