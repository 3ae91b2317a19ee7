"""The composer: an event of any type with its fields and attached files."""

import asyncio
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from console.data.errors import SessionDeleted
from console.data.event_draft import (
    SOURCES,
    TYPES,
    AttachmentProblem,
    ComposerDraft,
    default_values,
    example_values,
    find_problems,
    new_draft,
)
from console.data.health import error_text
from console.model.commands.key_labels import key_of
from console.model.composer.fields import GROUPS, TYPE_HINTS, change_defaults, fill_example
from console.model.prompt.paste_tokens import on_one_line
from console.model.text.paths import candidates, pasted_files
from console.model.text.safe import one_line
from console.model.text.units import who_runs
from console.ui.composer.controller import ComposerController
from console.ui.composer.field_row import Control, FieldRow, control_for, hint_text, set_value, value_of
from console.ui.composer.files import AttachmentList, PathField
from console.ui.shared.bindings import bindings_for
from console.ui.shared.fields import Choice, TextField
from console.ui.shared.finder import Finder
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.services import AppServices

if TYPE_CHECKING:
    from engine.api import Attachment

_ATTACHMENTS: Final = "attachments"
_SESSION_DELETED: Final = "Not sent: the session was deleted in another process. Send again to start a new session."
_OPTIONS: Final = {"event_type": TYPES, "source": SOURCES}


class SendState(Enum):
    """The progress of sending. An event is sent once, also if the key is pressed twice."""

    OPEN = auto()
    SENDING = auto()
    SENT = auto()


class FieldsScroll(VerticalScroll, inherit_bindings=False):
    """Scrolls to the focused field. It has no keys: up and down go from field to field."""


class ComposerScreen(FullScreen):
    """Edits a draft. If it is closed without sending, the draft is kept for this session."""

    place = "composer"
    heading = "New event"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("composer")
    AUTO_FOCUS = ""  # focusing would scroll before there is a layout
    DEFAULT_CSS = """
    ComposerScreen #form { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    ComposerScreen .group { height: 1; color: $text-primary; text-style: bold; }
    ComposerScreen.-tall .group { margin-top: 1; height: 1; }
    ComposerScreen #error { display: none; height: auto; padding: 0 2; color: $text-error; }
    """

    def __init__(self, services: AppServices, controller: ComposerController, draft: ComposerDraft) -> None:
        super().__init__(services)
        self._controller = controller
        self.draft = draft
        self._cleared: ComposerDraft | None = None
        """The draft before all fields were cleared."""
        self._rows: dict[str, FieldRow] = {}
        self._controls: dict[str, Control] = {}
        self._files = AttachmentList()
        self._path = PathField()
        self._error = Static("", id="error", markup=False)
        self._send_state = SendState.OPEN
        self._type = draft.values["event_type"]
        """The type whose defaults the fields have."""

    def body(self) -> ComposeResult:
        with FieldsScroll(id="form", can_focus=False):
            for group, fields in GROUPS.items():
                yield Static(group, classes="group")
                for field in fields:
                    name = field.name
                    control = control_for(field, self.draft.values[name], _OPTIONS.get(name, []))
                    self._controls[name] = control
                    self._rows[name] = FieldRow(field.label, control)
                    yield self._rows[name]
                    if name == "text":
                        self._rows[_ATTACHMENTS] = FieldRow("files", self._files, self._path, self._path.picker)
                        yield self._rows[_ATTACHMENTS]
        yield self._error

    def on_mount(self) -> None:
        self._show()
        self._controls["text"].focus(scroll_visible=False)
        self.watch(self.query_one("#form"), "virtual_size", self._keep_in_view, init=False)

    def _keep_in_view(self) -> None:
        """Scroll to the focused field after the layout has changed."""
        focused = self.focused
        if focused is not None and isinstance(focused.parent, FieldRow):
            for each in (focused.parent, focused):  # the row, or at least the field
                self.call_after_refresh(each.scroll_visible, animate=False)

    def remark(self) -> str:
        active = self.services.active_session
        return f"to {one_line(who_runs(active.agent_id, active.runner_id), 60)}"

    def where(self) -> str:
        if isinstance(self.focused, Choice):
            return "choice"
        return "files" if self.focused is self._files else self.place

    def owns(self, where: str) -> bool:
        return where in (self.place, "files", "choice")

    def save_input(self) -> bool:
        """Keep a changed draft. While it is sent, the screen must stay open."""
        if self._send_state is SendState.SENDING:
            self.services.show_toast("The event is being sent.", severity="warning")
        elif self._send_state is SendState.OPEN:
            self.collect()
            if self.draft.is_changed:
                self.services.show_toast(f"The draft is kept until you quit. {key_of('app.compose')} opens it.")
            else:
                self._controller.remove_draft(self.draft)
                self._controller.show_other_draft()
        return self._send_state is not SendState.SENDING

    def step_back(self) -> None:
        if self.save_input():
            self.close_screen()

    def on_screen_resume(self) -> None:
        self.show_remark()  # another runner may have been chosen

    # Showing

    def _show(self) -> None:
        """Show the draft in all fields."""
        for name, control in self._controls.items():
            set_value(control, self.draft.values[name])
        self._type = self.draft.values["event_type"]
        self._show_type_hint()
        self._files.show_files(self.draft.attachments)
        is_edited = self.draft.base is not None
        self.title_line.title = "Edit and send" if is_edited else self.heading
        self.show_remark()
        self._show_problems({})
        self._show_error(" · ".join(self.draft.lost))

    def _show_type_hint(self) -> None:
        type_, says = self._controls["event_type"], self._controls["text"]
        if isinstance(type_, Choice) and isinstance(says, TextField):
            type_.about, hint = TYPE_HINTS[type_.value]
            says.placeholder = hint_text(hint)

    def collect(self) -> None:
        """Update the draft from the fields that exist so far."""
        values = {name: value_of(control) for name, control in self._controls.items()}
        self.draft.values = {**self.draft.values, **values}

    def _show_problems(self, problems: dict[str, str]) -> None:
        for name, row in self._rows.items():
            row.show_problem(problems.get(name))
        first = next((name for name in self._rows if name in problems), None)
        if first is not None:
            (self._path if first == _ATTACHMENTS else self._controls[first]).focus()
        self._show_error("; ".join(f"{name}: {words}" for name, words in problems.items() if name not in self._rows))

    def _show_error(self, words: str) -> None:
        self._error.update(Content(one_line(words, 600)))
        self._error.display = bool(words)

    # Fields

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """Use the defaults of the new type for fields that were not changed."""
        before = self._type  # not the type of the draft, which may have been updated already
        self.collect()
        after = self.draft.values["event_type"]
        if event.choice.id == "event_type" and before != after:
            self.draft.values = change_defaults(self.draft.values, default_values(before), default_values(after))
            self._show()

    def on_choice_list_wanted(self, event: Choice.ListWanted) -> None:
        def take(chosen: str | None) -> None:
            choice.value = rows.get(chosen or "", choice.value)

        choice = event.choice
        title = "Event type" if choice.id == "event_type" else "Event source"
        rows = {f"{one:<25}{TYPE_HINTS[one][0]}" if one in TYPE_HINTS else one: one for one in choice.options}
        now = next((row for row, one in rows.items() if one == choice.value), "")
        self.app.push_screen(Finder(title, [*rows], chosen=now), take)

    def action_choose(self, step: int) -> None:
        if isinstance(self.focused, Choice):
            self.focused.action_choose(step)

    def action_list(self) -> None:
        if isinstance(self.focused, Choice):
            self.focused.action_list()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._rows[_ATTACHMENTS if event.input is self._path else event.input.id or ""].show_problem(None)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._rows[event.text_area.id or ""].show_problem(None)

    def on_input_submitted(self) -> None:
        self.focus_next()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Check a field when the focus leaves it. The text is checked only when the event is sent."""
        name = event.widget.id
        if name in self._controls and name != "text" and self.is_current:
            self.collect()
            self._rows[name].show_problem(find_problems(self.services.active_session.engine, self.draft).get(name))

    def action_step(self, step: int) -> None:
        if step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def on_attachment_list_left(self, event: AttachmentList.Left) -> None:
        self.action_step(event.step)

    def action_example(self) -> None:
        self.collect()
        values = self.draft.values
        example = example_values(values["event_type"])
        self.draft.values = fill_example(values, self.draft.defaults, example)
        if self.draft.values == values:
            self.services.show_toast("All fields of the example are filled in already.")
        self._show()

    def action_anew(self) -> None:
        self.collect()
        is_empty = self.draft.base is None and not self.draft.is_changed
        if is_empty and self._cleared is None:
            self.services.show_toast("Nothing is filled in yet.")
            return
        if is_empty and self._cleared is not None:
            fresh, self._cleared = self._cleared, None
        else:
            fresh, self._cleared = new_draft(self.services.active_session.session_id), self.draft
            again = key_of("composer.anew")
            self.show_key_toast("All fields are cleared", f"{again} again restores them")
        self._controller.remove_draft(self.draft)
        self._controller.add_draft(fresh)
        self.draft = fresh
        self._show()
        self._controls["text"].focus()

    # Attachments

    def on_path_field_path_changed(self, event: PathField.PathChanged) -> None:
        async def offer() -> None:
            self._path.show_completions(event.typed, await asyncio.to_thread(candidates, event.typed))

        self.run_worker(offer, group="paths", exclusive=True, exit_on_error=False)

    def on_path_field_attached(self, event: PathField.Attached) -> None:
        self.run_worker(partial(self._add_file, event.path), exit_on_error=False)

    def on_path_field_pasted(self, event: PathField.Pasted) -> None:
        async def look() -> None:
            files, trouble = await asyncio.to_thread(pasted_files, event.readings)
            for file in files:
                await self._add_file(file.path)
            if not files:
                line, warning = on_one_line(event.text)
                if warning:
                    self.services.show_toast(warning, severity="warning")
                self._path.insert_text_at_cursor(line.strip())
                # After the change of the text, which hides it.
                self.call_after_refresh(self._rows[_ATTACHMENTS].show_problem, trouble)

        self.run_worker(look, exit_on_error=False)

    async def _add_file(self, path: str) -> None:
        try:
            attachment = await self.services.active_session.engine.runs.attach(Path(path))
        except AttachmentProblem as problem:
            self._rows[_ATTACHMENTS].show_problem(str(problem))
            return
        if any(_is_same(attachment, each) for each in self.draft.attachments):
            self.services.show_toast(f"{one_line(attachment.name or path, 60)} is already attached.")
        else:
            self.draft.attachments.append(attachment)
        self._files.show_files(self.draft.attachments)
        self._path.value = ""
        self._path.scroll_visible()

    def on_attachment_list_removed(self, event: AttachmentList.Removed) -> None:
        del self.draft.attachments[event.index]
        self._files.show_files(self.draft.attachments)
        if not self.draft.attachments:
            self._path.focus()

    def action_remove(self) -> None:
        self._files.action_remove()

    # Sending

    def action_send(self) -> None:
        self.collect()
        problems = find_problems(self.services.active_session.engine, self.draft)
        self._show_problems(problems)
        if not problems and self._send_state is SendState.OPEN:
            self._send_state = SendState.SENDING
            self.run_with_progress("Sending…", self._send())

    async def _send(self) -> None:
        try:
            envelope = self.services.active_session.engine.runs.compose(self.draft.event_draft())
            ticket = await self.services.active_session.submit(envelope, continues=self.draft.continues)
        except SessionDeleted:
            self._send_state = SendState.OPEN
            await self._controller.leave_deleted_session(self.draft)
            set_value(self._controls["conversation_id"], self.draft.values["conversation_id"])
            self._show_error(_SESSION_DELETED)
            return
        except Exception as error:  # noqa: BLE001  (the failure is shown in the form)
            self._send_state = SendState.OPEN
            self._show_error(error_text(error))
            return
        self._send_state = SendState.SENT
        self._controller.remove_draft(self.draft)
        self.close_screen()
        self._controller.follow_sent(ticket, envelope)


def _is_same(one: "Attachment", other: "Attachment") -> bool:
    """Whether a runner could not tell two files apart."""
    return (one.name, one.size, one.id, one.content) == (other.name, other.size, other.id, other.content)
