"""Help, command palette, jump mode and tour."""

from time import monotonic
from typing import TYPE_CHECKING, Final

from console.ui.shared.dialog import Palette

if TYPE_CHECKING:
    from console.ui.help.jump import JumpTarget
    from console.ui.main.screen import MainScreen
    from console.ui.shared.services import AppServices

MAX_JUMP_SECONDS: Final = 5.0
"""Seconds for which the screen stands still in jump mode."""


class HelpController:
    """Opens the dialogs that explain the screen or lead to a part of it."""

    def __init__(self, services: "AppServices", main: "MainScreen") -> None:
        self._services = services
        self._main = main
        self._still_until = 0.0

    def action_help(self) -> None:
        from console.ui.help.screen import Help  # noqa: PLC0415

        place = (self._services.full_screen or self._main).where()
        self._services.push_screen(Help(place, self._services.commands))

    def action_command_palette(self) -> None:
        if not isinstance(self._services.screen, Palette):
            self._services.push_screen(Palette())

    def action_tour(self) -> None:
        from console.ui.help.tour import Tour  # noqa: PLC0415

        self._services.push_screen(Tour(self._main))

    # Jump mode

    def action_jump(self) -> None:
        from console.ui.help.jump import JumpMode, find_targets  # noqa: PLC0415

        below = self._services.screen
        self._still_until = monotonic() + MAX_JUMP_SECONDS
        self._services.push_screen(JumpMode(below, find_targets(below)), self._jump_to)

    @property
    def is_screen_still(self) -> bool:
        """Whether the screen must not change: its jump labels have to stay where they are."""
        return monotonic() < self._still_until

    def _jump_to(self, target: "JumpTarget | None") -> None:
        if target is None:
            self._release_screen()
        else:
            target.activate()
            target.widget.call_later(self._release_screen)  # after the widget has handled the click

    def _release_screen(self) -> None:
        self._still_until = 0.0
