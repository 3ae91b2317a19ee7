"""JSON output of rows, with times as RFC 3339."""

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
    """Return a row as a dict, with its times as RFC 3339."""
    return {
        name: rfc3339(value) if isinstance(value, int) and (name.endswith("_at") or name in _TIMES) else value
        for name, value in asdict(row).items()
    }


def print_json(out: Output, value: object) -> None:
    """Print one JSON value, indented."""
    out.write_lines([json.dumps(value, ensure_ascii=False, indent=2)])


def print_json_line(out: Output, value: object) -> None:
    """Print one JSON value on one line."""
    out.write_lines([_on_one_line(value)])


def print_all(out: Output, rows: Iterable["DataclassInstance | dict[str, Any]"], *, as_lines: bool) -> None:
    """Print rows as one JSON array, or one row per line. A row that is a dict is printed as it is."""
    records = [row if isinstance(row, dict) else record(row) for row in rows]
    if as_lines:
        out.write_lines([_on_one_line(row) for row in records])
    else:
        print_json(out, records)


def _on_one_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
