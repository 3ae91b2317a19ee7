"""What is wrong with the database or the engine: in a few words, and in a sentence that says what to do."""

from typing import Final, NamedTuple

from console.model.safe import one_line

_SHORT: Final = {
    "DatabaseLocked": "database locked, waiting for it",
    "DiskFull": "no space left on the disk",
    "DiskFailed": "the disk failed",
    "DatabaseReadOnly": "database cannot be written",
    "DatabaseNewer": "database of a newer trackside",
    "DatabaseDamaged": "database is damaged",
    "DatabaseForeign": "not a trackside database",
    "DatabaseMissing": "no database there",
}
"""By the name of the error: the engine's own sentence begins with a path, which leaves no room for the rest."""


class Trouble(NamedTuple):
    """Said until it is over."""

    short: str
    words: str

    @classmethod
    def of(cls, error: BaseException, what: str = "") -> "Trouble":
        """What an error means; `what` failed because of it."""
        said = one_line(str(error) or type(error).__name__, 400)
        words = f"{what}: {said}" if what else said
        return cls(_SHORT.get(type(error).__name__, one_line(words, 60)), words)
