"""The first line of a recording. It has the number of the format, so that a reader can refuse a newer one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from engine.journal.kinds import Data, array, mapping, text
from engine.store.errors import RecordingError
from engine.version import VERSION

FORMAT: Final = 1
"""The format of the recordings that this version writes. It reads this one and all before it."""


class RecordingHeader(NamedTuple):
    """The first line of a recording; a journal entry per line follows it."""

    format: int
    trackside: str
    """The version of Trackside that wrote the recording."""
    run: Data
    """The run as `trackside show --json` prints it, without its grants."""
    grants: Data
    """What the run was allowed, and by which clauses."""
    missing: tuple[str, ...]
    """What the record of the run lacks because an older Trackside made it, as sentences."""


def recording_header(
    run: Mapping[str, Any], grants: Mapping[str, Any] | None, missing: Sequence[str]
) -> dict[str, Any]:
    """Return the data of a recording's first line."""
    return {
        "format": FORMAT,
        "trackside": VERSION,
        "run": dict(run),
        "grants": dict(grants or {}),
        "missing": list(missing),
    }


def read_recording_header(line: str | bytes) -> RecordingHeader:
    """Return the first line of a recording. Raises RecordingError if it is none, or of a newer format."""
    try:
        found = mapping(orjson.loads(line))
    except ValueError:
        found = mapping(None)
    number = found.get("format")
    if type(number) is not int or number < 1:
        raise RecordingError(
            "this is not a recording of Trackside: its first line has no format number. "
            "`trackside show RUN --jsonl` prints a recording."
        )
    if number > FORMAT:
        raise RecordingError(
            f"the recording has format {number}, and Trackside {VERSION} reads up to format {FORMAT}. "
            "Update Trackside to read it."
        )
    missing = tuple(text(each) for each in array(found.get("missing")))
    run, grants = mapping(found.get("run")), mapping(found.get("grants"))
    return RecordingHeader(number, text(found.get("trackside")), run, grants, missing)
