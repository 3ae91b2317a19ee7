"""The line at the bottom."""

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style

from console.model.footing import GAP, FooterKey
from console.model.piece import Piece
from console.widgets.tones import Toned


class Footer(Toned):
    """The keys that can be pressed now; each can be clicked."""

    DEFAULT_CSS = """
    Footer { height: 1; dock: bottom; padding: 0 1; background: $panel; }
    Footer { link-style: none; link-style-hover: underline; }
    """

    keys: reactive[Sequence[FooterKey]] = reactive(())

    def render(self) -> Content:
        return Content(" " * GAP).join(self._shown(key) for key in self.keys)

    def _shown(self, key: FooterKey) -> Content:
        said = self.content_of([Piece(key.key, "key"), Piece(f" {key.words}", "faint")])
        if not key.command_id:  # a dialog's, which hears the mouse itself
            return said
        return said.stylize(Style.from_meta({"@click": f"app.perform('{key.command_id}')"}))
