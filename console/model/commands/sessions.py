"""What can be done in the session browser."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import going_aside, needs_engine

OPEN_SESSIONS: Final = grouped(
    "Other screens",
    Command("app.sessions", "ctrl+l", "sessions", "Find a session, or anything that was ever said.",
            "session: Browse and search…", 62, needs_engine, over=True),
)  # fmt: skip

FORK: Final = grouped(
    "This block",
    Command("conversation.fork", "f", "fork", "Go on from this block in a session of its own; your own message comes "
            "back to the prompt.", rank=9),
)  # fmt: skip

SESSIONS: Final = (
    *grouped(
        "This session",
        Command("sessions.open", "enter", "open", "Go on with this session, or go to where the line was said.",
                rank=1),
        Command("sessions.rename", "r", "rename", "Give the session another title.", rank=6),
        Command("sessions.delete", "d", "delete", "Delete it with all that was said; {sessions.undo} within 8 "
                "seconds undoes it.", rank=5),
        Command("sessions.undo", "u", "undo", "Have the session back that was deleted last.", rank=4),
        Command("sessions.fork", "f", "fork", "Go on in a copy: of all of it, or up to the line that was found.",
                rank=7),
        Command("sessions.resend", "s", "send again", "Send its last message, or the one that was found, once more.",
                rank=8),
        Command("sessions.fold", "space", "fold", "Show or hide the sessions that came of it."),
        Command("sessions.copy", "y", "copy id", "Copy its id, as `trackside run --session` takes it.", rank=9),
    ),
    *grouped(
        "Looking",
        Command("sessions.aside", "tab,shift+tab", "details", "Go to what is told of it beside, and back.", rank=2,
                says=going_aside),
        Command("sessions.search", "slash", "search", "Find sessions by title, and lines by what was said.", rank=3),
        Command("sessions.up", "up,k", "up", "The one above.", action="move(-1)"),
        Command("sessions.down", "down,j", "down", "The one below.", action="move(1)"),
        Command("sessions.page_up", "pageup,ctrl+u", "page up", "A page up.", action="page(-1)"),
        Command("sessions.page_down", "pagedown,ctrl+d", "page down", "A page down.", action="page(1)"),
        Command("sessions.first", "g,home", "first", "The first of the list.", action="edge(0)"),
        Command("sessions.last", "shift+g,end", "last", "The last that is read.", action="edge(1)"),
    ),
)  # fmt: skip
