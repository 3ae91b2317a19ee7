"""The inspector pane: seven tabs over one list, about one run as of an entry or now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from console.model.commands.key_labels import key_of
from console.model.inspector.call_log import Call
from console.model.inspector.data import CallData, InspectorData, Unknown
from console.model.sessions.line_place import LinePlace
from console.ui.inspector.find_bar import FindBar
from console.ui.inspector.refresh_timer import REFRESH_SECONDS, RefreshTimer
from console.ui.inspector.tab_strip import TabStrip
from console.ui.inspector.tabs import (
    CallsTab,
    ContextTab,
    EventTab,
    OutputTab,
    ReceiptsTab,
    StateTab,
    Tab,
    TranscriptTab,
)
from console.ui.shared.bindings import bindings_for
from console.ui.shared.crash_guard import PaneGuard
from console.ui.shared.list import LAST_ROW, RowList
from console.ui.shared.refused import refuse

_TABS: tuple[type[Tab[Any]], ...] = (
    EventTab, StateTab, TranscriptTab, ContextTab, CallsTab, ReceiptsTab, OutputTab,
)  # fmt: skip


class Inspector(PaneGuard, Vertical):
    """Posts `Need` when it needs data; the handler answers with `show`."""

    DEFAULT_CSS = """
    Inspector { height: 1fr; width: 1fr; border: round $panel-lighten-2; border-title-align: right; }
    Inspector:focus-within { border: round $accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("inspector")

    @dataclass
    class Need(Message):
        """Posted when the open tab needs data."""

        tab: str
        run_id: str
        position: int | None
        only: LinePlace | None = None
        """The thread and bot whose lines the Transcript tab shows; None means all."""
        number: int = field(default=0, compare=False)
        """The number of the request; the answer repeats it."""

    @dataclass
    class NeedCall(Message):
        """Posted when the user unfolds a call whose request and reply have not been read."""

        run_id: str
        call: Call

    @dataclass
    class Copy(Message):
        """Posted when the user copies a value or a path."""

        text: str
        what: str
        """What is copied: `value` or `path`."""

    @dataclass
    class Jump(Message):
        """Posted when the user opens a related entry."""

        position: int

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._tabs: Mapping[str, Tab[Any]] = {kind.id: kind() for kind in _TABS}
        self._order = tuple(self._tabs)
        self._run_id: str | None = None
        self._position: int | None = None
        self._last = 0
        """The entry that is shown if the user chose none."""
        self._is_newest = True
        """Whether it is the newest entry of the run."""
        self._refresh_timer = RefreshTimer(self.set_timer, self._request, self._is_busy)
        self._tab = self._order[0]
        self._strip = TabStrip(tuple((tab.name, tab.short) for tab in self._tabs.values()))
        self._list = RowList()
        self._bar = FindBar()

    def compose(self) -> ComposeResult:
        yield self._strip
        yield self._list
        yield self._bar

    def on_mount(self) -> None:
        self._show_open_tab()

    # Called by the screen

    @property
    def tab(self) -> str:
        """The id of the open tab."""
        return self._tab

    def show_run(self, run_id: str | None, position: int | None, last: int = 0, current: int | None = None) -> None:
        """Show a run as of an entry, or as of now (with `last` entries) if `position` is None.

        `current` is the entry that the Event tab shows then, if it is not the newest.
        """
        before, self._last, self._is_newest = (self._last, self._is_newest), current or last, current is None
        if (run_id, position) == (self._run_id, self._position):
            if position is None and before != (self._last, self._is_newest):
                self._update_title()
                if self._tabs[self._tab].needs_entry:
                    self._refresh_timer.request_soon()
            return
        if run_id != self._run_id:
            for tab in self._tabs.values():
                tab.view = tab.data = None
        self._run_id, self._position = run_id, position
        self._show_open_tab()

    def on_entries(self, kinds: Iterable[str]) -> None:
        """Called after new entries of these kinds: requests data if the open tab depends on them."""
        if self._tabs[self._tab].is_changed_by(kinds, self._position):
            self._refresh_timer.request_soon()

    @property
    def is_waiting(self) -> bool:
        """Whether a request is scheduled or unanswered."""
        return self._refresh_timer.is_waiting

    def reload(self) -> None:
        """Request the data of the open tab again."""
        if self._run_id is not None:
            self._refresh_timer.request_after_move()

    def show(self, tab: str, data: InspectorData, number: int | None = None) -> None:
        """Show the answer to a request. Only the last request counts; unrequested data is shown if it is of now."""
        is_wanted = data.position == self._position if number is None else self._refresh_timer.accept_answer(number)
        if not is_wanted or data.run_id != self._run_id:
            return
        if isinstance(data, Unknown):
            self._tabs[tab].show_note(data.words)
        else:
            self._tabs[tab].show(data)
        self._draw(tab)

    def show_call(self, data: CallData | Unknown) -> None:
        """Show the answer to `NeedCall`."""
        calls = self._tabs["calls"]
        if isinstance(calls, CallsTab) and isinstance(data, CallData) and data.run_id == self._run_id:
            calls.add_details(data)
            self._draw("calls")

    def focus(self, scroll_visible: bool = True) -> "Inspector":
        """Focus the rows."""
        self._list.focus(scroll_visible)
        return self

    def close_line(self) -> bool:
        """Close the search line. Returns whether it was open."""
        was_open = self._bar.display
        self._bar.hide()
        if was_open:
            self._list.focus()
        return was_open

    def why_not(self, what: str) -> str | None:
        """The reason why a command cannot be carried out now, or None."""
        view, tab = self._list.view, self._tabs[self._tab]
        if what in self._order or what in ("next_tab", "previous_tab", "find", "find_next"):
            return None
        if what == "refused_first":
            return (
                None
                if isinstance(tab, CallsTab)
                else f"Only the Calls tab can be sorted. Press {key_of('inspector.calls')} to open it."
            )
        if what == "thread":
            return (
                tab.why_no_choice
                if isinstance(tab, TranscriptTab)
                else f"Only the Transcript tab has threads. Press {key_of('inspector.transcript')} to open it."
            )
        if tab.data is None or view is None or not view.source.height:
            return "This tab is empty."
        if what == "copy_path" and not view.source.path_at(view.cursor):
            return "This row has no path."
        return None

    # Requests

    def _request(self, number: int) -> None:
        tab = self._tabs[self._tab]
        place = self._position or (self._last or None if tab.needs_entry else None)
        if self._run_id is None or (tab.needs_entry and place is None):
            self._refresh_timer.accept_answer(number)
        else:
            only = tab.only if isinstance(tab, TranscriptTab) else None
            self.post_message(self.Need(self._tab, self._run_id, place, only, number))

    def _is_busy(self) -> bool:
        """Whether new data would disturb: the user searches, moves in the list, or reads the last entry."""
        is_reading = self._tabs[self._tab].needs_entry and self._position is None and self._list.has_focus
        return self._bar.has_focus_within or is_reading or monotonic() - self._list.moved_at < REFRESH_SECONDS

    # Keys

    def action_choose(self, tab: str) -> None:
        if tab == self._tab:
            refuse(self, "This tab is already open.")
        else:
            self.choose(tab)

    def choose(self, tab: str) -> None:
        """Open a tab; nothing happens if it is open."""
        if tab != self._tab:
            self._tab = tab
            self._strip.shown = self._order.index(tab)
            self._bar.hide()
            self._show_open_tab()

    def action_next_tab(self, step: int) -> None:
        place = self._order.index(self._tab) + step
        self.choose(self._order[place % len(self._order)])

    def action_move(self, rows: int) -> None:
        if not self._refuse("up"):
            self._bar.hide()
            self._list.move(rows)

    def action_page(self, pages: int) -> None:
        if not self._refuse("page_up"):
            self._list.page(pages)

    def action_edge(self, end: int) -> None:
        if not self._refuse("first"):
            self._list.go_to(LAST_ROW if end else 0)

    def action_fold(self) -> None:
        if not self._refuse("fold") and not self._list.fold():
            refuse(self, "This row neither folds nor refers to an entry.")

    def action_copy(self) -> None:
        view = self._list.view
        if not self._refuse("copy") and view is not None:
            self.post_message(self.Copy(view.source.copied(view.cursor), "value"))

    def action_copy_path(self) -> None:
        view = self._list.view
        if not self._refuse("copy_path") and view is not None:
            self.post_message(self.Copy(view.source.path_at(view.cursor), "path"))

    def action_find(self) -> None:
        self._bar.open()

    def action_find_next(self) -> None:
        self._bar.show_result(is_found=self._list.find(self._bar.text))

    def action_refused_first(self) -> None:
        tab = self._tabs[self._tab]
        if not self._refuse("refused_first") and isinstance(tab, CallsTab):
            tab.is_refused_first = not tab.is_refused_first
            tab.rebuild()
            self._draw(self._tab)

    def action_thread(self) -> None:
        tab = self._tabs[self._tab]
        if not self._refuse("thread") and isinstance(tab, TranscriptTab):
            tab.only = tab.next_choice()
            self.reload()

    # Private

    def _refuse(self, command: str) -> bool:
        """Post the reason if a command cannot be carried out now. Returns whether there was one."""
        return refuse(self, self.why_not(command))

    @on(TabStrip.Chosen)
    def _tab_clicked(self, event: TabStrip.Chosen) -> None:
        event.stop()
        self.choose(self._order[event.index])
        self._list.focus()

    @on(RowList.Jump)
    def _jump(self, event: RowList.Jump) -> None:
        event.stop()
        self.post_message(self.Jump(event.position))

    @on(RowList.Folded)
    def _row_folded(self, event: RowList.Folded) -> None:
        event.stop()
        self._request_calls()

    @on(FindBar.Submitted)
    def _find(self, event: FindBar.Submitted) -> None:
        event.stop()
        self._list.focus()
        self._bar.show_result(is_found=self._list.find(event.text))

    @on(FindBar.Closed)
    def _find_bar_closed(self, event: FindBar.Closed) -> None:
        event.stop()
        self._list.focus()

    def _show_open_tab(self) -> None:
        self._update_title()
        tab = self._tabs[self._tab]
        if self._run_id is None:
            tab.show_note(tab.empty)
        self._draw(self._tab)
        if self._run_id is not None and self.is_attached:
            self._refresh_timer.request_after_move()

    def _draw(self, tab: str) -> None:
        if tab == self._tab and self.is_attached:
            self._list.show(self._tabs[tab].view)
            self._request_calls()

    def _request_calls(self) -> None:
        tab = self._tabs[self._tab]
        if isinstance(tab, CallsTab) and tab.unread and self._run_id is not None:
            for call in tab.unread:
                self.post_message(self.NeedCall(self._run_id, call))
            tab.unread = []

    def _update_title(self) -> None:
        """Show the entry in the border, or beside the tabs if there is no border."""
        words = "" if self._position is None else f"as of #{self._position}"
        if self._position is None and self._run_id is not None and self._tabs[self._tab].needs_entry:
            words = "the last entry" if self._is_newest else f"#{self._last}, the last visible entry"
        has_border = bool(self.gutter.top)
        # Textual puts spaces around it only if the border has corners.
        space = "" if self.styles.border_left[0] or not words else " "
        self.border_title = Content(f"{space}{words}{space}" if has_border else "")
        self._strip.remark = "" if has_border else words

    def on_resize(self) -> None:
        self._update_title()
