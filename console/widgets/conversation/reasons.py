"""Why something cannot be done with a block of the conversation."""

from console.model.talk.blocks import Block, Failure
from console.widgets.conversation.blocks import unfolds


def why_not(what: str, block: Block | None, *, is_empty: bool) -> str | None:
    """For one of the pane's commands and the block under its cursor; nothing where it can be done."""
    if is_empty:
        return "nothing was said yet"
    match what:
        case "open" | "copy" | "fold" | "retry" | "later" if block is None:
            return "no block is chosen; alt+up chooses one"
        case "open" if block is not None and not block.turn:
            return "it was said in the session that this one was forked from"
        case "fold" if not unfolds(block):
            return "only what a tool answered and a traceback unfold"
        case "retry" if not isinstance(block, Failure):
            return "only a run that failed can be tried again; f5 runs any other again"
        case _:
            return None
