"""Commands of the prompt, the queue, the conversation, the inspector and the list of runs."""

from typing import Final

from console.model.commands.availability import (
    needs_queue,
    needs_run,
    other_mode_label,
    queue_edit_label,
    send_label,
    why_not_choose_mode,
    withdraw_label,
)
from console.model.commands.command import Command, in_group

PROMPT: Final = (
    Command("prompt.send", "enter", "send", "Send the message, or steer the run in progress with it.", "run: Start", 1,
            label_for=send_label),
    Command("prompt.mode", "ctrl+t", "steer/after", "Deliver the message during the run, or after it.",
            "steer: Deliver during or after the run", 10, why_not_choose_mode, label_for=other_mode_label),
    Command("prompt.newline", "ctrl+j,shift+enter", "newline", "Start a new line.", rank=20),
    Command("prompt.earlier", "up,alt+up", "earlier", "The previous sent message; from an empty prompt, the queue."),
)  # fmt: skip

QUEUE: Final = (
    Command("queue.edit", "enter", "edit", "Edit the message in the prompt; a dropped one can be sent again.", rank=1,
            why_not=needs_queue, label_for=queue_edit_label),
    Command("queue.withdraw", "d", "withdraw", "Withdraw the message, or dismiss a dropped one.",
            "steer: Withdraw", 2, needs_queue, label_for=withdraw_label),
    Command("queue.up", "shift+k,alt+up", "up", "Move the message up.", rank=3, why_not=needs_queue),
    Command("queue.down", "shift+j,alt+down", "down", "Move the message down.", rank=4, why_not=needs_queue),
    Command("queue.turn", "t", "steer/after", "Deliver the message during the run, or after it.", rank=5,
            why_not=needs_queue),
    Command("queue.pause", "h", "pause", "Pause the message, or resume it; a paused message is not delivered.",
            "steer: Pause or resume a message", 6, needs_queue),
    Command("queue.undo", "u", "undo", "Undo the last withdrawal.", "steer: Undo the withdrawal", 7),
    Command("queue.withdraw_all", "shift+d", "withdraw all", "Withdraw all queued messages; undo restores them.",
            "steer: Withdraw all", 8, needs_queue),
    Command("queue.above", "up,k", "above", "The message above.", action="cursor(-1)"),
    Command("queue.below", "down,j", "below", "The message below; after the last one, the prompt.",
            action="cursor(1)"),
)  # fmt: skip

CONVERSATION: Final = (
    *in_group(
        "This block",
        Command("conversation.edit", "e", "edit and send", "Edit the event that started the run and send it as a new "
                "event.", rank=7),
        Command("conversation.artifact", "a", "artifact", "View an artifact and save it.", rank=8),
        Command("conversation.fork", "f", "fork", "Continue from this block in a new session; your own message "
                "returns to the prompt.", rank=9),
        Command("conversation.earlier", "alt+up", "previous block", "Select the previous block.", rank=1,
                why_not=needs_run),
        Command("conversation.later", "alt+down", "next block", "Select the next block.", rank=2, why_not=needs_run),
        Command("conversation.open", "enter", "open in Stream", "Show the entries of the block; a dropped "
                "message returns to the prompt.", rank=3),
        Command("conversation.fold", "space", "unfold", "Show or hide the result of a tool.", rank=4),
        Command("conversation.copy", "y", "copy", "Copy the block as Markdown.", rank=5),
        Command("conversation.retry", "r", "retry", "Send the input of a failed run again.", rank=6),
    ),
    *in_group(
        "Navigation",
        Command("conversation.up", "up", "up", "One row up.", action="rows(-1)", why_not=needs_run),
        Command("conversation.down", "down", "down", "One row down.", action="rows(1)", why_not=needs_run),
        Command("conversation.page_up", "pageup", "page up", "One page up.", action="pages(-1)", why_not=needs_run),
        Command("conversation.page_down", "pagedown", "page down", "One page down.", action="pages(1)",
                why_not=needs_run),
        Command("conversation.first", "home", "first", "The first loaded block.", why_not=needs_run),
        Command("conversation.live", "end", "go live", "Go to the end and follow it.", why_not=needs_run),
    ),
)  # fmt: skip

INSPECTOR: Final = (
    *in_group(
        "This row",
        Command("inspector.edit", "e", "edit state", "View and edit the state of all scopes.",
                action="app.states", rank=5),
        Command("inspector.fold", "enter,space", "open", "Fold or unfold, or go to the entry that it refers to.",
                rank=1, why_not=needs_run),
        Command("inspector.copy", "y", "copy", "Copy the value.", rank=2, why_not=needs_run),
        Command("inspector.copy_path", "shift+y", "copy path", "Copy the path to the value.", rank=3,
                why_not=needs_run),
        Command("inspector.find", "slash", "find", "Find a text in this tab.", rank=4),
        Command("inspector.find_next", "n", "next", "Find the next match."),
        Command("inspector.refused_first", "r", "refused first", "In Calls: show refused calls first."),
        Command("inspector.thread", "t", "thread", "In Transcript: show one thread or bot after the other, or all."),
    ),
    *in_group(
        "Tabs",
        *(
            Command(f"inspector.{tab}", str(place), tab.capitalize(), f"Show the {tab.capitalize()} tab.",
                    action=f"choose('{tab}')")
            for place, tab in enumerate(
                ("event", "state", "transcript", "context", "calls", "receipts", "output"), start=1
            )
        ),
        Command("inspector.next_tab", "right", "next tab", "The next tab.", action="next_tab(1)"),
        Command("inspector.previous_tab", "left", "previous tab", "The previous tab.", action="next_tab(-1)"),
    ),
    *in_group(
        "Navigation",
        Command("inspector.up", "up,k", "up", "One row up.", action="move(-1)", why_not=needs_run),
        Command("inspector.down", "down,j", "down", "One row down.", action="move(1)", why_not=needs_run),
        Command("inspector.page_up", "pageup,ctrl+u", "page up", "One page up.", action="page(-1)", why_not=needs_run),
        Command("inspector.page_down", "pagedown,ctrl+d", "page down", "One page down.", action="page(1)",
                why_not=needs_run),
        Command("inspector.first", "g,home", "first", "The first row.", action="edge(0)", why_not=needs_run),
        Command("inspector.last", "shift+g,end", "last", "The last row.", action="edge(1)", why_not=needs_run),
    ),
)  # fmt: skip

FIND: Final = (Command("find.leave", "escape", "back", "Close the search.", rank=1),)

RUNS: Final = (
    Command("rail.open", "enter,space", "open", "Show this run, or open this session.", rank=1),
    Command("rail.up", "up,k", "up", "One row up.", action="move(-1)"),
    Command("rail.down", "down,j", "down", "One row down.", action="move(1)"),
    Command("rail.page_up", "pageup,ctrl+u", "page up", "One page up.", action="page(-1)"),
    Command("rail.page_down", "pagedown,ctrl+d", "page down", "One page down.", action="page(1)"),
    Command("rail.first", "g,home", "first", "The newest run.", action="edge(0)"),
    Command("rail.last", "shift+g,end", "last", "The last row.", action="edge(1)"),
)
