"""What a newcomer sees where the conversation will be; it fits 60 columns and 10 rows."""

from textual.content import Content
from textual.widgets import Static

_ROWS = (
    ("enter", "try it: it plans a day, in three turns"),
    ("", "then type while it works: that is steering"),
    ("f6", "hold it at its next pull, f5 lets it go on"),
    ("f1", "help about where you are; ^q leaves"),
    ("", "your own runner: trackside path/to/runner.py"),
)


class FirstCard(Static):
    """Goes away with the first message."""

    SCOPED_CSS = False
    DEFAULT_CSS = """
    FirstCard { width: 58; max-width: 100%; height: auto; padding: 1 2; margin: 1 2; border: round $accent; }
    .-short FirstCard { padding: 0 1; margin: 0; border: none; }
    """

    def __init__(self) -> None:
        lines = [Content.assemble((f"{key:>6}  ", "bold $accent"), words) for key, words in _ROWS]
        super().__init__(Content("\n").join(lines), id="first-card")
        self.border_title = "rehearsal, built in: no key, no network"
