"""A decision of the writer that is recorded in a run's journal, whether it is applied or refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from engine.events import Outcome
from engine.journal.recorder import Recorder
from engine.store import runs
from engine.store.batch import Transaction
from engine.store.entries import Entry
from engine.store.json_text import encode

T = TypeVar("T")
Act = Callable[[Transaction, Entry], tuple[T, Entry]]
"""Applies the decision. Returns the result, and the entry to record."""


@dataclass(frozen=True, slots=True)
class DecisionResult(Generic[T]):
    """The result of a decision, or why it was refused.

    An operation returns this instead of raising, because raising would also undo the entry.
    """

    results: tuple[T, ...] = ()
    refused: Exception | None = None

    def get(self) -> T:
        """Return the result. Raises the error if the decision was refused."""
        if self.refused is not None:
            raise self.refused
        return self.results[0]


class RecordedDecision:
    """A decision and its entry in the journal of a run.

    The entry gets its position when the object is created, on the loop, so the decision must be submitted to the writer
    before any later entry. A decision that fails is recorded as refused and leaves no gap. Nothing is recorded after
    the run has ended.
    """

    def __init__(self, recorder: Recorder, source: str, kind: str, data: Mapping[str, Any]) -> None:
        self._is_broken = recorder.is_broken
        self._entry = recorder.entry(source, kind, data)
        self._cover = recorder.cover

    def settle(self, tx: Transaction, act: Act[T]) -> DecisionResult[T]:
        """Apply the decision and record it. Runs inside the writer."""
        done: list[tuple[T, Entry]] = []
        error = tx.attempt(lambda tx: done.append(act(tx, self._entry)))
        if error is not None:
            self.refuse(tx, str(error))
            return DecisionResult(refused=error)
        result, entry = done[0]
        self._record(tx, entry._replace(data=self._cover(entry.data)))
        return DecisionResult((result,))

    def refuse(self, tx: Transaction, reason: str) -> None:
        """Record that the decision was refused. Runs inside the writer."""
        self._record(tx, self._entry._replace(outcome=Outcome.REFUSED, reason=reason[:500]))

    def _record(self, tx: Transaction, entry: Entry) -> None:
        if not self._is_broken and runs.is_live(tx.connection, entry.run_id):
            tx.record(entry)


def with_data(entry: Entry, told: Mapping[str, Any]) -> Entry:
    """Return the entry with other data, which describes what was decided."""
    return entry._replace(data=encode(told))
