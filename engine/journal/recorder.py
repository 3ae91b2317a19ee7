"""Gives every entry of a run its position, turn and time, and queues it for the writer."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from engine.clock import Clock
from engine.events import Outcome
from engine.journal.kinds import OUTPUT_CUT, EntryKind, Source
from engine.journal.secret_mask import SecretMask
from engine.journal.turns import Turns
from engine.store.batch import Transaction
from engine.store.entries import ROW_BYTES, Entry
from engine.store.parts import DIGEST_BYTES, RunParts
from engine.store.writer import Writer

JOURNAL_LIMIT: Final = 1024 * 1024 * 1024
OUTPUT_LIMIT: Final = 8 * 1024 * 1024
MAX_ENTRY_PART_BYTES: Final = 32 * 1024
"""The most bytes of a request or reply that an entry contains; more is stored as a part, and the entry refers to it."""
_REF_BYTES: Final = len(',"_ref":""') + 2 * DIGEST_BYTES
"""Bytes of the reference to a part, in addition to the part's name."""
_APPLIED: Final = (None, Outcome.WARNED)


class JournalSize(NamedTuple):
    """The bytes of a journal up to a position, without the parts that it refers to."""

    position: int
    bytes: int


class Recorder:
    """Records the entries of one run. Subscribers get an entry after its commit, never before."""

    def __init__(self, writer: Writer, clock: Clock, run_id: str, marks: SecretMask) -> None:
        self._writer = writer
        self._clock = clock
        self._run_id = run_id
        self._marks = marks
        self.turns = Turns()
        self.parts = RunParts(run_id, lambda content: bool(marks.ranges_in(content)))
        """The parts that the run uses. Only operations of the writer may add to them."""
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
    def journal_size(self) -> JournalSize:
        """Return the size of all entries so far. Some may be lost in a disk failure."""
        return JournalSize(self._position, self._size)

    @property
    def is_full(self) -> bool:
        """Return whether the journal of this run has reached its size limit; then the run must end."""
        return self._size + self.parts.stored_bytes > JOURNAL_LIMIT

    def cover(self, text: str) -> str:
        """Return JSON text with its secrets masked, as it may be recorded."""
        return self._marks.cover(text)

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
        usage: str | None = None,
    ) -> Entry:
        """Create the next entry. The caller must append or record it before any later entry."""
        written = self._marks.cover(text if text is not None else orjson.dumps(data).decode())
        self._position += 1  # only now: data that cannot be encoded must not leave a gap
        # `ROW_BYTES` count towards the limits of the journal and of the output, so that empty entries are bounded too.
        self._size += (len(written) if written.isascii() else len(written.encode())) + ROW_BYTES
        if source == Source.RUNNER and outcome in _APPLIED:
            self.turns.note_result(kind, data)
        if usage is not None:
            usage = self._marks.cover(usage)
            self._size += len(usage.encode())
        at = self._clock.now() if at is None else at
        reason = None if reason is None else self._marks.cover_words(reason)
        turn = self.turns.turn
        return Entry(
            self._run_id, self._position, at, str(source), str(kind), written, outcome, reason, sequence, turn, usage
        )

    def record(self, source: str, kind: str, data: Mapping[str, Any], **details: Any) -> None:
        """Write one entry that has no other effect."""
        if self.is_broken:
            return
        self._writer.append(self.entry(source, kind, data, **details))

    def record_call(
        self, source: str, kind: str, data: Mapping[str, Any], parts: Mapping[str, bytes], **details: Any
    ) -> None:
        """Record a request or reply, whose parts are JSON text.

        A large part is stored by its content, and the entry has its digest as `NAME_ref` and its size as `NAME_size`.
        """
        if self.is_broken:
            return
        fields: dict[str, Any] = dict(data)
        large: dict[str, bytes] = {}
        for name, part in parts.items():
            if len(part) <= MAX_ENTRY_PART_BYTES:
                fields[name] = orjson.Fragment(part)
            else:
                fields[f"{name}_size"] = len(part)
                large[name] = part
        entry = self.entry(source, kind, fields, **details)
        if large:
            self._store(entry, large)
        else:
            self._writer.append(entry)

    def record_stored(self, source: str, kind: str, data: Mapping[str, Any], parts: Sequence[bytes], at: int) -> None:
        """Record an entry that refers to these parts by their digests. Their secrets must be masked already."""
        if self.is_broken:
            return
        entry = self.entry(source, kind, data, at=at)
        if not parts:
            self._writer.append(entry)
            return

        def write(tx: Transaction) -> None:
            with self.parts.undone_on_error():
                for part in parts:
                    self.parts.add_whole(tx.connection, part)
                tx.record(entry)

        self._submit(entry, write, sum(map(len, parts)))

    def _store(self, entry: Entry, large: Mapping[str, bytes]) -> None:
        self._size += sum(len(name) + _REF_BYTES for name in large)

        def write(tx: Transaction) -> None:
            # Secrets are masked in the writer's thread: that may take a second if there are many.
            covered = {name: self.cover(part.decode()).encode() for name, part in large.items()}
            with self.parts.undone_on_error():
                digests = {f"{name}_ref": self.parts.add(tx.connection, part) for name, part in covered.items()}
                fields = ",".join(f'"{name}":"{digest}"' for name, digest in digests.items())
                tx.record(entry._replace(data=f"{entry.data[:-1]},{fields}}}"))

        self._submit(entry, write, sum(map(len, large.values())))

    def _submit(self, entry: Entry, write: Callable[[Transaction], None], size: int) -> None:
        future = self._writer.submit(partial(_write_or_fail, entry, write), size)
        future.add_done_callback(_ignore_error)

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


def _write_or_fail(entry: Entry, write: Callable[[Transaction], None], tx: Transaction) -> None:
    """Inside the writer: write an entry with its parts, or without them if they cannot be stored."""
    error = tx.attempt(write)
    if error is not None:
        tx.record(entry._replace(outcome=Outcome.FAILED, reason=f"its content could not be stored: {error}"[:500]))


def _ignore_error(future: asyncio.Future[None]) -> None:
    # A failed write reaches every live run through the writer's own failure; nobody else waits for this future.
    if not future.cancelled():
        future.exception()
