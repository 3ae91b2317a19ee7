"""One field of the form: what it is called, where it is filled in, and below what is wrong with it."""

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.model.composer.fields import EventField, Kind
from console.model.text.safe import one_line
from console.ui.shared.fields import Choice, LineField, TextField

Control = LineField | TextField | Choice


class Passage(TextField):
    """Several lines, with fields above and below: from its first line up leads to the one before, as in any field."""

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            raise SkipAction
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            raise SkipAction
        super().action_cursor_down(select)


class FieldRow(Widget):
    """A label, and beside it whatever takes the answer.

    It draws the label itself and has no widget for what is wrong before something is: a form takes as long to open as
    it has widgets.
    """

    DEFAULT_CSS = """
    FieldRow { height: auto; }
    FieldRow > .beside { margin-left: 15; }
    FieldRow > .wrong { height: auto; margin-left: 15; color: $text-error; }
    """

    def __init__(self, label: str, *beside: Widget) -> None:
        super().__init__()
        self._label = label
        self._beside = [widget.add_class("beside", update=False) for widget in beside]
        self._wrong: Static | None = None

    def compose(self) -> ComposeResult:
        yield from self._beside

    def render(self) -> Content:
        return Content.styled(f"{self._label:>14}", "$text-muted" if self._wrong is None else "bold $text-error")

    def complain(self, words: str | None) -> None:
        """Say what is wrong with it, or nothing."""
        if not words and self._wrong is None:
            return
        if not words and self._wrong is not None:
            self._wrong.remove()
            self._wrong = None
        elif self._wrong is None:
            self._wrong = Static(classes="wrong", markup=False)
            self.mount(self._wrong)
        if self._wrong is not None:
            self._wrong.update(Content(f"✗ {one_line(words or '', 400)}"))
        self.refresh()


def control_for(field: EventField, value: str, options: list[str]) -> Control:
    """What a field is filled in with."""
    name = field.name
    if field.kind is Kind.CHOICE:
        return Choice(value, options, id=name)
    if field.kind is Kind.TEXT:
        return Passage(value, placeholder=hinted(field.hint), id=name)
    return LineField(value, placeholder=hinted(field.hint), id=name)


def hinted(words: str) -> str:
    """What stands in an empty field, so that nobody takes it for what the field says."""
    return f"({words})" if words else ""


def said_in(control: Control) -> str:
    """What a field says."""
    return control.text if isinstance(control, TextField) else control.value


def say_in(control: Control, value: str) -> None:
    """Have a field say this."""
    if said_in(control) == value:
        return
    if isinstance(control, TextField):
        control.load_text(value)
    else:
        control.value = value
