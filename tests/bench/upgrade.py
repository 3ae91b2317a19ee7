"""The upgrade of a database with a million journal entries, against copying its file."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.store.database import Database
from tests.bench.lines import Line, at_most, print_lines, within
from tests.support.old_databases import make_database, old_rows

ENTRIES = 1_000_000
ENTRIES_PER_RUN = 1_000
LINES = 50_000


def measure(entries: int) -> Iterator[Line]:
    """Measure the last version, whose journal is counted, and the first, whose lines are indexed too."""
    for revision, lines in (("0012", 100), ("0001", LINES)):
        with TemporaryDirectory(prefix="trackside-bench-") as folder:
            path, runs = Path(folder, "old.db"), entries // ENTRIES_PER_RUN
            make_database(path, revision, old_rows(revision, runs=runs, entries=ENTRIES_PER_RUN, lines=lines))
            yield from _upgrade(path, f"upgrade of {entries:,} entries and {lines:,} lines from schema {revision}")


def _upgrade(path: Path, name: str) -> Iterator[Line]:
    copy_seconds = _copy(path)
    times = [time.perf_counter()]
    Database.open(path, write=True, on_progress=lambda *_: times.append(time.perf_counter())).close()
    times.append(time.perf_counter())
    silent = max(later - earlier for earlier, later in pairwise(times))
    yield at_most(f"{name}, against copying the file", times[-1] - times[0], "s", copy_seconds)
    yield within(f"{name}, longest time without progress", silent * 1_000, "ms", copy_seconds * 1_000)


def _copy(path: Path) -> float:
    """Return the seconds that a copy of the file takes until it is on disk."""
    target = path.with_name("copy.db")
    began = time.perf_counter()
    shutil.copyfile(path, target)
    with target.open("rb") as file:
        os.fsync(file.fileno())
    seconds = time.perf_counter() - began
    target.unlink()
    return seconds


if __name__ == "__main__":
    print_lines(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ENTRIES))
