"""What is wrong with the database or the engine: in a few words, and in a sentence that says what to do."""

from typing import Final, NamedTuple

from console.model.commands.naming import key_of
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


def words_of(error: BaseException) -> str:
    """What an error says; and the key that mends it here, in place of an option of the command line."""
    found = getattr(error, "found", None)
    if isinstance(found, str):
        return f"{found}. {key_of('app.runners')} chooses one."
    if type(error).__name__ == "FormError":
        return f"{error} {key_of('app.settings')} opens its settings."
    return str(error) or type(error).__name__


class Trouble(NamedTuple):
    """Said until it is over."""

    short: str
    words: str
    passes: bool = False
    """It is over by itself: whoever waits need do nothing."""

    @classmethod
    def of(cls, error: BaseException, what: str = "") -> "Trouble":
        """What an error means; `what` failed because of it."""
        said = one_line(words_of(error), 400)
        words = f"{what}: {said}" if what else said
        name = type(error).__name__
        return cls(_SHORT.get(name, one_line(words, 60)), words, name == "DatabaseLocked")
