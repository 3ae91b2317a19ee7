"""The list of paths that completes a typed path. The input field keeps the focus and receives the keys.

It is not an `ItemList`, because the first frame includes the prompt and must not load the lists.
"""

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

MAX_ROWS: Final = 6
MAX_ROWS_IF_SHORT: Final = 3
"""Rows on a screen of less than 24 lines, where the input field must stay visible."""


class PathPicker(StyledText):
    """Completions of a path. It never has the focus: the input field passes the picker's keys on while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_for("paths")
    DEFAULT_CSS = """
    PathPicker { display: none; height: auto; max-height: 7; padding: 0 1; background: $panel; }
    """

    @dataclass
    class CommandClicked(Message):
        """Posted when the user clicks a key of the picker in the footer; the input field carries it out."""

        command: str

    place: ClassVar[str] = "paths"
    """The group of its commands in the command table."""
    candidates: reactive[Sequence[Candidate]] = reactive((), layout=True)
    cursor: reactive[int] = reactive(0)
    takes_on_enter: reactive[bool] = reactive(False)
    """Whether enter uses the path: only after the user typed a part of it or moved the cursor, not after a lone @."""
    _unmatched = ""
    """The typed text if no path matches it."""

    def offer(self, candidates: Sequence[Candidate], typed: str = "") -> None:
        """Show paths, or that none matches the typed text. Without both, the picker is closed.

        A cursor that the user moved stays on its path: the answer of the disk may come after the key.
        """
        chosen = self.candidates[self.cursor] if self.cursor else None
        cursor = candidates.index(chosen) if chosen in candidates else 0
        self.candidates, self.cursor, self.takes_on_enter = tuple(candidates), cursor, bool(typed or cursor)
        self._unmatched = "" if candidates else typed
        self.display = bool(candidates or typed)
        self.refresh(layout=True)

    def close(self) -> None:
        self.offer(())

    def move(self, step: int) -> None:
        """Move the cursor; it wraps around."""
        self.cursor = (self.cursor + step) % max(1, len(self.candidates))
        self.takes_on_enter = True

    def take(self) -> Candidate | None:
        """Return the path under the cursor and close the picker."""
        chosen = self.candidates[self.cursor] if self.candidates else None
        self.close()
        return chosen

    def action_ask(self, command: str) -> None:
        self.post_message(self.CommandClicked(command))

    @property
    def is_open(self) -> bool:
        return bool(self.candidates)

    def command_for_key(self, key: str, typed: str) -> str | None:
        """The command of a key while the picker is open: `take`, `above`, `below` or `close`; None for other keys.

        Paths that no longer match the typed text are removed first, so that none of them is taken.
        """
        matching = [one for one in self.candidates if one.fits(typed)]
        if len(matching) < len(self.candidates):
            self.offer(matching)
        self.takes_on_enter = self.takes_on_enter or bool(typed)
        command = self._commands_by_key.get(key) if self.is_open else None
        if command == "enter":
            return "take" if self.takes_on_enter else None
        return command

    @property
    def _commands_by_key(self) -> Mapping[str, str]:
        return {key: command.what for command in current_commands_of("paths") for key in keys_of(command)}

    def render(self) -> Content:
        if self._unmatched:
            return Content.styled(f"  No file or folder matches {one_line(self._unmatched, 60)}.", "$text-muted")
        count = MAX_ROWS if self.app.size.height >= 24 else MAX_ROWS_IF_SHORT
        first = max(0, min(self.cursor - count // 2, len(self.candidates) - count))
        rows = [self._row(first + at, one) for at, one in enumerate(self.candidates[first : first + count])]
        place = f"{self.cursor + 1} of {len(self.candidates)} · " if len(self.candidates) > count else ""
        keys = with_keys("{paths.enter} or {paths.take}" if self.takes_on_enter else "{paths.take}")
        rows.append(Content.styled(f"  {place}{keys} uses the path · {key_of('paths.close')} closes", "$text-muted"))
        return Content("\n").join(rows)

    def _row(self, index: int, candidate: Candidate) -> Content:
        is_current = index == self.cursor
        mark = f"{GLYPHS['cursor'] if is_current else ' '} "
        kind = "folder" if candidate.is_folder else f"{file_kind(candidate.name)} · {size(candidate.size)}"
        room = self.content_size.width - len(mark) - len(kind) - 2
        name = cut(one_line(candidate.name), max(8, room))
        gap = " " * max(2, self.content_size.width - len(mark) - Content(name).cell_length - len(kind))
        return Content.assemble(
            (mark, "bold $accent"), (name, "bold" if is_current else ""), gap, (kind, "$text-muted")
        )
