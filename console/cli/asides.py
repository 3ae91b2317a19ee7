"""What is said and done to a run while it works, told in a line each."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from console.cli.fates import FATES
from console.model.safe import one_line
from console.model.talk.ends import why_dropped
from console.model.words import duration
from engine.api import Entry

Paint = Callable[[str, str], str]
Data = Mapping[str, Any]
SHOWN: Final = 80
"""Characters of a message that are shown; the journal has all of it."""
_SAID: Final[Mapping[str, tuple[str, Callable[[Entry, Data], str]]]] = {
    "steering.queued": ("queued", lambda *_: "queued"),
    "steering.edited": ("queued", lambda _, data: f"edited; it was: {one_line(str(data.get('before')), SHOWN)}"),
    "steering.moved": ("queued", lambda *_: "has another place in the queue"),
    "steering.held": ("held", lambda *_: "held back"),
    "steering.released": ("queued", lambda *_: "queued again"),
    "steering.withdrawn": ("withdrawn", lambda *_: "withdrawn"),
    "steering.turned": (
        "queued",
        lambda _, data: "waits for the run's end now" if data.get("mode") == "after" else "queued",
    ),
    "steering.injected": ("injected", lambda entry, _: f"injected at turn {entry.turn}"),
    "steering.dropped": ("dropped", lambda _, data: f"dropped: {why_dropped(data.get('reason'))}"),
}
"""The fate that an entry leaves a message in, and the words for it. What was pulled is told once it is injected."""


class Asides:
    """Follows the messages of one run by their ids: most entries name no more than that."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._texts: dict[str, str] = {}
        self._holds: dict[str, Callable[[Data], str]] = {
            "hold.reached": self._reached,
            "hold.edited": self._edited,
            "hold.released": self._released,
        }

    def tell(self, entry: Entry, data: Data) -> list[str]:
        """The lines for an entry; most pulls bring nothing and have none."""
        if entry.type == "steering.returned":
            return [self._steer(item_id, "queued", "queued again: the pull was cancelled") for item_id in _items(data)]
        if entry.type in _SAID:
            item_id = str(data.get("item_id"))
            if isinstance(text := data.get("text", data.get("after")), str):
                self._texts[item_id] = text
            fate, words = _SAID[entry.type]
            return [self._steer(item_id, fate, words(entry, data))]
        if entry.type in self._holds:
            return [self._holds[entry.type](data)]
        if entry.type.startswith("hold."):
            words = f"{entry.type.removeprefix('hold.')}: {data.get('when')}"
            return [self._paint("dim", f"· hold {one_line(words, SHOWN)}")]
        return []

    def _steer(self, item_id: str, fate: str, words: str) -> str:
        glyph, colour = FATES[fate]
        text = one_line(self._texts.get(item_id, item_id), SHOWN)
        return f"{self._paint(colour, f'{glyph} steer')}  {text}  {self._paint(colour, words)}"

    def _reached(self, data: Data) -> str:
        what = one_line(str(data.get("type") or data.get("action")), SHOWN)
        words = f"the reply of {what}" if data.get("stage") == "reply" else f"before {what}"
        point = one_line(str(data.get("when")), SHOWN)
        return self._paint("yellow", f"‖ held  {words}") + self._paint("dim", f"  ({point})")

    def _edited(self, data: Data) -> str:
        edit = data["edit"] if "edit" in data else {"artifact": data.get("edit_ref")}
        return self._paint("yellow", "‖ edit") + f"  {one_line(json.dumps(edit, ensure_ascii=False))}"

    def _released(self, data: Data) -> str:
        word = "step" if data.get("how") == "step" else "released"
        return self._paint("cyan", f"▸ {word}") + f"  after {duration(int(float(data.get('seconds', 0)) * 1_000_000))}"


def _items(data: Data) -> list[str]:
    return [str(item_id) for item_id in data.get("items", ())]
