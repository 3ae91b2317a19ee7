"""Commands that work everywhere."""

from typing import Final

from console.model.commands.availability import (
    escape_label,
    needs_engine,
    needs_failure,
    needs_paused_run,
    needs_queue,
    stop_label,
    why_not_edit_reply,
    why_not_go_back,
    why_not_pause,
    why_not_run_again,
    why_not_stop,
    why_not_zoom,
)
from console.model.commands.command import Command, in_group

APP: Final = (
    *in_group(
        "The run",
        Command("app.run_again", "f5", "run again", "Send the last input again.", "run: Run again", 40,
                why_not_run_again),
        Command("app.pause", "f6", "pause", "Pause the run at its next steering point.",
                "run: Pause at the next steering point", 42, why_not_pause),
        Command("app.continue", "f6", "continue", "Continue the paused run.", "run: Continue", 42, needs_paused_run,
                action="app.continue_run"),
        Command("app.step", "f7", "step", "Continue the paused run up to its next call or message.", "run: Step", 43,
                needs_paused_run),
        Command("app.edit_reply", "f4", "edit reply",
                "Edit the reply at which the run is paused, before the runner gets it.", "run: Edit the reply", 44,
                why_not_edit_reply),
        Command("app.stop", "f8", "stop", "Stop the run; messages that were not delivered can be sent again.",
                "run: Stop", 41, why_not_stop, label_for=stop_label, over_screens=True),
    ),
    *in_group(
        "The screen",
        Command("app.escape", "escape", "back",
                "Close, clear, go live, or go to the prompt; twice there stops the run.", rank=30,
                why_not=why_not_go_back, label_for=escape_label, over_screens=True),
        Command("screen.next_pane", "tab", "next pane", "Go to the next pane.", action="next_pane(1)"),
        Command("screen.previous_pane", "shift+tab", "previous pane", "Go to the previous pane.",
                action="next_pane(-1)"),
        Command("app.zoom", "f2", "zoom", "Show one pane on the whole screen, or all panes again.", "view: Zoom", 60,
                why_not_zoom),
        Command("app.rail", "ctrl+b", "runs", "Show or hide the list of runs.", "view: Runs", 61),
        Command("app.time_mode", "", "times", "Show times since the previous row, since the start of the run, or "
                "clock times.", "view: Time mode"),
        Command("app.theme", "", "theme", "Choose a theme; the screen shows the selected one.", "view: Theme…",
                over_screens=True),
        Command("app.ascii", "", "ASCII", "Draw with ASCII characters only, or with all glyphs again.",
                "view: ASCII glyphs", over_screens=True),
    ),
    *in_group(
        "More",
        Command("app.palette", "ctrl+p", "commands", "Find a command by its name.", rank=90,
                action="command_palette", over_screens=True),
        Command("app.help", "f1", "help", "Show help for this pane.", "help: Keys", 95, over_screens=True),
        Command("app.reload", "", "reload", "Reload the panes that failed.", "view: Reload failed panes",
                why_not=needs_failure),
        Command("app.report", "", "report", "Copy the reports of the panes that failed.", "help: Copy the report",
                why_not=needs_failure),
        Command("app.queue", "", "queue", "Go to the queued messages.", "steer: Edit queue", why_not=needs_queue),
        Command("app.new_session", "", "new", "Start a new session.", "session: New session", why_not=needs_engine),
        Command("app.quit", "ctrl+q", "quit", "Quit; asks first if a run is in progress.", "session: Quit", 99,
                over_screens=True),
    ),
)  # fmt: skip

TABS: Final = in_group(
    "Panes by number",
    Command("tabs.chat", "1", "chat", "Go to the prompt.", "view: Chat", action="to_pane('chat')"),
    Command("tabs.stream", "2", "stream", "Go to the entries of the run.", "view: Stream", action="to_pane('stream')"),
    Command("tabs.state", "3", "state", "Go to the inspector.", "view: Inspector", action="to_pane('state')"),
    Command("tabs.runs", "4", "runs", "Go to the list of runs and sessions.", action="to_pane('runs')"),
)  # fmt: skip
"""Available in every pane in which digits are not typed and have no other meaning."""

SHORTCUTS: Final = in_group(
    "Shortcuts",
    Command("app.jump", "ctrl+o", "jump", "Go to anything on the screen by the letters on it.", "view: Jump", 62,
            over_screens=True),
    Command("app.tour", "", "tour", "Take a 40-second tour of the screen.", "help: Tour"),
)  # fmt: skip

PROMPT_TOOLS: Final = (
    Command("prompt.editor", "ctrl+g", "editor", "Write the message in your editor.", "run: Write in an editor", 51,
            action="app.editor"),
    Command("prompt.history", "ctrl+r", "history", "Find a message that was sent before.", "run: Find a sent message",
            50, action="app.history"),
)  # fmt: skip
