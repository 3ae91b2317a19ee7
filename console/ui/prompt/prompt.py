"""The prompt: the text area for messages."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from console.model.commands.availability import why_not_choose_mode
from console.model.commands.key_labels import key_of
from console.model.commands.situation import Situation
from console.model.prompt.history import PromptHistory
from console.model.prompt.intent import effective_mode, placeholder_of, title_of
from console.model.prompt.paste_tokens import PasteTokens, Span
from console.ui.prompt.attachments import PromptAttachments
from console.ui.shared.bindings import text_area_bindings
from console.ui.shared.crash_guard import PaneGuard
from console.ui.shared.fields import SafeTextArea
from console.ui.shared.refused import refuse
from engine.events import Mode

_MAX_PLAIN_PASTE_CHARACTERS: Final = 200
"""A paste of up to this many characters never becomes a token."""


class Prompt(PaneGuard, SafeTextArea, inherit_bindings=False):
    """Grows with its text. It is never disabled: a message that is sent before the engine is open waits for it."""

    BINDINGS: ClassVar[list[BindingType]] = text_area_bindings("prompt")
    SCOPED_CSS = False
    DEFAULT_CSS = """
    Prompt { height: auto; min-height: 3; max-height: 10; border: round $panel-lighten-2; padding: 0 1;
        scrollbar-size-vertical: 1; }
    Prompt:focus { border: round $accent; }
    Prompt:blur { border-title-color: $text-muted; }
    Prompt.-after { border: round $secondary; }
    Prompt.-editing { border: round $warning; }
    .-short Prompt { max-height: 6; }
    .-narrow Prompt { min-height: 2; max-height: 9; border: none; border-top: solid $panel-lighten-2; }
    .-narrow Prompt:focus { border: none; border-top: solid $accent; }
    .-narrow Prompt.-after { border: none; border-top: solid $secondary; }
    .-narrow Prompt.-editing { border: none; border-top: solid $warning; }
    .-narrow.-short Prompt { max-height: 5; }
    Prompt .text-area--placeholder { color: $text-muted; }
    Prompt .prompt--paste { color: $accent; text-style: bold; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt--paste"}

    @dataclass
    class Submitted(Message):
        """Posted when the user presses enter: a new message, or the new text of a queued message (`item_id`)."""

        text: str
        mode: str
        item_id: str | None
        files: tuple[str, ...] = ()
        """Paths of the attached files."""
        typed: str = ""
        """The text as typed, to restore it if sending fails."""

    class EnterQueue(Message):
        """Posted when the user presses up in an empty prompt while messages are queued."""

    def __init__(self, *, id: str | None = "prompt") -> None:  # noqa: A002
        self._pastes = PasteTokens()
        self.attachments = PromptAttachments(self)
        super().__init__(id=id, highlight_cursor_line=False)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.mode = Mode.STEER
        """The mode that the user chose for messages to a run in progress."""
        self.item_id: str | None = None
        """The queued message that is being edited."""
        self._now = Situation()
        self._runner, self._turn = "", 0
        self._sent_history = PromptHistory()
        self._draft = ""
        """The text before a queued message was loaded for editing."""
        self._is_proposed = False
        """The text was proposed by the console and is selected as a whole."""
        self._update_title()

    # Content

    @property
    def full_text(self) -> str:
        """The text with all large pastes in full."""
        return self._pastes.whole(self.text)

    @property
    def unsent_text(self) -> str:
        """The text that quitting would lose: not that of a queued message that is being edited."""
        return self._draft if self.item_id is not None else self.full_text

    def show(self, now: Situation, *, runner: str = "", turn: int = 0) -> None:
        """Update the title: where a message would go now, the display name of the runner, and the current turn."""
        if (now, runner, turn) != (self._now, self._runner, self._turn):
            self._now, self._runner, self._turn = now, runner, turn
            self._update_title()

    def load(self, text: str) -> None:
        """Replace the text and put the cursor at its end."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        self.load_text(self._pastes.shown(lines))
        self.move_cursor(self.document.end)
        self._is_proposed = False

    def propose(self, text: str) -> None:
        """Load a text and select it: typing or pasting replaces it, moving or deleting keeps it."""
        self.load(text)
        self.select_all()
        self._is_proposed = True

    def remove_proposal(self) -> None:
        """Remove a proposed text that the user has not touched."""
        if self._is_proposed:
            self.load("")

    def restore_text(self, text: str) -> None:
        """Restore a text that could not be sent, before anything typed since."""
        typed = self.full_text
        self.load(f"{text}\n{typed}" if typed else text)
        self.attachments.check_again()

    def set_history(self, texts: list[str]) -> None:
        """Set the history (oldest first); messages sent since stay behind it."""
        if not self._sent_history.is_browsing:
            self._sent_history = PromptHistory([*texts, *self._sent_history.sent])

    @property
    def sent(self) -> list[str]:
        """The sent messages, oldest first."""
        return self._sent_history.sent

    def recall(self, text: str) -> None:
        """Load a message of the history; down leads back to the draft."""
        if (found := self._sent_history.go_to(self.full_text, text)) is not None:
            self.attachments.keep_as_text(found)
            self.load(found)

    def begin_editing(self, item_id: str, text: str) -> None:
        """Load a queued message for editing; the draft comes back afterwards."""
        if self.item_id is None:
            self._draft = self.full_text
        self.item_id = item_id
        self.attachments.keep_as_text(text)
        self.load(text)
        self._update_title()

    def cancel_editing(self) -> bool:
        """Stop editing a queued message and restore the draft. Returns whether one was being edited."""
        if self.item_id is None:
            return False
        self.item_id = None
        self.load(self._draft)
        self._draft = ""
        self._update_title()
        return True

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (the interface of all panes)
        """Always None: the footer shows all keys of the prompt, even if it is empty."""
        return None

    def clear_selection(self) -> bool:
        """Unselect and keep the cursor. Returns whether text was selected."""
        had = not self.selection.is_empty
        self.move_cursor(self.cursor_location)
        return had

    # Keys

    async def on_key(self, event: events.Key) -> None:
        """Run the prompt's keys here: through the app, a letter typed after enter could overtake it."""
        if self.attachments.handle_key(event.key):
            event.stop()
            event.prevent_default()
            return
        bound = None if event.is_printable else self.screen.active_bindings.get(event.key)
        is_own = bound is not None and bound.node is self
        if self._is_proposed and (is_own or event.is_printable):
            self._is_proposed = False
            if bound is not None and bound.binding.action != "paste":
                self.clear_selection()
        if bound is not None and is_own and await self.app.run_action(bound.binding.action, self):
            event.stop()
            event.prevent_default()

    async def action_send(self) -> None:
        if warning := await self.attachments.resolve_mentions():
            refuse(self, warning)
            return
        text = self.full_text
        sent_text, files = self.attachments.tokens.text_to_send(text), self.attachments.tokens.paths(text)
        if self.item_id is not None and files:
            refuse(self, "A queued message keeps its own files. Remove this one, or send a new message.")
        elif self.item_id is not None and not text.strip():
            withdraw = key_of("queue.withdraw")
            refuse(self, f"The message is empty. Press {withdraw} in the queue to withdraw it.")
        elif not text.strip():
            refuse(self, "The prompt is empty. Type a message first.")
        else:
            mode = effective_mode(self._now, self.mode)
            self.post_message(self.Submitted(sent_text, mode, self.item_id, files, text))
            self._sent_history.add(text)
            self.attachments.clear_warnings()
            if not self.cancel_editing():
                self.load("")
            self._pastes.forget(but=self.text)

    def type_in(self, character: str) -> None:
        """Insert a character that was typed in another pane."""
        self._is_proposed = False
        self._replace_via_keyboard(character, *self.selection)

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    def action_mode(self) -> None:
        # The situation is updated once a tick, so it may not know about the edited message yet.
        why = why_not_choose_mode(replace(self._now, is_editing=self.item_id is not None))
        if why is not None:
            refuse(self, why)
            return
        self.mode = Mode.AFTER if self.mode == Mode.STEER else Mode.STEER
        self._update_title()

    def action_earlier(self) -> None:
        if not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif not self.text and self._now.queue_items and not self._sent_history.is_browsing:
            self.post_message(self.EnterQueue())
        elif (text := self._sent_history.earlier(self.full_text)) is not None:
            self.attachments.keep_as_text(text)
            self.load(text)
            # At the end of the first row, so that pressing the key again goes on.
            breaks = self.wrapped_document.get_offsets(0)
            self.move_cursor((0, breaks[0] - 1 if breaks else len(self.document.get_line(0))))
        elif self.cursor_location == (0, 0):
            refuse(self, "No earlier message.")
        else:
            self.move_cursor((0, 0))

    def action_cursor_down(self, select: bool = False) -> None:
        is_last = self.navigator.is_last_wrapped_line(self.cursor_location)
        if is_last and not select and (text := self._sent_history.later(self.full_text)) is not None:
            self.load(text)
        else:
            super().action_cursor_down(select)

    def action_paste(self) -> None:
        self._paste(self.app.clipboard)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._paste(event.text)

    def on_resize(self) -> None:
        self._update_title()
        self.call_after_refresh(self.scroll_cursor_visible)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Do nothing if the cursor's row was just removed: Textual 8.2.8 raises there on undo."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    # Paths of attachments

    def on_text_area_selection_changed(self) -> None:
        self.attachments.complete_path()

    def on_text_area_changed(self) -> None:
        self.attachments.complete_path()

    def on_blur(self) -> None:
        self.attachments.close_picker()

    def action_attach(self) -> None:
        """Begin a path with an @."""
        row, column = self.cursor_location
        self.move_cursor((row, column))  # unselect, so that the @ replaces nothing
        before = self.document.get_line(row)[:column]
        self.insert("@" if not before or before[-1].isspace() else " @")
        self.focus()

    def type_at(self, text: str, start: Location, end: Location) -> bool:
        """Replace a range as if the user had typed it, and put the cursor behind. Returns False if it is read-only."""
        result = self._replace_via_keyboard(text, start, end)
        if result is not None:
            self.move_cursor(result.end_location)
        return result is not None

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        ended = self.attachments.mention_ended_by(insert, min(start, end))
        result = super()._replace_via_keyboard(insert, start, end)
        self.attachments.on_typed(ended)
        return result

    # Tokens: a large paste or a file behaves as one character

    def edit(self, edit: Edit) -> EditResult:
        """Keep tokens whole: an edit that touches one replaces it, and text typed inside one goes behind it."""
        top, bottom = edit.top, edit.bottom
        if top == bottom:
            top = bottom = self._outside(top, to_end=True)
        else:
            top, bottom = self._outside(top, to_end=False), self._outside(bottom, to_end=True)
        result = super().edit(replace(edit, from_location=top, to_location=bottom))
        # Textual scrolls before it knows about a new row.
        self.scroll_cursor_visible()
        return result

    def validate_selection(self, selection: Selection) -> Selection:
        """Move the cursor over a token, in the direction of the move."""
        forward = selection.end >= self.selection.end
        end = self._outside(selection.end, to_end=forward)
        if selection.is_empty:
            return Selection.cursor(end)
        return Selection(self._outside(selection.start, to_end=selection.start > selection.end), end)

    def get_line(self, line_index: int) -> Text:
        """A line of the same length that is safe to show, with tokens highlighted."""
        shown = super().get_line(line_index)
        for span in self._spans(self.document.get_line(line_index)):
            shown.stylize(self.get_component_rich_style("prompt--paste", partial=True), span.start, span.end)
        return shown

    def _paste(self, text: str) -> None:
        beside = len(self.text) if len(text) > _MAX_PLAIN_PASTE_CHARACTERS else 0
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self._pastes.shown(lines, beside)
        if self.type_at(shown, *self.selection):
            self.attachments.on_pasted(lines, shown)

    def _spans(self, line: str) -> Iterator[Span]:
        return chain(self._pastes.spans(line), self.attachments.tokens.spans(line))

    def _outside(self, location: Location, *, to_end: bool) -> Location:
        row, column = location
        if row < self.document.line_count:
            for span in self._spans(self.document.get_line(row)):
                if span.start < column < span.end:
                    return row, span.end if to_end else span.start
        return location

    # Private

    def _update_title(self) -> None:
        mode, is_editing = effective_mode(self._now, self.mode), self.item_id is not None
        title = title_of(self._now, mode=mode, runner=self._runner, turn=self._turn, is_editing=is_editing)
        # Textual puts spaces around a title only if the border has corners.
        space = "" if self.styles.border_left[0] else " "
        self.border_title = Content(f"{space}{title.fitting(self.outer_size.width - 6)}{space}")
        self.placeholder = Content(placeholder_of(self._now, mode))
        has_run = self._now.is_running or self._now.is_elsewhere
        self.set_class(has_run and mode == Mode.AFTER and not is_editing, "-after")
        self.set_class(is_editing, "-editing")
