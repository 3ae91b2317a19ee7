"""What can be done about who runs: in the list of runners, and in the form of one."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import needs_engine

OPEN_RUNNERS: Final = grouped(
    "The runner",
    Command("app.runners", "f3", "runners", "Choose who runs, or open a runner by its path.", "runner: Choose…", 62,
            needs_engine, over=True),
    Command("app.settings", "f12", "settings", "Fill in the runner's form, with its policies; see what it is granted.",
            "runner: Settings…", 63, needs_engine, over=True),
    Command("app.reload_code", "", "read files again", "Look at runners and trackside.yaml anew.",
            "runner: Read files again", why_not=needs_engine, over=True),
)  # fmt: skip

RUNNERS: Final = (
    Command("runners.take", "enter", "use", "Use this one from the next run on.", rank=1),
    Command("runners.complete", "tab", "complete", "Go on with a path as far as that is certain.", rank=4),
    Command("runners.more", "alt+down", "more", "What is told of it, further down.", action="tell(1)", rank=2),
    Command("runners.less", "alt+up", "before", "What is told of it, further up.", action="tell(-1)", rank=3),
    Command("runners.up", "up", "up", "The one above.", action="move(-1)"),
    Command("runners.down", "down", "down", "The one below.", action="move(1)"),
    Command("runners.page_up", "pageup", "page up", "A page up.", action="page(-1)"),
    Command("runners.page_down", "pagedown", "page down", "A page down.", action="page(1)"),
)

FORM: Final = (
    *grouped(
        "This field",
        Command("form.edit", "enter,space", "edit", "Change the value; a switch is turned at once.", rank=1),
        Command("form.reset", "r", "reset", "Go back to what trackside.yaml or the default says.", rank=3),
        Command("form.undo", "u", "undo", "Take the last change back.", rank=4),
        Command("form.more", "alt+down", "more", "What is told of it, further down.", action="tell(1)", rank=2),
        Command("form.less", "alt+up", "before", "What is told of it, further up.", action="tell(-1)", rank=10),
    ),
    *grouped(
        "The form",
        Command("form.reset_all", "shift+r", "reset all", "Forget every value of your own; {form.undo} brings them "
                "back.", rank=7),
        Command("form.text", "y", "YAML", "See and edit all of it as YAML.", rank=5),
        Command("form.grants", "g", "grants", "See what a run would be granted, and by which clause.", rank=6),
        Command("form.event", "e", "other event", "See the grants on an event of another type.", rank=8),
        Command("form.find", "slash", "find", "Go to a field by its name.", rank=9),
    ),
    *grouped(
        "Moving",
        Command("form.up", "up,k", "up", "The field above.", action="move(-1)"),
        Command("form.down", "down,j", "down", "The field below.", action="move(1)"),
        Command("form.page_up", "pageup,ctrl+u", "page up", "A page up.", action="page(-1)"),
        Command("form.page_down", "pagedown,ctrl+d", "page down", "A page down.", action="page(1)"),
        Command("form.first", "home", "first", "The first field.", action="edge(False)"),
        Command("form.last", "shift+g,end", "last", "The last field.", action="edge(True)"),
    ),
)  # fmt: skip

FIELD: Final = (
    Command("field.take", "enter", "take it", "Have this value, or this option.", rank=1),
    Command("field.up", "up", "up", "The option above.", action="move(-1)"),
    Command("field.down", "down", "down", "The option below.", action="move(1)"),
)
