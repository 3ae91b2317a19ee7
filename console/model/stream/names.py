"""The names that a run's entries give to things."""

from collections import OrderedDict
from typing import Final

from console.model.safe import one_line
from console.model.talk.loose import parsed
from engine.events import Entry

LONGEST: Final = 300
"""Characters of a summary; more than a row shows, and the inspector has all of it."""
PARSED: Final = 256 * 1024
"""Characters of data that are read for a row; longer ones are shown as they begin. A millisecond or two."""
REMEMBERED: Final = 1_000


class Names:
    """What entries before called things, for those that name them by an id only."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, str] = OrderedDict()

    def learn(self, entry: Entry) -> None:
        """Keep the text of a message or the action of a call, from an entry of a naming kind."""
        if len(entry.data) > PARSED:
            return
        data, (key, *named) = parsed(entry.data), NAMING[entry.type]
        name = next((data[field] for field in named if isinstance(data.get(field), str)), None)
        if name is not None:
            self._names[str(data.get(key))] = one_line(name, LONGEST)
            if len(self._names) > REMEMBERED:
                self._names.popitem(last=False)

    def name_of(self, key: object) -> str | None:
        return self._names.get(str(key))


NAMING: Final = {
    "steering.queued": ("item_id", "text"),
    "steering.edited": ("item_id", "after", "text"),
    "steering.turned": ("item_id", "text"),
    "steering.dropped": ("item_id", "text"),
    "call.requested": ("call_id", "action"),
}
"""Kinds of entries that give something a name, by which id, and where the name stands."""
