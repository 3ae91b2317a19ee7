"""The form of a runner: its fields and policies, what each means, and what a run would be granted with them."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Input

from console.data.form_store import FormStore
from console.model.commands.key_labels import key_of
from console.model.commands.situation import Situation
from console.model.settings_form.fields import FormField, Kind, sought
from console.model.settings_form.form_draft import FormDraft
from console.model.settings_form.rows import UNWRITTEN, about, items, label_room, widest
from console.model.settings_form.values import shown
from console.model.text.lists import ListItems
from console.model.text.safe import one_line
from console.model.text.units import number, short_runner
from console.ui.settings_form.editors import Editor, LineEditor, PageEditor, editor_of
from console.ui.shared.bindings import bindings_for
from console.ui.shared.details import Details
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.list import ItemList, RowList, View
from console.ui.shared.slow_notice import slow_notice
from engine.api import EventType

EVENTS: Final = tuple(map(str, EventType))
TINY: Final = 20
"""Rows below which a page or a list has all of them to itself."""
FITS: Final = "it fits now: it can run"
_STAYING: Final = (Kind.MANY, Kind.RANKED)
"""Several can be chosen, so the list stays open."""


class FormScreen(FullScreen):
    """Only the field that is edited is a widget; all others are lines. What fits is kept at once, and can be undone."""

    place = "form"
    opened_by = "settings"
    heading = "Settings"
    AUTO_FOCUS = "#slots"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("form")
    DEFAULT_CSS = """
    FormScreen #form { height: 1fr; }
    FormScreen #fields { width: 3fr; height: 1fr; layers: base over; }
    FormScreen #slots { width: 1fr; height: 1fr; layer: base; }
    FormScreen #beside { width: 2fr; height: 1fr; border-left: solid $panel-lighten-2; padding: 0 0 0 1; }
    FormScreen Details { height: auto; max-height: 40%; margin: 0 0 1 1; }
    FormScreen #grants { height: 1fr; border-top: solid $panel-lighten-2; border-title-color: $foreground; }
    FormScreen #grants:focus { border-top: solid $accent; }
    FormScreen #seek, FormScreen #seek:focus { display: none; height: 1; border: none; padding: 0 1; }
    FormScreen.-seeking #seek, FormScreen.-seeking #seek:focus { display: block; }
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

    def __init__(self, desk: FormStore, filling: FormDraft) -> None:
        super().__init__()
        self._desk = desk
        self.filling = filling
        self._event = EVENTS[0]
        self.list = ItemList(id="slots")
        self.leaf = Details()
        self.grants = RowList(id="grants")
        self._seek = Input(placeholder="find a field", id="seek")
        self.editor: Editor | None = None
        self._unwritten: frozenset[str] = desk.unwritten(filling)
        """Fields of which it is said that they are not on disk."""
        self._is_hindered = bool(self._unwritten)
        """The database was in the way; it is tried again when that is over."""

    def body(self) -> ComposeResult:
        self.refill()  # before there is anything to be drawn, so that it is drawn once
        with Horizontal(id="form"):
            with Container(id="fields"):
                yield self.list
            with Vertical(id="beside"):
                yield self.leaf
                yield self.grants
        yield self._seek

    def on_mount(self) -> None:
        if wrong := self.filling.problems():
            self._go_to(wrong[0][0])
        self.title_line.title = f"Settings of {one_line(short_runner(self._desk.name), 60)}"

    def on_resize(self) -> None:
        self.set_class(self.size.height < TINY, "-tiny")
        self.call_after_refresh(self._put_in_place)

    def where(self) -> str:
        return "form" if self.editor is None else "field"

    def owns(self, where: str) -> bool:
        return where in ("form", "field")

    # What is shown

    def refill(self) -> None:
        """The form, and what it would grant, as it stands now."""
        self.list.fill(ListItems(list(items(self.filling, self._unwritten))), "This runner has no settings.")
        self.show_remark()
        self._tell_more()
        self._show_grants()

    def remark(self) -> str:
        if self.has_class("-seeking") and self._seek.value and sought(self.filling.slots, self._seek.value) is None:
            return "no field is called so"
        wrong, own = len(self.filling.problems()), self.filling.count
        if wrong:
            return f"{number(wrong, 'field')} to mend"
        said = f"{own} of your own" if own else "nothing of your own"
        return f"{said} · {UNWRITTEN}" if self._unwritten else said

    async def read_again(self) -> None:
        """Files were saved: the form may have other fields now. What is typed stays as long as its field does."""
        from engine.api import ConfigError, RunnersError  # noqa: PLC0415

        try:
            filling = await self._desk.read()
        except (ConfigError, RunnersError):
            return  # it was said that the runner cannot be used; what is here is kept until it can
        self.filling, self._unwritten = filling, self._desk.unwritten(filling)
        editor = self.editor
        if editor is not None and not any(editor.suits(slot) for slot in filling.slots):
            if editor.typed() != editor.value:
                typed = "" if editor.slot.is_secret else f"; you had typed: {one_line(str(editor.typed()), 60)}"
                self.trackside.tell(f"{one_line(editor.slot.label, 60)} is no such field any more{typed}")
            self._close()
        self.refill()

    def _tell_more(self) -> None:
        slot = self.slot
        self.leaf.show(about(self.filling, slot) if slot is not None else ())

    def _show_grants(self) -> None:
        self.grants.border_title = f" Granted on {self._event} "
        view = self.grants.view
        source = self._desk.preview(self.filling, self._event)
        self.grants.show(View(source, view.cursor, view.top) if view is not None else View(source))

    @property
    def slot(self) -> FormField | None:
        """The field that the cursor is on."""
        return next((slot for slot in self.filling.slots if slot.key == self.list.current_id), None)

    def on_item_list_moved(self) -> None:
        editor = self.editor
        if editor is not None and self.list.current_id != editor.slot.key and not self.let_go():
            self._go_to(editor.slot)  # someone clicked on another field, but this one is not done
        self._tell_more()

    # Editing

    def on_item_list_chosen(self, event: ItemList.Chosen) -> None:
        event.stop()
        self.run_worker(self.action_edit, exit_on_error=False)

    async def action_edit(self) -> None:
        slot = self.slot
        if slot is None or self.editor is not None or not self.trackside.can("form.edit"):
            return
        value = self.filling.value(slot)
        if slot.kind is Kind.SWITCH:
            self._take(slot, not value)
            return
        self.remove_class("-granting")
        self.editor = editor_of(slot, value)
        self.set_class(not isinstance(self.editor, LineEditor), "-framing")
        await self.query_one("#fields").mount(self.editor)
        self._put_in_place()
        self.call_after_refresh(self._put_in_place)  # there may be more room now

    def _put_in_place(self) -> None:
        editor, view = self.editor, self.list.view
        if editor is None or view is None or not editor.is_mounted:
            return
        size = self.list.size
        left = min(label_room(widest(self.filling.slots), size.width) + 3, size.width - 10)
        editor.lie(view.cursor - view.top, left, size)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        editor = self.editor
        problem = self.filling.problem(event.slot, event.value)
        if editor is not None:
            editor.say(None if problem is None else f"{one_line(event.slot.name, 60)} {problem}")
            self._put_in_place()
        if event.is_done and problem is None:
            if event.slot.kind not in _STAYING:
                self._close()
            self._take(event.slot, event.value)

    def _close(self) -> None:
        if self.editor is not None:
            self.editor.remove()
            self.editor = None
            self.remove_class("-framing")
            self.list.focus()

    def _take(self, slot: FormField, value: Any) -> None:
        """Have this value from now on."""
        self._turn(self.filling.put(slot, value))

    def _turn(self, filling: FormDraft, said: str = "", undo: str = "") -> None:
        if filling is self.filling:
            return
        is_mended = bool(self.filling.problems()) and not filling.problems()
        self.filling = filling
        self.refill()
        self.trackside.do(self._keep(filling, said, undo), FITS if is_mended and not said else "")

    async def _keep(self, filling: FormDraft, said: str, undo: str) -> None:
        try:
            with slow_notice(self, self._show_unwritten):
                await self._desk.keep(filling)
        except Exception:
            self._is_hindered = self.trackside.stage.engine.write_error is not None
            self._show_unwritten()
            raise
        if self._unwritten:
            self._show_unwritten()
        await self.trackside.stage.look_again()
        await self.trackside.refresh_list()
        if said:
            self.mention(said, f"{key_of('form.undo')} {undo}" if undo else "")

    def _show_unwritten(self) -> None:
        """What is not on disk after so long; or that all is."""
        self._unwritten = self._desk.unwritten(self.filling)
        if self.is_attached:
            self.refill()

    def tick(self, now: Situation) -> None:
        super().tick(now)
        if self._is_hindered and self.trackside.stage.engine.write_error is None:
            self._is_hindered = False
            self.trackside.do(self._keep(self.filling, "", ""))

    # Back

    def why_not(self, what: str) -> str | None:
        if what in ("edit", "reset") and self.grants.has_focus:
            return "what is granted follows from the fields; esc leads to them"
        if what == "take" and isinstance(self.editor, PageEditor):
            return "enter begins a new line; esc keeps what is typed"
        return self.filling.why_not(what, self.slot) or self.leaf.why_not(what)

    @property
    def back(self) -> str:
        if self.editor is not None:
            return self.editor.back
        is_aside = self.has_class("-granting") or self.has_class("-seeking") or self.grants.has_focus
        return "to the fields" if is_aside else "back"

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "to this field"),) if self.has_class("-seeking") else ()

    @property
    def keys_of(self) -> str:
        return "seek" if self.has_class("-seeking") else self.where()

    def action_undo(self) -> None:
        if self.trackside.can("form.undo") and (before := self.filling.undone()) is not None:
            self.hush()
            self._turn(before, "taken back")

    def action_reset(self) -> None:
        slot = self.slot
        if self.trackside.can("form.reset") and slot is not None:
            self._turn(self.filling.reset(slot), f"{slot.label} is reset", "takes that back")

    def action_reset_all(self) -> None:
        if self.trackside.can("form.reset_all"):
            own = number(self.filling.count, "value")
            self._turn(self.filling.reset_all(), f"{own} of your own forgotten", "brings them back")

    @property
    def unkept(self) -> str:
        editor = self.editor
        if editor is None or editor.typed() == editor.value:
            return "What you set here is not on disk yet." if self._unwritten else ""
        return f"What you typed for {one_line(editor.slot.label, 60)} is not kept."

    def step_back(self) -> None:
        """Out of the editor, where a page is kept; out of the grants; out of the form."""
        editor = self.editor
        if editor is not None:
            was_warned = editor.is_warned
            if isinstance(editor, PageEditor) and not self.let_go() and not was_warned:
                return
            if isinstance(editor, LineEditor) and editor.typed() != editor.value:
                stays = shown(editor.slot, editor.value)
                self.trackside.tell(f"{one_line(editor.slot.label, 60)} stays as it was: {one_line(stays, 60)}")
            self._close()
        elif self.has_class("-seeking"):
            self.remove_class("-seeking")
            self.list.focus()
            self.show_remark()
        elif self.has_class("-granting") or self.grants.has_focus:
            self.action_grants()
        else:
            self.leave()

    def let_go(self) -> bool:
        """Close the editor: what fits is kept; what does not is told, and left by esc alone."""
        editor = self.editor
        if editor is None:
            return True
        value = editor.typed()
        problem = self.filling.problem(editor.slot, value)
        if problem is None or value == editor.value:
            self._close()
            self._take(editor.slot, value)
            return True
        editor.is_warned = True
        editor.say(f"{one_line(editor.slot.name, 60)} {problem} · esc leaves it as it was")
        self._put_in_place()
        return False

    # The rest

    def action_grants(self) -> None:
        """To what would be granted, and back."""
        is_there = self.has_class("-granting") or self.grants.has_focus
        self.set_class(not is_there, "-granting")
        (self.list if is_there else self.grants).focus()

    def action_event(self) -> None:
        self._event = EVENTS[(EVENTS.index(self._event) + 1) % len(EVENTS)]
        self._show_grants()
        if self.has_class("-narrow") and not self.has_class("-granting"):
            self.action_grants()

    def action_find(self) -> None:
        self.add_class("-seeking")
        self._seek.value = ""
        self._seek.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self._seek:
            if (found := sought(self.filling.slots, self._seek.value)) is not None:
                self._go_to(found)
            self.show_remark()

    def _go_to(self, slot: FormField) -> None:
        if (place := self.list.source.place_of(slot.key)) is not None:
            self.list.go_to(place)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is self._seek:
            self.step_back()

    def action_text(self) -> None:
        from console.ui.settings_form.yaml_editor import YamlEditor  # noqa: PLC0415

        self.app.push_screen(YamlEditor(self._desk, lambda: self.filling, self._read_back))

    def _read_back(self, filling: FormDraft) -> None:
        self._turn(filling, "kept", "takes it back")

    def action_scroll_details(self, pages: int) -> None:
        """On or back in what is told of the field that the cursor is on."""
        if self.trackside.can("form.more" if pages > 0 else "form.less"):
            self.leaf.page(pages)

    def _moving(self) -> RowList:
        return self.grants if self.grants.has_focus else self.list

    def action_move(self, rows: int) -> None:
        if self.editor is None:
            self._moving().move(rows)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self._moving().size.height - 1))

    def action_edge(self, is_last: bool) -> None:
        self.action_move(100_000 if is_last else -100_000)
