"""One entry of the journal. Needs no database, so who only shows entries need not load one."""

from typing import NamedTuple

import orjson

from engine.clock import rfc3339


class Entry(NamedTuple):
    """One thing that happened in a run. The order of the fields is the order of the columns."""

    run_id: str
    position: int
    at: int
    source: str
    type: str
    data: str
    """JSON text, kept as it came."""
    outcome: str | None = None
    reason: str | None = None
    sequence: int | None = None
    turn: int = 1

    def line(self) -> str:
        """The entry as one line of JSON; the same bytes whenever it is asked for."""
        text = (
            f'{{"run_id":{_json(self.run_id)},"position":{self.position},"at":"{rfc3339(self.at)}",'
            f'"source":{_json(self.source)},"type":{_json(self.type)},"data":{self.data}'
        )
        if self.outcome is not None:
            text += f',"outcome":{_json(self.outcome)}'
        if self.reason is not None:
            text += f',"reason":{_json(self.reason)}'
        if self.sequence is not None:
            text += f',"sequence":{self.sequence}'
        return text + "}"


class Mark(NamedTuple):
    """An entry without what it says: enough to find one's way in a long run."""

    position: int
    at: int
    source: str
    type: str
    outcome: str | None
    turn: int
    size: int
    """Characters of its data."""


def _json(text: str) -> str:
    return orjson.dumps(text).decode()
