"""The conversation pane: shows the blocks of a session and acts on the block under the cursor.

The pane asks `Viewport` which rows are in view and gets their strips from `RowCache`, which draws what has changed with
`BlockPainter` and `MarkdownLayout`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from console.model.commands.key_labels import key_of, with_keys
from console.model.conversation.blocks import (
    Block,
    Event,
    RunFailure,
    SteeringMessage,
    ToolCall,
    ToolResult,
    UserMessage,
    files_of,
)
from console.model.conversation.conversation import AsOf, ConversationModel
from console.model.text.follow import Follow
from console.model.text.glyphs import GLYPHS
from console.model.text.units import duration
from console.ui.conversation.block_painter import MUTED, can_unfold
from console.ui.conversation.row_cache import RowCache, View, gap_above
from console.ui.conversation.viewport import RowPosition, Viewport
from console.ui.shared.bindings import bindings_for
from console.ui.shared.crash_guard import PaneGuard
from console.ui.shared.refused import refuse
from console.ui.shared.selection import highlight_range

WHEEL_ROWS: Final = 3
"""Rows that one step of the mouse wheel scrolls."""
_BLOCK_COMMANDS: Final = frozenset({"open", "copy", "fold", "retry", "later", "edit", "artifact", "fork"})
"""Commands that act on the block under the cursor."""
_BLOCK_LETTERS: Final = _BLOCK_COMMANDS - {"open", "later"}
"""Those of them that are bound to a letter."""


class Conversation(PaneGuard, Widget, can_focus=True):
    """Shows a conversation. Only the rows in view are drawn, so the cost does not grow with its length."""

    empty_text = "No messages yet.\nType below and press {prompt.send}."
    """Shown while the conversation is empty."""

    DEFAULT_CSS = """
    Conversation { height: 1fr; padding: 0 1 0 0; border: round $panel-lighten-2; border-subtitle-color: $text-muted; }
    Conversation:focus { border: round $accent; }
    .-narrow Conversation, .-narrow Conversation:focus { border: none; }
    Conversation > .conversation--cursor { background: $chosen; }
    Conversation > .conversation--later { color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"conversation--cursor", "conversation--later"}
    BORDER_TITLE = "Conversation"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("conversation")

    @dataclass
    class OpenInStream(Message):
        """Posted when the user opens a block in the stream."""

        run_id: str
        position: int

    @dataclass
    class PutBack(Message):
        """Posted when the user takes a dropped message back to the prompt."""

        item_id: str
        text: str

    @dataclass
    class Copy(Message):
        """Posted when the user copies a block; `text` is Markdown."""

        text: str

    @dataclass
    class Retry(Message):
        """Posted when the user retries a failed run."""

        run_id: str

    @dataclass
    class EditEvent(Message):
        """Posted when the user edits the event that started a run, to send it as a new one."""

        run_id: str

    @dataclass
    class SeeArtifact(Message):
        """Posted when the user opens an artifact. `artifact_id` is empty if the runner gave none."""

        run_id: str
        artifact_id: str
        name: str

    @dataclass
    class ForkAt(Message):
        """Posted when the user forks the session at a block."""

        run_id: str
        position: int
        is_inherited: bool
        """The block comes from the parent session; `position` is then that of its transcript line."""

    @dataclass
    class TypeInPrompt(Message):
        """Posted when the user types a character that belongs to the prompt."""

        character: str

    @dataclass
    class WantEarlier(Message):
        """Posted when the first loaded block comes into view; once for each first block."""

        run_id: str
        position: int

    class WantLater(Message):
        """Posted when the last loaded block comes into view and the session goes on below; once for each last block."""

    class WantEnd(Message):
        """Posted when the user goes to the end and later entries have not been read."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._conversation = ConversationModel()
        self._revision = -1
        self._last = -1
        """The number of the last block."""
        self._as_of: AsOf | None = None
        self._view = View()
        self._earlier_requested_at = self._later_requested_at = ""
        """The keys of the first and the last block when blocks before or after it were requested."""
        self._theme = ""
        self._row_cache = RowCache()
        self._viewport = Viewport(lambda block, piece: len(self._strips(block, piece)))

    # Called by the screen and its controllers

    def show(self, conversation: ConversationModel, now: int, as_of: AsOf | None = None) -> None:
        """Show the conversation. Called once a tick; does nothing if nothing has changed."""
        last = conversation.blocks[-1].number if conversation.blocks else -1
        if conversation is not self._conversation:
            self._conversation, self._last = conversation, last
            self._earlier_requested_at = self._later_requested_at = ""
            self._viewport.show_conversation(conversation)
            self._set_cursor(None)
        elif conversation.revision == self._revision and as_of == self._as_of and not self._is_duration_stale(now):
            return
        self._viewport.follow = self.follow.grown(last - self._last)
        self._revision, self._last, self._as_of = conversation.revision, last, as_of
        self._view = replace(self._view, now=now, after=conversation.number_after(*as_of) if as_of else None)
        self._changed()

    def show_run(self, conversation: ConversationModel, run_id: str) -> None:
        """Show the start of a run, or its end if it is the last run of the session."""
        self.show(conversation, self._view.now)
        block = next((block for block in conversation.blocks if block.run_id == run_id and not block.is_hidden), None)
        self._viewport.go_live()
        if block is not None and not conversation.ends_with(run_id):
            self._viewport.go_to(block.number)
        self._changed()

    def select_entry(self, run_id: str, position: int) -> None:
        """Put the cursor on the block of an entry."""
        after = self._conversation.number_after(run_id, position)
        if after is not None:
            self._set_cursor(after - 1 if self._conversation.block(after - 1) is not None else after)

    @property
    def follow(self) -> Follow:
        return self._viewport.follow

    @property
    def cursor(self) -> Block | None:
        """The block under the cursor."""
        return None if self._view.cursor is None else self._conversation.block(self._view.cursor)

    def clear_cursor(self) -> bool:
        """Remove the cursor. Returns whether there was one."""
        had_cursor = self._view.cursor is not None
        self._set_cursor(None)
        return had_cursor

    def go_live(self) -> bool:
        """Follow the end. Returns whether that is a change."""
        was_away = not self.follow.is_tail
        self._viewport.go_live()
        self._changed()
        return was_away

    # Moving

    def action_rows(self, count: int) -> None:
        if not self._refuse("up"):
            self._move(count)

    def action_pages(self, count: int) -> None:
        self.action_rows(count * max(1, self._viewport.height - 2))

    def _move(self, count: int) -> None:
        self._rows_in_view()
        self._viewport.move(count)
        self._changed()

    def action_first(self) -> None:
        if not self._refuse("first"):
            self._viewport.go_to(self._conversation.blocks[0].number)
            self._changed()

    def action_live(self) -> None:
        if not self._refuse("live"):
            self.clear_cursor()
            self.go_live()
            if self._conversation.has_later:
                self.post_message(self.WantEnd())

    def action_earlier(self) -> None:
        if not self._refuse("earlier"):
            self._step(-1)

    def action_later(self) -> None:
        if not self._refuse("later"):
            self._step(1)

    def _step(self, step: int) -> None:
        """Move the cursor by one block. Moving below the last block removes it and follows the end."""
        seen, here = self._rows_in_view(), self._view.cursor
        if not seen or (here is None and step > 0):
            return
        number = (seen[-1].number + 1 if here is None else here) + step
        while (block := self._conversation.block(number)) is not None and block.is_hidden:
            number += step
        if block is not None:
            self._set_cursor(number)
        elif step > 0:
            self.action_live()
        else:
            refuse(self, "This is the first block.")

    # Acting on a block

    def why_not(self, command: str) -> str | None:
        """The reason why a command cannot be carried out now, or None."""
        block = self.cursor
        if not self._conversation.blocks:
            return "No messages yet."
        if block is None:
            is_missing = command in _BLOCK_COMMANDS
            return (
                f"No block is selected. Press {key_of('conversation.earlier')} to select one." if is_missing else None
            )
        match command:
            case "open" | "artifact" if not block.turn:
                return "This block belongs to the session that this one was forked from."
            case "fold" if not can_unfold(block):
                return "Only tool results and tracebacks can be unfolded."
            case "retry" if not isinstance(block, RunFailure):
                return f"Only a failed run can be retried. Press {key_of('app.run_again')} to run any run again."
            case "edit" if not isinstance(block, UserMessage | Event) or not block.turn:
                return "Only the event that started a run can be edited."
            case "artifact" if not files_of(block):
                return "This block has no artifact or file."
            case _:
                return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable a letter that cannot act on the block, so that it goes to the prompt."""
        return action not in _BLOCK_LETTERS or self.why_not(action) is None

    def action_open(self) -> None:
        block = self.cursor
        if self._refuse("open"):
            return
        if isinstance(block, SteeringMessage) and block.can_take_back:
            self.post_message(self.PutBack(block.item_id, block.text))
        elif isinstance(block, RunFailure) and can_unfold(block) and block.key not in self._view.unfolded:
            self.action_fold()
        elif block is not None:
            self.post_message(self.OpenInStream(block.run_id, block.position))

    def action_fold(self) -> None:
        if (block := self.cursor) is not None and can_unfold(block):
            self._view = replace(self._view, unfolded=self._view.unfolded ^ {block.key})
            self._set_cursor(block.number)

    def action_copy(self) -> None:
        if (block := self.cursor) is not None:
            self.post_message(self.Copy(block.markdown()))

    def action_retry(self) -> None:
        if isinstance(block := self.cursor, RunFailure):
            self.post_message(self.Retry(block.run_id))

    def action_edit(self) -> None:
        if isinstance(block := self.cursor, UserMessage | Event):
            self.post_message(self.EditEvent(block.run_id))

    def action_fork(self) -> None:
        if (block := self.cursor) is not None:
            self.post_message(self.ForkAt(block.run_id, block.position, is_inherited=not block.turn))

    def action_artifact(self) -> None:
        block = self.cursor
        if block is not None and (files := files_of(block)):
            self.post_message(self.SeeArtifact(block.run_id, files[0].artifact_id, files[0].name))

    def on_key(self, event: events.Key) -> None:
        """Send typed characters to the prompt, except for keys that act on the block under the cursor."""
        bound = self.screen.active_bindings.get(event.key)
        is_ours = bound is not None and bound.node is self
        if event.is_printable and event.character and not is_ours:
            event.stop()
            event.prevent_default()
            self.post_message(self.TypeInPrompt(event.character))

    # Mouse

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._move(-WHEEL_ROWS)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._move(WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked block; a click on the first line of a tool call unfolds it too."""
        place, seen = event.get_content_offset(self), self._rows_in_view()
        if place is None or self.text_selection is not None or not 0 <= place.y < len(seen):
            return
        position = seen[place.y]
        self._set_cursor(position.number)
        if isinstance(block := self.cursor, ToolCall) and position.line == gap_above(self._conversation, block):
            self.action_fold()

    # Drawing

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._viewport.invalidate()

    def on_resize(self, _: events.Resize) -> None:
        self._changed()

    def render_line(self, y: int) -> Strip:
        seen, width = self._rows_in_view(), self.content_size.width
        if not seen:
            is_default = self.empty_text == type(self).empty_text
            # Any other text may contain a name that the user chose, and is not a template.
            text, style = (with_keys(self.empty_text), MUTED) if is_default else (self.empty_text, "$text-warning")
            lines = Content.styled(text, style).wrap(max(1, width - 1))
            return self._row_cache.strip(
                Content(" ") + lines[y] if y < len(lines) else Content(""), self.visual_style, width
            )
        strip = self._strip(seen[y]) if y < len(seen) else Strip.blank(width, self.visual_style.rich_style)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(y)) is not None:
            strip = highlight_range(strip, *span, self.screen.get_component_rich_style("screen--selection"))
        strip = strip.apply_offsets(0, y)
        if y == self._viewport.height - 1 and not self.follow.is_tail and not self.styles.border_bottom[0]:
            # Without a border the state has no other place.
            state = Content.styled(f" {self._follow_state()} ", "reverse")
            over = self._row_cache.strip(state, self.visual_style, min(width, state.cell_length))
            strip = Strip.join([strip.crop(0, width - over.cell_length), over])
        return strip

    def _rows_in_view(self) -> Sequence[RowPosition]:
        """The rows in view; computed again if something has changed."""
        if self._viewport.is_stale:
            if self._theme != self.app.theme:
                self._theme, self._row_cache = self.app.theme, RowCache()
            base, selected = self.visual_style, self.get_visual_style("conversation--cursor")
            later = Style(color=self.get_component_rich_style("conversation--later", partial=True).color)
            self._view = replace(self._view, width=self.content_size.width, base=base, selected=selected, later=later)
            self._viewport.height = max(1, self.content_size.height)
            self._request_more(self._viewport.seen)
        return self._viewport.seen

    def _strip(self, position: RowPosition) -> Strip:
        block = self._conversation.block(position.number)
        strips = [] if block is None else self._strips(block, position.piece)
        return strips[position.line] if position.line < len(strips) else Strip.blank(self.content_size.width)

    def _strips(self, block: Block, piece: int) -> list[Strip]:
        return self._row_cache.strips(self._conversation, block, piece, self._view)

    def jump_offsets(self) -> Iterator[Offset]:
        """The offsets of the first rows of the blocks in view, for jump mode."""
        first = {position.number: row for row, position in reversed(list(enumerate(self._rows_in_view())))}
        yield from (self.content_region.offset - self.region.offset + Offset(0, row) for row in sorted(first.values()))

    # Text selection

    def selection_updated(self, selection: Selection | None) -> None:
        """Stop following the end while text is being selected."""
        if selection is not None and self.follow.is_tail:
            self._rows_in_view()
            self._viewport.stay()
            self._changed()
        super().selection_updated(selection)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text without the bars. Only rows in view can be selected."""
        text = "\n".join(self._strip(position).text.rstrip() for position in self._rows_in_view())
        edge = f" {GLYPHS['cursor']}{GLYPHS['later']}{GLYPHS['bar']}"
        return "\n".join(line.lstrip(edge) for line in selection.extract(text).splitlines()), "\n"

    # Private

    def _refuse(self, command: str) -> bool:
        """Post the reason if a command cannot be carried out now. Returns whether there was one."""
        return refuse(self, self.why_not(command))

    def _changed(self) -> None:
        self._viewport.invalidate()
        if (state := self._follow_state()) != self.border_subtitle:
            self.border_subtitle = state
        self.refresh()

    def _set_cursor(self, number: int | None) -> None:
        """Move the cursor to a block and stop following the end, so that the block stays in view."""
        if number is not None:
            self._rows_in_view()
            self._viewport.stay()
        self._view = replace(self._view, cursor=number)
        if number is not None:
            self._viewport.scroll_to(number)
        self._changed()
        self.refresh_bindings()

    def _is_duration_stale(self, now: int) -> bool:
        """Whether the displayed duration of an open tool call in view is out of date."""
        if self._viewport.is_stale:
            return True  # nothing has been drawn yet
        blocks = (self._conversation.block(number) for number in {position.number for position in self._viewport.seen})
        tools = (block for block in blocks if isinstance(block, ToolCall) and block.result is ToolResult.OPEN)
        return any(duration(now - tool.at) != duration(self._view.now - tool.at) for tool in tools)

    def _request_more(self, seen: Sequence[RowPosition]) -> None:
        if not seen:
            return
        first, last = self._conversation.blocks[0], self._conversation.blocks[-1]
        if self._earlier_requested_at != first.key and seen[0].number == first.number:
            self._earlier_requested_at = first.key
            # Drawing runs in the screen's context; without the sender the message would not bubble from this pane.
            self.post_message(self.WantEarlier(first.run_id, first.position).set_sender(self))
        if self._conversation.has_later and self._later_requested_at != last.key and seen[-1].number == last.number:
            self._later_requested_at = last.key
            self.post_message(self.WantLater().set_sender(self))

    def _follow_state(self) -> str:
        if self._as_of is not None:
            return f"as of #{self._as_of.position}"
        if self._conversation.has_later:
            return f"{GLYPHS['injected']} later runs · end"
        if self.follow.is_tail:
            return f"follow {GLYPHS['running']}"
        return f"{GLYPHS['injected']} " + (f"{self.follow.new:,} new · end" if self.follow.new else "end: follow")
