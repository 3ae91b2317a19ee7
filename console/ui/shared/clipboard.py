"""Copies text to the clipboard of the terminal."""

from typing import TYPE_CHECKING, Final

from console.model.text.safe import one_line

if TYPE_CHECKING:
    from textual.app import App

    from console.ui.shared.services import AppServices

MAX_TERMINAL_CHARACTERS: Final = 100_000
"""Some terminals refuse a longer text on their clipboard."""


class Clipboard:
    """Copies a text, and says so."""

    def __init__(self, app: "App[None]", services: "AppServices") -> None:
        self._app = app
        self._services = services

    def copy(self, text: str, what: str) -> None:
        """Copy a text to the clipboard; a very long one also into a file. `what` names it in the toast."""
        self._app.copy_to_clipboard(text)
        if len(text) <= MAX_TERMINAL_CHARACTERS:
            self._services.show_toast(f"Copied {one_line(what)} ({len(text):,} characters).")
            return
        import tempfile  # noqa: PLC0415
        from pathlib import Path  # noqa: PLC0415

        with tempfile.NamedTemporaryFile(
            "w", suffix=".txt", prefix="trackside-", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        self._services.show_toast(f"Copied {one_line(what)}, also into {Path(file.name)}")
