"""Makes an error message begin with a capital letter when it stands alone; errors are also quoted inside sentences."""

from typing import Final

FIRST_WORDS: Final = frozenset({
    "a", "all", "an", "another", "argument", "artifact", "cannot", "config", "edit", "entry", "event", "exited", "file",
    "files", "message", "no", "not", "nothing", "process", "run", "session", "settings", "standard", "state", "the",
    "there", "this", "unknown", "unrecognized",
})  # fmt: skip
"""Words with which errors begin. Any other first word may be a name, an id or a path, and keeps its case."""


def as_sentence(text: str) -> str:
    """Return the text with an upper-case first letter, unless it begins with a name, an id or a path."""
    word = text.partition(" ")[0]
    return text[0].upper() + text[1:] if word in FIRST_WORDS else text
