"""What a person settled in `console.yaml`: what is in force of it, and the file read again when that is wanted."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from console.model.settings.file import EXAMPLE
from console.model.settings.told import AGAIN
from console.screens.notes import Notes

Told = Mapping[str, Sequence[str]]


class Choices(Notes):
    """Notes, and below them a file to begin with."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding(AGAIN, "again", "read again")]
    own_keys = ((AGAIN, "read again"), ("esc", "close"))

    def __init__(self, notes: Told, again: Callable[[], Awaitable[Told | None]]) -> None:
        super().__init__("console.yaml", notes)
        self._again = again
        self.closing = f"{AGAIN} reads the file again · esc closes"

    async def action_again(self) -> None:
        notes = await self._again()
        if notes is not None:
            self._notes = notes
            self.on_resize()
            self.query_one(VerticalScroll).scroll_home(animate=False)

    def _lines(self, width: int) -> Iterator[Content]:
        yield from super()._lines(width)
        yield Content.styled("A file to begin with", "bold $accent")
        for line in EXAMPLE.splitlines():
            yield Content(f"  {line}"[:width])
        yield Content("")
