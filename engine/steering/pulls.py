"""A run takes what it has claimed: pulled, then injected once the reply is written, or back in place."""

from collections.abc import Iterable, Iterator, Sequence

from engine.clock import Clock, Ids, rfc3339
from engine.facts import event_log, queue, transcript
from engine.facts.batch import Transaction
from engine.facts.journal import Entry
from engine.facts.queue import Fate, QueueItem
from engine.run.live import LiveRun
from engine.run.ruling import Ruled, Ruling, telling
from engine.steering.items import LARGEST, audit, line_of, said, size_of, write_line


class Pull:
    """One pull. Make it on the loop and give it to the writer at once."""

    def __init__(self, run: LiveRun, *, limit: int, now: int) -> None:
        self._order = run.order
        self._limit = limit
        self._now = now
        self.begins_a_turn = not run.recorder.began_with_pull
        """If it brings something."""
        self._ruling = Ruling(run.recorder, "host", "steering.pulled", {"items": []})

    def take(self, tx: Transaction) -> Ruled[Sequence[QueueItem]]:
        """Inside the writer: the first items, each a line of the conversation from here on."""
        return self._ruling.settle(tx, self._take)

    def _take(self, tx: Transaction, entry: Entry) -> tuple[Sequence[QueueItem], Entry]:
        conn, run_id, conversation = tx.connection, self._order.run_id, self._order.envelope.conversation_id
        found = queue.pullable(conn, run_id, conversation, limit=self._limit)
        items = [queue.pull(conn, item, at=self._now, position=entry.position) for item in _fitting(found)]
        for item in items:
            write_line(tx, item, self._order.marks, run_id=run_id, at=self._now)
        # A pull that brings something begins the next turn, and is its first entry.
        told = telling(entry, {"items": [item.item_id for item in items]})
        return items, told._replace(turn=entry.turn + (self.begins_a_turn and bool(items)))


def hand_over(run: LiveRun, items: Iterable[QueueItem], clock: Clock) -> None:
    """The reply was written to the runner: that is what injected means."""
    now = clock.now()
    for item in items:
        run.claims.pop(item.item_id, None)
        told = {"item_id": item.item_id, "event_id": item.event_id}
        _decide(run, item, Ruling(run.recorder, "host", "steering.injected", told), now)


def _decide(run: LiveRun, item: QueueItem, ruling: Ruling, now: int) -> None:
    run_id, runner_id = run.order.run_id, run.order.binding.runner_id
    steering = {
        "status": "injected",
        "source_event_id": item.event_id,
        "claimed_run_id": run_id,
        "claimed_runner_id": runner_id,
        "claimed_at": rfc3339(item.created_at),
    }

    def inject(tx: Transaction, entry: Entry) -> tuple[None, Entry]:
        queue.decide(tx.connection, item.item_id, Fate.INJECTED, at=now)
        event_log.attach(tx.connection, item.event_id, run_id)
        event_id = f"{item.item_id}:injected"
        audit(tx, item, "steering.injected", event_id, at=now, run_id=run_id, metadata={"steering": steering})
        return None, entry

    run.decide(lambda tx: ruling.settle(tx, inject))


def put_back(run: LiveRun, items: Sequence[QueueItem], clock: Clock, ids: Ids) -> None:
    """The reply never left: its items wait again, in their places, and are not yet lines of the conversation."""
    if run.is_over or not items:
        return  # the end of a run drops what it had pulled and not delivered
    now, run_id = clock.now(), run.order.run_id
    ruling = Ruling(run.recorder, "host", "steering.returned", {"items": [item.item_id for item in items]})
    event_ids = [ids.new("evt") for _ in items]

    def back(tx: Transaction, entry: Entry) -> tuple[None, Entry]:
        for item, event_id in zip(items, event_ids, strict=True):
            queue.put_back(tx.connection, item.item_id)
            transcript.remove(tx.connection, line_of(item.item_id))
            note = {"steering": {"status": "queued", "source_event_id": item.event_id, "claimed_run_id": run_id}}
            audit(tx, item, "steering.returned", event_id, at=now, run_id=run_id, metadata=note)
        return None, entry

    run.decide(lambda tx: ruling.settle(tx, back))


def _fitting(items: Iterable[QueueItem]) -> Iterator[QueueItem]:
    """As many of the first as one reply can carry; the rest waits for the next pull."""
    left = LARGEST
    for number, item in enumerate(items):
        left -= size_of(said(item))
        if left < 0 and number:
            return
        yield item
