"""The settings form as rows: its fields, the details of one field, and the grants of a run with these settings."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final

from console.model.inspector.grants import permission_groups
from console.model.settings_form.fields import SECTIONS, SELECTIONS, TEXTS, FormField
from console.model.settings_form.form_draft import FormDraft
from console.model.settings_form.values import HIDDEN, display_text, edit_text, is_empty
from console.model.text.columns import cells, cut
from console.model.text.lists import Item, Row, Source, Stack, Text, heading, row
from console.model.text.piece import Piece
from console.model.text.safe import one_line

MAX_LABEL_COLUMNS: Final = 30
MIN_LABEL_COLUMNS: Final = 8
MAX_VALUE_CHARS: Final = 4_000
"""Characters of a description or value in the details."""
MAX_LISTED_OPTIONS: Final = 40
MAX_VALUE_LINES: Final = 20
UNSAVED: Final = "not on disk yet"


def widest_label(fields: Sequence[FormField]) -> int:
    """Columns that the labels need."""
    return min(MAX_LABEL_COLUMNS, max((cells(field.label) for field in fields), default=0) + 2)


def label_columns(needed: int, width: int) -> int:
    """Columns that the labels get: at most two fifths of the width."""
    return max(MIN_LABEL_COLUMNS, min(needed, width * 2 // 5))


def field_items(draft: FormDraft, unsaved: Set[str] = frozenset()) -> Iterator[Item]:
    """Every field under the heading of its section; `unsaved` are the keys of fields that are not on disk."""
    last, needed = "", widest_label(draft.fields)
    for field in draft.fields:
        if field.section != last:
            last = field.section
            count = len(draft.changes.get(last, {}))
            title = partial(_heading, SECTIONS[last], f"{count} changed" if count else "")
            yield Item(f"#{last}", title, is_heading=True)
        yield Item(field.key, partial(_row, draft, field, needed, field.key in unsaved))


def _heading(title: str, remark: str, width: int) -> Row:  # noqa: ARG001  (the same for every width)
    return heading(title, remark)


def _row(draft: FormDraft, field: FormField, needed: int, is_unsaved: bool, width: int) -> Row:
    value = draft.value(field)
    problem = draft.problem(field, value)
    room = label_columns(needed, width)
    label = cut(field.label, room - 1)
    tone = "bad" if problem else "faint" if is_empty(value) else "text"
    mark = "✗ " if problem else "◆ " if draft.is_changed(field) else "  "
    pieces = [
        Piece(mark, "bad" if problem else "warn"),
        Piece(label + " " * (room - cells(label)), "key"),
        Piece(display_text(field, value), tone),
    ]
    if problem:
        return row(width, pieces, cut(problem, width // 2))
    return row(width, pieces, UNSAVED if is_unsaved else "changed" if draft.is_changed(field) else "")


# Details of a field


def field_details(draft: FormDraft, field: FormField) -> Iterator[Sequence[Piece]]:
    """The lines about a field; its problem comes first."""
    value = draft.value(field)
    required = " · required" if field.required else ""
    yield [Piece(field.label, "runner"), Piece(f"  {one_line(field.name, 60)} · {field.type}{required}", "faint")]
    if (problem := draft.problem(field, value)) is not None:
        yield [Piece(f"✗ {one_line(field.name, 60)} {problem}", "failed")]
    for line in field.description[:MAX_VALUE_CHARS].splitlines():
        yield [Piece(one_line(line, MAX_VALUE_CHARS), "text")]
    if draft.is_changed(field):
        yield from _value_lines("your value", field, value)
        yield from _value_lines("resets to", field, draft.base_value(field))
    else:
        yield from _value_lines("value", field, value)
    if field.options:
        names = ", ".join(one_line(option.label, 40) for option in field.options[:MAX_LISTED_OPTIONS])
        more = len(field.options) - MAX_LISTED_OPTIONS
        yield _fact("options", names + (f" and {more} more" if more > 0 else ""))
    elif field.allows_others and field.kind in SELECTIONS:
        yield _fact("options", field.no_options_text or "none known; type a value")


def _value_lines(label: str, field: FormField, value: Any) -> Iterator[Sequence[Piece]]:
    """A value; a text is shown in full, because two texts may differ after their first line only."""
    if field.is_secret and not is_empty(value):
        yield _fact(label, HIDDEN)
    elif field.kind not in TEXTS or is_empty(value):
        yield _fact(label, display_text(field, value))
    else:
        lines = edit_text(field, value)[:MAX_VALUE_CHARS].splitlines() or [""]
        yield from (_fact("" if index else label, line) for index, line in enumerate(lines[:MAX_VALUE_LINES]))
        if len(lines) > MAX_VALUE_LINES:
            yield _fact("", f"and {len(lines) - MAX_VALUE_LINES} more lines")


def _fact(label: str, value: str) -> Sequence[Piece]:
    return [Piece(f"{label:<12}", "faint"), Piece(one_line(value, MAX_VALUE_CHARS), "text")]


# Preview of the grants


def grant_rows(snapshot: Mapping[str, Any], warnings: Sequence[str] = ()) -> Stack:
    """The grants of a run, each with its clause."""
    return Stack(list(_grant_parts(snapshot, warnings)))


def refusal_rows(reason: str) -> Stack:
    """Why a run could not start with these settings."""
    return Stack([Text(Piece("No run can start:", "bad")), Text(Piece(one_line(reason, 800), "text"), indent=1)])


def _grant_parts(snapshot: Mapping[str, Any], warnings: Sequence[str]) -> Iterator[Source]:
    for warning in warnings:
        yield Text(Piece("⚠ ", "warn"), Piece(one_line(warning, 400), "warn"))
    # Grants that the form can change come first; most calls depend on the manifest alone.
    for title, rows in sorted(permission_groups(snapshot), key=lambda section: section[0] == "Calls"):
        yield Text(Piece(title, "heading"))
        for grant in rows:
            yield Text(
                Piece("✓ " if grant.allowed else "✗ ", "good" if grant.allowed else "bad"),
                Piece(f"{one_line(grant.name, 60)}  ", "strong"),
                Piece(one_line(grant.words, 60), "text"),
                below=Piece(one_line(grant.clause, 300), "faint"),
                indent=1,
            )
