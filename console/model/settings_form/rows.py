"""A form as rows, and one of its fields in full."""

from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import Any, Final

from console.model.settings_form.fields import SECTIONS, FormField
from console.model.settings_form.form_draft import FormDraft
from console.model.settings_form.values import HIDDEN, is_nothing, shown, typed
from console.model.text.columns import cells, cut
from console.model.text.lists import Item, Row, heading, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line

WIDEST: Final = 30
MAX_VALUE_CHARS: Final = 4_000
"""Characters that are told of one thing."""
MOST_OPTIONS: Final = 40
MOST_LINES: Final = 20
UNWRITTEN: Final = "not on disk yet"


def widest(slots: Sequence[FormField]) -> int:
    """Columns that the labels would have."""
    return min(WIDEST, max((cells(slot.label) for slot in slots), default=0) + 2)


def label_room(wanted: int, width: int) -> int:
    """Columns that they get: never more than two fifths."""
    return max(8, min(wanted, width * 2 // 5))


def items(filling: FormDraft, unwritten: Set[str] = frozenset()) -> Iterator[Item]:
    """Every field under the heading of its section; of some it is said that they are not on disk."""
    last, wanted = "", widest(filling.slots)
    for slot in filling.slots:
        if slot.section != last:
            last = slot.section
            own = len(filling.changes.get(last, {}))
            above = partial(_heading, SECTIONS[last], f"{own} of your own" if own else "")
            yield Item(f"#{last}", above, is_heading=True)
        yield Item(slot.key, partial(_row, filling, slot, wanted, slot.key in unwritten))


def _heading(words: str, remark: str, width: int) -> Row:  # noqa: ARG001  (it fits any)
    return heading(words, remark)


def _row(filling: FormDraft, slot: FormField, wanted: int, is_unwritten: bool, width: int) -> Row:
    value = filling.value(slot)
    problem = filling.problem(slot, value)
    room = label_room(wanted, width)
    label = cut(slot.label, room - 1)
    tone = "bad" if problem else "faint" if is_nothing(value) else "text"
    mark = "✗ " if problem else "◆ " if filling.is_changed(slot) else "  "
    pieces = [
        Piece(mark, "bad" if problem else "warn"),
        Piece(label + " " * (room - cells(label)), "key"),
        Piece(shown(slot, value), tone),
    ]
    if problem:
        return row(width, pieces, cut(problem, width // 2))
    return row(width, pieces, UNWRITTEN if is_unwritten else "yours" if filling.is_changed(slot) else "")


def about(filling: FormDraft, slot: FormField) -> Iterator[Sequence[Piece]]:
    """All that is known of a field; what is wrong with it first."""
    value, base = filling.value(slot), filling.base(slot)
    must = " · required" if slot.required else ""
    yield [Piece(slot.label, "runner"), Piece(f"  {one_line(slot.name, 60)} · {slot.type}{must}", "faint")]
    if (problem := filling.problem(slot, value)) is not None:
        yield [Piece(f"✗ {one_line(slot.name, 60)} {problem}", "failed")]
    for line in slot.description[:MAX_VALUE_CHARS].splitlines():
        yield [Piece(one_line(line, MAX_VALUE_CHARS), "text")]
    if filling.is_changed(slot):
        yield from _value("yours", slot, value)
    yield from _value("otherwise", slot, base)
    if slot.options:
        names = ", ".join(one_line(option.label, 40) for option in slot.options[:MOST_OPTIONS])
        more = len(slot.options) - MOST_OPTIONS
        yield _fact("options", names + (f" and {more} more" if more > 0 else ""))
    elif slot.takes_others and slot.kind in ("one", "many", "ranked"):
        yield _fact("options", slot.when_unknown or "none is known here; another can be typed")


def _value(name: str, slot: FormField, value: Any) -> Iterator[Sequence[Piece]]:
    """A value by whose it is; one of several lines as it is, since the first may be all that two have in common."""
    if slot.is_secret and not is_nothing(value):
        yield _fact(name, HIDDEN)
    elif slot.kind not in ("page", "prompt", "lines") or is_nothing(value):
        yield _fact(name, shown(slot, value))
    else:
        lines = typed(slot, value)[:MAX_VALUE_CHARS].splitlines() or [""]
        yield from (_fact("" if place else name, line) for place, line in enumerate(lines[:MOST_LINES]))
        if len(lines) > MOST_LINES:
            yield _fact("", f"and {len(lines) - MOST_LINES} more lines")


def _fact(name: str, value: str) -> Sequence[Piece]:
    return [Piece(f"{name:<10}", "faint"), Piece(one_line(value, MAX_VALUE_CHARS), "text")]
