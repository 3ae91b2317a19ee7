"""A console that records its toasts, because toasts disappear by themselves."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import Cue, listener
from tests.support.engines import Engines


class Telling(Trackside):
    """Records the text of every toast, oldest first, also if the same toast is still shown."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told: list[str] = []
        show_toast = self.services.show_toast

        def record(text: str, **options: Any) -> None:
            self.told.append(text)
            show_toast(text, **options)

        self.services.show_toast = record


def telling(open_engine: Engines, cue: Cue | None = None, *, ascii_only: bool = False) -> Telling:
    """Make such a console, with a runner that replies and then pulls steering messages on cue."""
    return Telling(LaunchOptions(ascii_only=ascii_only), lambda: open_engine(listener(cue or Cue())))
