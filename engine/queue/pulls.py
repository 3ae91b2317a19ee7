"""Pulls: a run takes the messages it has claimed. They are injected once the reply is written, or returned."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.clock import Clock, Ids, epoch_seconds
from engine.events import EntryKind, Fate, Source
from engine.journal.recorded_decision import DecisionResult, RecordedDecision, with_data
from engine.queue.items import (
    MAX_PULL_BYTES,
    current_envelope,
    log_queue_event,
    payload_size,
    transcript_line_id,
    write_transcript_line,
)
from engine.run.live import LiveRun
from engine.store import event_log, queue, sessions, transcript
from engine.store.batch import Transaction
from engine.store.entries import Entry
from engine.store.queue import QueueItem


class Pull:
    """One pull of a run. Create it on the loop and give it to the writer at once."""

    def __init__(self, run: LiveRun, *, limit: int, now: int) -> None:
        self._order = run.order
        self._limit = limit
        self._now = now
        self._turns = run.recorder.turns
        self._turn = self._turns.turn
        self._begins_turn = self._turns.can_begin_at_pull
        """Whether the pull starts a turn if it returns messages."""
        self._decision = RecordedDecision(run.recorder, Source.HOST, EntryKind.STEERING_PULLED, {"items": []})

    def take(self, tx: Transaction) -> DecisionResult[Sequence[QueueItem]]:
        """Inside the writer: pull the first messages, and write each to the transcript."""
        return self._decision.settle(tx, self._take)

    def _take(self, tx: Transaction, entry: Entry) -> tuple[Sequence[QueueItem], Entry]:
        conn, run_id, conversation = tx.connection, self._order.run_id, self._order.envelope.conversation_id
        found = queue.pullable(conn, run_id, conversation, limit=self._limit)
        items = [queue.pull(conn, item, at=self._now, position=entry.position) for item in _fitting(found)]
        for item in items:
            write_transcript_line(tx, item, self._order.secret_mask, run_id=run_id, at=self._now)
        # A pull that returns messages starts the next turn, and is its first entry.
        recorded = with_data(entry, {"items": [item.item_id for item in items]})
        return items, recorded._replace(turn=entry.turn + (self._begins_turn and bool(items)))

    def start_turn(self) -> None:
        """Start the turn of a pull that returned messages. Called on the loop, after the commit."""
        if self._begins_turn:
            self._turns.begin(self._turn)


def mark_injected(
    run: LiveRun, items: Iterable[QueueItem], remove_claim: Callable[[str, str], None], clock: Clock
) -> None:
    """Record messages as injected: the reply that carries them was written to the runner."""
    now = clock.now()
    for item in items:
        remove_claim(run.order.run_id, item.item_id)
        data = {"item_id": item.item_id, "event_id": item.event_id}
        _inject(run, item, RecordedDecision(run.recorder, Source.HOST, EntryKind.STEERING_INJECTED, data), now)


def _inject(run: LiveRun, item: QueueItem, decision: RecordedDecision, now: int) -> None:
    run_id, runner_id = run.order.run_id, run.order.binding.runner_id
    steering = {
        "status": Fate.INJECTED,
        "source_event_id": item.event_id,
        "claimed_run_id": run_id,
        "claimed_runner_id": runner_id,
        "claimed_at": epoch_seconds(item.created_at),
    }

    def inject(tx: Transaction, entry: Entry) -> tuple[None, Entry]:
        queue.decide(tx.connection, item.item_id, Fate.INJECTED, at=now)
        event_log.attach(tx.connection, item.event_id, run_id)
        if item.conversation_id is not None:
            sessions.add_message(tx.connection, item.conversation_id)
        event_id = f"{item.item_id}:{Fate.INJECTED}"
        log_queue_event(
            tx, item, EntryKind.STEERING_INJECTED, event_id, at=now, run_id=run_id, metadata={"steering": steering}
        )
        return None, entry

    run.submit_operation(lambda tx: decision.settle(tx, inject))


def return_items(run: LiveRun, items: Sequence[QueueItem], clock: Clock, ids: Ids) -> None:
    """Put messages back into their places in the queue, because the reply that carries them was not written."""
    if run.has_ended or not items:
        return  # the end of the run drops them
    now, run_id = clock.now(), run.order.run_id
    decision = RecordedDecision(
        run.recorder, Source.HOST, EntryKind.STEERING_RETURNED, {"items": [item.item_id for item in items]}
    )
    event_ids = [ids.new("evt") for _ in items]

    def put_back(tx: Transaction, entry: Entry) -> tuple[None, Entry]:
        for item, event_id in zip(items, event_ids, strict=True):
            queue.put_back(tx.connection, item.item_id)
            transcript.remove(tx.connection, transcript_line_id(item.item_id))
            metadata = {"steering": {"status": Fate.QUEUED, "source_event_id": item.event_id, "claimed_run_id": run_id}}
            log_queue_event(tx, item, EntryKind.STEERING_RETURNED, event_id, at=now, run_id=run_id, metadata=metadata)
        return None, entry

    run.submit_operation(lambda tx: decision.settle(tx, put_back))


def _fitting(items: Iterable[QueueItem]) -> Iterator[QueueItem]:
    """Yield as many messages as one reply can carry, at least one."""
    left = MAX_PULL_BYTES
    for number, item in enumerate(items):
        left -= payload_size(current_envelope(item))
        if left < 0 and number:
            return
        yield item
