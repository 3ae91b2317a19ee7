"""A dialog over a screen: what else is everywhere waits until it is closed, but one can always stop and leave."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets._toast import ToastRack

from console.bindings import keys_of
from console.model.commands import BY_ID

if TYPE_CHECKING:
    from textual.screen import Screen

    from console.app import Trackside

    _Screen = Screen[Any]
else:
    # Not Textual's screen: of two bases that are, it would take the styles and keys of the first only.
    _Screen = object

AT_ALL_TIMES: Final = ("app.stop", "app.quit")
"""Commands of everywhere that are heard in every dialog."""
# Before what has the focus: a dialog may take every key for itself.
_BINDINGS: Final[list[BindingType]] = [
    Binding(",".join(keys_of(command)), command.what, command.words, id=command.id, show=False, priority=True)
    for command in map(BY_ID.__getitem__, AT_ALL_TIMES)
]


class _Heeding(_Screen):
    """Hands these commands on to the app."""

    own_keys: ClassVar[Sequence[tuple[str, str]]] = ()
    """Keys of its own that the line at the bottom names, each with what it does."""

    def on_mount(self) -> None:
        """Toasts lie on the dialog: those underneath say the same once more. They are back with their screen."""
        for rack in (rack for screen in self.app.screen_stack[:-1] for rack in screen.query(ToastRack)):
            rack.display = False

    def may_quit(self) -> bool:
        """Whether nothing is lost that is only here; else it says so, and the same key again is sure."""
        return True

    async def action_quit(self) -> None:
        if self.may_quit():
            await self.app.action_quit()

    def action_stop(self) -> None:
        cast("Trackside", self.app).action_stop()


class Dialog(_Heeding, ModalScreen[ScreenResultType]):
    """What every dialog is."""

    BINDINGS: ClassVar[list[BindingType]] = _BINDINGS


class Palette(_Heeding, CommandPalette):
    """Textual's own, with a mark at the command that is chosen; it looks into what is said of them, too."""

    BINDINGS: ClassVar[list[BindingType]] = _BINDINGS
    own_keys = (("enter", "do it"), ("esc", "close"))

    def __init__(self) -> None:
        from console.screens.commands import Commands  # noqa: PLC0415  (not before the first frame)

        super().__init__(providers=[Commands], id="--command-palette")

    def compose(self) -> ComposeResult:
        from console.widgets.chosen import ChosenCommands  # noqa: PLC0415

        for widget in super().compose():
            yield ChosenCommands() if isinstance(widget, CommandList) else widget
