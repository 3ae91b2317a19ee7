"""The conversation: what was said, done and steered, from the earliest run that is loaded to the live one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from console.bindings import bindings_for
from console.model.glyphs import Glyphs
from console.model.stream.follow import Follow
from console.model.talk.blocks import Answer, Block, Failure, Steered, Tool
from console.model.talk.talk import AsOf, Talk
from console.model.words import duration
from console.widgets.conversation.asking import Asking
from console.widgets.conversation.blocks import unfolds
from console.widgets.conversation.drawn import Drawn
from console.widgets.conversation.passage import Spot
from console.widgets.conversation.reasons import why_not
from console.widgets.conversation.sheet import Sheet, View, gap_above
from console.widgets.conversation.viewport import Viewport
from console.widgets.guard import Guarded

WHEEL: Final = 3  # rows that a turn of it moves


class Conversation(Guarded, Asking, Drawn, Widget, can_focus=True):
    """Shows a talk. It draws what is in view and knows nothing of the rest, however long the talk is."""

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
        """Someone wants to see the entries of a block."""

        run_id: str
        position: int

    @dataclass
    class PutBack(Message):
        """A message that was dropped is wanted back in the prompt."""

        item_id: str
        text: str

    @dataclass
    class Copy(Message):
        """A block as Markdown."""

        text: str

    @dataclass
    class Retry(Message):
        """The input of a run that failed is to be sent once more."""

        run_id: str

    @dataclass
    class TypeInPrompt(Message):
        """Someone began to type."""

        character: str

    @dataclass
    class WantEarlier(Message):
        """The first block came into view: what was before it is wanted. Said once for each first block."""

        run_id: str
        position: int

    class WantLater(Message):
        """The last block came into view, and the session goes on below it. Said once for each last block."""

    class WantEnd(Message):
        """Someone wants to follow what is said now, and what is shown ends before it."""

    @dataclass
    class Refused(Message):
        """What was asked for cannot be done, and why."""

        words: str

    def __init__(self, *, glyphs: Glyphs | None = None, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._talk = Talk()
        self._revision = -1
        self._last = -1
        """The number of the last block that was shown."""
        self._as_of: AsOf | None = None
        self._look = View()
        self._wanted = self._wanted_below = ""
        """The first block when earlier ones were asked for, and the last when later ones were."""
        self._theme = ""
        self._glyphs = glyphs or Glyphs()
        self._sheet = Sheet(self._glyphs)
        self._viewport = Viewport(lambda block, piece: len(self._strips(block, piece)))

    # What the app tells and asks

    def show(self, talk: Talk, now: int, as_of: AsOf | None = None) -> None:
        """The talk at this moment. Called once a tick; where nothing has changed it does nothing."""
        last = talk.blocks[-1].number if talk.blocks else -1
        if talk is not self._talk:
            self._talk, self._last, self._wanted, self._wanted_below = talk, last, "", ""
            self._viewport.turn_to(talk)
            self._point_at(None)
        elif talk.revision == self._revision and as_of == self._as_of and not self._is_clock_moving(now):
            return
        self._viewport.follow = self.follow.grown(last - self._last)
        self._revision, self._last, self._as_of = talk.revision, last, as_of
        self._look = replace(self._look, now=now, after=talk.first_after(*as_of) if as_of else None)
        self._changed()

    def bring(self, talk: Talk, run_id: str) -> None:
        """Show where a run begins; one that is the last is shown from its end."""
        self.show(talk, self._look.now)
        block = next((block for block in talk.blocks if block.run_id == run_id and not block.is_gone), None)
        self._viewport.go_live()
        if block is not None and not talk.ends_with(run_id):
            self._viewport.go_to(block.number)
        self._changed()

    def point_at(self, run_id: str, position: int) -> None:
        """Choose the block in which something was said."""
        after = self._talk.first_after(run_id, position)
        if after is not None:
            self._point_at(after - 1 if self._talk.block(after - 1) is not None else after)

    def use(self, glyphs: Glyphs) -> None:
        """Show the same with other glyphs."""
        self._glyphs, self._sheet = glyphs, Sheet(glyphs)
        self._changed()

    @property
    def follow(self) -> Follow:
        return self._viewport.follow

    @property
    def cursor(self) -> Block | None:
        """The block under the block cursor."""
        return None if self._look.cursor is None else self._talk.block(self._look.cursor)

    def clear_cursor(self) -> bool:
        """Take the block cursor away; whether there was one."""
        had = self._look.cursor is not None
        self._point_at(None)
        return had

    def go_live(self) -> bool:
        """Follow the end again; whether it was not followed."""
        was_away = not self.follow.is_tail
        self._viewport.go_live()
        self._changed()
        return was_away

    # Moving

    def action_rows(self, count: int) -> None:
        if not self._refuses("up"):
            self._move(count)

    def action_pages(self, count: int) -> None:
        self.action_rows(count * max(1, self._viewport.tall - 2))

    def _move(self, count: int) -> None:
        self._in_view()
        self._viewport.move(count)
        self._changed()

    def action_first(self) -> None:
        if not self._refuses("first"):
            self._viewport.go_to(self._talk.blocks[0].number)
            self._changed()

    def action_live(self) -> None:
        if not self._refuses("live"):
            self.clear_cursor()
            self.go_live()
            if self._talk.has_later:
                self.post_message(self.WantEnd())

    def action_earlier(self) -> None:
        if not self._refuses("earlier"):
            self._step(-1)

    def action_later(self) -> None:
        if not self._refuses("later"):
            self._step(1)

    def _step(self, step: int) -> None:
        """Move the block cursor; below the last block there is none, and the end is followed."""
        seen, here = self._in_view(), self._look.cursor
        if not seen or (here is None and step > 0):
            return
        number = (seen[-1].number + 1 if here is None else here) + step
        while (block := self._talk.block(number)) is not None and block.is_gone:
            number += step
        if block is not None:
            self._point_at(number)
        elif step > 0:
            self.action_live()
        else:
            self.post_message(self.Refused("this is the first block that is read"))

    # Acting on a block

    def why_not(self, what: str) -> str | None:
        """Why one of its commands cannot be carried out now."""
        return why_not(what, self.cursor, is_empty=not self._talk.blocks)

    def action_open(self) -> None:
        block = self.cursor
        if self._refuses("open"):
            return
        if isinstance(block, Steered) and block.can_return:
            self.post_message(self.PutBack(block.item_id, block.text))
        elif isinstance(block, Failure) and unfolds(block) and block.key not in self._look.unfolded:
            self.action_fold()
        elif block is not None:
            self.post_message(self.OpenInStream(block.run_id, block.position))

    def action_fold(self) -> None:
        if (block := self.cursor) is not None and unfolds(block):
            self._look = replace(self._look, unfolded=self._look.unfolded ^ {block.key})
            self._point_at(block.number)

    def action_copy(self) -> None:
        if (block := self.cursor) is not None:
            self.post_message(self.Copy(block.markdown()))

    def action_retry(self) -> None:
        if isinstance(block := self.cursor, Failure):
            self.post_message(self.Retry(block.run_id))

    def on_key(self, event: events.Key) -> None:
        """What is typed here is meant for the prompt, but for keys that act on the block under the cursor."""
        bound = self.screen.active_bindings.get(event.key)
        is_ours = bound is not None and bound.node is self
        if event.is_printable and event.character and not is_ours:
            event.stop()
            event.prevent_default()
            self.post_message(self.TypeInPrompt(event.character))

    # Mouse

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._move(-WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._move(WHEEL)

    def on_click(self, event: events.Click) -> None:
        """A click puts the cursor on a block; one on a tool's own line unfolds it, too."""
        place, seen = event.get_content_offset(self), self._in_view()
        if place is None or self.text_selection is not None or not 0 <= place.y < len(seen):
            return
        spot = seen[place.y]
        self._point_at(spot.number)
        if isinstance(block := self.cursor, Tool) and spot.line == gap_above(self._talk, block):
            self.action_fold()

    # Inside

    def _refuses(self, what: str) -> bool:
        """Whether something cannot be done now; says why."""
        why = self.why_not(what)
        if why is not None:
            self.post_message(self.Refused(why))
        return why is not None

    def _changed(self) -> None:
        self._viewport.look_again()
        if (state := self._state()) != self.border_subtitle:
            self.border_subtitle = state
        self.refresh()

    def _point_at(self, number: int | None) -> None:
        """Put the block cursor there; who looks at a block wants it to stay."""
        if number is not None:
            self._in_view()
            self._viewport.stay()
        self._look = replace(self._look, cursor=number)
        if number is not None:
            self._viewport.bring(number)
        self._changed()
        self.refresh_bindings()

    def _is_clock_moving(self, now: int) -> bool:
        """Whether the time of an open tool call in view has gone on since it was drawn."""
        if self._viewport.is_stale:
            return True  # it was not drawn at all
        blocks = (self._talk.block(number) for number in {spot.number for spot in self._viewport.seen})
        tools = (block for block in blocks if isinstance(block, Tool) and block.answer is Answer.OPEN)
        return any(duration(now - tool.at) != duration(self._look.now - tool.at) for tool in tools)

    def _want_more(self, seen: Sequence[Spot]) -> None:
        if not seen:
            return
        first, last = self._talk.blocks[0], self._talk.blocks[-1]
        if self._wanted != first.key and seen[0].number == first.number:
            self._wanted = first.key
            # It is the screen that draws, and a message from a parent does not rise to it.
            self.post_message(self.WantEarlier(first.run_id, first.position).set_sender(self))
        if self._talk.has_later and self._wanted_below != last.key and seen[-1].number == last.number:
            self._wanted_below = last.key
            self.post_message(self.WantLater().set_sender(self))

    def _state(self) -> str:
        if self._as_of is not None:
            return f"as of #{self._as_of.position}"
        if self._talk.has_later:
            return f"{self._glyphs['injected']} later runs · end"
        if self.follow.is_tail:
            return f"follow {self._glyphs['running']}"
        return f"{self._glyphs['injected']} " + (f"{self.follow.new:,} new · end" if self.follow.new else "end: follow")
