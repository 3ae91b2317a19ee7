"""The dialog that edits the reply of a paused call, as JSON."""

import json
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from console.model.state.json_text import to_json_text
from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import SafeTextArea

if TYPE_CHECKING:
    from engine.api import Pause

EXAMPLES = {"call_tool": {"result": {}}, "invoke_llm": {"message": {"role": "assistant", "content": ""}}}
EXAMPLES["invoke_llm_stream"] = EXAMPLES["invoke_llm"]
"""Replies to begin with, by call, if the call was not made yet."""
SAVE = "f4"


class EditReply(Dialog[dict[str, Any] | None]):
    """Returns the new reply, or None if the user leaves it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel", priority=True),
        Binding(SAVE, "save", "use this reply", priority=True),
    ]
    own_keys = ((SAVE, "use this reply"), ("esc", "cancel"))
    DEFAULT_CSS = """
    EditReply { align: center middle; }
    EditReply > Vertical { width: 90%; height: 80%; border: round $warning; background: $surface; padding: 0 1; }
    EditReply TextArea { height: 1fr; }
    EditReply #wrong { color: $error; height: auto; }
    """

    def __init__(self, pause: "Pause") -> None:
        super().__init__()
        self._pause = pause

    def compose(self) -> ComposeResult:
        pause = self._pause
        reply = pause.edit or pause.original or EXAMPLES.get(pause.action or "", {})
        made = "its reply" if pause.original is not None else "a reply from here replaces the call"
        with Vertical() as box:
            box.border_title = Content(f"{one_line(pause.action or pause.location, 60)} · {made}")
            box.border_subtitle = f"{SAVE} uses this reply · esc cancels"
            yield SafeTextArea(to_json_text(reply), id="answer")
            yield Static("", id="wrong", markup=False)

    def action_cancel(self) -> None:
        self.dismiss(None)

    def action_save(self) -> None:
        text = self.query_one("#answer", SafeTextArea).text
        try:
            reply = json.loads(text)
        except ValueError as error:
            self.query_one("#wrong", Static).update(Content(f"Not JSON: {error}"))
            return
        if not isinstance(reply, dict):
            self.query_one("#wrong", Static).update("A reply is a JSON object.")
            return
        self.dismiss(reply)
