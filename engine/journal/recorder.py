"""Gives every entry of a run its position, turn and time, and queues it for the writer."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from engine.clock import Clock
from engine.events import Outcome
from engine.journal.kinds import OUTPUT_CUT, EntryKind, Source
from engine.journal.secret_mask import SecretMask
from engine.journal.turns import Turns
from engine.store.entries import Entry
from engine.store.writer import Writer

JOURNAL_LIMIT: Final = 1024 * 1024 * 1024
OUTPUT_LIMIT: Final = 8 * 1024 * 1024
ROW_BYTES: Final = 128
"""Bytes of an entry on disk in addition to its data: its other columns and its place in the index (119 for a printed
line). They count towards both limits, so that empty entries are bounded too.
"""


class Recorder:
    """Records the entries of one run. Subscribers get an entry after its commit, never before."""

    def __init__(self, writer: Writer, clock: Clock, run_id: str, marks: SecretMask) -> None:
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
        """Whether earlier entries were lost in a disk failure; then no further entries are recorded."""

    @property
    def position(self) -> int:
        """Return the position of the newest entry; 0 before the first."""
        return self._position

    @property
    def is_full(self) -> bool:
        """Return whether the journal of this run has reached its size limit; then the run must end."""
        return self._size > JOURNAL_LIMIT

    def count(self, size: int) -> None:
        """Add to the size of the journal, for content that is stored outside of an entry."""
        self._size += size

    def cover(self, text: str) -> str:
        """Return JSON text with its secrets masked, as it may be recorded."""
        return self._marks.cover(text)

    @property
    def began_with_pull(self) -> bool:
        """Return whether the turn began with the request of the newest pull."""
        return self._turns.began_with_pull

    def begin_turn(self) -> None:
        """Begin the next turn, because a pull returned items."""
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
        """Create the next entry. The caller must append or record it before any later entry."""
        written = self._marks.cover(text if text is not None else orjson.dumps(data).decode())
        self._position += 1  # only now: data that cannot be encoded must not leave a gap
        self._size += (len(written) if written.isascii() else len(written.encode())) + ROW_BYTES
        turn = self._turns.note(kind, data)
        at = self._clock.now() if at is None else at
        reason = None if reason is None else self._marks.cover_words(reason)
        return Entry(self._run_id, self._position, at, str(source), str(kind), written, outcome, reason, sequence, turn)

    def record(self, source: str, kind: str, data: Mapping[str, Any], **details: Any) -> None:
        """Write one entry that has no other effect."""
        if self.is_broken:
            return
        self._writer.append(self.entry(source, kind, data, **details))

    def warn(self, message: str, **details: str) -> None:
        """Record a warning of the host. A warning about a result belongs in the entry of that result."""
        self.record(Source.HOST, EntryKind.WARNING, {"message": message, **details})

    def output(self, stream: str, text: str) -> None:
        """Record a line that the runner printed. Lines beyond the limit are only counted."""
        size = len(text.encode())
        if self._output_size + size + ROW_BYTES > OUTPUT_LIMIT:
            self._unkept_lines += 1
            self._unkept_bytes += size
            return
        data = {"stream": stream, "text": text}
        written = orjson.dumps(data)
        self._output_size += len(written) + ROW_BYTES
        self.record(Source.RUNNER, EntryKind.OUTPUT, data, text=written.decode())

    def close_output(self) -> None:
        """Record how much output was dropped, if any."""
        if self._unkept_lines:
            self.record(
                Source.HOST,
                EntryKind.OUTPUT,
                {"stream": OUTPUT_CUT, "lines": self._unkept_lines, "bytes": self._unkept_bytes, "limit": OUTPUT_LIMIT},
                outcome=Outcome.DROPPED,
                reason=f"output beyond {OUTPUT_LIMIT // 2**20} MiB per run is counted, not recorded",
            )
