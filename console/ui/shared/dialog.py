"""Dialogs. While one is open, of the commands of `app` only stop and quit work."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandInput, CommandList, CommandPalette
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Button, Static
from textual.widgets._toast import ToastRack

from console.model.commands.table import BY_ID
from console.ui.shared.bindings import keys_of

if TYPE_CHECKING:
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    # Not Textual's screen: of two bases that are, it would take the styles and keys of the first only.
    _Screen = object

AT_ALL_TIMES: Final = ("app.stop", "app.quit")
"""Commands of `app` that work in every dialog."""
# With priority, because a dialog may handle every key itself.
_BINDINGS: Final[list[BindingType]] = [
    Binding(",".join(keys_of(command)), command.what, command.label, id=command.id, show=False, priority=True)
    for command in map(BY_ID.__getitem__, AT_ALL_TIMES)
]


class _StopAndQuit(_Screen):
    """Passes stop and quit on to the app."""

    own_keys: ClassVar[Sequence[tuple[str, str]]] = ()
    """Keys of the dialog and their labels, for the footer."""

    def on_mount(self) -> None:
        """Hide the toasts of the screens underneath: the dialog shows the same toasts."""
        for rack in (rack for screen in self.app.screen_stack[:-1] for rack in screen.query(ToastRack)):
            rack.display = False

    def may_quit(self) -> bool:
        """Whether quitting loses nothing. If False, the dialog says so, and the same key again quits."""
        return True

    async def action_quit(self) -> None:
        if self.may_quit():
            await self.app.run_action("app.quit")

    async def action_stop(self) -> None:
        await self.app.run_action("app.stop")


class Dialog(_StopAndQuit, ModalScreen[ScreenResultType]):
    """The base of all dialogs."""

    BINDINGS: ClassVar[list[BindingType]] = _BINDINGS


class Palette(_StopAndQuit, CommandPalette):
    """Textual's palette with a mark at the selected command. It searches names and help texts."""

    BINDINGS: ClassVar[list[BindingType]] = _BINDINGS
    own_keys = (("enter", "run"), ("esc", "close"))

    def __init__(self) -> None:
        from console.ui.shared.command_palette import Commands  # noqa: PLC0415  (not before the first frame)

        super().__init__(providers=[Commands], id="--command-palette")

    def compose(self) -> ComposeResult:
        from console.ui.shared.command_palette import PaletteInput  # noqa: PLC0415
        from console.ui.shared.marked_list import MarkedCommandList  # noqa: PLC0415

        for widget in super().compose():
            if isinstance(widget, CommandInput):
                yield PaletteInput(placeholder=widget.placeholder, select_on_focus=False)
            else:
                yield MarkedCommandList() if isinstance(widget, CommandList) else widget


class Question(Dialog[bool]):
    """A question with the answers yes and no; esc means no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "no"),
        Binding("y", "answer(True)", "yes"),
    ]
    DEFAULT_CSS = """
    Question { align: center middle; }
    Question > Vertical { width: 56; max-width: 90%; height: auto; padding: 1 2; background: $surface; }
    Question > Vertical { border: round $warning; }
    Question Horizontal { height: auto; margin-top: 1; }
    Question Button { margin-right: 2; }
    """

    def __init__(self, text: str, yes: str, no: str = "Cancel") -> None:
        super().__init__()
        self._text, self._yes, self._no = text, yes, no

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._text, markup=False)
            with Horizontal():
                yield Button(f"{self._yes} (y)", variant="warning", id="yes")
                yield Button(f"{self._no} (esc)", id="no")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class QuitQuestion(Question):
    """Asks before quitting; the quit key again means yes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "answer(True)", "yes", id="app.quit")]
