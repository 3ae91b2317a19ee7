"""The main screen: how its panes lie, in three widths, and which of them is seen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from console.model.glyphs import Glyphs
from console.widgets.card import FirstCard
from console.widgets.conversation.pane import Conversation
from console.widgets.footer import Footer
from console.widgets.header import Header
from console.widgets.inspector import Inspector
from console.widgets.prompt import Prompt
from console.widgets.queue import Queue
from console.widgets.rail import Rail
from console.widgets.ribbon import RibbonBar
from console.widgets.stream.pane import StreamPane
from console.widgets.tabs import PaneTabs

NARROW_PANES = ("chat", "stream", "state", "runs")
"""What one sees at a time where there is little room."""


class Main(Screen[None]):
    """One session, its runs, and what they do."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]  # noqa: RUF012  (as Textual has it)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#prompt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "next_pane(1)", "next pane", show=False, id="screen.next_pane"),
        Binding("shift+tab", "next_pane(-1)", "pane before", show=False, id="screen.previous_pane"),
    ]

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self.header = Header()
        self.ribbon = RibbonBar()
        self.tabs = PaneTabs(NARROW_PANES)
        self.rail = Rail()
        self.conversation = Conversation(glyphs=glyphs, id="conversation")
        self.card = FirstCard()
        self.ticker = Static("", id="ticker", markup=False)
        self.queue = Queue()
        self.prompt = Prompt()
        self.stream = StreamPane(glyphs, id="stream")
        self.inspector = Inspector()
        self.footer = Footer()
        for pane in (self.header, self.ribbon, self.rail, self.queue):
            pane.glyphs = glyphs

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.ribbon
        yield self.tabs
        with Horizontal(id="body"):
            yield self.rail
            with Vertical(id="left"):
                yield self.card
                yield self.conversation
                yield self.ticker
                yield self.queue
                yield self.prompt
            with Vertical(id="right"):
                yield self.stream
                yield self.inspector
        yield self.footer

    def on_mount(self) -> None:
        self.show_pane("chat")
        self.ribbon.display = self.card.display = False

    # Which pane

    @property
    def is_narrow(self) -> bool:
        return self.has_class("-narrow")

    def show_pane(self, name: str) -> None:
        """Where only one pane is seen, this one; elsewhere it gets the focus."""
        self.remove_class(*(f"-{pane}" for pane in NARROW_PANES)).add_class(f"-{name}")
        self.tabs.shown = name

    def focus_pane(self, name: str) -> None:
        """Go to a pane."""
        self.show_pane(name)
        panes: dict[str, Widget] = {
            "chat": self.prompt, "stream": self.stream, "state": self.inspector, "runs": self.rail,
        }  # fmt: skip
        panes[name].focus()

    def where(self) -> str:
        """The pane that has the focus, by the name that commands have."""
        for name, pane in (
            ("prompt", self.prompt), ("queue", self.queue), ("stream", self.stream),
            ("inspector", self.inspector), ("conversation", self.conversation), ("rail", self.rail),
        ):  # fmt: skip
            if pane.has_focus or pane.has_focus_within:
                return name
        return "app"

    def next_pane(self, step: int) -> None:
        """Go round the panes that are seen; where only one is, to the next."""
        names = NARROW_PANES if self.is_narrow else ("chat", "conversation", "stream", "state", "runs")
        here = {"prompt": "chat", "queue": "chat", "inspector": "state", "rail": "runs"}.get(self.where(), self.where())
        if self.is_narrow and here == "conversation":
            here = "chat"
        place = names.index(here) if here in names else 0
        for offset in range(1, len(names) + 1):
            name = names[(place + offset * step) % len(names)]
            if name == "conversation":
                self.conversation.focus()
                return
            if name != "runs" or self.is_narrow or self.rail.display:
                self.focus_pane(name)
                return

    def zoom(self) -> None:
        """Give all the room to the pane with the focus, or take it back."""
        zoomed = [name for name in ("left", "stream", "inspector") if self.has_class(f"-zoom-{name}")]
        for name in zoomed:
            self.remove_class(f"-zoom-{name}")
        if not zoomed:
            where = self.where()
            self.add_class(f"-zoom-{where if where in ('stream', 'inspector') else 'left'}")

    def slide_rail(self) -> None:
        """Show the runs, or hide them."""
        if self.is_narrow:
            self.focus_pane("chat" if self.has_class("-runs") else "runs")
        elif self.has_class("-wide"):
            self.toggle_class("-norail")
        else:
            self.toggle_class("-rail")
            if self.has_class("-rail"):
                self.rail.focus()

    def action_next_pane(self, step: int) -> None:
        self.next_pane(step)

    def tick(self, text: str) -> None:
        """The last event in a line, for who only sees the chat."""
        self.ticker.update(Content(text))
