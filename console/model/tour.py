"""The tour: a sentence or two about each part of the screen, forty seconds in all."""

from typing import Final, NamedTuple


class Step(NamedTuple):
    """Where one is led, and what is said there."""

    where: str
    title: str
    words: str
    """Keys are named by their commands."""


STEPS: Final = (
    Step("prompt", "Say something", "Type here, {prompt.send} sends. While a run works the same key steers it: what "
         "you say lands at its next pull. {prompt.mode} turns that into a message for after the run."),
    Step("conversation", "What was said", "You, the runner and its tools. {conversation.earlier} and "
         "{conversation.later} choose a block; {conversation.open} opens it in the stream."),
    Step("stream", "What was done", "Every entry of the run. Moving here takes everything back to that moment; esc "
         "is live again. {stream.filter} filters."),
    Step("inspector", "Why", "One entry in full, and the state, the context and the calls as of it. "
         "{inspector.previous_tab} and {inspector.next_tab} choose a tab."),
    Step("rail", "Runs", "What ran before, and the conversations it belongs to. {rail.open} opens one."),
    Step("prompt", "Hold it", "{app.hold} holds the run before its next pull, {app.step} lets it take one step, "
         "{app.go} lets it go, {app.stop} stops it. Messages that wait can be changed: {prompt.earlier} leads there."),
    Step("prompt", "All the rest", "{app.runners} chooses your own runner, {app.palette} finds any command by its "
         "name, {app.jump} jumps to anything you see, {app.help} explains where you are."),
)  # fmt: skip
