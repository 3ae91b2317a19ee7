"""The way back by esc: one rung a press, and none of them destroys anything."""

from collections.abc import Callable
from typing import Final

from console.ui.main.screen import MainScreen


def close_overlay(main: MainScreen) -> bool:
    """A line that is open at the bottom of a pane, a message that is being edited, runs that lie over the rest."""
    return (
        main.stream.close_line()
        or main.inspector.close_line()
        or main.prompt.cancel_editing()
        or main.close_rail()
    )  # fmt: skip


def clear_selection(main: MainScreen) -> bool:
    """What the mouse has marked, what is marked in the prompt, the block that is chosen."""
    if main.selections:
        main.clear_selection()
        return True
    return main.prompt.clear_selection() or main.conversation.clear_cursor()


def clear_filter(main: MainScreen) -> bool:
    return main.stream.clear_filter()


def go_live(main: MainScreen) -> bool:
    """Everything follows the end again."""
    return any([main.stream.go_live(), main.conversation.go_live()])


def go_to_prompt(main: MainScreen) -> bool:
    if main.where() == "prompt":
        return False
    main.focus_pane("chat")
    return True


RUNGS: Final[tuple[Callable[[MainScreen], bool], ...]] = (
    close_overlay, clear_selection, clear_filter, go_live, go_to_prompt,
)  # fmt: skip


def step_back(main: MainScreen) -> bool:
    """The first rung that has something to do; false where one is at the foot already."""
    return any(rung(main) for rung in RUNGS)
