"""The main screen: how its panes lie, in three widths, and which of them is seen."""

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from console.ui.main.header import Header
from console.ui.main.tabs import PaneTabs
from console.ui.prompt.prompt import Prompt
from console.ui.shared.bindings import bindings_for
from console.ui.shared.crash_guard import MessageGuard, PaneGuard
from console.ui.shared.footer import Footer

if TYPE_CHECKING:
    from textual.geometry import Size

    from console.ui.conversation.pane import Conversation
    from console.ui.inspector import Inspector
    from console.ui.inspector.find_bar import FindBar
    from console.ui.main.health_line import HealthLine
    from console.ui.main.ribbon import RibbonBar
    from console.ui.main.runs_list import RunsList
    from console.ui.main.welcome import WelcomeCard
    from console.ui.queue.pane import Queue
    from console.ui.shared.path_picker import PathPicker
    from console.ui.stream.input_lines import CopyMenu, FilterLine
    from console.ui.stream.pane import StreamPane

    Pane = Prompt | Queue | Conversation | StreamPane | Inspector | RunsList

NARROW_PANES = ("chat", "stream", "state", "runs")
"""What one sees at a time where there is little room."""
TABS: Final[Mapping[str, str]] = {
    "prompt": "chat", "queue": "chat", "conversation": "chat", "stream": "stream", "inspector": "state", "rail": "runs",
}  # fmt: skip
"""Which of these each pane belongs to; the first of a tab is the one that gets the focus."""
_ZOOMED: Final[Mapping[str, str]] = {"chat": "left", "stream": "stream", "state": "inspector"}
"""The part of the screen that each can have alone."""


class MainScreen(MessageGuard, Screen[None]):
    """One session, its runs, and what they do."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]  # noqa: RUF012  (as Textual has it)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#prompt"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("screen", "tabs")

    def __init__(self) -> None:
        super().__init__(classes="-chat")  # here, since a class that comes later has everything styled once more
        self.header = Header()
        self.tabs = PaneTabs(NARROW_PANES)
        self.ticker = Static("", id="ticker", markup=False)
        self.prompt = Prompt()
        self.footer = Footer()

    def compose(self) -> ComposeResult:
        """What the first frame shows; the rest comes with `furnish`."""
        yield self.header
        yield self.tabs
        with Horizontal(id="body"):
            yield Static(id="rail-to-be")
            with Vertical(id="left"):
                yield self.prompt
            yield Vertical(id="right")
        yield self.footer

    def on_mount(self) -> None:
        self.tabs.shown = "chat"

    def lie_in(self, size: "Size") -> None:
        """Have the classes of this size before the first frame: later, they would have everything styled once more."""
        for length, points in ((size.width, self.HORIZONTAL_BREAKPOINTS), (size.height, self.VERTICAL_BREAKPOINTS)):
            self.add_class(*self._get_breakpoint_classes(length, points or []))

    # What the first frame does without: to load it takes half as long as Textual itself

    @cached_property
    def trouble(self) -> "HealthLine":
        from console.ui.main.health_line import HealthLine

        return HealthLine()

    @cached_property
    def ribbon(self) -> "RibbonBar":
        from console.ui.main.ribbon import RibbonBar

        ribbon = RibbonBar()
        ribbon.display = False
        return ribbon

    @cached_property
    def rail(self) -> "RunsList":
        from console.ui.main.runs_list import RunsList

        return RunsList()

    @cached_property
    def card(self) -> "WelcomeCard":
        from console.ui.main.welcome import WelcomeCard

        card = WelcomeCard()
        card.display = False
        return card

    @cached_property
    def conversation(self) -> "Conversation":
        from console.ui.conversation.pane import Conversation

        return Conversation(id="conversation")

    @cached_property
    def queue(self) -> "Queue":
        from console.ui.queue.pane import Queue

        return Queue()

    @cached_property
    def stream(self) -> "StreamPane":
        from console.ui.stream.pane import StreamPane

        return StreamPane(id="stream")

    @cached_property
    def inspector(self) -> "Inspector":
        from console.ui.inspector import Inspector

        return Inspector()

    async def furnish(self) -> None:
        """Bring in all that is not there yet."""
        await asyncio.to_thread(_load)
        left, right = self.query_one("#left"), self.query_one("#right")
        with self.app.batch_update():
            await self.mount(self.trouble, self.ribbon, after=self.header)
            await self.query_one("#body").mount(self.rail, before=left)
            await self.query_one("#rail-to-be").remove()
            above = (self.card, self.conversation, self.ticker, self.queue, self.prompt.attachments.picker)
            await left.mount(*above, before=self.prompt)
            await right.mount(self.stream, self.inspector)

    def show_card(self, *, is_shown: bool) -> None:
        """The card for a newcomer stands where the conversation will be."""
        self.card.display, self.conversation.display = is_shown, not is_shown

    # Which pane

    @property
    def is_narrow(self) -> bool:
        return self.has_class("-narrow")

    @property
    def panes(self) -> "dict[str, Pane]":
        """All that can have the focus, in the order in which tab goes round, by the names that commands have."""
        return {
            "prompt": self.prompt, "queue": self.queue, "conversation": self.conversation, "stream": self.stream,
            "inspector": self.inspector, "rail": self.rail,
        }  # fmt: skip

    @property
    def guarded(self) -> tuple[PaneGuard, ...]:
        """All that may fail by itself."""
        lines = (self.header, self.trouble, self.ribbon, self.tabs, self.footer)
        return (*lines, *self.panes.values())

    def show_pane(self, name: str) -> None:
        """Have a pane in sight: alone where only one is seen, else beside the others."""
        if (zoomed := self._zoomed) is not None and zoomed != _ZOOMED.get(name):
            self.remove_class(f"-zoom-{zoomed}")
        if name == "runs":
            self.remove_class("-norail").set_class(self.has_class("-medium"), "-rail")
        self.update_classes({f"-{pane}": pane == name for pane in NARROW_PANES})
        self.tabs.shown = name

    def focus_pane(self, name: str) -> None:
        """Go to a pane by the name that its tab has."""
        self.go_to(next(pane for pane, tab in TABS.items() if tab == name))

    def go_to(self, where: str) -> None:
        """Go to a pane by the name that commands have."""
        self.show_pane(TABS[where])
        pane = self.panes[where]
        if pane.failure is None:
            pane.focus()
        else:
            self.set_focus(pane)  # what of it would have the focus is not seen

    def where(self) -> str:
        """The pane that has the focus, by the name that commands have."""
        around = self.focused.ancestors_with_self if self.focused is not None else ()
        return next((node.id for node in around if node.id in TABS), "app")

    @property
    def line(self) -> "FilterLine | CopyMenu | FindBar | PathPicker | None":
        """What is open in a pane, where it has the focus: its keys are others than the pane's."""
        from console.ui.inspector.find_bar import FindBar
        from console.ui.stream.input_lines import CopyMenu, FilterLine

        if self.prompt.has_focus and self.prompt.attachments.picker.is_open:
            return self.prompt.attachments.picker
        around = self.focused.ancestors_with_self if self.focused is not None else ()
        return next((node for node in around if isinstance(node, FilterLine | CopyMenu | FindBar)), None)

    @property
    def keys_of(self) -> str:
        """Whose keys the footer shows."""
        return self.line.place if self.line is not None else self.where()

    def next_pane(self, step: int) -> None:
        """Go round the panes; one that is not there is left out."""
        absent = {
            "queue": not self.queue.items,
            "conversation": self.card.display,
            "rail": not (self.is_narrow or self.rail.display),
        }
        names = [name for name in self.panes if not absent.get(name)]
        here = self.where()
        self.go_to(names[(names.index(here) + step) % len(names)] if here in names else names[0])

    def zoom(self) -> None:
        """Give all the room to the pane with the focus, or take it back."""
        if (zoomed := self._zoomed) is not None:
            self.remove_class(f"-zoom-{zoomed}")
        else:
            self.add_class(f"-zoom-{_ZOOMED.get(TABS.get(self.where(), ''), 'left')}")

    @property
    def _zoomed(self) -> str | None:
        return next((name for name in _ZOOMED.values() if self.has_class(f"-zoom-{name}")), None)

    def slide_rail(self) -> None:
        """Show the runs, or hide them."""
        if self.is_narrow:
            self.focus_pane("chat" if self.has_class("-runs") else "runs")
        elif self._zoomed is not None:
            self.show_pane("runs")
        elif self.has_class("-wide"):
            self.toggle_class("-norail")
        else:
            self.toggle_class("-rail")
            if self.has_class("-rail"):
                self.rail.focus()

    def close_rail(self) -> bool:
        """Put the runs away that lie over the rest; whether they did."""
        lay = self.has_class("-medium") and self.has_class("-rail")
        if lay:
            if self.rail.has_focus:
                self.prompt.focus()
            self.remove_class("-rail")
        return lay

    def action_next_pane(self, step: int) -> None:
        self.next_pane(step)

    def action_to_pane(self, name: str) -> None:
        self.focus_pane(name)

    def _key_escape(self) -> None:
        """Textual would let go of what is marked, and leave the key to go one rung further."""

    def tick(self, text: str) -> None:
        """The last event in a line, for who only sees the chat."""
        self.ticker.update(Content(text), layout=False)


def _load() -> None:
    """What the panes need, and Markdown, for which the first words of a runner would have to wait."""
    import console.ui.conversation.markdown
    import console.ui.conversation.pane
    import console.ui.inspector
    import console.ui.main.ribbon
    import console.ui.main.runs_list
    import console.ui.queue.pane
    import console.ui.stream.pane  # noqa: F401
