"""An event put together by hand: six types, each with the fields of the contract, and files that go along."""

import asyncio
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from console.data.event_draft import (
    SOURCES,
    TYPES,
    EventDraftState,
    example_values,
    new_writing,
    problems,
    usual_values,
)
from console.data.health import words_of
from console.model.commands.key_labels import key_of
from console.model.composer.fields import ABOUT, GROUPS, filled, retyped
from console.model.text.paths import candidates, pasted_files
from console.model.text.safe import one_line
from console.model.text.units import who_runs
from console.ui.composer.field_row import Control, FieldRow, control_for, hinted, said_in, say_in
from console.ui.composer.files import Files, PathField
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import Choice, TextField
from console.ui.shared.finder import Finder
from console.ui.shared.full_screen import FullScreen
from engine.api import Attachment, AttachmentProblem

_FILES: Final = "attachments"
_OPTIONS: Final = {"event_type": TYPES, "source": SOURCES}


class Course(Enum):
    """How far an event has come; what is sent cannot be sent again by the same key."""

    OPEN = auto()
    SENDING = auto()
    SENT = auto()


class Form(VerticalScroll, inherit_bindings=False):
    """Scrolls to what has the focus; up and down, which would scroll it, lead from field to field."""


class ComposerScreen(FullScreen):
    """Shows a writing, and changes it as one types. Left unsent, it is found again as it was."""

    place = "composer"
    heading = "New event"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("composer")
    AUTO_FOCUS = ""  # it would scroll before there is a layout
    DEFAULT_CSS = """
    ComposerScreen #form { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    ComposerScreen .group { height: 1; color: $text-primary; text-style: bold; }
    ComposerScreen.-tall .group { margin-top: 1; height: 1; }
    ComposerScreen #wrong { display: none; height: auto; padding: 0 2; color: $text-error; }
    """

    def __init__(self, writing: EventDraftState) -> None:
        super().__init__()
        self.writing = writing
        self._former: EventDraftState | None = None
        """What the fields said before all was begun anew."""
        self._rows: dict[str, FieldRow] = {}
        self._controls: dict[str, Control] = {}
        self._files = Files()
        self._path = PathField()
        self._wrong = Static("", id="wrong", markup=False)
        self._course = Course.OPEN
        self._type = writing.values["event_type"]
        """The type of event that the other fields are filled in for."""

    def body(self) -> ComposeResult:
        with Form(id="form", can_focus=False):
            for group, fields in GROUPS.items():
                yield Static(group, classes="group")
                for field in fields:
                    name = field.name
                    control = control_for(field, self.writing.values[name], _OPTIONS.get(name, []))
                    self._controls[name] = control
                    self._rows[name] = FieldRow(field.label, control)
                    yield self._rows[name]
                    if name == "text":
                        self._rows[_FILES] = FieldRow("files", self._files, self._path, self._path.picks)
                        yield self._rows[_FILES]
        yield self._wrong

    def on_mount(self) -> None:
        self._show()
        self._controls["text"].focus(scroll_visible=False)
        self.watch(self.query_one("#form"), "virtual_size", self._keep_in_view, init=False)

    def _keep_in_view(self) -> None:
        """What came or went above or below the field that has the focus has moved it."""
        focused = self.focused
        if focused is not None and isinstance(focused.parent, FieldRow):
            for each in (focused.parent, focused):  # if not all of it, then the field
                self.call_after_refresh(each.scroll_visible, animate=False)

    def remark(self) -> str:
        stage = self.trackside.stage
        return f"to {one_line(who_runs(stage.agent_id, stage.runner_id), 60)}"

    def where(self) -> str:
        if isinstance(self.focused, Choice):
            return "choice"
        return "files" if self.focused is self._files else self.place

    def owns(self, where: str) -> bool:
        return where in (self.place, "files", "choice")

    def let_go(self) -> bool:
        """What is begun is found again; while it is sent it is nobody's to take along."""
        if self._course is Course.SENDING:
            self.trackside.tell("it is being sent; one moment", severity="warning")
        elif self._course is Course.OPEN:
            self.collect()
            if self.writing.is_begun:
                self.trackside.tell(f"the event is kept; {key_of('app.compose')} goes on with it")
            else:
                self.trackside.put_away(self.writing)
                self.trackside.tell_of_another()
        return self._course is not Course.SENDING

    def step_back(self) -> None:
        if self.let_go():
            self.leave()

    def on_screen_resume(self) -> None:
        self.show_remark()  # another may have been chosen meanwhile

    # What it shows

    def _show(self) -> None:
        """The writing as it is now, in all fields."""
        for name, control in self._controls.items():
            say_in(control, self.writing.values[name])
        self._type = self.writing.values["event_type"]
        self._tell_type()
        self._files.files = tuple(self.writing.attachments)
        is_edited = self.writing.base is not None
        self.title_line.title = "Edit and send" if is_edited else self.heading
        self.show_remark()
        self._complain({})
        self._say(" · ".join(self.writing.lost))

    def _tell_type(self) -> None:
        """What an event of this type is, and what it says."""
        type_, says = self._controls["event_type"], self._controls["text"]
        if isinstance(type_, Choice) and isinstance(says, TextField):
            type_.about, hint = ABOUT[type_.value]
            says.placeholder = hinted(hint)

    def collect(self) -> None:
        """The writing as it is in the fields, as far as they are there already."""
        said = {name: said_in(control) for name, control in self._controls.items()}
        self.writing.values = {**self.writing.values, **said}

    def _complain(self, wrong: dict[str, str]) -> None:
        for name, row in self._rows.items():
            row.complain(wrong.get(name))
        first = next((name for name in self._rows if name in wrong), None)
        if first is not None:
            (self._path if first == _FILES else self._controls[first]).focus()
        self._say("; ".join(f"{name}: {words}" for name, words in wrong.items() if name not in self._rows))

    def _say(self, words: str) -> None:
        self._wrong.update(Content(one_line(words, 600)))
        self._wrong.display = bool(words)

    # What a person does

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """Another type: what nobody changed becomes what is usual there."""
        before = self._type  # not the writing's, which may have been collected since
        self.collect()
        after = self.writing.values["event_type"]
        if event.choice.id == "event_type" and before != after:
            self.writing.values = retyped(self.writing.values, usual_values(before), usual_values(after))
            self._show()

    def on_choice_list_wanted(self, event: Choice.ListWanted) -> None:
        def take(chosen: str | None) -> None:
            choice.value = rows.get(chosen or "", choice.value)

        choice = event.choice
        title = "Which event?" if choice.id == "event_type" else "Where does it come from?"
        rows = {f"{one:<25}{ABOUT[one][0]}" if one in ABOUT else one: one for one in choice.options}
        now = next((row for row, one in rows.items() if one == choice.value), "")
        self.app.push_screen(Finder(title, [*rows], chosen=now), take)

    def action_choose(self, step: int) -> None:
        if isinstance(self.focused, Choice):
            self.focused.action_choose(step)

    def action_list(self) -> None:
        if isinstance(self.focused, Choice):
            self.focused.action_list()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._rows[_FILES if event.input is self._path else event.input.id or ""].complain(None)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._rows[event.text_area.id or ""].complain(None)

    def on_input_submitted(self) -> None:
        self.focus_next()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """What was filled in is looked at when it is left; that nothing is said yet is no fault before it is sent."""
        name = event.widget.id
        if name in self._controls and name != "text" and self.is_current:
            self.collect()
            self._rows[name].complain(problems(self.trackside.stage.engine, self.writing).get(name))

    def action_step(self, step: int) -> None:
        if step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def on_files_left(self, event: Files.Left) -> None:
        self.action_step(event.step)

    def action_example(self) -> None:
        self.collect()
        values = self.writing.values
        example = example_values(values["event_type"])
        self.writing.values = filled(values, self.writing.usual, example)
        if self.writing.values == values:
            self.trackside.tell("every field that the example has is filled in already")
        self._show()

    def action_anew(self) -> None:
        self.collect()
        is_empty = self.writing.base is None and not self.writing.is_begun
        if is_empty and self._former is None:
            self.trackside.tell("nothing is filled in yet")
            return
        if is_empty and self._former is not None:
            fresh, self._former = self._former, None
        else:
            fresh, self._former = new_writing(self.trackside.stage.session), self.writing
            again = key_of("composer.anew")
            self.mention("all fields are empty", f"{again} once more brings back what was in them")
        self.trackside.put_away(self.writing)
        self.trackside.take_up(fresh)
        self.writing = fresh
        self._show()
        self._controls["text"].focus()

    # Files

    def on_path_field_wanted(self, event: PathField.Wanted) -> None:
        async def offer() -> None:
            self._path.offer(event.typed, await asyncio.to_thread(candidates, event.typed))

        self.run_worker(offer, group="paths", exclusive=True, exit_on_error=False)

    def on_path_field_given(self, event: PathField.Given) -> None:
        self.run_worker(partial(self._add_file, event.path), exit_on_error=False)

    def on_path_field_pasted(self, event: PathField.Pasted) -> None:
        async def look() -> None:
            files, trouble = await asyncio.to_thread(pasted_files, event.readings)
            for file in files:
                await self._add_file(file.path)
            if not files:
                self._path.insert_text_at_cursor(self.trackside.as_one_line(event.text).strip())
                self.call_after_refresh(self._rows[_FILES].complain, trouble)  # not before the change is heard of

        self.run_worker(look, exit_on_error=False)

    async def _add_file(self, path: str) -> None:
        try:
            attachment = await self.trackside.stage.engine.runs.attach(Path(path))
        except AttachmentProblem as problem:
            self._rows[_FILES].complain(str(problem))
            return
        if any(_is_same(attachment, each) for each in self.writing.attachments):
            self.trackside.tell(f"{one_line(attachment.name or path, 60)} goes along already, as it is now")
        else:
            self.writing.attachments.append(attachment)
        self._files.files = tuple(self.writing.attachments)
        self._path.value = ""
        self._path.scroll_visible()

    def on_files_removed(self, event: Files.Removed) -> None:
        del self.writing.attachments[event.place]
        self._files.files = tuple(self.writing.attachments)
        if not self.writing.attachments:
            self._path.focus()

    def action_remove(self) -> None:
        self._files.action_remove()

    # Sending

    def action_send(self) -> None:
        self.collect()
        wrong = problems(self.trackside.stage.engine, self.writing)
        self._complain(wrong)
        if not wrong and self._course is Course.OPEN:
            self._course = Course.SENDING
            self.do("sending it…", self._send())

    async def _send(self) -> None:
        try:
            envelope = self.trackside.stage.engine.runs.compose(self.writing.draft())
            ticket = await self.trackside.stage.submit(envelope)
        except Exception as error:  # noqa: BLE001  (whatever it was, it is said where one can mend it)
            self._course = Course.OPEN
            self._say(words_of(error))
            return
        self._course = Course.SENT
        self.trackside.put_away(self.writing)
        self.leave()
        self.trackside.sent(ticket, envelope)


def _is_same(one: Attachment, other: Attachment) -> bool:
    """Whether two files would be the same to a runner."""
    return (one.name, one.size, one.id, one.content) == (other.name, other.size, other.id, other.content)
