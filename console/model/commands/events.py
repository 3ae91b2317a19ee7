"""What can be done with events, with files that go along with them, and with artifacts."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import looking_into, needs_engine, needs_path, needs_run

EVENTS: Final = grouped(
    "Events and files",
    Command("app.compose", "ctrl+n", "new event", "Put an event together by hand: any of the six types.",
            "event: New…", why_not=needs_engine),
    Command("app.edit_event", "", "edit and send", "Change the event of the run that is shown, and send it as a new "
            "one.", "event: Edit and send…", why_not=needs_run),
    Command("app.attach", "", "attach", "Let a file go along with what you say: type @ and its path.",
            "event: Attach a file…", why_not=needs_engine),
    Command("app.artifacts", "", "artifacts", "See what runs made and what came with events.", "artifact: Browse",
            why_not=needs_engine),
)  # fmt: skip

BLOCKS: Final = grouped(
    "This block",
    Command("conversation.edit", "e", "edit and send", "Change the event that began the run, and send it as a new "
            "one.", rank=7),
    Command("conversation.artifact", "a", "see artifact", "See an artifact in full, and save it.", rank=8),
)  # fmt: skip

PATHS: Final = (
    Command("paths.enter", "enter", "take", "Take this path, once some of it is typed or one is chosen.", rank=1,
            why_not=needs_path, action="ask('take')"),
    Command("paths.take", "tab", "take", "Take this path.", rank=2, action="ask('take')"),
    Command("paths.above", "up", "above", "The path above.", action="ask('above')"),
    Command("paths.below", "down", "below", "The path below.", action="ask('below')"),
    Command("paths.close", "escape", "close", "Take none of them.", rank=3, action="ask('close')"),
)  # fmt: skip
"""While paths are offered: these keys are theirs and not the field's that one types in."""

COMPOSER: Final = (
    Command("composer.send", "f9", "send", "Send the event; what is wrong is said at its field.", rank=1),
    Command("composer.example", "ctrl+r", "example", "Fill what is empty with an example of this type.", rank=2),
    Command("composer.anew", "ctrl+t", "begin anew", "Empty all fields; once more brings them back.", rank=3),
    Command("composer.next", "down", "next field", "The next field.", action="step(1)"),
    Command("composer.previous", "up", "field before", "The field before.", action="step(-1)"),
)

CHOICE: Final = (
    Command("choice.list", "enter,space", "list", "See all that can be chosen.", rank=4),
    Command("choice.later", "right", "next", "The next that can be chosen.", rank=5, action="choose(1)"),
    Command("choice.earlier", "left", "before", "The one before.", action="choose(-1)"),
)
"""A field that is one of a few."""

FILES: Final = (
    Command("files.remove", "delete,backspace,d", "remove", "The file does not go along after all.", rank=4),
    Command("files.above", "up", "above", "The file above; above the first is the field before.", action="move(-1)"),
    Command("files.below", "down", "below", "The file below; below the last is the next field.", action="move(1)"),
)

ARTIFACTS: Final = (
    *grouped(
        "This artifact",
        Command("artifacts.open", "enter", "look into it", "Go into its content, or fold and unfold there.", rank=1,
                says=looking_into),
        Command("artifacts.save", "s", "save", "Write it to a file.", rank=2),
        Command("artifacts.copy", "y", "copy", "Copy its id; in its content, the line.", rank=3),
        Command("artifacts.whose", "w", "whose", "Those of this session, of this run, or all.", rank=4),
    ),
    *grouped(
        "Looking",
        Command("artifacts.aside", "tab,shift+tab", "content", "Go to what is in it, and back to the list."),
        Command("artifacts.search", "slash", "search", "See only those that hold a text in name or type.", rank=5),
        Command("artifacts.up", "up,k", "up", "A row up.", action="move(-1)"),
        Command("artifacts.down", "down,j", "down", "A row down.", action="move(1)"),
        Command("artifacts.page_up", "pageup,ctrl+u", "page up", "A page up.", action="page(-1)"),
        Command("artifacts.page_down", "pagedown,ctrl+d", "page down", "A page down.", action="page(1)"),
        Command("artifacts.first", "g,home", "first", "The first row.", action="edge(0)"),
        Command("artifacts.last", "shift+g,end", "last", "The last row.", action="edge(1)"),
    ),
)  # fmt: skip
