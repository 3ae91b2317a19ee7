"""What was said while the run works, taken by the run in its order."""

from typing import Any, Final, Literal

from engine.access.action import Action, Arguments
from engine.access.room import Room, stamp
from engine.facts import queue
from engine.facts.batch import Transaction
from engine.facts.json_text import encode
from engine.facts.queue import QueueItem
from engine.intake.envelope import EventEnvelope
from engine.run.context import conversation_of, event_of
from engine.run.live import LiveRun

MOST: Final = 100


class PullArguments(Arguments):
    mode: Literal["all", "one-at-a-time", "one", "one_at_a_time"] = "all"
    limit: int | None = None
    """Zero or less is all."""


async def pull(room: Room, run: LiveRun, given: PullArguments) -> dict[str, Any]:
    """Pulled means taken and committed; the items leave for the runner after that."""
    limit = 1 if given.mode != "all" else given.limit if given.limit is not None and given.limit > 0 else MOST
    now, run_id = room.clock.now(), run.order.run_id

    # The position is taken here, on the loop; what stands there is decided inside the writer.
    entry = run.recorder.entry("host", "steering.pulled", {"items": []})

    def take(tx: Transaction) -> list[QueueItem]:
        items = queue.pull(tx.connection, run_id, limit=min(limit, MOST), at=now)
        told = encode({"items": [item.item_id for item in items]})
        tx.record(entry._replace(data=told, turn=entry.turn + bool(items)))
        return items

    items = await room.write(take)
    if items:
        run.recorder.begin_turn()
    return {"items": [_item(run, item) for item in items]}


def _item(run: LiveRun, item: QueueItem) -> dict[str, Any]:
    envelope = EventEnvelope.model_validate(item.envelope)
    conversation = conversation_of(envelope)
    return {
        "claimed_run_id": run.order.run_id,
        "runner_id": run.order.grants.runner_id,
        "claimed_at": stamp(item.created_at),
        "event": event_of(envelope).model_dump(mode="json"),
        "input": envelope.input.model_dump(mode="json"),
        "conversation": conversation.model_dump(mode="json") if conversation else None,
        "actor": envelope.actor.model_dump(mode="json") if envelope.actor else None,
        "subject": envelope.subject.model_dump(mode="json") if envelope.subject else None,
        "metadata": dict(item.metadata),
    }


CALLS = (Action("steering_pull", PullArguments, (), pull),)
