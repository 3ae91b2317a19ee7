"""The names of messages and calls, for entries that mention them by id only."""

from collections import OrderedDict
from typing import Final

from console.model.text.safe import one_line
from engine.events import (
    CallRequested,
    Entry,
    EntryKind,
    SteeringDropped,
    SteeringEdited,
    SteeringQueued,
    SteeringTurned,
    payload_of,
)

MAX_NAME_CHARS: Final = 300
"""Characters of a summary: more than a row shows. The inspector shows everything."""
MAX_PARSED_CHARS: Final = 256 * 1024
"""Characters of data that are parsed for a row, in a millisecond or two. Longer data is shown as it begins."""
MAX_NAMES: Final = 1_000
NAMING_KINDS: Final = frozenset({
    EntryKind.STEERING_QUEUED, EntryKind.STEERING_EDITED, EntryKind.STEERING_TURNED, EntryKind.STEERING_DROPPED,
    EntryKind.CALL_REQUESTED,
})  # fmt: skip
"""Kinds of entries that contain the text of a message or the action of a call."""


class Names:
    """Remembers the text of messages and the action of calls by their ids."""

    def __init__(self) -> None:
        self._names: OrderedDict[str, str] = OrderedDict()

    def learn(self, entry: Entry) -> None:
        """Remember the name in an entry of a naming kind."""
        if len(entry.data) > MAX_PARSED_CHARS:
            return
        match payload_of(entry):
            case SteeringQueued() | SteeringTurned() | SteeringDropped() as message:
                key, name = message.item_id, message.text
            case SteeringEdited() as message:
                key, name = message.item_id, message.after
            case CallRequested() as call:
                key, name = call.call_id, call.action
            case _:
                return
        if name is not None:
            self._names[key] = one_line(name, MAX_NAME_CHARS)
            if len(self._names) > MAX_NAMES:
                self._names.popitem(last=False)

    def name_of(self, key: str) -> str | None:
        return self._names.get(key)
