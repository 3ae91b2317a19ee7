"""The theme picker: applies the highlighted theme to the whole screen as a preview."""

from collections.abc import Callable, Sequence
from typing import Final

from textual import on
from textual.timer import Timer
from textual.widgets import OptionList

from console.ui.shared.finder import Finder

PREVIEW_DELAY_SECONDS: Final = 0.05
"""A theme is previewed after the cursor has rested on it this long, so that moving through the list stays fast."""


class ThemeFinder(Finder):
    """Returns the chosen theme. esc restores the theme from before."""

    DEFAULT_CSS = """
    ThemeFinder { align: right bottom; }
    ThemeFinder > Vertical { width: 34; margin: 0 1 1 0; }
    """

    def __init__(self, themes: Sequence[str], current: str, apply: Callable[[str], None]) -> None:
        super().__init__("Theme", themes, chosen=current, no_match="No theme matches.")
        self._before = current
        self._apply = apply
        self._preview_timer: Timer | None = None

    @on(OptionList.OptionHighlighted)
    def _schedule_preview(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._preview_timer is not None:
            self._preview_timer.stop()
        self._preview_timer = self.set_timer(PREVIEW_DELAY_SECONDS, self._preview)

    def action_leave(self) -> None:
        if self._preview_timer is not None:
            self._preview_timer.stop()
        self._apply(self._before)
        super().action_leave()

    def _preview(self) -> None:
        if self.row is not None:
            self._apply(self.row)
