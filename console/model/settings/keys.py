"""Keys as people write them, and those that a terminal does not give away."""

import re
from collections.abc import Mapping
from typing import Final

_NAMES: Final[Mapping[str, str]] = {
    "[": "left_square_bracket", "]": "right_square_bracket", "'": "apostrophe", "/": "slash", "?": "question_mark",
    "esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "return": "enter", "del": "delete", "ins": "insert",
    ".": "full_stop", ":": "colon", ";": "semicolon", "-": "minus", "=": "equals_sign", "*": "asterisk",
    "!": "exclamation_mark", "#": "number_sign", "@": "at", "\\": "backslash", "`": "grave_accent", "~": "tilde",
    "<": "less_than_sign", ">": "greater_than_sign", "_": "underscore", "$": "dollar_sign", "%": "percent_sign",
    "&": "ampersand", "|": "vertical_line", "+": "plus", "(": "left_parenthesis", ")": "right_parenthesis",
    "{": "left_curly_bracket", "}": "right_curly_bracket", '"': "quotation_mark",
}  # fmt: skip
SIGNS: Final = frozenset(name for sign, name in _NAMES.items() if len(sign) == 1) | {"space"}
"""Keys that type something, beside letters and digits."""
_TOLD: Final = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete"}
)  # fmt: skip
"""Keys of which every terminal tells what is held with them."""
_MOVES: Final = _TOLD | {"backspace", "tab", "enter", "escape"}
_FUNCTIONS: Final = frozenset(f"f{number}" for number in range(1, 13))
NAMED: Final = SIGNS | _MOVES | _FUNCTIONS
_PARTS: Final = re.compile(r"(?:(ctrl|alt|shift|super|meta|cmd)\+)")

UNSAFE: Final[Mapping[str, str]] = {
    "ctrl+m": "terminals send it for enter",
    "ctrl+left_square_bracket": "terminals send it for esc",
    "ctrl+i": "terminals send it for tab",
    "ctrl+h": "many terminals send it for backspace",
    "ctrl+c": "it copies what is marked",
    "ctrl+z": "it puts programs to sleep, and in the prompt it undoes",
    "ctrl+s": "some terminals stop with it",
    "ctrl+q": "it quits, and some terminals go on with it",
    "alt+b": "terminals send it for ctrl+left, a word back",
    "alt+f": "terminals send it for ctrl+right, a word on",
    "alt+enter": "some terminals give it to the window, others send it for enter",
    "f10": "terminals open their menu with it",
    "f11": "terminals fill the screen with it",
    **{f"alt+{digit}": "terminals change their tab with it" for digit in range(10)},
}
"""Why a key is not safe to rely on."""
_WITH_CTRL: Final = frozenset({"backslash", "right_square_bracket", "underscore"})
"""Signs that a terminal has a code for, held with ctrl; of digits and of other signs it sends the plain one."""

EDITS: Final = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "enter", "tab", "delete", "backspace",
     *(f"ctrl+{key}" for key in ("a", "d", "e", "f", "k", "u", "v", "w", "x", "y", "left", "right", "delete",
                                 "backspace", "shift+left", "shift+right", "shift+k")),
     *(f"shift+{key}" for key in ("up", "down", "left", "right", "home", "end", "delete")),
     *(f"alt+{key}" for key in ("left", "right", "delete", "backspace"))}
)  # fmt: skip
"""Keys that move or change what is typed in the prompt: a command of everywhere would not hear them there."""


def key_named(written: str) -> str:
    """A key by Textual's name: `^t`, `K`, `/` and `esc` may be written as the footer shows them."""
    name = written.strip()
    if name.startswith("^") and len(name) > 1:
        name = f"ctrl+{name[1:]}"
    *held, last = _split(name)
    if len(last) == 1 and last.isupper():
        held, last = [*(one for one in held if one != "shift"), *([] if "ctrl" in held else ["shift"])], last.lower()
    last = _NAMES.get(last, _NAMES.get(last.lower(), last.lower()))
    return "+".join([*sorted(held), last])


def why_not_key(key: str) -> str | None:
    """Why no command should be given this key; nothing where it is a good one."""
    *held, last = _split(key)
    if not (len(last) == 1 and last.isascii() and last.isalnum()) and last not in NAMED:
        return f"there is no key called {key!r}"
    if any(one in ("super", "meta", "cmd") for one in held):
        return f"{key} never reaches a program in a terminal"
    if key in UNSAFE:
        return f"{key} is not safe: {UNSAFE[key]}"
    return None


def is_rare(key: str) -> bool:
    """Whether only some terminals can tell it from a plainer one."""
    *held, last = _split(key)
    if not held or last in _FUNCTIONS or last in _TOLD:
        return False
    is_letter = len(last) == 1 and last.isalpha()
    match held:
        case ["shift"]:
            return not is_letter and last != "tab"
        case ["ctrl"]:
            return not is_letter and last not in _WITH_CTRL
        case ["alt"] | ["alt", "shift"]:
            return not is_letter
        case _:
            return True


def is_typed(key: str) -> bool:
    """Whether it writes something where one types."""
    *held, last = _split(key)
    return not set(held) - {"shift"} and (len(last) == 1 or last in SIGNS)


def _split(key: str) -> list[str]:
    *held, last = (part for part in _PARTS.split(key.strip()) if part is not None)
    return [*(one for one in held if one), last]
