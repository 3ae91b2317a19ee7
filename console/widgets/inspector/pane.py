"""The inspector: seven tabs over one list, about one run at one entry or now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from console.model.glyphs import Glyphs
from console.model.inspect.facts import CallFacts, Facts, Unknown
from console.widgets.inspector.calls import CallsTab, positions
from console.widgets.inspector.context import ContextTab
from console.widgets.inspector.event import EventTab
from console.widgets.inspector.finding import FindBar
from console.widgets.inspector.output import OutputTab
from console.widgets.inspector.receipts import ReceiptsTab
from console.widgets.inspector.row_list import RowList
from console.widgets.inspector.state import StateTab
from console.widgets.inspector.strip import TabStrip
from console.widgets.inspector.tab import Tab
from console.widgets.inspector.transcript import TranscriptTab

_TABS: tuple[type[Tab[Any]], ...] = (
    EventTab, StateTab, TranscriptTab, ContextTab, CallsTab, ReceiptsTab, OutputTab,
)  # fmt: skip


class Inspector(Vertical):
    """Asks for what it shows by `Need`, and is answered by `show`."""

    DEFAULT_CSS = """
    Inspector { height: 1fr; width: 1fr; border: round $panel-lighten-2; border-title-align: right; }
    Inspector:focus-within { border: round $accent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(place), f"choose('{kind.id}')", kind.name, show=False, id=f"inspector.{kind.id}")
            for place, kind in enumerate(_TABS, 1)
        ),
        Binding("right", "next_tab(1)", "next tab", show=False, id="inspector.next_tab"),
        Binding("left", "next_tab(-1)", "previous tab", show=False, id="inspector.previous_tab"),
        Binding("down,j", "move(1)", "down", show=False, id="inspector.down"),
        Binding("up,k", "move(-1)", "up", show=False, id="inspector.up"),
        Binding("pagedown,ctrl+d", "page(1)", "page down", show=False, id="inspector.page_down"),
        Binding("pageup,ctrl+u", "page(-1)", "page up", show=False, id="inspector.page_up"),
        Binding("home,g", "edge(0)", "first", show=False, id="inspector.first"),
        Binding("end,G,shift+g", "edge(1)", "last", show=False, id="inspector.last"),
        Binding("enter,space", "fold", "open", show=False, id="inspector.fold"),
        Binding("y", "copy", "copy", show=False, id="inspector.copy"),
        Binding("Y,shift+y", "copy_path", "copy path", show=False, id="inspector.copy_path"),
        Binding("slash", "find", "find", show=False, id="inspector.find"),
        Binding("n", "find_next", "next", show=False, id="inspector.find_next"),
        Binding("r", "refused_first", "refused first", show=False, id="inspector.refused_first"),
    ]

    @dataclass
    class Need(Message):
        """A tab is shown and wants its facts."""

        tab: str
        run_id: str
        position: int | None

    @dataclass
    class NeedCall(Message):
        """A call was opened and wants its request and reply."""

        run_id: str
        number: int
        positions: tuple[int, ...]

    @dataclass
    class Copy(Message):
        """Someone wants this text on the clipboard."""

        text: str
        what: str
        """In words: `value`, `path`."""

    @dataclass
    class Jump(Message):
        """Someone wants to go to this entry of the run."""

        position: int

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._tabs: Mapping[str, Tab[Any]] = {kind.id: kind() for kind in _TABS}
        self._order = tuple(self._tabs)
        self._run_id: str | None = None
        self._position: int | None = None
        self._tab = self._order[0]
        self._strip = TabStrip(tuple((tab.name, tab.short) for tab in self._tabs.values()))
        self._list = RowList()
        self._bar = FindBar()

    def compose(self) -> ComposeResult:
        yield self._strip
        yield self._list
        yield self._bar

    def on_mount(self) -> None:
        self._look()

    # What the app says

    @property
    def tab(self) -> str:
        """The tab that is shown."""
        return self._tab

    def look_at(self, run_id: str | None, position: int | None) -> None:
        """Be about this run, as of this entry; without one, as it is now."""
        if (run_id, position) == (self._run_id, self._position):
            return
        if run_id != self._run_id:
            for tab in self._tabs.values():
                tab.view = tab.facts = None
        self._run_id, self._position = run_id, position
        self._entitle()
        self._look()

    def ask(self) -> None:
        """Want the facts of the tab that is shown anew: the run has gone on."""
        tab = self._tabs[self._tab]
        if self._run_id is not None and not (tab.needs_entry and self._position is None):
            self.post_message(self.Need(self._tab, self._run_id, self._position))

    def show(self, tab: str, facts: Facts) -> None:
        """The answer to a need. One that comes late, about another moment, is not shown."""
        if (facts.run_id, facts.position) != (self._run_id, self._position):
            return
        if isinstance(facts, Unknown):
            self._tabs[tab].show_words(facts.words)
        else:
            self._tabs[tab].show(facts)
        self._draw(tab)

    def show_call(self, facts: CallFacts | Unknown) -> None:
        """The answer about one call."""
        calls = self._tabs["calls"]
        if isinstance(calls, CallsTab) and isinstance(facts, CallFacts) and facts.run_id == self._run_id:
            calls.take(facts)
            self._draw("calls")

    def use(self, glyphs: Glyphs) -> None:
        """Draw with these glyphs."""
        self._list.glyphs = glyphs
        for tab in self._tabs.values():
            tab.use(glyphs)
        self._draw(self._tab)

    # What a person does

    def action_choose(self, tab: str) -> None:
        """Show a tab."""
        if tab != self._tab:
            self._tab = tab
            self._strip.shown = self._order.index(tab)
            self._bar.hide()
            self._look()

    def action_next_tab(self, step: int) -> None:
        place = self._order.index(self._tab) + step
        self.action_choose(self._order[place % len(self._order)])

    def action_move(self, rows: int) -> None:
        self._bar.hide()
        self._list.move(rows)

    def action_page(self, pages: int) -> None:
        self._list.move(pages * max(1, self._list.size.height - 1))

    def action_edge(self, end: int) -> None:
        self._list.go_to(2**31 if end else 0)

    def action_fold(self) -> None:
        self._list.fold()

    def action_copy(self) -> None:
        view = self._list.view
        if view is not None and self._tabs[self._tab].facts is not None:
            self.post_message(self.Copy(view.source.copied(view.cursor), "value"))

    def action_copy_path(self) -> None:
        view = self._list.view
        if view is not None and (path := view.source.path_at(view.cursor)):
            self.post_message(self.Copy(path, "path"))

    def action_find(self) -> None:
        self._bar.open()

    def action_find_next(self) -> None:
        self._bar.tell(found=self._list.find(self._bar.text))

    def action_refused_first(self) -> None:
        tab = self._tabs[self._tab]
        if isinstance(tab, CallsTab):
            tab.is_refused_first = not tab.is_refused_first
            tab.again()
            self._draw(self._tab)

    # Inside

    @on(TabStrip.Chosen)
    def _chosen(self, event: TabStrip.Chosen) -> None:
        event.stop()
        self.action_choose(self._order[event.index])
        self._list.focus()

    @on(RowList.Jump)
    def _jumped(self, event: RowList.Jump) -> None:
        event.stop()
        self.post_message(self.Jump(event.position))

    @on(RowList.Folded)
    def _folded(self, event: RowList.Folded) -> None:
        event.stop()
        self._want_calls()

    @on(FindBar.Wanted)
    def _wanted(self, event: FindBar.Wanted) -> None:
        event.stop()
        self._list.focus()
        self._bar.tell(found=self._list.find(event.text))

    @on(FindBar.Left)
    def _left(self, event: FindBar.Left) -> None:
        event.stop()
        self._list.focus()

    def _look(self) -> None:
        tab = self._tabs[self._tab]
        if self._run_id is None or (tab.needs_entry and self._position is None):
            tab.show_words(tab.empty)
        self._draw(self._tab)
        self.ask()

    def _draw(self, tab: str) -> None:
        if tab == self._tab and self.is_attached:
            self._list.show(self._tabs[tab].view)
            self._want_calls()

    def _want_calls(self) -> None:
        tab = self._tabs[self._tab]
        if isinstance(tab, CallsTab) and tab.wanted and self._run_id is not None:
            for call in tab.wanted:
                self.post_message(self.NeedCall(self._run_id, call.number, positions(call)))
            tab.wanted = []

    def _entitle(self) -> None:
        """Say which moment it is about: in the border, or beside the tabs where there is none."""
        words = "" if self._position is None else f"as of #{self._position}"
        has_border = bool(self.gutter.top)
        self.border_title = Content(words if has_border else "")
        self._strip.remark = "" if has_border else words

    def on_resize(self) -> None:
        self._entitle()
