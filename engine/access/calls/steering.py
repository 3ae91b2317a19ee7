"""The call with which a run pulls the steering messages that are queued for it."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from engine.access.call import Arguments, CallType
from engine.access.services import Services
from engine.clock import epoch_seconds
from engine.journal.recorded_decision import DecisionResult
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.queue.items import MAX_QUEUE_ITEMS, current_envelope, runner_payload
from engine.queue.pulls import Pull, mark_injected, return_items
from engine.run.live import LiveRun
from engine.runtimes.runtime import ConfirmedReply
from engine.store.queue import QueueItem


class PullArguments(Arguments):
    mode: Literal["all", "one-at-a-time", "one", "one_at_a_time"] = "all"
    limit: int | None = None
    """Zero or less means all."""


async def pull(services: Services, run: LiveRun, arguments: PullArguments) -> ConfirmedReply:
    """Pull messages. They count as injected once the reply is written to the runner; else they are put back."""
    limit = MAX_QUEUE_ITEMS
    if arguments.mode != "all":
        limit = 1
    elif arguments.limit is not None and arguments.limit > 0:
        limit = min(arguments.limit, MAX_QUEUE_ITEMS)
    now = services.clock.now()
    run.pulls += 1
    run.last_pull_at = now
    pull_operation = Pull(run, limit=limit, now=now)
    taking = asyncio.ensure_future(services.write(pull_operation.take))
    try:
        items = (await asyncio.shield(taking)).get()
    except asyncio.CancelledError:
        taking.add_done_callback(partial(_return_pulled, services, run))
        raise
    if run.has_ended:
        # The end of the run drops these messages; a runner that goes on after its end gets none.
        raise AgentAPIException.of(ErrorCode.CANCELLED, "the run ended while it pulled")
    if items:
        pull_operation.start_turn()
    return ConfirmedReply(
        {"items": [_item_data(run, item) for item in items]},
        written=partial(mark_injected, run, items, services.remove_claim, services.clock),
        lost=partial(return_items, run, items, services.clock, services.ids),
    )


def _return_pulled(
    services: Services, run: LiveRun, taking: "asyncio.Future[DecisionResult[Sequence[QueueItem]]]"
) -> None:
    """Put messages back that were taken by a pull which was cancelled in the meantime."""
    if not taking.cancelled() and taking.exception() is None:
        for items in taking.result().results:
            return_items(run, items, services.clock, services.ids)


def _item_data(run: LiveRun, item: QueueItem) -> dict[str, Any]:
    return {
        "claimed_run_id": run.order.run_id,
        "runner_id": run.order.grants.runner_id,
        "claimed_at": epoch_seconds(item.created_at),
        **runner_payload(current_envelope(item)),
        "metadata": {"item_id": item.item_id},
    }


CALLS = (CallType("steering_pull", PullArguments, (), pull),)
