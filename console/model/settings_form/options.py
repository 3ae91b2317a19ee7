"""What a field can be chosen from: the options that hold what is typed, each with whether it is chosen."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from console.model.settings_form.fields import FormField, Kind
from console.model.settings_form.values import picked
from console.model.text.lists import Item, Row, row
from console.model.text.piece import Piece

MAX_OPTIONS: Final = 200
"""Options that are listed; typing finds the others."""


def offered(slot: FormField, value: Any, text: str) -> list[Any]:
    """The options that hold the text; what is none of them can be taken as it is. An empty one is to choose nothing."""
    known = [option.value for option in slot.options]
    ids = [*known, *(one for one in picked(slot, value) if one not in known)]
    hits = [one for one in ids if text.lower() in f"{one}\n{slot.label_of(one)}".lower()][:MAX_OPTIONS]
    if text and slot.takes_others and text not in hits:
        hits.append(text)
    if slot.kind is Kind.ONE and not slot.required and not text:
        hits.insert(0, "")
    return hits


def option_items(slot: FormField, value: Any, hits: Sequence[Any]) -> Iterator[Item]:
    """Each as a row that says whether it is chosen, and as the how-manieth."""
    chosen, known = picked(slot, value), [option.value for option in slot.options]
    for one in hits:
        yield Item(f"option {one}", partial(_row, slot, one, _mark(slot, one, chosen), one in known or one == ""))


def _mark(slot: FormField, one: Any, chosen: Sequence[Any]) -> str:
    if slot.kind is Kind.RANKED:
        return f"{chosen.index(one) + 1} " if one in chosen else "  "
    if slot.kind is Kind.MANY:
        return "[x] " if one in chosen else "[ ] "
    return "◉ " if one in chosen or (one == "" and not chosen) else "  "


def _row(slot: FormField, one: Any, mark: str, is_known: bool, width: int) -> Row:
    said = Piece("nothing", "faint") if one == "" else Piece(slot.label_of(one), "text")
    return row(width, [Piece(mark, "good"), said], "" if is_known else "not known here")
