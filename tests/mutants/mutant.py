"""A mutant: one line of the project with a fault, and the test that must fail because of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class StaleMutant(Exception):
    """The line of a mutant is not in its file exactly once any more."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault in one line."""

    file: str
    before: str
    """Text that occurs once in the file. It may span several lines to be unique; only one of them changes."""
    after: str
    rule: str
    """The rule of the contract that the fault breaks."""
    test: str
    """The node id of the test that must fail."""

    def faulty(self, root: Path) -> str:
        """Return the text of the file with the fault. Raises StaleMutant if the line is not there exactly once."""
        path = root / self.file
        text = path.read_text() if path.is_file() else ""
        if (found := text.count(self.before)) != 1:
            raise StaleMutant(f"{self.file} contains it {found} times: {self.before!r}")
        if _changed_lines(self.before, self.after) != 1:
            raise StaleMutant(f"more or less than one line changes: {self.before!r}")
        return text.replace(self.before, self.after)

    @contextmanager
    def applied(self, root: Path, number: int) -> Iterator[None]:
        """Put the fault into the file, and restore the file afterwards. `number` is unique among the mutants tried."""
        path = root / self.file
        original, status = path.read_bytes(), path.stat()
        path.write_text(self.faulty(root))
        # Python knows byte code by size and whole seconds: no two faults of a file may have the same second.
        seconds = int(status.st_mtime) + 2 * (number + 1)
        os.utime(path, (seconds, seconds))
        try:
            yield
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _changed_lines(before: str, after: str) -> int:
    old, new = before.split("\n"), after.split("\n")
    return sum(one != other for one, other in zip(old, new, strict=True)) if len(old) == len(new) else len(old)
