"""Why something cannot be done with a block of the conversation."""

from console.model.commands.naming import key_of
from console.model.talk.blocks import Block, Event, Failure, You, files_of
from console.widgets.conversation.blocks import unfolds


def why_not(what: str, block: Block | None, *, is_empty: bool) -> str | None:
    """For one of the pane's commands and the block under its cursor; nothing where it can be done."""
    if is_empty:
        return "nothing was said yet"
    match what:
        case "open" | "copy" | "fold" | "retry" | "later" | "edit" | "artifact" | "fork" if block is None:
            return f"no block is chosen; {key_of('conversation.earlier')} chooses one"
        case "open" | "artifact" if block is not None and not block.turn:
            return "it was said in the session that this one was forked from"
        case "fold" if not unfolds(block):
            return "only what a tool answered and a traceback unfold"
        case "retry" if not isinstance(block, Failure):
            return f"only a run that failed can be tried again; {key_of('app.go')} runs any other again"
        case "edit" if not isinstance(block, You | Event) or not block.turn:
            return "only what began a run can be edited and sent"
        case "artifact" if not files_of(block):
            return "only an artifact, or a file that came with a message, can be seen in full"
        case _:
            return None
