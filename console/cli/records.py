"""Rows as JSON for programs: times as RFC 3339, nothing left out."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from console.cli.terminal import Output
from engine.events import rfc3339

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_TIMES: Final = frozenset({"last_active"})


def record(row: "DataclassInstance") -> dict[str, Any]:
    """One row, its times readable."""
    return {
        name: rfc3339(value) if isinstance(value, int) and (name.endswith("_at") or name in _TIMES) else value
        for name, value in asdict(row).items()
    }


def print_json(out: Output, value: object) -> None:
    """One JSON value, for a person to read too."""
    out.write_lines([json.dumps(value, ensure_ascii=False, indent=2)])


def print_all(out: Output, rows: Iterable["DataclassInstance"], *, one_a_line: bool) -> None:
    """Rows as an array, or one a line."""
    records = [record(row) for row in rows]
    if one_a_line:
        out.write_lines([json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in records])
    else:
        print_json(out, records)
