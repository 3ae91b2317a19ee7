"""What can be done in the conversation, in the inspector and in the list of runs."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import needs_run

CONVERSATION: Final = (
    *grouped(
        "This block",
        Command("conversation.earlier", "alt+up", "earlier block", "Choose the block before.", rank=1,
                why_not=needs_run),
        Command("conversation.later", "alt+down", "later block", "Choose the next block.", rank=2, why_not=needs_run),
        Command("conversation.open", "enter", "open in Stream", "See its entries; a dropped message comes back.",
                rank=3),
        Command("conversation.fold", "space", "unfold", "Show or hide what a tool answered.", rank=4),
        Command("conversation.copy", "y", "copy", "Copy the block as Markdown.", rank=5),
        Command("conversation.retry", "r", "retry", "Send the input of a failed run again.", rank=6),
    ),
    *grouped(
        "Moving",
        Command("conversation.up", "up", "up", "A row up.", action="rows(-1)", why_not=needs_run),
        Command("conversation.down", "down", "down", "A row down.", action="rows(1)", why_not=needs_run),
        Command("conversation.page_up", "pageup", "page up", "A page up.", action="pages(-1)", why_not=needs_run),
        Command("conversation.page_down", "pagedown", "page down", "A page down.", action="pages(1)",
                why_not=needs_run),
        Command("conversation.first", "home", "first", "To the first that is read.", why_not=needs_run),
        Command("conversation.live", "end", "go live", "To the end, and follow it.", why_not=needs_run),
    ),
)  # fmt: skip

INSPECTOR: Final = (
    *grouped(
        "This row",
        Command("inspector.fold", "enter,space", "open", "Fold or unfold, or go to the entry it speaks of.", rank=1,
                why_not=needs_run),
        Command("inspector.copy", "y", "copy", "Copy the value.", rank=2, why_not=needs_run),
        Command("inspector.copy_path", "shift+y", "copy path", "Copy the path to the value.", rank=3,
                why_not=needs_run),
        Command("inspector.find", "slash", "find", "Find a text in this tab.", rank=4),
        Command("inspector.find_next", "n", "next", "Find it once more."),
        Command("inspector.refused_first", "r", "refused first", "In Calls: those that were refused come first."),
    ),
    *grouped(
        "Tabs",
        *(
            Command(f"inspector.{tab}", str(place), tab.capitalize(), f"Show the tab {tab.capitalize()}.",
                    action=f"choose('{tab}')")
            for place, tab in enumerate(
                ("event", "state", "transcript", "context", "calls", "receipts", "output"), start=1
            )
        ),
        Command("inspector.next_tab", "right", "next tab", "The next tab.", action="next_tab(1)"),
        Command("inspector.previous_tab", "left", "previous tab", "The tab before.", action="next_tab(-1)"),
    ),
    *grouped(
        "Moving",
        Command("inspector.up", "up,k", "up", "A row up.", action="move(-1)", why_not=needs_run),
        Command("inspector.down", "down,j", "down", "A row down.", action="move(1)", why_not=needs_run),
        Command("inspector.page_up", "pageup,ctrl+u", "page up", "A page up.", action="page(-1)", why_not=needs_run),
        Command("inspector.page_down", "pagedown,ctrl+d", "page down", "A page down.", action="page(1)",
                why_not=needs_run),
        Command("inspector.first", "g,home", "first", "The first row.", action="edge(0)", why_not=needs_run),
        Command("inspector.last", "shift+g,end", "last", "The last row.", action="edge(1)", why_not=needs_run),
    ),
)  # fmt: skip

FIND: Final = (Command("find.leave", "escape", "back", "Find nothing after all.", rank=1),)

RAIL: Final = (
    Command("rail.open", "enter,space", "open", "Look at this run, or go on with this session.", rank=1),
    Command("rail.up", "up,k", "up", "The one above.", action="move('cursor_up')"),
    Command("rail.down", "down,j", "down", "The one below.", action="move('cursor_down')"),
    Command("rail.page_up", "pageup,ctrl+u", "page up", "A page up.", action="move('page_up')"),
    Command("rail.page_down", "pagedown,ctrl+d", "page down", "A page down.", action="move('page_down')"),
    Command("rail.first", "g,home", "first", "The newest.", action="move('first')"),
    Command("rail.last", "shift+g,end", "last", "The last of the list.", action="move('last')"),
)
