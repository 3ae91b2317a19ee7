"""The row of an ended run has the size of its journal."""

import asyncio
from typing import Any

import pytest

from engine.events import Status
from engine.journal.recorder import JournalSize, Recorder
from engine.store import entries
from tests.support.engines import (
    Engines,
    declares,
    delta,
    done,
    journal_bytes,
    message,
    run_event,
    send,
    wait_for_entry,
    wait_for_run,
    waits,
)


async def test_recorder_has_counted_the_journal_when_the_run_ends(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    async def talks(ctx: Any):
        for text in ("plain", "é今", "x" * 5_000):
            yield delta(text)
        yield done("bye")

    engine = await open_engine(talks)
    monkeypatch.setattr(entries, "size", None)  # a long journal must not be read again

    run = await run_event(engine)

    assert run.row.status == "completed"
    assert run.row.journal_bytes == journal_bytes(engine, run)


async def test_entries_that_were_not_written_do_not_count(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    async def talks(ctx: Any):
        yield done("bye")

    engine = await open_engine(talks)
    lost = JournalSize(position=99, bytes=10_000)
    monkeypatch.setattr(Recorder, "journal_size", property(lambda _: lost))

    run = await run_event(engine)

    assert run.row.journal_bytes == journal_bytes(engine, run)


async def test_dropped_messages_count(open_engine: Engines):
    leave = asyncio.Event()

    @declares(capabilities={"steering": True})
    async def deaf(ctx: Any):
        yield delta("…")
        await leave.wait()
        yield done()

    engine = await open_engine(deaf)
    run_id = await send(engine, message("one"))
    await wait_for_entry(engine, run_id, "message.delta")
    await engine.runs.submit(message("two"))
    leave.set()

    run = await wait_for_run(engine, run_id)

    assert run.all("steering.dropped")
    assert run.row.journal_bytes == journal_bytes(engine, run)


async def test_external_run_has_its_size(open_engine: Engines):
    engine = await open_engine(waits)
    created = await engine.runs.create(message("hi"))
    await engine.runs.append_line(created.run_id, b'{"type": "message.delta", "data": {"chunk": {"content": "half"}}}')
    await engine.runs.finalize(created.run_id, Status.COMPLETED)

    run = await wait_for_run(engine, created.run_id)

    assert run.row.journal_bytes == journal_bytes(engine, run)


async def test_run_in_progress_has_no_size_yet(open_engine: Engines):
    engine = await open_engine(waits)
    run_id = await send(engine)
    await wait_for_entry(engine, run_id, "message.delta")

    assert (await engine.runs.get(run_id)).journal_bytes is None
