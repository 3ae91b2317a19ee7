"""What leaving waits for."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.model.commands.key_labels import key_of

SOON: Final = 0.5
"""Seconds until it is looked at again."""


class QuitProgress(ModalScreen[None]):
    """Says it until there is nothing left to wait for; who does not want to wait need not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.quit", "leave now", id="app.quit")]
    DEFAULT_CSS = """
    QuitProgress { align: center middle; }
    QuitProgress > Static { width: 64; max-width: 90%; height: auto; padding: 1 2; background: $surface; }
    QuitProgress > Static { border: round $warning; }
    """

    def __init__(self, waited_for: Callable[[], str]) -> None:
        super().__init__()
        self._waited_for = waited_for
        self._words = Static("", markup=False)

    def compose(self) -> ComposeResult:
        yield self._words

    def on_mount(self) -> None:
        self._tell()
        self.set_interval(SOON, self._tell)

    def _tell(self) -> None:
        leave = f"{key_of('app.quit')} again leaves now; what is unsent is kept."
        self._words.update(Content(f"{self._waited_for()}\n\n{leave}"))
