"""The rows of the conversation that are in view, drawn; and what the mouse marks in them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from console.model.commands.naming import keyed
from console.model.glyphs import Glyphs
from console.model.stream.follow import Follow
from console.model.talk.blocks import Block
from console.model.talk.talk import Talk
from console.widgets.conversation.blocks import FAINT
from console.widgets.conversation.passage import Spot
from console.widgets.conversation.sheet import Sheet, View
from console.widgets.conversation.viewport import Viewport
from console.widgets.marking import marked

if TYPE_CHECKING:
    _Widget = Widget
else:
    # Not Textual's widget: of two bases that are, it would take the styles and keys of the first only.
    _Widget = object


class Drawn(_Widget):
    """A part of the conversation."""

    nothing = "Nothing was said yet.\nType below and press {prompt.send}."
    """What is said where nothing was."""
    _talk: Talk
    _look: View
    _glyphs: Glyphs
    _sheet: Sheet
    _viewport: Viewport
    _theme: str

    if TYPE_CHECKING:

        @property
        def follow(self) -> Follow: ...
        def _changed(self) -> None: ...
        def _state(self) -> str: ...
        def _want_more(self, seen: Sequence[Spot]) -> None: ...

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._viewport.look_again()

    def on_resize(self, _: events.Resize) -> None:
        self._changed()

    def render_line(self, y: int) -> Strip:
        seen, width = self._in_view(), self.content_size.width
        if not seen:
            is_usual = self.nothing == type(self).nothing
            # Other words may hold a name that somebody gave.
            said, style = (keyed(self.nothing), FAINT) if is_usual else (self.nothing, "$text-warning")
            lines = Content.styled(said, style).wrap(max(1, width - 1))
            return self._sheet.strip(
                Content(" ") + lines[y] if y < len(lines) else Content(""), self.visual_style, width
            )
        strip = self._strip(seen[y]) if y < len(seen) else Strip.blank(width, self.visual_style.rich_style)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            strip = marked(strip, *span, self.screen.get_component_rich_style("screen--selection"))
        strip = strip.apply_offsets(0, y)
        if y == self._viewport.tall - 1 and not self.follow.is_tail and not self.styles.border_bottom[0]:
            # Without a border there is no other place for it.
            state = Content.styled(f" {self._state()} ", "reverse")
            over = self._sheet.strip(state, self.visual_style, min(width, state.cell_length))
            strip = Strip.join([strip.crop(0, width - over.cell_length), over])
        return strip

    def _in_view(self) -> Sequence[Spot]:
        """The rows in view, found anew if something has changed."""
        if self._viewport.is_stale:
            if self._theme != self.app.theme:
                self._theme, self._sheet = self.app.theme, Sheet(self._glyphs)
            base, selected = self.visual_style, self.get_visual_style("conversation--cursor")
            later = Style(color=self.get_component_rich_style("conversation--later", partial=True).color)
            self._look = replace(self._look, width=self.content_size.width, base=base, selected=selected, later=later)
            self._viewport.tall = max(1, self.content_size.height)
            self._want_more(self._viewport.seen)
        return self._viewport.seen

    def _strip(self, spot: Spot) -> Strip:
        block = self._talk.block(spot.number)
        strips = [] if block is None else self._strips(block, spot.piece)
        return strips[spot.line] if spot.line < len(strips) else Strip.blank(self.content_size.width)

    def _strips(self, block: Block, piece: int) -> list[Strip]:
        return self._sheet.strips(self._talk, block, piece, self._look)

    def landings(self) -> Iterator[Offset]:
        """Where blocks begin that are in view."""
        first = {spot.number: row for row, spot in reversed(list(enumerate(self._in_view())))}
        yield from (self.content_region.offset - self.region.offset + Offset(0, row) for row in sorted(first.values()))

    # What the mouse marks

    def selection_updated(self, selection: Selection | None) -> None:
        """What is being marked must not move away."""
        if selection is not None and self.follow.is_tail:
            self._in_view()
            self._viewport.stay()
            self._changed()
        super().selection_updated(selection)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What the mouse has marked, without the bars; what is not in view cannot be marked."""
        text = "\n".join(self._strip(spot).text.rstrip() for spot in self._in_view())
        edge = f" {self._glyphs['cursor']}{self._glyphs['later']}{self._glyphs['bar']}"
        return "\n".join(line.lstrip(edge) for line in selection.extract(text).splitlines()), "\n"
