"""Steering with runners in processes of their own."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from engine.api import Engine, Fate, message
from engine.store import tables
from engine.store.event_log import EventRow
from engine.store.row_mapping import every
from tests.support.engines import read_database, wait_for_entry
from tests.support.faults.faults import MARK_VARIABLE, FinishedRun, PooledEngine, open_pooled_engine
from tests.support.faults.faults import until as wait_until
from tests.support.queue.steering import check_stored_data, queue_items, writer_blocked

LISTENER = Path(__file__).parents[2] / "support" / "queue" / "listener.py"


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PooledEngine]:
    """An engine with real children; when it is closed, every message must have exactly one fate."""
    monkeypatch.setenv(MARK_VARIABLE, tmp_path.name)
    async with open_pooled_engine(tmp_path / "facts.db", LISTENER) as opened:
        yield opened
    check_stored_data(tmp_path / "facts.db")


async def send(host: PooledEngine, text: str, session: str = "faults") -> Any:
    """Send to a session; `host.begin` starts runs in the same session by default."""
    return await host.engine.runs.submit(message(host.engine.ids.new("evt"), text, conversation_id=session))


async def started(host: PooledEngine, text: str, **config: Any) -> str:
    run_id = await host.start_run(None, text, **config)
    await host.wait_for_entry(run_id, "message.delta")
    return run_id


def log_of(engine: Engine) -> list[tuple[str, str | None]]:
    """Every event of the log with its steering metadata."""
    rows = read_database(
        engine, lambda conn: every(conn, select(tables.events).order_by(tables.events.c.seq), EventRow)
    )
    return [(row.event_type, row.metadata.get("steering", {}).get("status")) for row in rows]


def answers(played: FinishedRun) -> list[str]:
    return [json.loads(entry.data)["message"]["content"] for entry in played.entries_of("run.completed")]


async def test_message_sent_during_a_tool_call_is_used_in_the_same_reply(host: PooledEngine):
    run_id = await started(host, "tool please")
    await host.wait_for_entry(run_id, "tool.call.started")
    await asyncio.sleep(1)
    ticket = await send(host, "in Fahrenheit")
    assert ticket.claimed_by == run_id
    played = await host.wait_for_end(run_id)
    await host.engine.runs.wait_until_idle()

    played.check_journal()
    assert answers(played) == ["heard: in Fahrenheit (13)"]
    assert [(line.role, line.content) for line in await host.engine.sessions.transcript("faults", after=0)] == [
        ("user", "tool please"),
        ("user", "in Fahrenheit"),
        ("assistant", "heard: in Fahrenheit (13)"),
    ]
    assert log_of(host.engine) == [
        ("message.received", None),
        ("message.received", "queued"),
        ("steering.injected", "injected"),
        ("run.finished", None),
    ]
    assert [run.run_id for run in await host.engine.runs.list()] == [run_id], "nothing else was started"


async def test_concurrent_runs_of_one_runner_can_each_be_steered(host: PooledEngine, tmp_path: Path):
    files = {name: tmp_path / name for name in ("a", "b", "c")}
    runs = {name: await host.start_run(None, "listen", session=name, go=str(go)) for name, go in files.items()}
    for name, run_id in runs.items():
        await host.wait_for_entry(run_id, "message.delta")
        assert (await send(host, f"for {name}", session=name)).claimed_by == run_id
    for go in reversed(files.values()):
        go.touch()

    played = {name: await host.wait_for_end(run_id) for name, run_id in runs.items()}
    assert {name: answers(each) for name, each in played.items()} == {
        name: [f"heard: for {name} (5)"] for name in files
    }


async def test_message_of_nearly_two_mebibytes_reaches_the_runner(host: PooledEngine, tmp_path: Path):
    go = tmp_path / "go"
    run_id = await started(host, "listen", go=str(go))
    letters = int(1.9 * 1024 * 1024) // 2
    assert (await send(host, "ä" * letters)).claimed_by == run_id
    go.touch()
    played = await host.wait_for_end(run_id)

    assert answers(played) == [f"heard: {'ä' * 20} ({letters})"]
    line = (await host.engine.sessions.transcript("faults", after=0))[1]
    assert line.content == "ä" * 3_997 + "..."
    assert line.content_json is not None
    assert line.content_json["text"] == "ä" * letters


async def test_pull_cancelled_by_the_runner_returns_items_to_their_places(host: PooledEngine, tmp_path: Path):
    go = tmp_path / "go"
    run_id = await started(host, "resign", go=str(go))
    for text in ("one", "two"):
        assert (await send(host, text)).claimed_by == run_id
    recorder = host.engine._core.host.orchestrator.live[run_id].recorder
    with writer_blocked(host.engine):
        before = recorder.position
        go.touch()
        # Three entries of the pull, three of the call behind it, and the pull's reply, which records the cancel.
        await wait_until(lambda: recorder.position == before + 7)
    await wait_for_entry(host.engine, run_id, "steering.returned")
    assert {item.fate for item in queue_items(host.engine)} == {Fate.QUEUED}
    assert [line.content for line in await host.engine.sessions.transcript("faults", after=0)] == ["resign"]
    await send(host, "three")
    go.unlink()
    played = await host.wait_for_end(run_id)

    assert answers(played) == ["heard: one (3), two (3), three (5)"]
    assert [len(json.loads(entry.data)["items"]) for entry in played.entries_of("steering.pulled")] == [2, 3, 0]


async def test_items_of_a_runner_that_is_killed_are_dropped_as_runner_lost(host: PooledEngine):
    run_id = await host.start_run(None, "wait")
    delta = await host.wait_for_entry(run_id, "message.delta")
    ticket = await send(host, "unheard")
    assert ticket.claimed_by == run_id
    os.kill(json.loads(delta.data)["chunk"]["pid"], signal.SIGKILL)
    played = await host.wait_for_end(run_id)

    assert (played.run.status, played.run.status_reason) == ("failed", "runner.lost")
    (item,) = queue_items(host.engine)
    assert (item.fate, item.reason) == (Fate.DROPPED, "runner_lost")
    (entry,) = played.entries_of("steering.dropped")
    assert json.loads(entry.data)["reason"] == "runner_lost"
    assert log_of(host.engine)[-2:] == [("steering.dropped", "dropped"), ("run.finished", None)]
    again = await host.engine.queue.resend(item.item_id)
    resent = await host.wait_for_end(await again.started)
    assert answers(resent) == ["unheard."]
