"""The entries and rows that were seen last: bounded in number and in size, whatever a runner says."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from console.model.stream.names import NAMING, Names
from console.model.stream.rows import Row, describe
from engine.events import Entry

MOST: Final = 2_000
LARGEST: Final = 8 * 1024 * 1024
"""Characters of data in all."""


class Recent:
    """Keeps whole entries for the rows that are on the screen or were just now."""

    def __init__(self) -> None:
        # Ordered: what leaves at the front of a plain dict slows down every look for the next to leave.
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._size = 0
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._names = Names()

    def keep(self, entries: Iterable[Entry]) -> None:
        """The newest entries; the oldest go."""
        for entry in entries:
            if entry.position not in self._entries:
                self._entries[entry.position] = entry
                self._size += len(entry.data)
                if entry.type in NAMING:
                    self._names.learn(entry)
        while self._entries and (len(self._entries) > MOST or self._size > LARGEST):
            self._size -= len(self._entries.popitem(last=False)[1].data)

    def entry(self, position: int) -> Entry | None:
        return self._entries.get(position)

    def row(self, position: int) -> Row | None:
        """What an entry says in one line, if the entry is at hand or its row was made before."""
        row = self._rows.get(position)
        if row is None:
            entry = self._entries.get(position)
            if entry is None:
                return None
            row = self._rows[position] = describe(entry, self._names)
            if len(self._rows) > MOST:
                self._rows.popitem(last=False)
        return row
