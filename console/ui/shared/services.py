"""Services for controllers and full screens: toasts, background work, screens, availability of commands."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from textual.screen import ModalScreen, Screen

from console.data.health import error_text
from console.model.commands.footer import GAP_COLUMNS, FooterKey, footer_keys
from console.model.commands.table import BY_ID, COMMANDS, Command
from console.model.text.glyphs import GLYPHS
from console.model.text.safe import one_line
from console.ui.main.situation import situation
from console.ui.shared.closing_awaitable import ClosingAwaitable
from console.ui.shared.dialog import AT_ALL_TIMES
from console.ui.shared.full_screen import FullScreen

if TYPE_CHECKING:
    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.data.health import HealthMonitor
    from console.model.commands.situation import Situation
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater
    from console.ui.shared.crash_guard import FailureReport

T = TypeVar("T")
ScreenType = TypeVar("ScreenType", bound=Screen[Any])
Severity = Literal["information", "warning", "error"]
MAX_TOAST_CHARACTERS: Final = 400
SLOW_SECONDS: Final = 0.5
"""Seconds after which a toast says what is being waited for."""


class AppServices:
    """One instance per app. Controllers and full screens receive it; none of them knows the app's class."""

    def __init__(
        self, app: "App[None]", active_session: "ActiveSession", main: "MainScreen", health: "HealthMonitor"
    ) -> None:
        self._app = app
        self._main = main
        self._updater: ScreenUpdater | None = None
        self.active_session = active_session
        self.health = health
        self.commands: Sequence[Command] = COMMANDS
        """The command table with the user's keys."""
        self.screen_failures: tuple[FailureReport, ...] = ()
        """Failures of dialogs and full screens, which were closed."""

    @property
    def updater(self) -> "ScreenUpdater":
        """Created on first use, because its imports are too slow for the first frame."""
        if self._updater is None:
            from console.ui.main.updater import ScreenUpdater  # noqa: PLC0415

            self._updater = ScreenUpdater(self.active_session, self._main, self.run_in_background)
        return self._updater

    # Background work

    def run_in_background(self, work: Awaitable[Any], done_text: str = "") -> None:
        """Await `work` in a worker of the app. Shows its error as a toast, or `done_text` at the end."""
        due = ClosingAwaitable(work)

        async def carry_out() -> None:
            try:
                await due
            except Exception as error:  # noqa: BLE001  (a failed action must not end the app)
                self.show_toast(error_text(error), severity="error")
            else:
                if done_text:
                    self.show_toast(done_text)

        self._app.run_worker(carry_out, exit_on_error=False)

    async def wait_with_toast(self, work: Awaitable[T], text: str) -> T:
        """Await `work`. Shows `text` while that is slow."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=SLOW_SECONDS))[0]:
                self.show_toast(text, seconds=2 * SLOW_SECONDS)
            return task.result()
        finally:
            task.cancel()

    # Toasts

    def show_toast(self, text: str, *, severity: Severity = "information", seconds: float | None = None) -> None:
        """Show a toast, unless the same toast is visible. Text of runners is never read as markup."""
        glyph = {"error": "failed", "warning": "lost"}.get(severity)
        width, height = self._app.size
        cut = one_line(text, min(MAX_TOAST_CHARACTERS, width * height // 4))  # more has no room on the screen
        shown = f"{GLYPHS[glyph]} {cut}" if glyph else cut
        if not any(toast.message == shown for toast in self._app._notifications):  # noqa: SLF001
            self._app.notify(shown, severity=severity, timeout=seconds, markup=False)

    def dismiss_toasts(self, texts: Collection[str]) -> None:
        """Remove the toasts that contain one of these texts."""
        toasts = self._app._notifications  # noqa: SLF001
        for toast in [toast for toast in toasts if any(text in toast.message for text in texts)]:
            self._app._unnotify(toast)  # noqa: SLF001

    # Screens

    @property
    def screen(self) -> Screen[Any]:
        """The screen on top."""
        return self._app.screen

    @property
    def full_screens(self) -> list[FullScreen]:
        """The full screens over the panes, the top one first."""
        return [screen for screen in reversed(self._app.screen_stack) if isinstance(screen, FullScreen)]

    @property
    def full_screen(self) -> FullScreen | None:
        """The top full screen over the panes, also if a dialog lies over it."""
        return next(iter(self.full_screens), None)

    def find_screen(self, kind: type[ScreenType]) -> ScreenType | None:
        """The open screen of a class, if any."""
        return next((screen for screen in self._app.screen_stack if isinstance(screen, kind)), None)

    def push_screen(self, screen: Screen[T], callback: Callable[[T | None], None] | None = None) -> None:
        self._app.push_screen(screen, callback)

    async def ask(self, dialog: Screen[T]) -> T | None:
        """Show a dialog and return its answer. Must be called in a worker."""
        return await self._app.push_screen_wait(dialog)

    def save_inputs(self, screens: Iterable[FullScreen] | None = None) -> bool:
        """Save the unsaved input of these screens; by default, of all full screens.

        Returns False if one cannot be saved: that screen is then on top and shows why.
        """
        for screen in self.full_screens if screens is None else screens:
            if not screen.save_input():
                screen.pop_until_active()
                return False
        return True

    def close_full_screens(self, *kinds: type[FullScreen]) -> None:
        """Close the full screens on top; with `kinds`, only as long as they are of these classes."""
        while isinstance(self._app.screen, kinds or FullScreen):
            self._app.pop_screen()

    # Availability of commands

    @property
    def situation(self) -> "Situation":
        """The facts that decide which commands are available now."""
        problem = self.health.problem
        now = situation(self.updater, self.active_session, self._main, problem.text if problem else None)
        if self.screen_failures:
            now = replace(now, has_failed=True)
        top = self.full_screen
        return now if top is None else replace(now, is_covered=True, back=top.back)

    def why_not(self, command: Command, now: "Situation | None" = None) -> str | None:
        """Why a command is not available now, because of the run or of what its pane shows; None if it is."""
        top = self.full_screen
        is_owned = top is not None and top.owns(command.where)
        if top is not None and not command.over_screens and not is_owned:
            return f"{command.label[:1].upper()}{command.label[1:]} works on the main screen. Press esc to go back."
        opened = [f"app.{each.opened_by or each.place}" for each in self.full_screens]
        if command.id in opened:
            return (
                "This screen is open already."
                if command.id == opened[0]
                else "This screen is open below this one. Press esc to go back to it."
            )
        pane = top if is_owned else self._main.panes.get(command.where)
        return command.why_not(now or self.situation) or (pane.why_not(command.what) if pane is not None else None)

    def check_can(self, command_id: str) -> bool:
        """Whether a command is available now. If it is not, a toast shows the reason."""
        why = self.why_not(BY_ID[command_id])
        if why is not None:
            self.show_toast(why, severity="warning")
        return why is None

    def footer_keys(self, place: str, now: "Situation", columns: int) -> Sequence[FooterKey]:
        """The keys that the footer shows. Under a dialog: the dialog's own keys and those that work in every dialog."""
        stack = self._app.screen_stack  # empty while the app ends
        top, commands = stack[-1] if stack else None, self.commands
        own = [FooterKey(key, label, "") for key, label in getattr(top, "own_keys", ())]
        if isinstance(top, ModalScreen):
            place, commands = "app", [command for command in commands if command.id in AT_ALL_TIMES]
        room = columns - sum(key.width + GAP_COLUMNS for key in own)
        return [*own, *footer_keys(place, now, room, partial(self.why_not, now=now), commands)]
