"""Reads the queue from the database without the engine, and checks the rules that always apply."""

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.queue.queue_model import BEGAN, OPEN, QueueModel, QueueSnapshot, Slot

LIVE = ("created", "running")
AUDITED = ("injected", "dropped", "withdrawn")
"""Fates with their own row in the event log. A message that became a run has the row of its event."""
AUDITS = "SELECT substr(event_type, 10), count(*) FROM events WHERE event_type LIKE 'steering.%' GROUP BY 1"


class QueueDatabase:
    """A read-only connection to the database of an engine."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)

    def close(self) -> None:
        self._connection.close()

    def all(self, query: str, *given: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query, given).fetchall()

    def item_of(self, event: str) -> str:
        (found,) = self.all("SELECT item_id FROM queue WHERE event_id = ?", event)
        return found[0]

    def run_of(self, event: str) -> str:
        (found,) = self.all("SELECT run_id FROM runs WHERE event_id = ?", event)
        return found[0]

    def event_of(self, run_id: str) -> str:
        (found,) = self.all("SELECT event_id FROM runs WHERE run_id = ?", run_id)
        return found[0]

    def snapshot(self) -> QueueSnapshot:
        """Return the state of the queue, to be compared with the model."""
        self._connection.execute("BEGIN")
        try:
            return self._read_snapshot()
        finally:
            self._connection.execute("COMMIT")

    def _read_snapshot(self) -> QueueSnapshot:
        runs = {run: (event, status) for run, event, status in self.all("SELECT run_id, event_id, status FROM runs")}
        items = self.all(
            "SELECT event_id, fate, reason, text, mode, run_id, own_run_id, conversation_id, "
            "json_extract(metadata, '$.sent_again_as') FROM queue ORDER BY place, item_id"
        )
        order: dict[str, list[str]] = {}
        claims: dict[str, str | None] = {}
        for event, fate, _, _, mode, run, own_run, conversation, _ in items:
            claims[event] = runs[run][0] if mode == "steer" else mode
            if fate in OPEN:
                order.setdefault(conversation, []).append(event)
            assert (runs[own_run][0] if own_run else None) == (event if fate == "own_run" else None)
        lines: dict[Slot, list[tuple[str, str]]] = {}
        said = "SELECT conversation_id, thread_id, event_id, content FROM transcript WHERE role = 'user' ORDER BY seq"
        for conversation, thread, event, text in self.all(said):
            lines.setdefault((conversation, thread), []).append((event, text))
        return QueueSnapshot(
            fates={row[0]: (row[1], row[2] if row[1] == "dropped" else None) for row in items},
            texts={row[0]: row[3] for row in items},
            claims=claims,
            sent_again=frozenset(row[0] for row in items if row[8] is not None),
            order={conversation: tuple(events) for conversation, events in order.items()},
            lines={slot: tuple(each) for slot, each in lines.items()},
            runs={event: "live" if status in LIVE else status for event, status in runs.values()},
            audits=dict(self.all(AUDITS)),
        )

    # Rules at the end

    def check_consistency(self, model: QueueModel) -> None:
        """Check that every message has one fate and its row in the event log, and every run a complete journal."""
        for run, status in self.all("SELECT run_id, status FROM runs"):
            self._check_journal(run, status)
        self._check_audits()
        self._check_lines(model)
        assert self.all("PRAGMA quick_check") == [("ok",)]

    def _check_journal(self, run: str, status: str) -> None:
        entries = self.all("SELECT position, type, data, outcome FROM journal WHERE run_id = ? ORDER BY row", run)
        kinds = [kind for _, kind, _, _ in entries]
        assert [position for position, _, _, _ in entries] == list(range(1, len(entries) + 1)), (run, kinds)
        assert kinds.count("run.finished") == 1
        assert kinds[-1] == "run.finished"
        assert status not in LIVE
        done = [(kind, json.loads(data)) for _, kind, data, outcome in entries if outcome != "refused"]
        pulled: list[str] = []
        ends: Counter[str] = Counter()
        for kind, data in done:
            match kind:
                case "steering.pulled":
                    pulled += data["items"]
                case "steering.returned":
                    pulled = [item for item in pulled if item not in data["items"]]
                case "steering.injected":
                    assert data["item_id"] in pulled
                    ends[data["item_id"]] += 1
                case "steering.dropped" | "steering.withdrawn":
                    ends[data["item_id"]] += 1
        assert set(ends.values()) <= {1}, (run, ends)
        for item, fate in self.all("SELECT item_id, fate FROM queue WHERE run_id = ? AND mode = 'steer'", run):
            assert ends[item] == 1
            assert (item in pulled) >= (fate == "injected")

    def _check_audits(self) -> None:
        log = self.all("SELECT event_type, json_extract(metadata, '$.steering.source_event_id') FROM events")
        audits = Counter(log)
        for event, fate, own_run in self.all("SELECT event_id, fate, own_run_id FROM queue"):
            assert fate not in OPEN
            for decided in AUDITED:
                assert audits[f"steering.{decided}", event] == (fate == decided), (event, fate)
            if own_run is not None:
                assert self.all("SELECT run_id FROM events WHERE event_id = ?", event) == [(own_run,)]

    def _check_lines(self, model: QueueModel) -> None:
        """Check that each delivered or dropped message has one line, and a withdrawn one has none."""
        lines = Counter(event for (event,) in self.all("SELECT event_id FROM transcript WHERE role = 'user'"))
        for message in model.messages.values():
            said = message.is_message and message.fate in (BEGAN, "own_run", "injected", "dropped")
            assert lines[message.event] == said, message
