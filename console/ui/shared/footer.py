"""The line at the bottom with the keys."""

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style

from console.model.commands.footer import GAP_COLUMNS, FooterKey
from console.model.text.piece import Piece
from console.ui.shared.styled_text import StyledText


class Footer(StyledText):
    """The keys that work now; each can be clicked."""

    DEFAULT_CSS = """
    Footer { height: 1; dock: bottom; padding: 0 1; background: $panel; }
    Footer { link-style: none; link-style-hover: underline; }
    """

    keys: reactive[Sequence[FooterKey]] = reactive(())

    def render(self) -> Content:
        return Content(" " * GAP_COLUMNS).join(self._shown(key) for key in self.keys)

    def _shown(self, key: FooterKey) -> Content:
        content = self.content_of([Piece(key.key, "accent"), Piece(f" {key.label}", "faint")])
        if not key.command_id:  # a key of a dialog, which handles clicks itself
            return content
        return content.stylize(Style.from_meta({"@click": f"app.perform('{key.command_id}')"}))
