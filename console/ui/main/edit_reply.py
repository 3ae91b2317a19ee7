"""The answer that is held, as JSON that can be changed before it goes."""

import json
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog

if TYPE_CHECKING:
    from engine.api import Pause

SHAPES = {"call_tool": {"result": {}}, "invoke_llm": {"message": {"role": "assistant", "content": ""}}}
SHAPES["invoke_llm_stream"] = SHAPES["invoke_llm"]

SAVE = "f4"


class EditReply(Dialog[dict[str, Any] | None]):
    """Gives the answer that is to go instead, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave it", priority=True),
        Binding(SAVE, "save", "use this answer", priority=True),
    ]
    own_keys = ((SAVE, "use this answer"), ("esc", "leave it"))
    DEFAULT_CSS = """
    EditReply { align: center middle; }
    EditReply > Vertical { width: 90%; height: 80%; border: round $warning; background: $surface; padding: 0 1; }
    EditReply TextArea { height: 1fr; }
    EditReply #wrong { color: $error; height: auto; }
    """

    def __init__(self, held: "Pause") -> None:
        super().__init__()
        self._held = held

    def compose(self) -> ComposeResult:
        held = self._held
        answer = held.edit or held.original or SHAPES.get(held.action or "", {})
        made = "its answer" if held.original is not None else "the call is not made if you answer it here"
        with Vertical() as box:
            box.border_title = Content(f"{one_line(held.action or held.location, 60)} · {made}")
            box.border_subtitle = f"{SAVE} uses this answer · esc leaves it"
            yield TextArea(json.dumps(answer, ensure_ascii=False, indent=2), language=None, id="answer")
            yield Static("", id="wrong", markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_save(self) -> None:
        text = self.query_one("#answer", TextArea).text
        try:
            answer = json.loads(text)
        except ValueError as error:
            self.query_one("#wrong", Static).update(Content(f"not JSON: {error}"))
            return
        if not isinstance(answer, dict):
            self.query_one("#wrong", Static).update("an answer is a JSON object")
            return
        self.dismiss(answer)
