"""The tour: goes from pane to pane with a short text about each; esc ends it at any step."""

from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from console.model.commands.key_labels import with_keys
from console.model.commands.tour import STEPS
from console.ui.shared.dialog import Dialog

if TYPE_CHECKING:
    from console.ui.main.screen import MainScreen

_EDGE_COLUMNS: Final = 6
"""Columns of the top border that are neither title nor keys."""
SIZE_CLASSES: Final = frozenset({"-wide", "-medium", "-narrow", "-tall", "-short"})
"""Classes of the screen that depend on its size, which may have changed by the end of the tour."""
_KEYS: Final = ("enter next · left back · esc end", "enter next · esc end")


class Tour(Dialog[None]):
    """Lies below the panes, which make room for it. At the end the focus and the visible panes are restored."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,right,down", "step(1)", "next"),
        Binding("left,up,backspace", "step(-1)", "back"),
        Binding("escape,q", "leave", "end", priority=True),
    ]
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Tour { background: $background 0%; align: center bottom; }
    Tour > Static { width: 1fr; height: auto; padding: 0 1; background: $panel; border-top: solid $warning; }
    Tour > Static { border-title-color: $foreground; }
    """

    def __init__(self, main: "MainScreen") -> None:
        super().__init__()
        self._main = main
        self._pane_before = main.where()
        self._classes_before = {name for name in main.classes if name not in SIZE_CLASSES}
        """Classes of the screen that select the visible panes."""
        self._step = 0
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        yield self._text

    def on_mount(self) -> None:
        self._show()

    def on_resize(self) -> None:
        self._show()

    def action_step(self, by: int) -> None:
        self._step = max(0, self._step + by)
        if self._step < len(STEPS):
            self._show()
        else:
            self.action_leave()

    def on_click(self) -> None:
        self.action_step(1)

    def action_leave(self) -> None:
        main = self._main
        main.styles.padding, main.footer.display = 0, True
        main.go_to(self._pane_before if self._pane_before in main.panes else "prompt")
        main.set_classes([*self._classes_before, *(name for name in main.classes if name in SIZE_CLASSES)])
        self.dismiss()

    def _show(self) -> None:
        step, width = STEPS[self._step], self.app.size.width
        self._main.go_to(step.where)
        is_last = self._step == len(STEPS) - 1
        title = f"{self._step + 1} of {len(STEPS)} · {step.title}"
        room = width - len(title) - _EDGE_COLUMNS
        keys = "enter end" if is_last else next((keys for keys in _KEYS if len(keys) < room), "esc end")
        self._text.border_title = Content(f" {title} {'─' * (room - len(keys))} {keys} ")
        self._text.update(Content(with_keys(step.text)))
        # The panes end above the tour, and the footer is hidden because its keys do not work now.
        self._main.footer.display = False
        self._main.styles.padding = (0, 0, self._text.get_content_height(self.size, self.size, width - 2) + 1, 0)
