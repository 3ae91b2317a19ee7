"""What can be done wherever one is."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import (
    can_edit_held,
    can_go,
    can_go_back,
    can_run_again,
    can_stop,
    can_zoom,
    escaping,
    going,
    needs_engine,
    needs_failure,
    needs_going,
    needs_held,
    needs_queue,
    stopping,
)

EVERYWHERE: Final = (
    *grouped(
        "The run",
        Command("app.go", "f5", "run again", "Release a held run, or send the last input once more.", rank=40,
                why_not=can_go, says=going),
        Command("app.again", "", "run again", "Send the last input once more.", "run: Run again",
                why_not=can_run_again),
        Command("app.release", "", "release", "Let a held run go on.", "run: Release", why_not=needs_held),
        Command("app.hold", "f6", "hold", "Hold the run before its next pull.", "run: Hold at next pull", 42,
                needs_going),
        Command("app.step", "f7", "step", "Let a held run go on to its next call or message.", "run: Step", 43,
                needs_held),
        Command("app.edit_held", "f4", "edit answer", "Change the answer that is held before it goes.",
                "run: Edit the held answer", 44, can_edit_held),
        Command("app.stop", "f8", "stop", "Stop the run; what it was not told yet comes back.", "run: Stop", 41,
                can_stop, says=stopping, over=True),
    ),
    *grouped(
        "The screen",
        Command("app.escape", "escape", "back", "Close, clear, go live, go to the prompt; twice there stops the run.",
                rank=30, why_not=can_go_back, says=escaping, over=True),
        Command("screen.next_pane", "tab", "next pane", "Go to the next pane.", action="next_pane(1)"),
        Command("screen.previous_pane", "shift+tab", "pane before", "Go to the pane before.", action="next_pane(-1)"),
        Command("app.zoom", "f2", "zoom", "Give the whole screen to one pane, and back.", "view: Zoom", 60, can_zoom),
        Command("app.rail", "ctrl+b", "runs", "Show or hide the list of runs.", "view: Runs", 61),
        Command("app.time_mode", "", "times", "Times since the row above, since the run began, or by the clock.",
                "view: Time mode"),
        Command("app.theme", "", "theme", "Choose other colours; each is shown as you come to it.", "view: Theme…",
                over=True),
        Command("app.ascii", "", "ASCII", "Draw everything with plain letters, and back.", "view: ASCII glyphs",
                over=True),
    ),
    *grouped(
        "All else",
        Command("app.palette", "ctrl+p", "commands", "Find any command by its name.", rank=90,
                action="command_palette", over=True),
        Command("app.help", "f1", "help", "Help about the pane you are in.", "help: Keys", 95, over=True),
        Command("app.reload", "", "reload", "Let panes that failed begin again.", "view: Reload what failed",
                why_not=needs_failure),
        Command("app.report", "", "report", "Copy the reports of panes that failed.", "help: Copy the report",
                why_not=needs_failure),
        Command("app.queue", "", "queue", "Go to the messages that wait.", "steer: Edit queue", why_not=needs_queue),
        Command("app.new_session", "", "new", "Leave this conversation and begin another.", "session: New session",
                why_not=needs_engine),
        Command("app.quit", "ctrl+q", "quit", "Leave; asks if a run is at work.", "session: Quit", 99, over=True),
    ),
)  # fmt: skip

TABS: Final = grouped(
    "Panes by number",
    Command("tabs.chat", "1", "chat", "Go to the prompt.", "view: Chat", action="to_pane('chat')"),
    Command("tabs.stream", "2", "stream", "Go to what the run did, entry by entry.", "view: Stream",
            action="to_pane('stream')"),
    Command("tabs.state", "3", "state", "Go to the inspector.", "view: Inspector", action="to_pane('state')"),
    Command("tabs.runs", "4", "runs", "Go to the list of runs and sessions.", action="to_pane('runs')"),
)  # fmt: skip
"""From every pane in which digits are not typed and mean nothing else."""
