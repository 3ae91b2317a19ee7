"""The esc key: one step back per press. No step loses anything."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.main.run_control import RunControl
    from console.ui.main.screen import MainScreen
    from console.ui.shared.services import AppServices

DOUBLE_PRESS_US: Final = 1_500_000
"""Microseconds within which a second esc stops the run."""


def close_overlay(main: "MainScreen") -> bool:
    """Close an open input line, an edited message, or the list of runs over the panes."""
    return (
        main.stream.close_line()
        or main.inspector.close_line()
        or main.prompt.cancel_editing()
        or main.close_rail()
    )  # fmt: skip


def clear_selection(main: "MainScreen") -> bool:
    """Clear the text selected by mouse, the selection in the prompt, or the selected block."""
    if main.selections:
        main.clear_selection()
        return True
    return main.prompt.clear_selection() or main.conversation.clear_cursor()


def clear_filter(main: "MainScreen") -> bool:
    return main.stream.clear_filter()


def go_live(main: "MainScreen") -> bool:
    """Follow the end in all panes."""
    return any([main.stream.go_live(), main.conversation.go_live()])


def go_to_prompt(main: "MainScreen") -> bool:
    if main.where() == "prompt":
        return False
    main.focus_pane("chat")
    return True


STEPS: Final[tuple[Callable[["MainScreen"], bool], ...]] = (
    close_overlay, clear_selection, clear_filter, go_live, go_to_prompt,
)  # fmt: skip


def step_back(main: "MainScreen") -> bool:
    """Take the first step that has something to do. Returns False if none has."""
    return any(step(main) for step in STEPS)


class EscapeKey:
    """Handles esc. If there is no step left, pressing it twice stops the run."""

    def __init__(
        self, services: "AppServices", active_session: "ActiveSession", main: "MainScreen", run_control: "RunControl"
    ) -> None:
        self._services = services
        self._session = active_session
        self._main = main
        self._run_control = run_control
        self._pressed_at = 0
        """When esc was last pressed without a step left, in microseconds of the monotonic clock."""

    def action_escape(self) -> None:
        updater, situation = self._services.updater, self._services.situation
        if (top := self._services.full_screen) is not None:
            top.step_back()
        elif step_back(self._main):
            self._pressed_at = 0
        elif updater.is_past:
            self._services.run_in_background(updater.show_last_run())
        elif situation.is_running:
            now = self._session.engine.monotonic()
            if now - self._pressed_at < DOUBLE_PRESS_US or situation.is_stopping:
                self._pressed_at = 0
                self._run_control.action_stop()
            else:
                self._pressed_at = now
                seconds = DOUBLE_PRESS_US / 1_000_000
                self._services.show_toast("Press esc again to stop the run.", severity="warning", seconds=seconds)
