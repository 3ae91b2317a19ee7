"""Other colours: each is on the whole screen as soon as one comes to it."""

from collections.abc import Callable, Sequence
from typing import Final

from textual import on
from textual.timer import Timer
from textual.widgets import OptionList

from console.ui.shared.finder import Finder

SOON: Final = 0.05
"""Seconds: who runs through the list does not wait for every one of them."""


class ThemeFinder(Finder):
    """Esc gives back the colours there were."""

    DEFAULT_CSS = """
    ThemeFinder { align: right bottom; }
    ThemeFinder > Vertical { width: 34; margin: 0 1 1 0; }
    """

    def __init__(self, themes: Sequence[str], now: str, show: Callable[[str], None]) -> None:
        super().__init__("Theme", themes, chosen=now, nothing="there is no such theme")
        self._before = now
        self._show = show
        self._soon: Timer | None = None

    @on(OptionList.OptionHighlighted)
    def _look(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._soon is not None:
            self._soon.stop()
        self._soon = self.set_timer(SOON, self._preview)

    def action_leave(self) -> None:
        if self._soon is not None:
            self._soon.stop()
        self._show(self._before)
        super().action_leave()

    def _preview(self) -> None:
        if self.row is not None:
            self._show(self.row)
