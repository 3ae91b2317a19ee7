"""The options of a field that match the typed text, as rows."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from console.model.settings_form.fields import FieldKind, FormField
from console.model.settings_form.values import selected_values
from console.model.text.lists import Item, Row, row
from console.model.text.piece import Piece

MAX_OPTIONS: Final = 200
"""Options that are listed; a search finds the others."""


def matching_options(field: FormField, value: Any, text: str) -> list[Any]:
    """The options that contain the text, and the text itself if it is allowed. An empty one selects nothing."""
    known = [option.value for option in field.options]
    values = [*known, *(each for each in selected_values(field, value) if each not in known)]
    found = [each for each in values if text.lower() in f"{each}\n{field.label_of(each)}".lower()][:MAX_OPTIONS]
    if text and field.allows_others and text not in found:
        found.append(text)
    if field.kind is FieldKind.ONE and not field.required and not text:
        found.insert(0, "")
    return found


def option_items(field: FormField, value: Any, options: Sequence[Any]) -> Iterator[Item]:
    """Rows with a mark at the selected options."""
    selected, known = selected_values(field, value), [option.value for option in field.options]
    for each in options:
        is_known = each in known or each == ""
        yield Item(f"option {each}", partial(_row, field, each, _mark(field, each, selected), is_known))


def _mark(field: FormField, option: Any, selected: Sequence[Any]) -> str:
    if field.kind is FieldKind.RANKED:
        return f"{selected.index(option) + 1} " if option in selected else "  "
    if field.kind is FieldKind.MANY:
        return "[x] " if option in selected else "[ ] "
    return "◉ " if option in selected or (option == "" and not selected) else "  "


def _row(field: FormField, option: Any, mark: str, is_known: bool, width: int) -> Row:
    label = Piece("none", "faint") if option == "" else Piece(field.label_of(option), "text")
    return row(width, [Piece(mark, "good"), label], "" if is_known else "unknown")
