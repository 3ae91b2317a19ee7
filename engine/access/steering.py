"""What was said while the run works, taken by the run in its order."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from engine.access.action import Action, Arguments
from engine.access.room import Room, stamp
from engine.facts.queue import QueueItem
from engine.run.context import conversation_of, event_of, input_of
from engine.run.live import LiveRun
from engine.run.ruling import Ruled
from engine.runtimes.runtime import Receipted
from engine.steering.items import MOST, said
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
    taking = asyncio.ensure_future(room.write(Pull(run, limit=min(limit, MOST), now=now).take))
    try:
        items = (await asyncio.shield(taking)).get()
    except asyncio.CancelledError:
        taking.add_done_callback(partial(_returned, room, run))
        raise
    if items:
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
    envelope = said(item)
    conversation = conversation_of(envelope)
    return {
        "claimed_run_id": run.order.run_id,
        "runner_id": run.order.grants.runner_id,
        "claimed_at": stamp(item.created_at),
        "event": event_of(envelope).model_dump(mode="json"),
        "input": input_of(envelope.input).model_dump(mode="json"),
        "conversation": conversation.model_dump(mode="json") if conversation else None,
        "actor": envelope.actor.model_dump(mode="json") if envelope.actor else None,
        "subject": envelope.subject.model_dump(mode="json") if envelope.subject else None,
        "metadata": {"item_id": item.item_id},
    }


CALLS = (Action("steering_pull", PullArguments, (), pull),)
