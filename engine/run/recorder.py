"""Gives every entry of a run its position, turn and stamp, and hands it to the writer."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from engine.clock import Clock
from engine.facts.journal import Entry
from engine.facts.writer import Writer
from engine.run.marks import Marks
from engine.run.turns import Turns

JOURNAL_LIMIT: Final = 1024 * 1024 * 1024
OUTPUT_LIMIT: Final = 8 * 1024 * 1024


class Recorder:
    """The pen of one run. What it writes is told to subscribers after the commit, never before."""

    def __init__(self, writer: Writer, clock: Clock, run_id: str, marks: Marks) -> None:
        self._writer = writer
        self._clock = clock
        self._run_id = run_id
        self._marks = marks
        self._turns = Turns()
        self._position = 0
        self._size = 0
        self._output_size = 0
        self._unkept_lines = 0
        self._unkept_bytes = 0
        self.is_broken = False
        """Entries before this one were lost with the disk; nothing is recorded behind them."""

    @property
    def position(self) -> int:
        """Of the newest entry; 0 before the first."""
        return self._position

    @property
    def is_full(self) -> bool:
        """The journal of this run has reached its limit; the run must end."""
        return self._size > JOURNAL_LIMIT

    def count(self, size: int) -> None:
        """What is kept beside an entry counts like what is kept in it."""
        self._size += size

    def cover(self, text: str) -> str:
        """JSON text as it may be recorded: secrets are marks."""
        return self._marks.cover(text)

    @property
    def began_with_pull(self) -> bool:
        """The turn began with the request of the newest pull."""
        return self._turns.began_with_pull

    def begin_turn(self) -> None:
        """A pull returned items: what comes now belongs to the next turn."""
        self._turns.begin()

    def entry(
        self,
        source: str,
        kind: str,
        data: Mapping[str, Any],
        *,
        text: str | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        sequence: int | None = None,
        at: int | None = None,
    ) -> Entry:
        """The next entry. It must be appended, or recorded by the operation that takes it, before any later one."""
        written = self._marks.cover(text if text is not None else orjson.dumps(data).decode())
        self._position += 1  # only now: what cannot be written must not leave a gap
        self._size += len(written)
        turn = self._turns.note(kind, data)
        at = self._clock.now() if at is None else at
        reason = None if reason is None else self._marks.cover_words(reason)
        return Entry(self._run_id, self._position, at, source, kind, written, outcome, reason, sequence, turn)

    def record(self, source: str, kind: str, data: Mapping[str, Any], **details: Any) -> None:
        """Write one entry that has no other effect."""
        if self.is_broken:
            return
        self._writer.append(self.entry(source, kind, data, **details))

    def warn(self, message: str) -> None:
        """A remark of the host's own; what is odd about one result stands on that result's entry."""
        self.record("host", "warning", {"message": message})

    def output(self, stream: str, text: str) -> None:
        """A line that the runner printed; beyond the limit only the count is kept."""
        size = len(text.encode())
        if self._output_size + size > OUTPUT_LIMIT:
            self._unkept_lines += 1
            self._unkept_bytes += size
            return
        self._output_size += size
        self.record("runner", "output", {"stream": stream, "text": text})

    def close_output(self) -> None:
        """One entry that says how much output was not kept, if any."""
        if self._unkept_lines:
            self.record(
                "host",
                "output",
                {"stream": "cut", "lines": self._unkept_lines, "bytes": self._unkept_bytes, "limit": OUTPUT_LIMIT},
                outcome="dropped",
                reason=f"output beyond {OUTPUT_LIMIT // 2**20} MiB a run is counted, not kept",
            )
