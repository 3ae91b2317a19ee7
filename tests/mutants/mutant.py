"""What a fault is, and how it is put into a file and taken out again."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class Stale(Exception):
    """The line is not there any more, or not only once: the fault must be written anew."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One line of the project as it would be wrong."""

    file: str
    before: str
    """A fragment that the file holds once. It may reach over several lines to be so; only one of them changes."""
    after: str
    rule: str
    """What the contract says, and the fault breaks."""
    test: str
    """The node id of the test that must fail."""

    def faulty(self, root: Path) -> str:
        """The file's text with the fault in it."""
        path = root / self.file
        text = path.read_text() if path.is_file() else ""
        if (found := text.count(self.before)) != 1:
            raise Stale(f"{self.file} holds it {found} times: {self.before!r}")
        if _changed_lines(self.before, self.after) != 1:
            raise Stale(f"not a fault of one line: {self.before!r}")
        return text.replace(self.before, self.after)

    @contextmanager
    def applied(self, root: Path, number: int) -> Iterator[None]:
        """Have the fault in this tree for a while. `number` tells it from every other fault that is tried."""
        path = root / self.file
        sound, status = path.read_bytes(), path.stat()
        path.write_text(self.faulty(root))
        # Byte code is known by whole seconds and size: no two faults of a file may share their second.
        seconds = int(status.st_mtime) + 2 * (number + 1)
        os.utime(path, (seconds, seconds))
        try:
            yield
        finally:
            path.write_bytes(sound)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _changed_lines(before: str, after: str) -> int:
    old, new = before.split("\n"), after.split("\n")
    return sum(one != other for one, other in zip(old, new, strict=True)) if len(old) == len(new) else len(old)
