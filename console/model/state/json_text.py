"""JSON as text that a user reads and edits."""

import json
import re
from math import isfinite
from typing import Any, Final, cast

from console.model.text.safe import one_line

_NOT_PLAIN_ASCII: Final = re.compile(r"[^\x20-\x7e\n]")
_ERROR_TEXTS: Final = {
    "Expecting property name": 'a name in double quotes belongs here, as in {"name": 1}',
    "Expecting ':'": "a : is missing",
    "Expecting ','": "a , or the closing bracket is missing",
    "Expecting value": "a value belongs here; put text in double quotes",
    "Unterminated string": "the closing double quote of this text is missing",
    "Invalid control character": "in text, write a line break as \\n and a tab as \\t",
    "Invalid \\": "in text, write a backslash as \\\\",
    "Extra data": "there is more text after the end of the value",
}
"""The start of each message of Python's parser, and the text that is shown instead."""

MAX_EDITED_LINES: Final = 5_000
"""Textual needs 15 µs for each line of an editor when it opens."""
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1
"""orjson reads integers outside of this range as floats."""
_MAX_INTEGER_CHARS: Final = len(str(_MIN_INTEGER))
_MAX_SHOWN_CHARS: Final = 40
"""Characters of a number in an error message."""


MAX_EDITED_BYTES: Final = 512 << 10
"""UTF-8 bytes of the largest JSON that an editor opens. Textual needs 150 ms for a MiB of ASCII, and 1 s for a million
Chinese characters.
"""


class InvalidJson(ValueError):
    """A text is not JSON; the message says why, and `line` and `column` say where."""

    def __init__(self, words: str, line: int = 1, column: int = 1) -> None:
        super().__init__(words)
        self.line = line
        self.column = column


class NumberTooLarge(InvalidJson):
    """The text is JSON, but a number in it cannot be stored exactly."""


def is_too_large(value: Any) -> bool:
    """Return whether the JSON of a value has more than `MAX_EDITED_BYTES`. Stops as soon as that is certain."""
    left = MAX_EDITED_BYTES
    waiting: list[Any] = [value]
    while waiting and left >= 0:
        one = waiting.pop()
        if isinstance(one, str):
            left -= len(one) if one.isascii() or len(one) > left else len(one.encode("utf-8", "surrogatepass"))
        elif isinstance(one, dict):
            left -= 2 * len(cast("dict[str, Any]", one))
            waiting += cast("dict[str, Any]", one) if left >= 0 else ()
            waiting += cast("dict[str, Any]", one).values() if left >= 0 else ()
        elif isinstance(one, list):
            left -= 2 * len(cast("list[Any]", one))
            waiting += cast("list[Any]", one) if left >= 0 else ()
        else:
            left -= 4
    return left < 0


def to_json_text(value: Any) -> str:
    """Return indented JSON, with an escape for every character that a terminal does not show as it is.

    JSON that would have more than `MAX_EDITED_LINES` lines is written on one line.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if text.count("\n") >= MAX_EDITED_LINES:
        text = json.dumps(value, ensure_ascii=False)
    # Such characters occur in strings only, where an escape means the same.
    return text if text.isascii() else _NOT_PLAIN_ASCII.sub(_escape_unprintable, text)


def parse_json(text: str) -> Any:
    """Parse JSON. Raises InvalidJson with the place of the error."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_float, parse_int=_parse_integer)
    except json.JSONDecodeError as error:
        reason = next((words for start, words in _ERROR_TEXTS.items() if error.msg.startswith(start)), error.msg)
        words = f"line {error.lineno}, column {error.colno}: {reason}"
        raise InvalidJson(words, error.lineno, error.colno) from error
    except RecursionError as error:
        raise InvalidJson("it is nested too deeply") from error


def _escape_unprintable(found: "re.Match[str]") -> str:
    letter = found[0]
    if letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _refuse_constant(name: str) -> None:
    raise InvalidJson(f"{name} is not JSON; write a number or null")


def _parse_float(written: str) -> float:
    if not isfinite(number := float(written)):
        raise NumberTooLarge(f"{one_line(written, _MAX_SHOWN_CHARS)} is too large to be stored; write it as text")
    return number


def _parse_integer(written: str) -> int:
    # By its length first: Python refuses to parse very long integers.
    if len(written) > _MAX_INTEGER_CHARS or not _MIN_INTEGER <= (number := int(written)) <= _MAX_INTEGER:
        shown = one_line(written, _MAX_SHOWN_CHARS)
        raise NumberTooLarge(f"{shown} has more than 64 bits and would be rounded; write it as text")
    return number
