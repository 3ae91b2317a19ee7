"""An app with the conversation pane, for tests."""

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Static

from console.model.conversation.conversation import AsOf, ConversationModel
from console.ui.conversation.pane import Conversation
from tests.support.console.journal_writer import SECOND, Journal
from tests.support.console.single_pane_app import SinglePaneApp


class ConversationApp(SinglePaneApp):
    """The conversation pane above one line, with the messages that it posts."""

    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]
    CSS = "Static { height: 1; }"

    def __init__(self, conversation: ConversationModel, *, is_ascii: bool = False) -> None:
        super().__init__(is_ascii=is_ascii)
        self.conversation = conversation
        self.pane = Conversation()
        self.posted_messages: list[Message] = []
        self.now = 100 * SECOND
        self.as_of: AsOf | None = None

    def compose(self) -> ComposeResult:
        yield self.pane
        yield Static("below")

    def on_mount(self) -> None:
        self.pane.focus()
        self.tick()

    def tick(self) -> None:
        """Show the conversation, as the screen does once per tick."""
        self.pane.show(self.conversation, self.now, self.as_of)

    def _record(self, message: Message) -> None:
        self.posted_messages.append(message)

    on_conversation_open_in_stream = _record
    on_conversation_put_back = _record
    on_conversation_copy = _record
    on_conversation_retry = _record
    on_conversation_type_in_prompt = _record
    on_conversation_want_earlier = _record
    on_conversation_want_later = _record
    on_conversation_want_end = _record

    def lines(self) -> list[str]:
        """The rows of the pane; draws them."""
        return [self.pane.render_line(y).text.rstrip() for y in range(self.pane.content_size.height)]

    def posted(self, kind: type[Message]) -> list[Any]:
        """The messages of this kind that the pane has posted."""
        return [message for message in self.posted_messages if isinstance(message, kind)]

    async def add(self, pilot: Pilot[None], journal: Journal, since: int) -> None:
        """Apply the entries of a journal from an index on."""
        self.conversation.apply(journal.entries[since:])
        self.tick()
        await pilot.pause()
