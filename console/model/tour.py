"""The tour: a sentence or two about each part of the screen, forty seconds in all."""

from typing import Final, NamedTuple


class Step(NamedTuple):
    """Where one is led, and what is said there."""

    where: str
    title: str
    words: str
    """Keys are named by their commands."""


STEPS: Final = (
    Step("prompt", "Say something", "Type, {prompt.send} sends. While a run works it steers: what you say "
         "lands at its next pull. {prompt.mode} keeps it for after the run."),
    Step("conversation", "What was said", "You, the runner and its tools. {conversation.earlier} and "
         "{conversation.later} choose a block; {conversation.open} opens it in the stream."),
    Step("stream", "What was done", "Every entry of the run. Moving here takes everything back to that moment; esc "
         "is live again. {stream.filter} filters."),
    Step("inspector", "Why", "One entry in full, with state, context and calls as of it. {inspector.previous_tab} and "
         "{inspector.next_tab} choose a tab."),
    Step("rail", "Runs", "What ran before, and its sessions. {rail.open} opens one."),
    Step("prompt", "Hold it", "{app.hold} holds the run at its next pull, {app.step} steps, {app.go} releases, "
         "{app.stop} stops. What waits can be changed: {prompt.earlier} leads there."),
    Step("prompt", "Who runs, and on what", "{app.runners} chooses your own runner, {app.settings} its settings; "
         "{app.compose} puts any event together."),
    Step("prompt", "What is kept", "{app.sessions} lists sessions and searches all that was said; {app.states} shows "
         "what runners keep."),
    Step("prompt", "All the rest", "{app.palette} finds any command by its name, {app.jump} jumps to anything you see, "
         "{app.help} explains where you are."),
)  # fmt: skip
