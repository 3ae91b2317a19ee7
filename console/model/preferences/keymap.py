"""The user's keys for commands: checks the changes of `console.yaml` and applies them to the table."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from console.model.commands.table import BY_ID, COMMANDS, Command, shown_key
from console.model.preferences.problem import Problem, nearest

_KEY_NAMES: Final[Mapping[str, str]] = {
    "[": "left_square_bracket", "]": "right_square_bracket", "'": "apostrophe", "/": "slash", "?": "question_mark",
    "esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "return": "enter", "del": "delete", "ins": "insert",
    ".": "full_stop", ":": "colon", ";": "semicolon", "-": "minus", "=": "equals_sign", "*": "asterisk",
    "!": "exclamation_mark", "#": "number_sign", "@": "at", "\\": "backslash", "`": "grave_accent", "~": "tilde",
    "<": "less_than_sign", ">": "greater_than_sign", "_": "underscore", "$": "dollar_sign", "%": "percent_sign",
    "&": "ampersand", "|": "vertical_line", "+": "plus", "(": "left_parenthesis", ")": "right_parenthesis",
    "{": "left_curly_bracket", "}": "right_curly_bracket", '"': "quotation_mark",
}  # fmt: skip
SYMBOL_KEYS: Final = frozenset(name for sign, name in _KEY_NAMES.items() if len(sign) == 1) | {"space"}
"""Keys that type a character other than a letter or digit."""
_REPORTED_WITH_MODIFIERS: Final = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete"}
)  # fmt: skip
"""Keys that every terminal reports with their modifiers."""
_EDITING_KEY_NAMES: Final = _REPORTED_WITH_MODIFIERS | {"backspace", "tab", "enter", "escape"}
_FUNCTION_KEYS: Final = frozenset(f"f{number}" for number in range(1, 13))
NAMED_KEYS: Final = SYMBOL_KEYS | _EDITING_KEY_NAMES | _FUNCTION_KEYS
_MODIFIER: Final = re.compile(r"(?:(ctrl|alt|shift|super|meta|cmd)\+)")

UNSAFE_KEYS: Final[Mapping[str, str]] = {
    "ctrl+m": "terminals send it for enter",
    "ctrl+left_square_bracket": "terminals send it for esc",
    "ctrl+i": "terminals send it for tab",
    "ctrl+h": "many terminals send it for backspace",
    "ctrl+c": "it copies the selection",
    "ctrl+z": "it suspends programs, and undoes in the prompt",
    "ctrl+s": "some terminals stop their output with it",
    "ctrl+q": "it quits, and some terminals resume their output with it",
    "alt+b": "terminals send it for ctrl+left, a word back",
    "alt+f": "terminals send it for ctrl+right, a word on",
    "alt+enter": "some terminals use it for the window, others send it for enter",
    "f10": "terminals open their menu with it",
    "f11": "terminals toggle full screen with it",
    **{f"alt+{digit}": "terminals switch tabs with it" for digit in range(10)},
}
"""Keys that cannot be relied on, with the reason."""
_WITH_CTRL: Final = frozenset({"backslash", "right_square_bracket", "underscore"})
"""Symbols that a terminal can send with ctrl; for digits and other symbols it sends the plain key."""

EDITING_KEYS: Final = frozenset(
    {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "enter", "tab", "delete", "backspace",
     *(f"ctrl+{key}" for key in ("a", "d", "e", "f", "k", "u", "v", "w", "x", "y", "left", "right", "delete",
                                 "backspace", "shift+left", "shift+right", "shift+k")),
     *(f"shift+{key}" for key in ("up", "down", "left", "right", "home", "end", "delete")),
     *(f"alt+{key}" for key in ("left", "right", "delete", "backspace"))}
)  # fmt: skip
"""Keys that edit text in the prompt, so a command of `app` would not receive them there."""


def parse_key(written: str) -> str:
    """Return Textual's name of a key. `^t`, `K`, `/` and `esc` are accepted as the footer prints them."""
    name = written.strip()
    if name.startswith("^") and len(name) > 1:
        name = f"ctrl+{name[1:]}"
    *modifiers, last = _split(name)
    if len(last) == 1 and last.isupper():
        modifiers, last = (
            [*(one for one in modifiers if one != "shift"), *([] if "ctrl" in modifiers else ["shift"])],
            last.lower(),
        )
    last = _KEY_NAMES.get(last, _KEY_NAMES.get(last.lower(), last.lower()))
    return "+".join([*sorted(modifiers), last])


def why_not_key(key: str) -> str | None:
    """Return why a command cannot have this key; None if it can."""
    *modifiers, last = _split(key)
    if not (len(last) == 1 and last.isascii() and last.isalnum()) and last not in NAMED_KEYS:
        return f"unknown key {key!r}"
    if any(one in ("super", "meta", "cmd") for one in modifiers):
        return f"terminals do not send {key}"
    if key in UNSAFE_KEYS:
        return f"{key} is not safe: {UNSAFE_KEYS[key]}"
    return None


def is_unreliable(key: str) -> bool:
    """Whether some terminals send a plainer key instead."""
    *modifiers, last = _split(key)
    if not modifiers or last in _FUNCTION_KEYS or last in _REPORTED_WITH_MODIFIERS:
        return False
    is_letter = len(last) == 1 and last.isalpha()
    match modifiers:
        case ["shift"]:
            return not is_letter and last != "tab"
        case ["ctrl"]:
            return not is_letter and last not in _WITH_CTRL
        case ["alt"] | ["alt", "shift"]:
            return not is_letter
        case _:
            return True


def types_character(key: str) -> bool:
    """Whether the key types a character in a text field."""
    *modifiers, last = _split(key)
    return not set(modifiers) - {"shift"} and (len(last) == 1 or last in SYMBOL_KEYS)


def _split(key: str) -> list[str]:
    *modifiers, last = (part for part in _MODIFIER.split(key.strip()) if part is not None)
    return [*(one for one in modifiers if one), last]


_EVERYWHERE: Final = frozenset({"app", "screen"})
_TEXT_PLACES: Final = frozenset({"prompt", "filter", "find", "paths", "composer", "runners", "field"})
"""Places with a text field that has the focus."""
_KEYS_BEFORE_TEXT: Final = frozenset({"prompt", "paths"})
"""Those of them whose commands receive a key before the text field does."""
_SHARED_KEY: Final = frozenset({"app.pause", "app.continue"})
"""They may have the same key: one of them is available while the run is paused, the other while it is not."""
_TAB_KEY_PLACES: Final = frozenset({"tabs", "queue", "stream", "rail"})
"""Where the keys of the tabs work."""


class Change(NamedTuple):
    """A line of the file that gives keys to a command."""

    id: str
    keys: str
    """Empty: the command has no key."""
    line: int


def apply_keymap(changes: Mapping[str, str]) -> tuple[Command, ...]:
    """Return the command table with these keys, by command id."""
    return tuple(replace(one, keys=changes[one.id]) if one.id in changes else one for one in COMMANDS)


def check_changes(changes: Iterable[Change]) -> tuple[Mapping[str, str], Sequence[Problem]]:
    """Return the valid changes by command id, and the problems of the others. Of two clashing ones, the later loses."""
    problems: list[Problem] = []
    accepted: dict[str, Change] = {}
    for change in changes:
        named = change._replace(keys=",".join(parse_key(key) for key in _split_keys(change.keys)))
        why = _why_not(named)
        if why is None:
            accepted[named.id] = named
        else:
            problems.append(Problem(change.line, why))
    while (clash := _first_clash(accepted)) is not None:
        change, problem = clash
        del accepted[change.id]
        problems.append(Problem(change.line, problem))
    return {one.id: one.keys for one in accepted.values()}, sorted(problems)


def _why_not(change: Change) -> str | None:
    if change.id not in BY_ID:
        return f"Unknown command {change.id!r}{nearest(change.id, BY_ID)} `trackside keys` lists all commands."
    keys = change.keys.split(",") if change.keys else []
    if not keys:
        is_in_palette = bool(BY_ID[change.id].palette)
        return None if is_in_palette else f"{change.id} needs a key, because the palette does not list it."
    if change.id == "app.escape" and "escape" not in keys:
        return f"{change.id}: keep esc among its keys; it also closes full screens."
    why = next((why for key in keys if (why := why_not_key(key)) is not None), None)
    if why is None and _works_everywhere(BY_ID[change.id]):
        must = "use an f key, or a letter with ctrl or alt"
        why = next(
            (f"{shown_key(key)} types a character in the prompt; {must}" for key in keys if types_character(key)), None
        )
        why = why or next(
            (f"{shown_key(key)} edits the text of the prompt" for key in keys if key in EDITING_KEYS), None
        )
    elif why is None and (where := BY_ID[change.id].where) in _TEXT_PLACES:
        why = next((f"{shown_key(key)} types a character there" for key in keys if types_character(key)), None)
        edits = EDITING_KEYS - _command_keys(where) if where not in _KEYS_BEFORE_TEXT else frozenset[str]()
        why = why or next((f"{shown_key(key)} edits the text there" for key in keys if key in edits), None)
    if why is None and all(is_unreliable(key) for key in keys):
        why = f"only some terminals send {keys[0]}; add a second key"
    return None if why is None else f"{change.id}: {why}."


def _first_clash(accepted: Mapping[str, Change]) -> tuple[Change, str] | None:
    """The last change that uses a key of another command, and the problem as text."""
    table = apply_keymap({one.id: one.keys for one in accepted.values()})
    for change in sorted(accepted.values(), key=lambda one: one.line, reverse=True):
        mine = next(one for one in table if one.id == change.id)
        for other in table:
            shared = set(mine.keys.split(",")) & set(other.keys.split(","))
            if other.id != mine.id and other.keys and shared and _can_clash(mine, other):
                key = shown_key(min(shared))
                return (
                    change,
                    f"{change.id}: {key} is the key of {other.id} ({other.label}). Give that another key first.",
                )
    return None


def _command_keys(where: str) -> frozenset[str]:
    """Keys that do not edit the text of a place because a command of it has them."""
    return frozenset(key for one in COMMANDS if one.where == where for key in one.keys.split(","))


def _works_everywhere(command: Command) -> bool:
    """A command without a default key counts too: if the user gives it a key, the key works everywhere."""
    return command.where in _EVERYWHERE or not BY_ID[command.id].keys


def _can_clash(one: Command, other: Command) -> bool:
    return frozenset({one.id, other.id}) != _SHARED_KEY and _overlap(one, other)


def _overlap(one: Command, other: Command) -> bool:
    """Whether one key could run both commands."""
    if _works_everywhere(one) or _works_everywhere(other):
        return True
    return one.where == other.where or (
        "tabs" in (one.where, other.where) and {one.where, other.where} <= _TAB_KEY_PLACES
    )


def _split_keys(keys: str) -> Iterator[str]:
    """Split keys at commas and spaces."""
    yield from (key for key in keys.replace(",", " ").split())
