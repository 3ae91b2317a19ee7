"""Another key for a command: which changes hold, and what the table is with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from console.model.commands import BY_ID, COMMANDS, Command, shown_key
from console.model.settings.keys import EDITS, is_rare, is_typed, key_named, why_not_key
from console.model.settings.problem import Problem, nearest

_EVERYWHERE: Final = frozenset({"app", "screen"})
_TYPED_IN: Final = frozenset({"prompt", "filter", "find", "paths", "composer", "runners", "field"})
"""Places in which letters are written."""
_HEARD_FIRST: Final = frozenset({"prompt", "paths"})
"""Those of them whose own keys are heard before the text has them."""
_DIGITS: Final = frozenset({"tabs", "queue", "stream", "rail"})
"""Where the keys of the tabs are heard."""


class Change(NamedTuple):
    """A line of the file: this command shall have these keys."""

    id: str
    keys: str
    """Empty: its key is taken away."""
    line: int


def changed(changes: Mapping[str, str]) -> tuple[Command, ...]:
    """The table with other keys."""
    return tuple(replace(one, keys=changes[one.id]) if one.id in changes else one for one in COMMANDS)


def check(changes: Iterable[Change]) -> tuple[Mapping[str, str], Sequence[Problem]]:
    """The changes that hold, by command, and why the others do not. One that clashes is left out, and only that one."""
    problems: list[Problem] = []
    wanted: dict[str, Change] = {}
    for change in changes:
        named = change._replace(keys=",".join(key_named(key) for key in _listed(change.keys)))
        why = _why_not(named)
        if why is None:
            wanted[named.id] = named
        else:
            problems.append(Problem(change.line, why))
    while (clash := _first_clash(wanted)) is not None:
        change, words = clash
        del wanted[change.id]
        problems.append(Problem(change.line, words))
    return {one.id: one.keys for one in wanted.values()}, sorted(problems)


def _why_not(change: Change) -> str | None:
    if change.id not in BY_ID:
        return f"there is no command {change.id!r}{nearest(change.id, BY_ID)} `trackside keys` lists them all"
    keys = change.keys.split(",") if change.keys else []
    if not keys:
        is_found = bool(BY_ID[change.id].palette)
        return None if is_found else f"{change.id} must have a key: it has no name by which it could be found"
    if change.id == "app.escape" and "escape" not in keys:
        return f"{change.id}: esc must stay among its keys; it closes what lies over the panes, too"
    why = next((why for key in keys if (why := why_not_key(key)) is not None), None)
    if why is None and _is_heard_everywhere(BY_ID[change.id]):
        must = "everywhere it must be an f key, or a letter with ctrl or alt"
        why = next((f"{shown_key(key)} is typed in the prompt; {must}" for key in keys if is_typed(key)), None)
        why = why or next((f"{shown_key(key)} edits what is typed in the prompt" for key in keys if key in EDITS), None)
    elif why is None and (where := BY_ID[change.id].where) in _TYPED_IN:
        why = next((f"{shown_key(key)} is typed there" for key in keys if is_typed(key)), None)
        edits = EDITS - _let_through(where) if where not in _HEARD_FIRST else frozenset[str]()
        why = why or next((f"{shown_key(key)} edits what is typed there" for key in keys if key in edits), None)
    if why is None and all(is_rare(key) for key in keys):
        why = f"only some terminals know {keys[0]}; name a second key beside it"
    return None if why is None else f"{change.id}: {why}"


def _first_clash(wanted: Mapping[str, Change]) -> tuple[Change, str] | None:
    """The last line that takes a key from another command, and whose it is."""
    table = changed({one.id: one.keys for one in wanted.values()})
    for change in sorted(wanted.values(), key=lambda one: one.line, reverse=True):
        mine = next(one for one in table if one.id == change.id)
        for other in table:
            shared = set(mine.keys.split(",")) & set(other.keys.split(","))
            if other.id != mine.id and other.keys and shared and _meet(mine, other):
                key = shown_key(min(shared))
                return change, f"{change.id}: {key} belongs to {other.id} ({other.words}); give that another key first"
    return None


def _let_through(where: str) -> frozenset[str]:
    """Keys that do not edit what is typed there, since they are a command's."""
    return frozenset(key for one in COMMANDS if one.where == where for key in one.keys.split(","))


def _is_heard_everywhere(command: Command) -> bool:
    """Also one that has no key of its own: who gives it one wants it from wherever they are."""
    return command.where in _EVERYWHERE or not BY_ID[command.id].keys


def _meet(one: Command, other: Command) -> bool:
    """Whether the same key could reach both."""
    if _is_heard_everywhere(one) or _is_heard_everywhere(other):
        return True
    return one.where == other.where or ("tabs" in (one.where, other.where) and {one.where, other.where} <= _DIGITS)


def _listed(keys: str) -> Iterator[str]:
    """By comma or by space; a comma alone is a key that has a name."""
    yield from (key for key in keys.replace(",", " ").split())
