"""Commands of the full screens: sessions, state, runners, settings form, composer and artifacts."""

from typing import Final

from console.model.commands.availability import artifact_label, details_label, needs_engine, needs_path, needs_run
from console.model.commands.command import Command, in_group

OPEN_SCREENS: Final = in_group(
    "Other screens",
    Command("app.sessions", "ctrl+l", "sessions", "Browse sessions and search their messages.",
            "session: Browse and search…", 62, needs_engine, over_screens=True),
    Command("app.states", "", "state", "View and edit the state of all scopes.", "state: Browse and edit…",
            why_not=needs_engine, over_screens=True),
)  # fmt: skip

SESSIONS: Final = (
    *in_group(
        "This session",
        Command("sessions.open", "enter", "open", "Open this session, or go to the message that was found.", rank=1),
        Command("sessions.rename", "r", "rename", "Rename the session.", rank=6),
        Command("sessions.delete", "d", "delete", "Delete the session with its messages; {sessions.undo} restores it "
                "within 8 seconds.", rank=5),
        Command("sessions.undo", "u", "undo", "Restore the session that was deleted last.", rank=4),
        Command("sessions.fork", "f", "fork", "Continue in a copy: of the whole session, or up to the message "
                "that was found.", rank=7),
        Command("sessions.resend", "s", "send again", "Send the session's last or found message again.",
                rank=8),
        Command("sessions.spawn", "c", "new child", "Create an empty child of this session.", rank=11),
        Command("sessions.set", "m", "metadata", "Edit the metadata of the session as JSON.", rank=12),
        Command("sessions.fold", "space", "fold", "Show or hide the forks of this session."),
        Command("sessions.copy", "y", "copy id", "Copy the session id for `trackside run --session`.", rank=9),
    ),
    *in_group(
        "Navigation",
        Command("sessions.aside", "tab,shift+tab", "details", "Go to the details, or back to the list.", rank=2,
                label_for=details_label),
        Command("sessions.new", "n", "new", "Create a session with an id, user, title and metadata before its first "
                "message.", rank=10),
        Command("sessions.search", "slash", "search", "Find sessions by title and messages by their words.", rank=3),
        Command("sessions.up", "up,k", "up", "One row up.", action="move(-1)"),
        Command("sessions.down", "down,j", "down", "One row down.", action="move(1)"),
        Command("sessions.page_up", "pageup,ctrl+u", "page up", "One page up.", action="page(-1)"),
        Command("sessions.page_down", "pagedown,ctrl+d", "page down", "One page down.", action="page(1)"),
        Command("sessions.first", "g,home", "first", "The first row.", action="edge(0)"),
        Command("sessions.last", "shift+g,end", "last", "The last loaded row.", action="edge(1)"),
    ),
)  # fmt: skip

STATE: Final = (
    *in_group(
        "This key",
        Command("states.edit", "enter,e", "edit", "Edit the value; in the history, start from the old value.", rank=1),
        Command("states.add", "n", "new key", "Add a key to the same scope.", rank=8),
        Command("states.delete", "d", "delete", "Delete the key; {states.undo} restores it.", rank=6),
        Command("states.clear", "shift+c", "clear scope", "Delete all keys of the scope; {states.undo} restores them.",
                rank=9),
        Command("states.undo", "u", "undo", "Undo the last change made here.", rank=4),
        Command("states.history", "h", "history", "Show the changes of the key and who made them.", rank=5),
        Command("states.copy", "y", "copy", "Copy the value as JSON.", rank=7),
    ),
    *in_group(
        "Navigation",
        Command("states.aside", "tab,shift+tab", "details", "Go to the value, or back to the list.", rank=2,
                label_for=details_label),
        Command("states.fold", "space", "fold", "In the details: fold or unfold a part of the value."),
        Command("states.search", "slash", "search", "Show only keys and scopes that contain a text.", rank=3),
        Command("states.whose", "w", "scope", "Show the state of this session, or of all sessions.", rank=10),
        Command("states.up", "up,k", "up", "One row up.", action="move(-1)"),
        Command("states.down", "down,j", "down", "One row down.", action="move(1)"),
        Command("states.page_up", "pageup,ctrl+u", "page up", "One page up.", action="page(-1)"),
        Command("states.page_down", "pagedown,ctrl+d", "page down", "One page down.", action="page(1)"),
        Command("states.first", "g,home", "first", "The first row.", action="edge(0)"),
        Command("states.last", "shift+g,end", "last", "The last loaded row.", action="edge(1)"),
    ),
)  # fmt: skip

OPEN_RUNNERS: Final = in_group(
    "The runner",
    Command("app.runners", "f3", "runners", "Choose the runner, or open one by its path.", "runner: Choose…", 62,
            needs_engine, over_screens=True),
    Command("app.settings", "f12", "settings", "Edit the settings and policies of the runner; see its grants.",
            "runner: Settings…", 63, needs_engine, over_screens=True),
    Command("app.reload_code", "", "reload files", "Read the runners and trackside.yaml again.",
            "runner: Reload files", why_not=needs_engine, over_screens=True),
)  # fmt: skip

RUNNERS: Final = (
    Command("runners.take", "enter", "use", "Use this runner from the next run on.", rank=1),
    Command("runners.complete", "tab", "complete", "Complete the path as far as it is unambiguous.", rank=4),
    Command("runners.more", "alt+down", "more", "Scroll the details down.", action="scroll_details(1)", rank=2),
    Command("runners.less", "alt+up", "back up", "Scroll the details up.", action="scroll_details(-1)", rank=3),
    Command("runners.up", "up", "up", "One row up.", action="move(-1)"),
    Command("runners.down", "down", "down", "One row down.", action="move(1)"),
    Command("runners.page_up", "pageup", "page up", "One page up.", action="page(-1)"),
    Command("runners.page_down", "pagedown", "page down", "One page down.", action="page(1)"),
)

FORM: Final = (
    *in_group(
        "This field",
        Command("form.edit", "enter,space", "edit", "Edit the value; a switch is toggled at once.", rank=1),
        Command("form.reset", "r", "reset", "Reset to the value of trackside.yaml or to the default.", rank=3),
        Command("form.undo", "u", "undo", "Undo the last change.", rank=4),
        Command("form.more", "alt+down", "more", "Scroll the details down.", action="scroll_details(1)", rank=2),
        Command("form.less", "alt+up", "back up", "Scroll the details up.", action="scroll_details(-1)", rank=10),
    ),
    *in_group(
        "The form",
        Command("form.reset_all", "shift+r", "reset all", "Remove all your values; {form.undo} restores them.",
                rank=7),
        Command("form.text", "y", "YAML", "Edit the whole form as YAML.", rank=5),
        Command("form.grants", "g", "grants", "Show what a run would be granted, and by which clause.", rank=6),
        Command("form.event", "e", "other event", "Show the grants for another type of event.", rank=8),
        Command("form.find", "slash", "find", "Go to a field by its name.", rank=9),
    ),
    *in_group(
        "Navigation",
        Command("form.up", "up,k", "up", "The field above.", action="move(-1)"),
        Command("form.down", "down,j", "down", "The field below.", action="move(1)"),
        Command("form.page_up", "pageup,ctrl+u", "page up", "One page up.", action="page(-1)"),
        Command("form.page_down", "pagedown,ctrl+d", "page down", "One page down.", action="page(1)"),
        Command("form.first", "home", "first", "The first field.", action="edge(False)"),
        Command("form.last", "shift+g,end", "last", "The last field.", action="edge(True)"),
    ),
)  # fmt: skip

FIELD: Final = (
    Command("field.take", "enter", "apply", "Use this value, or this option.", rank=1),
    Command("field.up", "up", "up", "The option above.", action="move(-1)"),
    Command("field.down", "down", "down", "The option below.", action="move(1)"),
)

EVENTS: Final = in_group(
    "Events and files",
    Command("app.compose", "ctrl+n", "new event", "Compose an event of any of the six types.", "event: New…",
            why_not=needs_engine),
    Command("app.edit_event", "", "edit and send", "Edit the event of the run shown, and send it as a new event.",
            "event: Edit and send…", why_not=needs_run),
    Command("app.attach", "", "attach", "Attach a file to the message: type @ and its path.",
            "event: Attach a file…", why_not=needs_engine),
    Command("app.artifacts", "", "artifacts", "Browse the artifacts of runs and the files of events.",
            "artifact: Browse", why_not=needs_engine),
)  # fmt: skip

PATHS: Final = (
    Command("paths.enter", "enter", "use", "Use this path, if a part of it is typed or one is selected.", rank=1,
            why_not=needs_path, action="ask('take')"),
    Command("paths.take", "tab", "use", "Use this path.", rank=2, action="ask('take')"),
    Command("paths.above", "up", "above", "The path above.", action="ask('above')"),
    Command("paths.below", "down", "below", "The path below.", action="ask('below')"),
    Command("paths.close", "escape", "close", "Close the list of paths.", rank=3, action="ask('close')"),
)  # fmt: skip
"""While paths are offered, these keys work on the list and not in the text field."""

COMPOSER: Final = (
    Command("composer.send", "f9", "send", "Send the event; a problem is shown at its field.", rank=1),
    Command("composer.example", "ctrl+r", "example", "Fill the empty fields with an example of this type.", rank=2),
    Command("composer.anew", "ctrl+t", "clear", "Clear all fields; the same key again restores them.", rank=3),
    Command("composer.next", "down", "next field", "The next field.", action="step(1)"),
    Command("composer.previous", "up", "previous field", "The previous field.", action="step(-1)"),
)

CHOICE: Final = (
    Command("choice.list", "enter,space", "list", "Show all options.", rank=4),
    Command("choice.later", "right", "next", "The next option.", rank=5, action="choose(1)"),
    Command("choice.earlier", "left", "previous", "The previous option.", action="choose(-1)"),
)
"""A field with a fixed set of options."""

FILES: Final = (
    Command("files.remove", "delete,backspace,d", "remove", "Remove the file from the event.", rank=4),
    Command("files.above", "up", "above", "The file above; from the first one, the previous field.",
            action="move(-1)"),
    Command("files.below", "down", "below", "The file below; from the last one, the next field.", action="move(1)"),
)  # fmt: skip

ARTIFACTS: Final = (
    *in_group(
        "This artifact",
        Command("artifacts.open", "enter", "content", "Go to the content; there, fold or unfold.", rank=1,
                label_for=artifact_label),
        Command("artifacts.save", "s", "save", "Save the artifact to a file.", rank=2),
        Command("artifacts.copy", "y", "copy", "Copy the id; in the content, copy the line.", rank=3),
        Command("artifacts.whose", "w", "scope", "Show the artifacts of this session, of this run, or all.", rank=4),
    ),
    *in_group(
        "Navigation",
        Command("artifacts.aside", "tab,shift+tab", "content", "Go to the content, or back to the list."),
        Command("artifacts.search", "slash", "search", "Show only artifacts with a text in their name or type.",
                rank=5),
        Command("artifacts.up", "up,k", "up", "One row up.", action="move(-1)"),
        Command("artifacts.down", "down,j", "down", "One row down.", action="move(1)"),
        Command("artifacts.page_up", "pageup,ctrl+u", "page up", "One page up.", action="page(-1)"),
        Command("artifacts.page_down", "pagedown,ctrl+d", "page down", "One page down.", action="page(1)"),
        Command("artifacts.first", "g,home", "first", "The first row.", action="edge(0)"),
        Command("artifacts.last", "shift+g,end", "last", "The last row.", action="edge(1)"),
    ),
)  # fmt: skip
