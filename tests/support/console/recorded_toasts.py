"""A console that records its toasts, because toasts disappear by themselves."""

from typing import Any

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import Cue, listener
from tests.support.engines import Engines


class RecordingConsole(Trackside):
    """The console, with a list of the texts of all toasts, oldest first. Repeated toasts are listed again."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.toasts: list[str] = []
        show_toast = self.services.show_toast

        def record(text: str, **options: Any) -> None:
            self.toasts.append(text)
            show_toast(text, **options)

        self.services.show_toast = record


def recording_console(open_engine: Engines, cue: Cue | None = None, *, ascii_only: bool = False) -> RecordingConsole:
    """Make a recording console with a runner that replies and then pulls steering messages on cue."""
    return RecordingConsole(LaunchOptions(ascii_only=ascii_only), lambda: open_engine(listener(cue or Cue())))
