"""Paths that are offered while one is typed: a few lines beside the field, which keeps the focus and the letters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from console.model.commands.key_labels import current_commands_of, key_of, with_keys
from console.model.prompt.attachment_tokens import file_kind
from console.model.text.columns import cut
from console.model.text.glyphs import GLYPHS
from console.model.text.paths import Candidate
from console.model.text.safe import one_line
from console.model.text.units import size
from console.ui.shared.bindings import bindings_for, keys_of
from console.ui.shared.styled_text import StyledText

ROWS: Final = 6
FEW: Final = 3
"""Where the screen has less than 24 lines: the field that they are for has to be seen, too."""


class PathPicker(StyledText):
    """Never has the focus: the field hands it the keys that are its own while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("paths")
    DEFAULT_CSS = """
    PathPicker { display: none; height: auto; max-height: 7; padding: 0 1; background: $panel; }
    """

    @dataclass
    class Asked(Message):
        """The mouse wants what a key of these does: the field has to do it."""

        what: str

    place: ClassVar[str] = "paths"
    """Where its commands are, in the table."""
    offered: reactive[Sequence[Candidate]] = reactive((), layout=True)
    at: reactive[int] = reactive(0)
    is_sure: reactive[bool] = reactive(False)
    """Someone typed some of the path, or chose one: a lone @ is no wish for the first file there is."""
    _missed = ""
    """What is typed, where nothing matches it."""

    def offer(self, found: Sequence[Candidate], typed: str = "") -> None:
        """Show these, or that nothing matches what is typed; nothing of both closes it."""
        self.offered, self.at, self.is_sure = tuple(found), 0, bool(typed)
        self._missed = "" if found else typed
        self.display = bool(found or typed)
        self.refresh(layout=True)

    def close(self) -> None:
        self.offer(())

    def move(self, step: int) -> None:
        self.at = (self.at + step) % max(1, len(self.offered))
        self.is_sure = True

    def take(self) -> Candidate | None:
        """What is chosen; it is closed."""
        chosen = self.offered[self.at] if self.offered else None
        self.offer(())
        return chosen

    def action_ask(self, what: str) -> None:
        self.post_message(self.Asked(what))

    @property
    def is_open(self) -> bool:
        return bool(self.offered)

    def meaning(self, key: str, typed: str) -> str | None:
        """What a key does here while it is open: `take`, `above`, `below`, `close`.

        What was typed since it was offered counts: nobody takes a path that they no longer mean.
        """
        fitting = [one for one in self.offered if one.fits(typed)]
        if len(fitting) < len(self.offered):
            self.offer(fitting)
        self.is_sure = self.is_sure or bool(typed)
        what = self._meanings.get(key) if self.is_open else None
        if what == "enter":
            return "take" if self.is_sure else None
        return what

    @property
    def _meanings(self) -> Mapping[str, str]:
        return {key: command.what for command in current_commands_of("paths") for key in keys_of(command)}

    def render(self) -> Content:
        if self._missed:
            return Content.styled(f"  no file or folder matches {one_line(self._missed, 60)}", "$text-muted")
        seen = ROWS if self.app.size.height >= 24 else FEW
        first = max(0, min(self.at - seen // 2, len(self.offered) - seen))
        rows = [self._row(first + at, one) for at, one in enumerate(self.offered[first : first + seen])]
        count = f"{self.at + 1} of {len(self.offered)} · " if len(self.offered) > seen else ""
        takes = with_keys("{paths.enter} or {paths.take}" if self.is_sure else "{paths.take}")
        rows.append(Content.styled(f"  {count}{takes} takes it · {key_of('paths.close')} closes", "$text-muted"))
        return Content("\n").join(rows)

    def _row(self, at: int, one: Candidate) -> Content:
        is_here = at == self.at
        mark = f"{GLYPHS['cursor'] if is_here else ' '} "
        about = "folder" if one.is_folder else f"{file_kind(one.name)} · {size(one.size)}"
        room = self.content_size.width - len(mark) - len(about) - 2
        name = cut(one_line(one.name), max(8, room))
        gap = " " * max(2, self.content_size.width - len(mark) - Content(name).cell_length - len(about))
        return Content.assemble((mark, "bold $accent"), (name, "bold" if is_here else ""), gap, (about, "$text-muted"))
