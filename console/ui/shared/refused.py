"""The message of a pane whose command cannot be carried out."""

from dataclasses import dataclass

from textual.message import Message
from textual.widget import Widget


@dataclass
class Refused(Message):
    """Posted when a command cannot be carried out now; the screen shows the reason."""

    reason: str


def refuse(widget: Widget, reason: str | None) -> bool:
    """Post `Refused` if there is a reason. Returns whether there was one."""
    if reason is not None:
        widget.post_message(Refused(reason))
    return reason is not None
