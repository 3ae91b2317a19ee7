"""The main screen: the layout of its panes in three widths, and the handlers of their messages."""

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static, TextArea

from console.ui.main.header import Header
from console.ui.main.tabs import PaneTabs
from console.ui.prompt.prompt import Prompt
from console.ui.shared.bindings import bindings_for
from console.ui.shared.crash_guard import MessageGuard, PaneGuard
from console.ui.shared.footer import Footer
from console.ui.shared.refused import Refused

if TYPE_CHECKING:
    from textual.geometry import Size

    from console.ui.conversation.pane import Conversation
    from console.ui.inspector.find_bar import FindBar
    from console.ui.inspector.pane import Inspector
    from console.ui.main.controllers import Controllers
    from console.ui.main.health_line import HealthLine
    from console.ui.main.ribbon import RibbonBar
    from console.ui.main.runs_list import RunsList
    from console.ui.main.welcome import WelcomeCard
    from console.ui.prompt.attachments import PromptAttachments
    from console.ui.queue.pane import Queue
    from console.ui.shared.path_picker import PathPicker
    from console.ui.stream.input_lines import CopyMenu, FilterLine
    from console.ui.stream.pane import StreamPane

    Pane = Prompt | Queue | Conversation | StreamPane | Inspector | RunsList

NARROW_PANES = ("chat", "stream", "state", "runs")
"""The tabs of a narrow screen, which shows one at a time."""
TABS: Final[Mapping[str, str]] = {
    "prompt": "chat", "queue": "chat", "conversation": "chat", "stream": "stream", "inspector": "state", "rail": "runs",
}  # fmt: skip
"""The tab of each pane. The first pane of a tab gets the focus."""
_ZOOMED: Final[Mapping[str, str]] = {"chat": "left", "stream": "stream", "state": "inspector"}
"""The part of the screen that zooming shows alone, by tab."""


class MainScreen(MessageGuard, Screen[None]):
    """Shows one session and its runs. Each handler of a pane's message passes it to a controller."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]  # noqa: RUF012  (as Textual has it)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    AUTO_FOCUS = "#prompt"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("screen", "tabs")

    def __init__(self) -> None:
        super().__init__(classes="-chat")  # a class that is added later makes Textual style everything again
        self.header = Header()
        self.tabs = PaneTabs(NARROW_PANES)
        self.ticker = Static("", id="ticker", markup=False)
        self.prompt = Prompt()
        self.footer = Footer()

    def compose(self) -> ComposeResult:
        """The widgets of the first frame; `mount_panes` adds the others."""
        yield self.header
        yield self.tabs
        with Horizontal(id="body"):
            yield Static(id="rail-to-be")
            with Vertical(id="left"):
                yield self.prompt
            yield Vertical(id="right")
        yield self.footer

    def connect(self, controllers: "Controllers") -> None:
        """Set the controllers that handle the messages of the panes."""
        self._controllers = controllers

    def on_mount(self) -> None:
        self.tabs.shown = "chat"

    def set_size_classes(self, size: "Size") -> None:
        """Add the classes of this size before the first frame: later they make Textual style everything again."""
        for length, points in ((size.width, self.HORIZONTAL_BREAKPOINTS), (size.height, self.VERTICAL_BREAKPOINTS)):
            self.add_class(*self._get_breakpoint_classes(length, points or []))

    # Panes that the first frame does not have: loading them takes half as long as loading Textual

    @cached_property
    def health_line(self) -> "HealthLine":
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
        from console.ui.inspector.pane import Inspector

        return Inspector()

    async def mount_panes(self) -> None:
        """Add the widgets that the first frame does not have."""
        await asyncio.to_thread(_import_panes)
        left, right = self.query_one("#left"), self.query_one("#right")
        with self.app.batch_update():
            await self.mount(self.health_line, self.ribbon, after=self.header)
            await self.query_one("#body").mount(self.rail, before=left)
            await self.query_one("#rail-to-be").remove()
            above = (self.card, self.conversation, self.ticker, self.queue, self.prompt.attachments.picker)
            await left.mount(*above, before=self.prompt)
            await right.mount(self.stream, self.inspector)

    def show_card(self, *, is_shown: bool) -> None:
        """Show the welcome card in the place of the conversation, or the conversation."""
        self.card.display, self.conversation.display = is_shown, not is_shown

    # Panes

    @property
    def is_narrow(self) -> bool:
        return self.has_class("-narrow")

    @property
    def panes(self) -> "dict[str, Pane]":
        """The panes that can have the focus, in the order of the tab key, by their place in the command table."""
        return {
            "prompt": self.prompt, "queue": self.queue, "conversation": self.conversation, "stream": self.stream,
            "inspector": self.inspector, "rail": self.rail,
        }  # fmt: skip

    @property
    def guarded(self) -> tuple[PaneGuard, ...]:
        """The widgets that can fail on their own."""
        lines = (self.header, self.health_line, self.ribbon, self.tabs, self.footer)
        return (*lines, *self.panes.values())

    def show_pane(self, name: str) -> None:
        """Make a tab visible: alone on a narrow screen, else beside the others."""
        if (zoomed := self._zoomed) is not None and zoomed != _ZOOMED.get(name):
            self.remove_class(f"-zoom-{zoomed}")
        if name == "runs":
            self.remove_class("-norail").set_class(self.has_class("-medium"), "-rail")
        self.update_classes({f"-{pane}": pane == name for pane in NARROW_PANES})
        self.tabs.shown = name

    def focus_pane(self, name: str) -> None:
        """Focus the first pane of a tab."""
        self.go_to(next(pane for pane, tab in TABS.items() if tab == name))

    def go_to(self, where: str) -> None:
        """Focus a pane, given by its place in the command table."""
        self.show_pane(TABS[where])
        pane = self.panes[where]
        if pane.failure is None:
            pane.focus()
        else:
            self.set_focus(pane)  # its children, which would get the focus, are hidden

    def where(self) -> str:
        """The place in the command table of the pane that has the focus."""
        around = self.focused.ancestors_with_self if self.focused is not None else ()
        return next((node.id for node in around if node.id in TABS), "app")

    @property
    def line(self) -> "FilterLine | CopyMenu | FindBar | PathPicker | None":
        """The input line that is open in a pane and has the focus. It has keys of its own."""
        from console.ui.inspector.find_bar import FindBar
        from console.ui.stream.input_lines import CopyMenu, FilterLine

        if self.prompt.has_focus and self.prompt.attachments.picker.is_open:
            return self.prompt.attachments.picker
        around = self.focused.ancestors_with_self if self.focused is not None else ()
        return next((node for node in around if isinstance(node, FilterLine | CopyMenu | FindBar)), None)

    @property
    def keys_of(self) -> str:
        """The place whose keys the footer shows."""
        return self.line.place if self.line is not None else self.where()

    def next_pane(self, step: int) -> None:
        """Focus the next pane that is visible or can be."""
        absent = {
            "queue": not self.queue.items,
            "conversation": self.card.display,
            "rail": not (self.is_narrow or self.rail.display),
        }
        names = [name for name in self.panes if not absent.get(name)]
        here = self.where()
        self.go_to(names[(names.index(here) + step) % len(names)] if here in names else names[0])

    def zoom(self) -> None:
        """Show the pane with the focus alone, or all panes again."""
        if (zoomed := self._zoomed) is not None:
            self.remove_class(f"-zoom-{zoomed}")
        else:
            self.add_class(f"-zoom-{_ZOOMED.get(TABS.get(self.where(), ''), 'left')}")

    @property
    def _zoomed(self) -> str | None:
        return next((name for name in _ZOOMED.values() if self.has_class(f"-zoom-{name}")), None)

    def slide_rail(self) -> None:
        """Show or hide the list of runs."""
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
        """Hide the list of runs if it lies over the panes. Returns whether it did."""
        is_open = self.has_class("-medium") and self.has_class("-rail")
        if is_open:
            if self.rail.has_focus:
                self.prompt.focus()
            self.remove_class("-rail")
        return is_open

    def action_next_pane(self, step: int) -> None:
        self.next_pane(step)

    def action_to_pane(self, name: str) -> None:
        self.focus_pane(name)

    def _key_escape(self) -> None:
        """Do nothing: Textual would clear the selection and pass the key on, which then takes a second step."""

    def show_ticker(self, text: str) -> None:
        """Show the last entry in one line, for screens that show only the chat."""
        self.ticker.update(Content(text), layout=False)

    # Messages of the panes

    def on_refused(self, event: Refused) -> None:
        self._controllers.services.show_toast(event.reason, severity="warning")

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.show_card(is_shown=False)
        self.focus_pane("chat")
        self._controllers.sender.submit(event)

    def on_prompt_enter_queue(self) -> None:
        self.queue.enter_from_below()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        if event.text_area is self.prompt:
            self._controllers.drafts.mark_changed()

    def on_path_picker_command_clicked(self, event: "PathPicker.CommandClicked") -> None:
        self.prompt.attachments.run_picker_command(event.command)

    def on_prompt_attachments_path_wanted(self, event: "PromptAttachments.PathWanted") -> None:
        self._controllers.prompt.complete_path(event.typed)

    def on_prompt_attachments_path_left(self, event: "PromptAttachments.PathLeft") -> None:
        self._controllers.prompt.attach_typed_path(event.path)

    def on_prompt_attachments_paths_pasted(self, event: "PromptAttachments.PathsPasted") -> None:
        self._controllers.prompt.attach_pasted_paths(event)

    def on_prompt_attachments_attached(self, event: "PromptAttachments.Attached") -> None:
        self._controllers.prompt.read_attached_file(event)

    def on_queue_edit(self, event: "Queue.Edit") -> None:
        self._controllers.queue.edit(event.item_id)

    def on_queue_withdraw(self, event: "Queue.Withdraw") -> None:
        self._controllers.queue.withdraw(event.item_id)

    def on_queue_withdraw_all(self, event: "Queue.WithdrawAll") -> None:
        self._controllers.queue.withdraw_all(event.item_ids)

    def on_queue_undo(self, event: "Queue.Undo") -> None:
        self._controllers.queue.undo(event.item_id)

    def on_queue_dismiss(self, event: "Queue.Dismiss") -> None:
        self._controllers.queue.dismiss(event.item_id)

    def on_queue_move(self, event: "Queue.Move") -> None:
        self._controllers.queue.move(event.item_id, event.before)

    def on_queue_set_mode(self, event: "Queue.SetMode") -> None:
        self._controllers.queue.set_mode(event.item_id, event.mode)

    def on_queue_pause(self, event: "Queue.Pause") -> None:
        self._controllers.queue.pause(event.item_id)

    def on_queue_resume(self, event: "Queue.Resume") -> None:
        self._controllers.queue.resume(event.item_id)

    def on_queue_left(self) -> None:
        self.prompt.focus()

    def on_conversation_open_in_stream(self, event: "Conversation.OpenInStream") -> None:
        self._controllers.stream.open_entry(event.run_id, event.position)

    def on_conversation_put_back(self, event: "Conversation.PutBack") -> None:
        # The journal masks secrets; the queue has the text as it was typed.
        text = self._controllers.services.updater.item_text(event.item_id) or event.text
        self.prompt.begin_editing(event.item_id, text)
        self.prompt.focus()

    def on_conversation_copy(self, event: "Conversation.Copy") -> None:
        self._controllers.clipboard.copy(event.text, "the block")

    def on_conversation_retry(self, event: "Conversation.Retry") -> None:
        if self._controllers.run_control.run_again(event.run_id):
            self.prompt.focus()

    def on_conversation_type_in_prompt(self, event: "Conversation.TypeInPrompt") -> None:
        self.prompt.focus()
        self.prompt.type_in(event.character)

    def on_conversation_want_earlier(self) -> None:
        services = self._controllers.services
        services.run_in_background(services.updater.load_earlier())

    def on_conversation_want_later(self) -> None:
        services = self._controllers.services
        services.run_in_background(services.updater.load_later())

    def on_conversation_want_end(self) -> None:
        services = self._controllers.services
        services.run_in_background(services.updater.show_end())

    def on_conversation_edit_event(self, event: "Conversation.EditEvent") -> None:
        self._controllers.composer.edit_event(event.run_id)

    def on_conversation_see_artifact(self, event: "Conversation.SeeArtifact") -> None:
        self._controllers.artifacts.open(event.run_id, event.artifact_id or event.name)

    def on_conversation_fork_at(self, event: "Conversation.ForkAt") -> None:
        self._controllers.sessions.fork_at(event.run_id, event.position, is_inherited=event.is_inherited)

    def on_stream_pane_cursor_moved(self, event: "StreamPane.CursorMoved") -> None:
        self._controllers.services.updater.as_of = event.position

    def on_stream_pane_inspect(self, event: "StreamPane.Inspect") -> None:
        self._controllers.services.updater.as_of = event.position
        self.show_pane("state")
        self.inspector.choose("event")
        self.inspector.focus()

    def on_stream_pane_toggle_breakpoint(self, event: "StreamPane.ToggleBreakpoint") -> None:
        self._controllers.stream.toggle_breakpoint(event.kind, event.position)

    def on_stream_pane_copy(self, event: "StreamPane.Copy") -> None:
        self._controllers.stream.copy_entry(event.what, event.position)

    def on_inspector_need(self, event: "Inspector.Need") -> None:
        self._controllers.inspector.load_tab(event)

    def on_inspector_need_call(self, event: "Inspector.NeedCall") -> None:
        self._controllers.inspector.load_call(event)

    def on_inspector_copy(self, event: "Inspector.Copy") -> None:
        self._controllers.clipboard.copy(event.text, event.what)

    def on_inspector_jump(self, event: "Inspector.Jump") -> None:
        self._controllers.stream.go_to_entry(event.position)

    def on_runs_list_earlier_wanted(self) -> None:
        services = self._controllers.services
        services.run_in_background(services.updater.load_older_runs())

    def on_runs_list_session_chosen(self, event: "RunsList.SessionChosen") -> None:
        self._controllers.sessions.open_from_list(session_id=event.session_id)

    def on_runs_list_run_chosen(self, event: "RunsList.RunChosen") -> None:
        self._controllers.sessions.open_from_list(run_id=event.run_id)

    def on_ribbon_bar_turn_chosen(self, event: "RibbonBar.TurnChosen") -> None:
        self.go_to("stream")
        self.stream.go_to_turn(event.turn)

    def on_pane_tabs_chosen(self, event: PaneTabs.Chosen) -> None:
        self.focus_pane(event.name)


def _import_panes() -> None:
    """Import the panes, and Markdown, so that the first delta of a runner does not wait for it."""
    import console.ui.conversation.markdown
    import console.ui.conversation.pane
    import console.ui.inspector.pane
    import console.ui.main.ribbon
    import console.ui.main.runs_list
    import console.ui.queue.pane
    import console.ui.stream.pane  # noqa: F401
