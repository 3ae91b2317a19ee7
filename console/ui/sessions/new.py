"""The dialog that creates a session, at the root or as a child, before its first message."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Label, Static

from console.data.health import error_text
from console.model.sessions.new_session import SessionFields, parse_fields
from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import LineField

Create = Callable[[SessionFields], Awaitable[str]]
"""Creates a session. Returns its id."""

FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "session_id": ("Id", "a new one; any text, as the platform calls the conversation"),
    "title": ("Title", "the first message is shown instead"),
    "user": ("User", "none"),
    "metadata": ("Metadata", '{"city": "Kyoto"}'),
}
"""Each field with its label, and what an empty field means."""


class NewSession(Dialog[str | None]):
    """Asks for id, title, user and metadata. It stays open, with the reason, if the session cannot be created."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "close", priority=True)]
    own_keys = (("enter", "create"), ("tab", "next field"), ("esc", "close"))
    DEFAULT_CSS = """
    NewSession { align: center middle; }
    NewSession > Vertical { width: 100%; max-width: 90; height: auto; padding: 0 1; }
    NewSession > Vertical { border: round $accent; background: $surface; }
    NewSession Horizontal { height: 1; }
    NewSession Label { width: 10; color: $text-muted; }
    NewSession #wrong { color: $text-error; height: auto; max-height: 4; }
    """

    def __init__(self, title: str, create: Create, *, user: str = "") -> None:
        super().__init__()
        self._title = title
        self._create = create
        self._user = user
        """The user that the session gets if none is typed."""
        self._wrong = Static("", id="wrong", markup=False)
        self._is_creating = False

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content(one_line(self._title, 120))
            box.border_subtitle = "enter creates · esc closes"
            yield from self._fields()
            yield self._wrong

    def _fields(self) -> Iterator[Horizontal]:
        for name, (label, meaning) in FIELDS.items():
            placeholder = self._user if name == "user" and self._user else meaning
            yield Horizontal(Label(label), LineField(placeholder=placeholder, id=name))

    def _value(self, name: str) -> str:
        return self.query_one(f"#{name}", LineField).value

    def on_input_changed(self) -> None:
        self._wrong.update("")

    def on_input_submitted(self) -> None:
        if not self._is_creating:
            self._is_creating = True
            self.app.run_worker(self._try_to_create, exit_on_error=False)

    async def _try_to_create(self) -> None:
        try:
            session_id = await self._create(parse_fields(*map(self._value, FIELDS)))
        except Exception as error:  # noqa: BLE001  (the failure is shown, and the text stays)
            self._wrong.update(Content(one_line(error_text(error), 400)))
        else:
            if self.app.screen is self:
                self.dismiss(session_id)
        finally:
            self._is_creating = False

    def action_leave(self) -> None:
        self.dismiss(None)
