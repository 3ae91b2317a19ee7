"""What the screen stands on at this moment, as far as it decides what a person can do."""

from dataclasses import dataclass
from typing import Final

TO_THE_LIST: Final = "to the list"
"""What esc does where one is in the details of a browser."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Made anew each time something changes; commands and footer read it."""

    is_ready: bool = False
    """The engine is there."""
    trouble: str | None = None
    """Why it cannot be, or what the database suffers from."""
    has_run: bool = False
    """A run is shown."""
    is_running: bool = False
    """The run that is shown works, in this process."""
    is_elsewhere: bool = False
    """It works, but in another process."""
    is_stopping: bool = False
    """Someone wants it stopped, and it has not ended yet."""
    is_held: bool = False
    is_held_at_pull: bool = False
    """So that what is said now is what the pull will bring."""
    can_edit_held: bool = False
    """What is held is a call's answer."""
    cannot_steer: str | None = None
    """Why a message cannot go into the run at work."""
    can_run_again: bool = False
    """There is an input that could be sent once more."""
    waiting: int = 0
    """Messages in the queue, open ones and dropped ones."""
    is_at_prompt: bool = False
    """The prompt has the focus, so that there is nowhere to go back to."""
    is_as_of: bool = False
    """The screen shows the world as of an earlier entry."""
    is_filtered: bool = False
    mode: str = "steer"
    """What a person wants for what they say to a run at work: steer or after."""
    is_editing: bool = False
    """The prompt holds a message that waits, or one that was dropped."""
    is_again: bool = False
    """It was dropped, so that it is sent again."""
    has_path: bool = False
    """A path is begun in the prompt, so that enter takes the one that is offered."""
    chosen: str = ""
    """The fate of the message under the queue's cursor."""
    has_failed: bool = False
    """A pane has, and shows that it did."""
    is_narrow: bool = False
    """There is room for one pane at a time."""
    is_covered: bool = False
    """A full screen lies over the panes."""
    back: str = "back"
    """What esc does there."""
