"""The texts of the tour: one or two sentences about each part of the screen."""

from typing import Final, NamedTuple


class Step(NamedTuple):
    """The pane that is shown and the text about it."""

    where: str
    title: str
    text: str
    """Commands in braces are replaced by their keys."""


STEPS: Final = (
    Step("prompt", "Send a message", "Type, {prompt.send} sends. During a run it steers: the message is delivered at "
         "the next steering point. {prompt.mode} sends it after the run instead."),
    Step("conversation", "Conversation", "You, the runner and its tools. {conversation.earlier} and "
         "{conversation.later} select a block; {conversation.open} opens it in the stream."),
    Step("stream", "Stream", "Every entry of the run. Moving here shows everything as of that entry; esc goes live "
         "again. {stream.filter} filters."),
    Step("inspector", "Inspector", "One entry in full, with state, context and calls as of that entry. "
         "{inspector.previous_tab} and {inspector.next_tab} select a tab."),
    Step("rail", "Runs", "Earlier runs and sessions. {rail.open} opens one."),
    Step("prompt", "Pause a run", "{app.pause} pauses the run at its next steering point and continues it, {app.step} "
         "steps, {app.stop} stops. Queued messages can be edited: {prompt.earlier} goes there."),
    Step("prompt", "Runner and events", "{app.runners} chooses your own runner, {app.settings} its settings; "
         "{app.compose} composes any event."),
    Step("prompt", "Stored data", "{app.sessions} lists sessions and searches all messages; {app.states} shows the "
         "state of runners."),
    Step("prompt", "Everything else", "{app.palette} finds any command by its name, {app.jump} jumps to anything on "
         "the screen, {app.help} explains this pane."),
)  # fmt: skip
