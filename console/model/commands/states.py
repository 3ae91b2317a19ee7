"""What can be done in the state browser."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import going_aside, needs_engine

OPEN_STATES: Final = (
    Command("app.states", "", "state", "See and change what runners keep, in all scopes.", "state: Browse and edit…",
            why_not=needs_engine, over=True, group="Other screens"),
    Command("inspector.edit", "e", "edit state", "See and change what runners keep, in all scopes.",
            action="app.states", rank=5, group="This row"),
)  # fmt: skip

STATES: Final = (
    *grouped(
        "This key",
        Command("states.edit", "enter,e", "edit", "Edit the value; in its history, the value of then.", rank=1),
        Command("states.add", "n", "new key", "Write another key of the same scope.", rank=8),
        Command("states.delete", "d", "delete", "Delete the key; {states.undo} brings it back.", rank=6),
        Command("states.clear", "shift+c", "clear scope", "Delete every key of the scope; {states.undo} brings them "
                "back.", rank=9),
        Command("states.undo", "u", "undo", "Take the last change back that was made here.", rank=4),
        Command("states.history", "h", "history", "See what became of the key, and who did it.", rank=5),
        Command("states.copy", "y", "copy", "Copy the value as JSON.", rank=7),
    ),
    *grouped(
        "Looking",
        Command("states.aside", "tab,shift+tab", "details", "Go to the value at the side, and back.", rank=2,
                says=going_aside),
        Command("states.fold", "space", "fold", "At the side: show or hide what is in a part of the value."),
        Command("states.search", "slash", "search", "See only keys and scopes that hold a text.", rank=3),
        Command("states.whose", "w", "whose", "What this session sees, or the state of all runners.", rank=10),
        Command("states.up", "up,k", "up", "The one above.", action="move(-1)"),
        Command("states.down", "down,j", "down", "The one below.", action="move(1)"),
        Command("states.page_up", "pageup,ctrl+u", "page up", "A page up.", action="page(-1)"),
        Command("states.page_down", "pagedown,ctrl+d", "page down", "A page down.", action="page(1)"),
        Command("states.first", "g,home", "first", "The first of the list.", action="edge(0)"),
        Command("states.last", "shift+g,end", "last", "The last that is read.", action="edge(1)"),
    ),
)  # fmt: skip
