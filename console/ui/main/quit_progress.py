"""The dialog that shows what quitting waits for."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.model.commands.key_labels import key_of

REFRESH_SECONDS: Final = 0.5


class QuitProgress(ModalScreen[None]):
    """Open until the engine is closed; the quit key ends the wait."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "app.quit", "quit now", id="app.quit")]
    DEFAULT_CSS = """
    QuitProgress { align: center middle; }
    QuitProgress > Static { width: 64; max-width: 90%; height: auto; padding: 1 2; background: $surface; }
    QuitProgress > Static { border: round $warning; }
    """

    def __init__(self, progress_text: Callable[[], str]) -> None:
        super().__init__()
        self._progress_text = progress_text
        self._text = Static("", markup=False)

    def compose(self) -> ComposeResult:
        yield self._text

    def on_mount(self) -> None:
        self._show()
        self.set_interval(REFRESH_SECONDS, self._show)

    def _show(self) -> None:
        quit_now = f"{key_of('app.quit')} again quits now; unsent text is saved."
        self._text.update(Content(f"{self._progress_text()}\n\n{quit_now}"))
