"""What was said while the run works, taken by the run in its order."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from engine.access.action import Action, Arguments
from engine.access.room import Room, stamp
from engine.facts.queue import QueueItem
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun
from engine.run.ruling import Ruled
from engine.runtimes.runtime import Receipted
from engine.steering.items import MOST, handed, said
from engine.steering.pulls import Pull, hand_over, put_back


class PullArguments(Arguments):
    mode: Literal["all", "one-at-a-time", "one", "one_at_a_time"] = "all"
    limit: int | None = None
    """Zero or less is all."""


async def pull(room: Room, run: LiveRun, given: PullArguments) -> Receipted:
    """Pulled means taken and committed; injected, that the reply was written. What is neither goes back in place."""
    limit = 1 if given.mode != "all" else given.limit if given.limit is not None and given.limit > 0 else MOST
    now = room.clock.now()
    run.pulls += 1
    run.last_pull_at = now
    pulling = Pull(run, limit=min(limit, MOST), now=now)
    taking = asyncio.ensure_future(room.write(pulling.take))
    try:
        items = (await asyncio.shield(taking)).get()
    except asyncio.CancelledError:
        taking.add_done_callback(partial(_returned, room, run))
        raise
    if run.is_over:
        # Its end drops what this took: a runner that goes on beyond its end is told nothing.
        raise AgentAPIException.of(ErrorCode.CANCELLED, "the run ended while it pulled")
    if items and pulling.begins_a_turn:
        run.recorder.begin_turn()
    return Receipted(
        {"items": [_item(run, item) for item in items]},
        written=partial(hand_over, run, items, room.clock),
        lost=partial(put_back, run, items, room.clock, room.ids),
    )


def _returned(room: Room, run: LiveRun, taking: "asyncio.Future[Ruled[Sequence[QueueItem]]]") -> None:
    """The pull was cancelled on its way: what it took waits again."""
    if not taking.cancelled() and taking.exception() is None:
        for items in taking.result().results:
            put_back(run, items, room.clock, room.ids)


def _item(run: LiveRun, item: QueueItem) -> dict[str, Any]:
    return {
        "claimed_run_id": run.order.run_id,
        "runner_id": run.order.grants.runner_id,
        "claimed_at": stamp(item.created_at),
        **handed(said(item)),
        "metadata": {"item_id": item.item_id},
    }


CALLS = (Action("steering_pull", PullArguments, (), pull),)
