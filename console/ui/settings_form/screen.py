"""The settings form of an agent or runner: its fields, the details of one, and the grants of a run with them."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Input

from console.data.form_store import EVENT_TYPES, ConfigError, FormStore, RunnersError
from console.model.commands.key_labels import key_of
from console.model.commands.situation import Situation
from console.model.settings_form.fields import FieldKind, FormField, find_field
from console.model.settings_form.form_draft import FormDraft
from console.model.settings_form.rows import UNSAVED, field_details, field_items, label_columns, widest_label
from console.model.settings_form.values import display_text
from console.model.text.lists import ListItems
from console.model.text.safe import one_line
from console.model.text.units import number, short_runner
from console.ui.runners.controller import RunnersController
from console.ui.settings_form.editors import Editor, LineEditor, TextEditor, editor_of
from console.ui.shared.bindings import bindings_for
from console.ui.shared.details import Details
from console.ui.shared.fields import SafeInput
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.list import ItemList, RowList, View
from console.ui.shared.services import AppServices
from console.ui.shared.slow_notice import slow_notice

TINY_ROWS: Final = 20
"""Below this height, a text or list editor hides the details."""
PROBLEMS_FIXED: Final = "All settings are valid now."
_MULTIPLE: Final = (FieldKind.MANY, FieldKind.RANKED)
"""Kinds with several selected options: their editor stays open."""


class FormScreen(FullScreen):
    """Shows the fields as rows; only the edited one is a widget. A valid value is saved at once and can be undone."""

    place = "form"
    opened_by = "settings"
    heading = "Settings"
    AUTO_FOCUS = "#field-list"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("form")
    DEFAULT_CSS = """
    FormScreen #form { height: 1fr; }
    FormScreen #fields { width: 3fr; height: 1fr; layers: base over; }
    FormScreen #field-list { width: 1fr; height: 1fr; layer: base; }
    FormScreen #beside { width: 2fr; height: 1fr; border-left: solid $panel-lighten-2; padding: 0 0 0 1; }
    FormScreen Details { height: auto; max-height: 40%; margin: 0 0 1 1; }
    FormScreen #grants { height: 1fr; border-top: solid $panel-lighten-2; border-title-color: $foreground; }
    FormScreen #grants:focus { border-top: solid $accent; }
    FormScreen #field-search, FormScreen #field-search:focus { display: none; height: 1; border: none; padding: 0 1; }
    FormScreen.-searching #field-search, FormScreen.-searching #field-search:focus { display: block; }
    FormScreen.-narrow #form { layout: vertical; }
    FormScreen.-narrow #fields { width: 1fr; }
    FormScreen.-narrow #beside { width: 1fr; height: 35%; padding: 0; }
    FormScreen.-narrow.-tiny #beside { height: 45%; }
    FormScreen.-narrow #beside { border: none; border-top: solid $panel-lighten-2; }
    FormScreen.-narrow Details { height: 1fr; max-height: 100%; margin: 0 1; }
    FormScreen.-narrow #grants { display: none; }
    FormScreen.-narrow.-granting #fields, FormScreen.-narrow.-granting Details { display: none; }
    FormScreen.-narrow.-granting #beside { height: 1fr; border: none; }
    FormScreen.-narrow.-granting #grants { display: block; }
    FormScreen.-tiny.-framing #beside { display: none; }
    """

    def __init__(self, services: AppServices, runners: RunnersController, store: FormStore, draft: FormDraft) -> None:
        super().__init__(services)
        self._runners = runners
        self._store = store
        self.draft = draft
        self._event_type = EVENT_TYPES[0]
        self.list = ItemList(id="field-list")
        self.details = Details()
        self.grants = RowList(id="grants")
        self._search = SafeInput(placeholder="Find a field", id="field-search")
        self.editor: Editor | None = None
        self._unsaved: frozenset[str] = store.unsaved_keys(draft)
        """Keys of fields that are marked as not on disk."""
        self._is_retry_due = bool(self._unsaved)
        """A save failed because of the database; it is repeated when the database works again."""

    def body(self) -> ComposeResult:
        self.refill()  # before the first frame, so that the list is drawn once
        with Horizontal(id="form"):
            with Container(id="fields"):
                yield self.list
            with Vertical(id="beside"):
                yield self.details
                yield self.grants
        yield self._search

    def on_mount(self) -> None:
        if problems := self.draft.problems():
            self._go_to(problems[0][0])
        self.title_line.title = f"Settings of {one_line(short_runner(self._store.name), 60)}"

    def on_resize(self) -> None:
        self.set_class(self.size.height < TINY_ROWS, "-tiny")
        self.call_after_refresh(self._place_editor)

    def where(self) -> str:
        return "form" if self.editor is None else "field"

    def owns(self, where: str) -> bool:
        return where in ("form", "field")

    # Showing

    def refill(self) -> None:
        """Show the current draft and its grants."""
        self.list.fill(ListItems(list(field_items(self.draft, self._unsaved))), "This runner has no settings.")
        self.show_remark()
        self._show_details()
        self._show_grants()

    def remark(self) -> str:
        if (
            self.has_class("-searching")
            and self._search.value
            and find_field(self.draft.fields, self._search.value) is None
        ):
            return "No field matches"
        problems, changes = len(self.draft.problems()), self.draft.change_count
        if problems:
            return f"{number(problems, 'problem')} found"
        remark = f"{number(changes, 'value')} changed" if changes else "No changes"
        return f"{remark} · {UNSAVED}" if self._unsaved else remark

    async def reload(self) -> None:
        """Load the form again after its files have changed. An open editor stays if its field still exists."""
        try:
            draft = await self._store.load()
        except (ConfigError, RunnersError):
            return  # a notice has reported it; the form stays until the runner can be used again
        self.draft, self._unsaved = draft, self._store.unsaved_keys(draft)
        editor = self.editor
        if editor is not None and not any(editor.can_edit(field) for field in draft.fields):
            if editor.current_value() != editor.value:
                value = one_line(str(editor.current_value()), 60)
                typed = "" if editor.field.is_secret else f"; you had typed: {value}"
                self.services.show_toast(f"The field {one_line(editor.field.label, 60)} was removed{typed}")
            self._close_editor()
        self.refill()

    def _show_details(self) -> None:
        field = self.field
        self.details.show(field_details(self.draft, field) if field is not None else ())

    def _show_grants(self) -> None:
        self.grants.border_title = f" Granted on {self._event_type} "
        view = self.grants.view
        source = self._store.preview_grants(self.draft, self._event_type)
        self.grants.show(View(source, view.cursor, view.top) if view is not None else View(source))

    @property
    def field(self) -> FormField | None:
        """The field at the cursor."""
        return next((field for field in self.draft.fields if field.key == self.list.current_id), None)

    def on_item_list_moved(self) -> None:
        editor = self.editor
        if editor is not None and self.list.current_id != editor.field.key and not self.save_input():
            self._go_to(editor.field)  # another field was clicked, but this value is invalid
        self._show_details()

    # Editing

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        event.stop()
        self.run_worker(self.action_edit, exit_on_error=False)

    async def action_edit(self) -> None:
        field = self.field
        if field is None or self.editor is not None or not self.services.check_can("form.edit"):
            return
        value = self.draft.value(field)
        if field.kind is FieldKind.SWITCH:
            self._set_value(field, not value)
            return
        self.remove_class("-granting")
        self.editor = editor_of(field, value)
        self.set_class(not isinstance(self.editor, LineEditor), "-framing")
        await self.query_one("#fields").mount(self.editor)
        self._place_editor()
        self.call_after_refresh(self._place_editor)  # there may be more room now

    def _place_editor(self) -> None:
        editor, view = self.editor, self.list.view
        if editor is None or view is None or not editor.is_mounted:
            return
        size = self.list.size
        left = min(label_columns(widest_label(self.draft.fields), size.width) + 3, size.width - 10)
        editor.cover_row(view.cursor - view.top, left, size)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        editor = self.editor
        problem = self.draft.problem(event.field, event.value)
        if editor is not None:
            editor.show_problem(None if problem is None else f"{one_line(event.field.name, 60)} {problem}")
            self._place_editor()
        if event.is_done and problem is None:
            if event.field.kind not in _MULTIPLE:
                self._close_editor()
            self._set_value(event.field, event.value)

    def _close_editor(self) -> None:
        if self.editor is not None:
            self.editor.remove()
            self.editor = None
            self.remove_class("-framing")
            self.list.focus()

    def _set_value(self, field: FormField, value: Any) -> None:
        self._apply(self.draft.set(field, value))

    def _apply(self, draft: FormDraft, toast: str = "", undo: str = "") -> None:
        """Show and save a draft, then show a toast, with the meaning of the undo key."""
        if draft is self.draft:
            return
        is_fixed = bool(self.draft.problems()) and not draft.problems()
        self.draft = draft
        self.refill()
        self.services.run_in_background(
            self._save(draft, toast, undo), PROBLEMS_FIXED if is_fixed and not toast else ""
        )

    async def _save(self, draft: FormDraft, toast: str, undo: str) -> None:
        try:
            with slow_notice(self, self._show_unsaved):
                await self._store.save(draft)
        except Exception:
            self._is_retry_due = self.services.active_session.engine.write_error is not None
            self._show_unsaved()
            raise
        if self._unsaved:
            self._show_unsaved()
        await self.services.active_session.refresh_runner()
        await self._runners.refresh_picker()
        if toast:
            self.show_key_toast(toast, f"{key_of('form.undo')} {undo}" if undo else "")

    def _show_unsaved(self) -> None:
        """Mark the fields that are not on disk."""
        self._unsaved = self._store.unsaved_keys(self.draft)
        if self.is_attached:
            self.refill()

    def tick(self, now: Situation) -> None:
        super().tick(now)
        if self._is_retry_due and self.services.active_session.engine.write_error is None:
            self._is_retry_due = False
            self.services.run_in_background(self._save(self.draft, "", ""))

    # Commands

    def why_not(self, what: str) -> str | None:
        if what in ("edit", "reset") and self.grants.has_focus:
            return "Grants follow from the fields. esc goes to the fields."
        if what == "take" and isinstance(self.editor, TextEditor):
            return "enter starts a new line. esc saves the text."
        return self.draft.why_not(what, self.field) or self.details.why_not(what)

    @property
    def back(self) -> str:
        if self.editor is not None:
            return self.editor.back
        is_aside = self.has_class("-granting") or self.has_class("-searching") or self.grants.has_focus
        return "to the fields" if is_aside else "back"

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "to this field"),) if self.has_class("-searching") else ()

    @property
    def keys_of(self) -> str:
        return "" if self.has_class("-searching") else self.where()

    def action_undo(self) -> None:
        if self.services.check_can("form.undo") and (before := self.draft.undo()) is not None:
            self.dismiss_key_toasts()
            self._apply(before, "Undone")

    def action_reset(self) -> None:
        field = self.field
        if self.services.check_can("form.reset") and field is not None:
            self._apply(self.draft.reset(field), f"Reset {field.label}", "undoes it")

    def action_reset_all(self) -> None:
        if self.services.check_can("form.reset_all"):
            values = number(self.draft.change_count, "value")
            self._apply(self.draft.reset_all(), f"Reset {values}", "restores them")

    @property
    def unsaved_warning(self) -> str:
        editor = self.editor
        if editor is None or editor.current_value() == editor.value:
            return "Your settings are not on disk yet." if self._unsaved else ""
        return f"Your text for {one_line(editor.field.label, 60)} is not saved."

    def step_back(self) -> None:
        """Close the editor (a text is saved), the search, the grants, or the form."""
        editor = self.editor
        if editor is not None:
            was_warned = editor.is_warned
            if isinstance(editor, TextEditor) and not self.save_input() and not was_warned:
                return
            if isinstance(editor, LineEditor) and editor.current_value() != editor.value:
                value = one_line(display_text(editor.field, editor.value), 60)
                self.services.show_toast(f"{one_line(editor.field.label, 60)} is unchanged: {value}")
            self._close_editor()
        elif self.has_class("-searching"):
            self.remove_class("-searching")
            self.list.focus()
            self.show_remark()
        elif self.has_class("-granting") or self.grants.has_focus:
            self.action_grants()
        else:
            self.close_screen()

    def save_input(self) -> bool:
        """Close the editor and save a valid value. An invalid one is shown, and discarded by esc only."""
        editor = self.editor
        if editor is None:
            return True
        value = editor.current_value()
        problem = self.draft.problem(editor.field, value)
        if problem is None or value == editor.value:
            self._close_editor()
            self._set_value(editor.field, value)
            return True
        editor.is_warned = True
        editor.show_problem(f"{one_line(editor.field.name, 60)} {problem} · esc discards it")
        self._place_editor()
        return False

    def action_grants(self) -> None:
        """Go to the grants, or back to the fields."""
        is_there = self.has_class("-granting") or self.grants.has_focus
        self.set_class(not is_there, "-granting")
        (self.list if is_there else self.grants).focus()

    def action_event(self) -> None:
        self._event_type = EVENT_TYPES[(EVENT_TYPES.index(self._event_type) + 1) % len(EVENT_TYPES)]
        self._show_grants()
        if self.has_class("-narrow") and not self.has_class("-granting"):
            self.action_grants()

    def action_find(self) -> None:
        self.add_class("-searching")
        self._search.value = ""
        self._search.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self._search:
            if (found := find_field(self.draft.fields, self._search.value)) is not None:
                self._go_to(found)
            self.show_remark()

    def _go_to(self, field: FormField) -> None:
        if (place := self.list.source.place_of(field.key)) is not None:
            self.list.go_to(place)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is self._search:
            self.step_back()

    def action_text(self) -> None:
        from console.ui.settings_form.yaml_editor import YamlEditor  # noqa: PLC0415

        self.app.push_screen(YamlEditor(self.services, self._store, lambda: self.draft, self._apply_yaml))

    def _apply_yaml(self, draft: FormDraft) -> None:
        self._apply(draft, "Saved", "undoes it")

    def action_scroll_details(self, pages: int) -> None:
        if self.services.check_can("form.more" if pages > 0 else "form.less"):
            self.details.page(pages)

    def _moving(self) -> RowList:
        return self.grants if self.grants.has_focus else self.list

    def action_move(self, rows: int) -> None:
        if self.editor is None:
            self._moving().move(rows)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self._moving().size.height - 1))

    def action_edge(self, is_last: bool) -> None:
        self.action_move(100_000 if is_last else -100_000)
