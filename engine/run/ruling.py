"""A decision of the writer that has its entry in a run's journal, whatever is decided."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from engine.facts import runs
from engine.facts.batch import Transaction
from engine.facts.journal import Entry
from engine.facts.json_text import encode
from engine.run.normalise import Outcome
from engine.run.recorder import Recorder

T = TypeVar("T")
Act = Callable[[Transaction, Entry], tuple[T, Entry]]
"""Does it; gives the result, and the entry with what is to be told of it."""


@dataclass(frozen=True, slots=True)
class Ruled(Generic[T]):
    """What came of it. An operation gives this back instead of raising, which would undo the entry as well."""

    results: tuple[T, ...] = ()
    refused: Exception | None = None

    def get(self) -> T:
        """The result; raises what was in its way."""
        if self.refused is not None:
            raise self.refused
        return self.results[0]


class Ruling:
    """Its position is taken when it is made, on the loop, so it must be given to the writer before any later entry.

    What cannot be done is recorded as refused and leaves no gap. Once the run has ended nothing of it is recorded.
    """

    def __init__(self, recorder: Recorder, source: str, kind: str, data: Mapping[str, Any]) -> None:
        self._is_broken = recorder.is_broken
        self._entry = recorder.entry(source, kind, data)
        self._cover = recorder.cover

    def settle(self, tx: Transaction, act: Act[T]) -> Ruled[T]:
        """Inside the writer: do it and record it."""
        done: list[tuple[T, Entry]] = []
        error = tx.attempt(lambda tx: done.append(act(tx, self._entry)))
        if error is not None:
            self.refuse(tx, str(error))
            return Ruled(refused=error)
        result, entry = done[0]
        self._record(tx, entry._replace(data=self._cover(entry.data)))
        return Ruled((result,))

    def refuse(self, tx: Transaction, reason: str) -> None:
        """Inside the writer: record that it was not to be."""
        self._record(tx, self._entry._replace(outcome=Outcome.REFUSED, reason=reason[:500]))

    def _record(self, tx: Transaction, entry: Entry) -> None:
        if not self._is_broken and runs.is_live(tx.connection, entry.run_id):
            tx.record(entry)


def telling(entry: Entry, told: Mapping[str, Any]) -> Entry:
    """The entry with what was decided in it."""
    return entry._replace(data=encode(told))
