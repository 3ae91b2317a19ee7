"""One field of the composer: its label, its input widget, and its problem below."""

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from console.model.composer.fields import EventField, InputKind
from console.model.text.safe import one_line
from console.ui.shared.fields import Choice, LineField, TextField

Control = LineField | TextField | Choice


class MultiLineField(TextField):
    """A field of several lines. Up in the first line and down in the last one go to the next field."""

    def action_cursor_up(self, select: bool = False) -> None:
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            raise SkipAction
        super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            raise SkipAction
        super().action_cursor_down(select)


class FieldRow(Widget):
    """A label with input widgets beside it.

    It draws the label itself, and creates the widget of the problem only if there is one: the time to open the form
    grows with the number of widgets.
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
        self._problem: Static | None = None

    def compose(self) -> ComposeResult:
        yield from self._beside

    def render(self) -> Content:
        return Content.styled(f"{self._label:>14}", "$text-muted" if self._problem is None else "bold $text-error")

    def show_problem(self, problem: str | None) -> None:
        """Show or remove a problem."""
        if not problem and self._problem is None:
            return
        if not problem and self._problem is not None:
            self._problem.remove()
            self._problem = None
        elif self._problem is None:
            self._problem = Static(classes="wrong", markup=False)
            self.mount(self._problem)
        if self._problem is not None:
            self._problem.update(Content(f"✗ {one_line(problem or '', 400)}"))
        self.refresh()


def control_for(field: EventField, value: str, options: list[str]) -> Control:
    """Create the input widget of a field."""
    name = field.name
    if field.kind is InputKind.CHOICE:
        return Choice(value, options, id=name)
    if field.kind is InputKind.TEXT:
        return MultiLineField(value, placeholder=hint_text(field.hint), id=name)
    return LineField(value, placeholder=hint_text(field.hint), id=name)


def hint_text(hint: str) -> str:
    """The placeholder of an empty field, in brackets, so that it does not look like a value."""
    return f"({hint})" if hint else ""


def value_of(control: Control) -> str:
    """The text of a field."""
    return control.text if isinstance(control, TextField) else control.value


def set_value(control: Control, value: str) -> None:
    """Set the text of a field, if it differs."""
    if value_of(control) == value:
        return
    if isinstance(control, TextField):
        control.load_text(value)
    else:
        control.value = value
