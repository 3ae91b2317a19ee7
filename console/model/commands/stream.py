"""What can be done in the stream, and in the two lines that open at its bottom."""

from typing import Final

from console.model.commands.command import Command, grouped
from console.model.commands.reasons import needs_live, needs_run

STREAM: Final = (
    *grouped(
        "This entry",
        Command("stream.inspect", "enter", "inspect", "See all of the entry in the inspector.", rank=1,
                why_not=needs_run),
        Command("stream.yank", "y", "copy", "Copy the entry, its payload, text or id, or a command line.",
                "stream: Copy…", 5, needs_run),
        Command("stream.mark", "m", "mark", "Mark the entry, or no longer.", "stream: Mark", why_not=needs_run,
                action="flag"),
        Command("stream.next_mark", "apostrophe", "next mark", "Go to the next mark.", "stream: Next mark",
                why_not=needs_run, action="next_flag"),
        Command("stream.clear_marks", "", "clear marks", "Take all marks away.", "stream: Clear marks",
                why_not=needs_run, action="clear_flags"),
        Command("stream.hold_on", "b", "hold on kind", "Hold the run before each entry of this kind.",
                "run: Hold on kind…", 6, needs_live),
    ),
    *grouped(
        "What is seen",
        Command("stream.filter", "slash", "filter", "See only what matches: words, kind:tool.*, turn:3, err.",
                "stream: Filter…", 2, needs_run),
        Command("stream.only", "o", "only kind", "See only entries of this kind.", "stream: Only this kind", 3,
                needs_run),
        Command("stream.hide", "x", "hide kind", "Hide entries of this kind.", "stream: Hide this kind", 4,
                needs_run),
        Command("stream.clear", "shift+x", "clear filter", "See everything again.", "stream: Clear filter",
                why_not=needs_run),
        Command("stream.only_tools", "", "only tools", "See only the calls of tools.", "stream: Only tools",
                why_not=needs_run, action="see_only('tool.*')"),
        Command("stream.only_steering", "", "only steering", "See only what became of steering.",
                "stream: Only steering", why_not=needs_run, action="see_only('steering.*')"),
        Command("stream.raw", "r", "raw deltas", "Each delta in its own row, or joined.", "stream: Show raw deltas",
                why_not=needs_run),
        Command("stream.time", "t", "times", "Times since the row above, since the run began, or by the clock."),
    ),
    *grouped(
        "Moving",
        Command("stream.end", "shift+g,end", "live", "Go to the end and follow it.", "stream: Go live", 7, needs_run),
        Command("stream.up", "up,k", "up", "The entry before.", action="move(-1)", why_not=needs_run),
        Command("stream.down", "down,j", "down", "The next entry.", action="move(1)", why_not=needs_run),
        Command("stream.half_up", "ctrl+u", "half a page up", "Half a page up.", action="page(-0.5)",
                why_not=needs_run),
        Command("stream.half_down", "ctrl+d", "half a page down", "Half a page down.", action="page(0.5)",
                why_not=needs_run),
        Command("stream.page_up", "pageup", "page up", "A page up.", action="page(-1.0)", why_not=needs_run),
        Command("stream.page_down", "pagedown", "page down", "A page down.", action="page(1.0)", why_not=needs_run),
        Command("stream.first", "g,home", "first", "The first entry.", why_not=needs_run),
        Command("stream.go_to", "colon", "go to entry", "Go to an entry by its number.", "stream: Go to entry…",
                why_not=needs_run, action="ask_entry"),
        Command("stream.turn_before", "left_square_bracket", "turn before", "The beginning of this turn, or of the "
                "one before.", action="turn(-1)", why_not=needs_run),
        Command("stream.turn_after", "right_square_bracket", "next turn", "The beginning of the next turn.",
                action="turn(1)", why_not=needs_run),
        Command("stream.next_match", "n", "next match", "The next entry that the last filter means.",
                action="match(1)", why_not=needs_run),
        Command("stream.previous_match", "shift+n", "previous match", "The entry before that the last filter means.",
                action="match(-1)", why_not=needs_run),
    ),
)  # fmt: skip

FILTER: Final = (
    Command("filter.submit", "enter", "apply", "See what it means, or go there.", rank=1),
    Command("filter.leave", "escape", "leave", "Leave it as it was.", rank=2),
)

YANK: Final = (
    Command("yank.event", "e", "event JSON", "The entry as JSON.", action="yank('event')"),
    Command("yank.payload", "p", "payload", "What it carries, as JSON.", action="yank('payload')"),
    Command("yank.text", "t", "text", "The text in it.", action="yank('text')"),
    Command("yank.id", "i", "id", "Its id.", action="yank('id')"),
    Command("yank.reproduce", "r", "reproduce", "The command line that does the same.", action="yank('reproduce')"),
    Command("yank.close", "escape", "close", "Copy nothing.", rank=1),
)
