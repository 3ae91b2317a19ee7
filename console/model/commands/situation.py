"""The state of the screen, as far as it decides which commands are available."""

from dataclasses import dataclass
from typing import Final

from engine.events import Mode

TO_LIST: Final = "back to list"
"""Footer label of esc while the details of a browser have the focus."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A snapshot that commands and the footer read. It is built again whenever something changes."""

    is_ready: bool = False
    """The engine is open."""
    trouble: str | None = None
    """Why the engine cannot be opened, or what is wrong with the database."""
    has_run: bool = False
    """A run is shown."""
    is_running: bool = False
    """The run shown is in progress in this process."""
    is_elsewhere: bool = False
    """The run shown is in progress in another process."""
    is_external: bool = False
    """The run in progress is executed outside Trackside, and only its results are recorded."""
    is_stopping: bool = False
    """The run was asked to stop and has not ended yet."""
    is_paused: bool = False
    is_paused_at_steering_point: bool = False
    """A message sent now is delivered as soon as the run continues."""
    can_edit_reply: bool = False
    """The run is paused at the reply of a call."""
    cannot_steer: str | None = None
    """Why a message cannot be delivered to the run in progress."""
    can_run_again: bool = False
    """There is an input that can be sent again."""
    queue_items: int = 0
    """Rows of the queue pane: queued, dropped and recently withdrawn messages."""
    is_at_prompt: bool = False
    """The prompt has the focus, so esc has nothing to close."""
    is_as_of: bool = False
    """The screen shows the state as of an earlier entry."""
    is_filtered: bool = False
    mode: str = Mode.STEER
    """The `Mode` that the user chose for messages during a run."""
    is_editing: bool = False
    """The prompt holds a queued or a dropped message."""
    is_resend: bool = False
    """The message in the prompt was dropped, and enter sends it again."""
    has_path: bool = False
    """The user started to type a path, so enter takes the selected one."""
    selected_fate: str = ""
    """The `Fate` of the message under the cursor of the queue; empty without one."""
    has_failed: bool = False
    """A pane has failed and shows its failure."""
    is_narrow: bool = False
    """The terminal has room for one pane at a time."""
    is_covered: bool = False
    """A full screen lies over the panes."""
    back: str = "back"
    """Footer label of esc on that full screen."""

    @property
    def has_active_run(self) -> bool:
        """Whether the run shown is in progress, in this process or in another one."""
        return self.is_running or self.is_elsewhere
