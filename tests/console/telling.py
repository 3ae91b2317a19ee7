"""A console that remembers what it told: toasts go away by themselves."""

from pathlib import Path
from typing import Any

import console.app
from console.app import Trackside
from console.opening import Opening
from tests.console.driving import Cue, listener
from tests.support import Engines


class Telling(Trackside):
    """Keeps what it told, oldest first, also where a toast said so already."""

    CSS_PATH = Path(console.app.__file__).with_name("screens") / "main.tcss"  # else it is looked for beside this file

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told: list[str] = []

    def tell(self, words: str, **options: Any) -> None:
        self.told.append(words)
        super().tell(words, **options)


def telling(open_engine: Engines, cue: Cue | None = None, *, ascii_only: bool = False) -> Telling:
    """One whose runner answers, then listens on cue."""
    return Telling(Opening(ascii_only=ascii_only), lambda: open_engine(listener(cue or Cue())))
