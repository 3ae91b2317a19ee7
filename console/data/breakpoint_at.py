"""Where a run is held for someone who points at an entry."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import orjson

from engine.events import EntryKind

if TYPE_CHECKING:
    from engine.api import Engine

_AT_PULLS: Final = (EntryKind.STEERING_PULLED, EntryKind.STEERING_INJECTED)
_CALLS: Final = "call."
_HOLDS: Final = ("pause.", "breakpoint.")


async def point_at(engine: "Engine", run_id: str, kind: str, position: int) -> str:
    """A call by its own name, since its kind only says that it is one; a hold by its point; a result by its kind."""
    if kind in _AT_PULLS:
        return "steering"
    if not kind.startswith((_CALLS, *_HOLDS)):
        return kind
    entry = (await engine.runs.entries_at(run_id, [position]))[0]
    data: Mapping[str, object] = orjson.loads(entry.data)
    if (action := data.get("when" if kind.startswith(_HOLDS) else "action")) is None:
        raise LookupError("this entry does not say which call it is of; point at its call.requested")
    return str(action)
