"""The card that a new user sees in the place of the conversation. It fits 60 columns and 10 rows."""

from typing import Final

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from console.model.commands.key_labels import with_keys

_ROWS: Final = (
    ("{prompt.send}", "run the example: plan a day in three turns", "prompt.send"),
    ("", "type during the run to steer it", ""),
    ("{app.pause}", "pause at the next steering point; {app.continue} continues", ""),
    ("{app.help} t", "a tour of 40 seconds; {app.help} shows help, {app.quit} quits", "app.tour"),
    ("{app.runners}", "your own runner; or: trackside path/to/runner.py", "app.runners"),
)
"""Key, description, and the command that a click runs."""


class WelcomeCard(Static):
    """Shown until the first message is sent."""

    SCOPED_CSS = False
    DEFAULT_CSS = """
    WelcomeCard { width: 60; max-width: 100%; height: auto; padding: 1 1; margin: 1 2; border: round $accent; }
    WelcomeCard { link-style: none; link-color: $foreground; link-style-hover: underline; }
    .-short WelcomeCard { padding: 0 1; margin: 0; border: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="first-card")
        self.border_title = "rehearsal, built in: no key, no network"

    def on_mount(self) -> None:
        """Show the rows whose commands have a key; the user's keys are known only now."""
        self.update(Content("\n").join(_row(*row) for row in _ROWS if "“" not in with_keys(row[0])))


def _row(key: str, text: str, command: str) -> Content:
    shown = Content(with_keys(text))
    if command:
        shown = shown.stylize(Style.from_meta({"@click": f"app.perform('{command}')"}))
    return Content.assemble((f"{with_keys(key):>6}  ", "bold $accent"), shown)
