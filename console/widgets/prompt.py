"""The prompt: what a person types, and where it goes when they press Enter."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from console.bindings import bindings_of_a_text
from console.model.attach.chips import Chips
from console.model.commands.naming import key_of
from console.model.commands.reasons import can_choose_mode
from console.model.in_place import in_place
from console.model.prompt.history import Recall
from console.model.prompt.intent import AFTER, STEER, mode_of, placeholder_of, title_of
from console.model.prompt.pastes import Pastes, Span
from console.model.situation import Situation
from console.widgets.chips import Attaching
from console.widgets.guard import Guarded
from console.widgets.path_picks import PathPicks

_SMALL = 200
"""A paste of so few characters is shown as it is, however much there is already."""


class Prompt(Guarded, Attaching, TextArea, inherit_bindings=False):
    """Grows with what is typed. It is never disabled: what is typed too early is sent later."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of_a_text("prompt")
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
        """Enter: this is to be said, in this mode; or, with an item, it is what that item says from now on."""

        text: str
        mode: str
        item_id: str | None
        files: tuple[str, ...] = ()
        """Paths of what goes along with it."""
        typed: str = ""
        """As it stood in the prompt, to be given back."""

    class IntoQueue(Message):
        """Up from an empty prompt: to what waits."""

    @dataclass
    class Refused(Message):
        """What was asked for cannot be done, and why."""

        words: str

    def __init__(self, *, id: str | None = "prompt") -> None:  # noqa: A002
        self._pastes = Pastes()
        self.chips = Chips()
        self.picks = PathPicks()
        super().__init__(id=id, highlight_cursor_line=False)
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.mode = STEER
        """What a person wants for what they say to a run at work."""
        self.item_id: str | None = None
        """The queued message that is being edited."""
        self._now = Situation()
        self._runner, self._turn = "", 0
        self._recall = Recall()
        self._draft = ""
        """What was here before a queued message came to be edited."""
        self._is_proposed = False
        """What is here was typed by nobody, and is marked as a whole."""
        self._entitle()

    # What it is given

    @property
    def whole(self) -> str:
        """What would be sent: the text with every large paste in it."""
        return self._pastes.whole(self.text)

    @property
    def unsent(self) -> str:
        """What would be lost: all of it, but for a queued message that is only being edited."""
        return self._draft if self.item_id is not None else self.whole

    def show(self, now: Situation, *, runner: str = "", turn: int = 0) -> None:
        """Tell where a message would go now. The runner's name as people know it; the turn that is on."""
        if (now, runner, turn) != (self._now, self._runner, self._turn):
            self._now, self._runner, self._turn = now, runner, turn
            self._entitle()

    def load(self, text: str) -> None:
        """Have this text, with the cursor behind it."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        self.load_text(self._pastes.shown(lines))
        self.move_cursor(self.document.end)
        self._is_proposed = False

    def propose(self, text: str) -> None:
        """Have this text, marked: what is typed or pasted takes its place, a key that moves or deletes keeps it."""
        self.load(text)
        self.select_all()
        self._is_proposed = True

    def take_proposal_back(self) -> None:
        """Where nobody has made it their own, it is gone."""
        if self._is_proposed:
            self.load("")

    def give_back(self, text: str) -> None:
        """It could not be sent: it is here again, before what was typed since."""
        typed = self.whole
        self.load(f"{text}\n{typed}" if typed else text)
        self.try_again()

    def remember(self, texts: list[str]) -> None:
        """What was sent in the past, oldest first; what was sent here meanwhile comes after."""
        if not self._recall.is_browsing:
            self._recall = Recall([*texts, *self._recall.sent])

    @property
    def sent(self) -> list[str]:
        """What was sent, oldest first."""
        return self._recall.sent

    def recall(self, text: str) -> None:
        """Have this one of what was sent here; down leads back to what was being written."""
        if (found := self._recall.go_to(self.whole, text)) is not None:
            self.keep_as_text(found)
            self.load(found)

    def begin_editing(self, item_id: str, text: str) -> None:
        """Have a queued message here until it is saved or left; what was typed comes back then."""
        if self.item_id is None:
            self._draft = self.whole
        self.item_id = item_id
        self.keep_as_text(text)
        self.load(text)
        self._entitle()

    def leave_editing(self) -> bool:
        """The queued message stays as it was. Says whether there was one."""
        if self.item_id is None:
            return False
        self.item_id = None
        self.load(self._draft)
        self._draft = ""
        self._entitle()
        return True

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (every pane is asked)
        """Nothing that would keep a key out of the footer: an empty prompt is still where one sends from."""
        return None

    def clear_selection(self) -> bool:
        """Keep the cursor and mark nothing; whether something was marked."""
        had = not self.selection.is_empty
        self.move_cursor(self.cursor_location)
        return had

    # What a person does

    async def on_key(self, event: events.Key) -> None:
        """Carry out the prompt's keys here: by way of the app, a letter typed after Enter could overtake it."""
        if self.hear_path_key(event.key):
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
        if words := await self.not_going_along():
            self.post_message(self.Refused(words))
            return
        text = self.whole
        said, files = self.chips.said(text), self.chips.paths(text)
        if self.item_id is not None and files:
            self.post_message(self.Refused("a message that waits keeps its own files; take this one out, or send anew"))
        elif self.item_id is not None and not text.strip():
            withdraw = key_of("queue.withdraw")
            self.post_message(self.Refused(f"there is nothing in it to say; in the queue, {withdraw} withdraws it"))
        elif not text.strip():
            self.post_message(self.Refused("there is nothing to send; type something first"))
        else:
            self.post_message(self.Submitted(said, mode_of(self._now, self.mode), self.item_id, files, text))
            self._recall.note(text)
            self.forget_the_told()
            if not self.leave_editing():
                self.load("")
            self._pastes.forget(but=self.text)

    def type_in(self, character: str) -> None:
        """Someone typed this elsewhere, and meant it for here."""
        self._is_proposed = False
        self._replace_via_keyboard(character, *self.selection)

    def action_newline(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    def action_mode(self) -> None:
        # It knows before the moment does that it has a message to edit.
        why = can_choose_mode(replace(self._now, is_editing=self.item_id is not None))
        if why is not None:
            self.post_message(self.Refused(why))
            return
        self.mode = AFTER if self.mode == STEER else STEER
        self._entitle()

    def action_earlier(self) -> None:
        if not self.navigator.is_first_wrapped_line(self.cursor_location):
            self.action_cursor_up()
        elif not self.text and self._now.waiting and not self._recall.is_browsing:
            self.post_message(self.IntoQueue())
        elif (text := self._recall.earlier(self.whole)) is not None:
            self.keep_as_text(text)
            self.load(text)
            # At the end of the first row, so that the same key goes on.
            breaks = self.wrapped_document.get_offsets(0)
            self.move_cursor((0, breaks[0] - 1 if breaks else len(self.document.get_line(0))))
        elif self.cursor_location == (0, 0):
            self.post_message(self.Refused("nothing was sent before this"))
        else:
            self.move_cursor((0, 0))

    def action_cursor_down(self, select: bool = False) -> None:
        is_last = self.navigator.is_last_wrapped_line(self.cursor_location)
        if is_last and not select and (text := self._recall.later(self.whole)) is not None:
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
        self._entitle()
        self.call_after_refresh(self.scroll_cursor_visible)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Not where the text has just lost the cursor's row: Textual (8.2.8) looks for it there on undo, and fails."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    # A large paste is a token that behaves as one character

    def edit(self, edit: Edit) -> EditResult:
        """No edit goes into a token: what touches one takes it whole, what is typed in one comes behind it."""
        top, bottom = edit.top, edit.bottom
        if top == bottom:
            top = bottom = self._outside(top, to_end=True)
        else:
            top, bottom = self._outside(top, to_end=False), self._outside(bottom, to_end=True)
        result = super().edit(replace(edit, from_location=top, to_location=bottom))
        # Textual scrolls before it knows of a row that is new.
        self.scroll_cursor_visible()
        return result

    def validate_selection(self, selection: Selection) -> Selection:
        """The cursor steps over a token, in the direction that it came from."""
        forward = selection.end >= self.selection.end
        end = self._outside(selection.end, to_end=forward)
        if selection.is_empty:
            return Selection.cursor(end)
        return Selection(self._outside(selection.start, to_end=selection.start > selection.end), end)

    def get_line(self, line_index: int) -> Text:
        """A line as it may be shown: of the same length, with nothing in it that a terminal obeys."""
        line = self.document.get_line(line_index)
        shown = Text(in_place(line), end="", no_wrap=True)
        for span in self._spans(line):
            shown.stylize(self.get_component_rich_style("prompt--paste", partial=True), span.start, span.end)
        return shown

    def _paste(self, text: str) -> None:
        beside = len(self.text) if len(text) > _SMALL else 0
        lines = text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self._pastes.shown(lines, beside)
        if result := self._replace_via_keyboard(shown, *self.selection):
            self.move_cursor(result.end_location)
            self.pasted(lines, shown)

    def _spans(self, line: str) -> Iterator[Span]:
        return chain(self._pastes.spans(line), self.chips.spans(line))

    def _outside(self, location: Location, *, to_end: bool) -> Location:
        row, column = location
        if row < self.document.line_count:
            for span in self._spans(self.document.get_line(row)):
                if span.start < column < span.end:
                    return row, span.end if to_end else span.start
        return location

    # Inside

    def _entitle(self) -> None:
        mode, is_editing = mode_of(self._now, self.mode), self.item_id is not None
        title = title_of(self._now, mode=mode, runner=self._runner, turn=self._turn, is_editing=is_editing)
        # Textual sets a title off from the line only where there is a corner.
        space = "" if self.styles.border_left[0] else " "
        self.border_title = Content(f"{space}{title.fitting(self.outer_size.width - 6)}{space}")
        self.placeholder = Content(placeholder_of(self._now, mode))
        at_work = self._now.is_running or self._now.is_elsewhere
        self.set_class(at_work and mode == AFTER and not is_editing, "-after")
        self.set_class(is_editing, "-editing")
