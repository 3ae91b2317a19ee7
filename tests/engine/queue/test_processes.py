"""Several processes on one database: each changes its own messages, and those of a dead host are dropped, not lost."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.api import AlreadyDecided, Fate, Mode, RunOptions
from engine.store.errors import CannotSteer
from tests.support.engines import START, Engines, journal_of, wait_for_run
from tests.support.faults.faults import other_process, read_line, write_line
from tests.support.queue.steering import open_steering, queue_items

OTHER = Path(__file__).parents[2] / "support" / "queue" / "other_host.py"
TEXTS = {
    "injected": "injected",
    "pulled": "pulled",
    "queued": "queued with walnut-4711-walnut",
    "held": "held",
    "after": "after",
}


@asynccontextmanager
async def other_host(root: Path) -> AsyncIterator[tuple[Any, dict[str, Any]]]:
    """Another process with a run in progress, and its output."""
    with other_process(OTHER, root) as process:
        yield process, json.loads(await asyncio.to_thread(read_line, process))


async def test_queued_messages_of_a_killed_host_are_dropped_as_host_restarted(open_engine: Engines, tmp_path: Path):
    async with other_host(tmp_path) as (process, other):
        process.kill()
        await asyncio.to_thread(process.wait)
    steering = await open_steering(open_engine)
    engine, run_id = steering.engine, other["run_id"]

    assert list(engine.recovered_runs) == [run_id]
    fates = {name: (steering.item(item).fate, steering.item(item).reason) for name, item in other["items"].items()}
    dropped = (Fate.DROPPED, "host_restarted")
    assert fates == {"injected": (Fate.INJECTED, None)} | dict.fromkeys(("pulled", "queued", "held", "after"), dropped)
    journal = await journal_of(engine, run_id)
    assert [entry.type for entry in journal][-4:] == ["steering.dropped"] * 3 + ["run.finished"]
    assert {entry.data["reason"] for entry in journal[-4:-1]} == {"host_restarted"}
    lines = [line.content for line in await engine.sessions.transcript("s", after=0)]
    said = [text.replace("walnut-4711-walnut", "‹secret api_key›") for text in TEXTS.values()]
    assert sorted(map(str, lines)) == sorted(["go", *said])
    steering = await engine.queue.receipts(run_id)
    assert steering.last_pull_at == START + 1_000_000
    assert "walnut-4711-walnut" not in repr((journal, lines, steering))


async def test_messages_of_a_dead_host_can_be_sent_again_here(open_engine: Engines, tmp_path: Path):
    async with other_host(tmp_path) as (process, other):
        process.kill()
        await asyncio.to_thread(process.wait)
    steering = await open_steering(open_engine)
    with pytest.raises(CannotSteer, match="contains a secret that is no longer known"):
        await steering.engine.queue.resend(other["items"]["queued"])
    with_key = RunOptions(runner="controlled", config={"api_key": "walnut-4711-walnut"})
    for name, options in (("queued", with_key), ("after", None)):
        ticket = await steering.engine.queue.resend(other["items"][name], options)
        own = await wait_for_run(steering.engine, await ticket.started)

        assert own.row.status == "completed"
        assert own.context["input"]["text"] == TEXTS[name].replace("walnut-4711-walnut", "‹secret api_key›")


async def test_a_message_for_a_run_of_another_process_waits_for_the_slot_and_is_never_claimed(
    open_engine: Engines, tmp_path: Path
):
    async with other_host(tmp_path) as (process, other):
        steering = await open_steering(open_engine)
        ticket = await steering.send("from here", event_id="from-here")
        assert (ticket.claimed_by, ticket.waits_for) == (None, other["run_id"])
        assert ticket.not_claimed_reason == "the run in progress belongs to another process"
        row = steering.item(ticket.item_id)
        assert (row.mode, row.fate, row.reason) == (Mode.SLOT, Fate.QUEUED, ticket.not_claimed_reason)
        write_line(process)
        assert json.loads(await asyncio.to_thread(read_line, process)) == [TEXTS["queued"]]
        assert steering.item(ticket.item_id).fate == Fate.QUEUED
        process.stdin.close()
        own = await wait_for_run(steering.engine, await ticket.started)

        assert own.row.status == "completed"
        assert (steering.item(ticket.item_id).fate, steering.item(ticket.item_id).own_run_id) == (
            Fate.OWN_RUN,
            own.run_id,
        )
        await asyncio.to_thread(process.wait)


async def test_host_in_another_process_changes_its_queued_messages_on_request(open_engine: Engines, tmp_path: Path):
    async with other_host(tmp_path) as (process, other):
        steering = await open_steering(open_engine)
        queue, items = steering.engine.queue, other["items"]

        await queue.edit(items["queued"], "edited from here")
        await queue.set_mode(items["after"], Mode.STEER)
        await queue.move(items["after"], items["queued"])
        await queue.resume(items["held"])
        await queue.withdraw(items["held"])

        assert await steering.queued_texts() == ["pulled", "after", "edited from here"]
        assert steering.engine.host_id not in {item.host for item in queue_items(steering.engine)}
        with pytest.raises(AlreadyDecided, match="is pulled; it can no longer be changed"):
            await queue.edit(items["pulled"], "too late")
        write_line(process)
        assert json.loads(await asyncio.to_thread(read_line, process)) == ["after", "edited from here"]
        process.stdin.close()
        await asyncio.to_thread(process.wait)
