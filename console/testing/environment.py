"""The environment of a picture test: nothing on the screen comes from the machine or the time of day."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from console.testing import quick_textual


@contextmanager
def fixed_environment(home: Path, working_folder: Path | None = None) -> Iterator[None]:
    """Set everything that a picture could take from this machine or the time of day, and speed Textual up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("COLORTERM", "truecolor")
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("HOME", str(home))
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        patch.delenv("NO_COLOR", raising=False)
        patch.chdir(working_folder or home)
        patch.setattr("gc.collect", lambda: 0)
        quick_textual.apply(patch)
        patch.setattr(Input, "_toggle_cursor", lambda _: None)
        patch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _: None)
        time.tzset()
        yield
    time.tzset()
