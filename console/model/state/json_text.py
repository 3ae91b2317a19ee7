"""Values as JSON that a person reads and writes."""

import json
import re
from math import isfinite
from typing import Any, Final

from console.model.text.safe import one_line

_MAYBE_UNSEEN: Final = re.compile(r"[^\x20-\x7e\n]")
_WORDS: Final = {
    "Expecting property name": 'a name in double quotes belongs here, as in {"name": 1}',
    "Expecting ':'": "a : is missing",
    "Expecting ','": "a , or the bracket at the end is missing",
    "Expecting value": "a value belongs here; text is in double quotes",
    "Unterminated string": "this text has no double quote at its end",
    "Invalid control character": "in a text a line break is \\n, and a tab \\t",
    "Invalid \\": "in a text a backslash is \\\\",
    "Extra data": "there is more behind the end of the value",
}
"""What Python says by how it begins, and how it is said here."""

_LEAST, _MOST = -(2**63), 2**64 - 1
"""What is kept as an integer; orjson reads all else as a fraction."""
_DIGITS: Final = len(str(_LEAST))
_BRIEF: Final = 40
"""Characters of a number in a sentence."""


class NotJson(ValueError):
    """Why a text is no JSON, and where."""

    def __init__(self, words: str, line: int = 1, column: int = 1) -> None:
        super().__init__(words)
        self.line = line
        self.column = column


class TooLarge(NotJson):
    """JSON, with a number that would be another one by the time it is read again."""


def editable(value: Any) -> str:
    """The value as JSON in lines, with an escape for every character that a terminal would not show as it is."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # All of these stand in strings, where an escape says the same.
    return text if text.isascii() else _MAYBE_UNSEEN.sub(_shown, text)


def read(text: str) -> Any:
    """The value that was written; raises NotJson with the place where it is wrong."""
    try:
        return json.loads(text, parse_constant=_refused, parse_float=_fraction, parse_int=_integer)
    except json.JSONDecodeError as error:
        said = next((words for begins, words in _WORDS.items() if error.msg.startswith(begins)), error.msg)
        words = f"line {error.lineno}, column {error.colno}: {said}"
        raise NotJson(words, error.lineno, error.colno) from error
    except RecursionError as error:
        raise NotJson("it is nested too deep") from error


def _shown(found: "re.Match[str]") -> str:
    letter = found[0]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _refused(name: str) -> None:
    raise NotJson(f"{name} is no JSON; write a number or null")


def _fraction(written: str) -> float:
    if not isfinite(number := float(written)):
        raise TooLarge(f"{one_line(written, _BRIEF)} is larger than any number that is kept; write it as a text")
    return number


def _integer(written: str) -> int:
    # By its length first: Python refuses to read very long ones.
    if len(written) > _DIGITS or not _LEAST <= (number := int(written)) <= _MOST:
        raise TooLarge(f"{one_line(written, _BRIEF)} has more than 64 bits and would be rounded; write it as a text")
    return number
