"""Commands of the stream, of the two input lines at its bottom and of its copy menu."""

from typing import Final

from console.model.commands.availability import needs_active_run, needs_run
from console.model.commands.command import Command, in_group

STREAM: Final = (
    *in_group(
        "This entry",
        Command("stream.inspect", "enter", "inspect", "Show the whole entry in the inspector.", rank=1,
                why_not=needs_run),
        Command("stream.yank", "y", "copy", "Copy the entry, its payload, text or id, or a command line.",
                "stream: Copy…", 5, needs_run),
        Command("stream.mark", "m", "mark", "Mark the entry, or remove its mark.", "stream: Mark", why_not=needs_run,
                action="flag"),
        Command("stream.next_mark", "apostrophe", "next mark", "Go to the next mark.", "stream: Next mark",
                why_not=needs_run, action="next_flag"),
        Command("stream.clear_marks", "", "clear marks", "Remove all marks.", "stream: Clear marks",
                why_not=needs_run, action="clear_flags"),
        Command("stream.breakpoint", "b", "breakpoint", "Pause the run before each entry of this kind.",
                "run: Set a breakpoint on this kind", 6, needs_active_run),
    ),
    *in_group(
        "Filter and view",
        Command("stream.filter", "slash", "filter", "Show only matching entries: words, kind:tool.*, turn:3, err.",
                "stream: Filter…", 2, needs_run),
        Command("stream.only", "o", "only kind", "Show only entries of this kind.", "stream: Only this kind", 3,
                needs_run),
        Command("stream.hide", "x", "hide kind", "Hide entries of this kind.", "stream: Hide this kind", 4,
                needs_run),
        Command("stream.clear", "shift+x", "clear filter", "Show all entries again.", "stream: Clear filter",
                why_not=needs_run),
        Command("stream.only_tools", "", "only tools", "Show only tool calls.", "stream: Only tools",
                why_not=needs_run, action="see_only('tool.*')"),
        Command("stream.only_steering", "", "only steering", "Show only steering entries.",
                "stream: Only steering", why_not=needs_run, action="see_only('steering.*')"),
        Command("stream.raw", "r", "raw deltas", "Show each delta in its own row, or join them.",
                "stream: Show raw deltas", why_not=needs_run),
        Command("stream.time", "t", "times", "Show times since the previous row, since the start of the run, or clock "
                "times."),
    ),
    *in_group(
        "Navigation",
        Command("stream.end", "shift+g,end", "live", "Go to the end and follow it.", "stream: Go live", 7, needs_run),
        Command("stream.up", "up,k", "up", "The previous entry.", action="move(-1)", why_not=needs_run),
        Command("stream.down", "down,j", "down", "The next entry.", action="move(1)", why_not=needs_run),
        Command("stream.half_up", "ctrl+u", "half a page up", "Half a page up.", action="page(-0.5)",
                why_not=needs_run),
        Command("stream.half_down", "ctrl+d", "half a page down", "Half a page down.", action="page(0.5)",
                why_not=needs_run),
        Command("stream.page_up", "pageup", "page up", "One page up.", action="page(-1.0)", why_not=needs_run),
        Command("stream.page_down", "pagedown", "page down", "One page down.", action="page(1.0)", why_not=needs_run),
        Command("stream.first", "g,home", "first", "The first entry.", why_not=needs_run),
        Command("stream.go_to", "colon", "go to entry", "Go to an entry by its number.", "stream: Go to entry…",
                why_not=needs_run, action="ask_entry"),
        Command("stream.turn_before", "left_square_bracket", "previous turn", "The start of this turn, or of the "
                "previous one.", action="turn(-1)", why_not=needs_run),
        Command("stream.turn_after", "right_square_bracket", "next turn", "The start of the next turn.",
                action="turn(1)", why_not=needs_run),
        Command("stream.next_match", "n", "next match", "The next entry that matches the last filter.",
                action="match(1)", why_not=needs_run),
        Command("stream.previous_match", "shift+n", "previous match", "The previous entry that matches the last "
                "filter.", action="match(-1)", why_not=needs_run),
    ),
)  # fmt: skip

FILTER: Final = (
    Command("filter.submit", "enter", "apply", "Apply the filter, or go to the entry.", rank=1),
    Command("filter.leave", "escape", "cancel", "Close without a change.", rank=2),
)

COPY_MENU: Final = (
    Command("yank.event", "e", "entry JSON", "The entry as JSON.", action="yank('event')"),
    Command("yank.payload", "p", "payload", "The payload as JSON.", action="yank('payload')"),
    Command("yank.text", "t", "text", "The text of the entry.", action="yank('text')"),
    Command("yank.id", "i", "id", "The id of the entry.", action="yank('id')"),
    Command("yank.reproduce", "r", "command line", "The command line that shows the run.",
            action="yank('reproduce')"),
    Command("yank.close", "escape", "close", "Close without copying.", rank=1),
)  # fmt: skip
