"""The base of full screens over the panes: a title line at the top, a footer at the bottom."""

import gc
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, ParamSpec

from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from console.data.health import error_text
from console.model.commands.situation import Situation
from console.model.text.piece import Piece
from console.model.text.safe import one_line
from console.ui.main.health_line import HealthLine
from console.ui.shared.closing_awaitable import ClosingAwaitable
from console.ui.shared.crash_guard import MessageGuard, ScreenFailed
from console.ui.shared.footer import Footer
from console.ui.shared.slow_notice import slow_notice
from console.ui.shared.styled_text import StyledText

if TYPE_CHECKING:
    from console.ui.shared.services import AppServices

P = ParamSpec("P")
MAX_TOAST_CHARACTERS: Final = 80
"""Characters of a toast before the key that it names."""
COLLECT_AFTER_SECONDS: Final = 0.3
"""From the closing of a screen to the collection of its objects: by then Textual has let go of it."""


class TitleLine(StyledText):
    """The title of the screen, and at the right a remark on its state."""

    DEFAULT_CSS = """
    TitleLine { height: 1; dock: top; padding: 0 1; background: $panel; }
    """
    title: reactive[str] = reactive("")
    remark: reactive[str] = reactive("")
    tone: reactive[str] = reactive("faint")
    """The tone of the remark."""

    def render(self) -> Content:
        left = self.content_of([Piece("trackside", "brand"), Piece(f"   {self.title}", "runner")])
        right = self.content_of([Piece(self.remark, self.tone)])
        # The remark matters more than the title.
        left = left.truncate(max(0, self.content_size.width - right.cell_length - 2), ellipsis=True)
        room = self.content_size.width - left.cell_length - right.cell_length
        return Content.assemble(left, " " * max(2, room), right)


class FullScreen(MessageGuard, Screen[None]):
    """A screen over the main screen. esc goes back one step at a time, finally to the panes.

    Its commands are those of its `place` in the table. Commands of `app` that concern the panes do not work while it
    is open (see `Command.over_screens`).
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]  # noqa: RUF012  (as Textual has it)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    BLANK = True  # its widgets cover it: otherwise each of its lines is drawn too
    DEFAULT_CSS = """
    FullScreen { layout: vertical; background: $background; }
    """
    place: ClassVar[str]
    """The place of its commands in the table."""
    opened_by: ClassVar[str] = ""
    """The command that opens it, if its name differs from the place."""
    heading: ClassVar[str]
    """The title."""

    def __init__(self, services: "AppServices") -> None:
        super().__init__()
        self.services = services
        self.title_line = TitleLine()
        self.health_line = HealthLine()
        self.footer = Footer()
        self.reading = 0
        """The number of reads in progress."""
        self.read_error = ""
        """Why the last read failed."""
        self._progress_texts: list[str] = []
        """Texts of slow operations in progress."""
        self._key_toasts: set[str] = set()
        """Toasts that name a key of this screen; they are removed when it is left."""
        self._is_closing = False
        """Close the screen as soon as it is on top."""

    def compose(self) -> ComposeResult:
        # Set here: a class that is added with the first resize makes Textual style everything again.
        size = self.app.size
        self.set_class(size.width < 100, "-narrow").set_class(100 <= size.width < 140, "-medium")
        self.set_class(size.width >= 140, "-wide").set_class(size.height < 30, "-short")
        self.set_class(size.height >= 30, "-tall")
        self.title_line.title = self.heading
        yield self.title_line
        yield self.health_line
        yield from self.body()
        yield self.footer

    def body(self) -> ComposeResult:
        """The widgets between title and footer."""
        yield Static()

    def attempt(self, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Call a method of this screen. If it raises, the screen is closed and the failure is reported."""
        try:
            call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  (the panes underneath go on)
            self.app.post_message(ScreenFailed(self, error))

    # Interface for the app

    def where(self) -> str:
        """The place, as commands name it, of the part that has the focus."""
        return self.place

    def owns(self, where: str) -> bool:
        """Whether this screen runs the commands of a place."""
        return where == self.place

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (for subclasses)
        """Why one of its commands is not available."""
        return None

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Keys of an open input line and their labels, for the footer."""
        return ()

    @property
    def back(self) -> str:
        """The label of esc."""
        return "back"

    def on_item_list_empty(self) -> None:
        self.services.show_toast("The list is empty.", severity="warning")

    @property
    def unsaved_warning(self) -> str:
        """A sentence that says what quitting now would lose; empty if nothing."""
        return ""

    def save_input(self) -> bool:
        """Save unsaved input. Returns False, and shows why, if the screen must stay open."""
        return True

    def step_back(self) -> None:
        """Go back one step; at the last step, close the screen."""
        self.close_screen()

    def close_screen(self) -> None:
        """Close the screen. If another lies over it, close it when that is closed."""
        if self.app.screen is self:  # not `is_current`, which is also true under a dialog
            self.dismiss()
        else:
            self._is_closing = True

    def on_screen_resume(self) -> None:
        if self._is_closing:
            self.close_screen()

    def on_screen_suspend(self) -> None:
        """Free what was drawn.

        Textual (8.2.8) keeps the line caches of up to a thousand removed widgets as arguments of a memoised function,
        so the contents of every screen that was ever open would stay in memory.
        """
        for widget in self.query(Widget):
            widget._styles_cache.clear()  # noqa: SLF001
        if self.services.full_screen is not self:
            self.dismiss_key_toasts()

    def on_unmount(self) -> None:
        # A closed screen is about 4,000 objects in reference cycles. Collected one screen at a time they take 5 ms;
        # if they pile up, the next full collection takes half a second (see tests/bench/browser.py).
        self.app.set_timer(COLLECT_AFTER_SECONDS, gc.collect)

    def show_key_toast(self, text: str, key: str, seconds: float | None = None) -> None:
        """Show a toast with a key of this screen. It is removed when the screen is left."""
        shown = one_line(text, MAX_TOAST_CHARACTERS)
        if key and self.services.full_screen is self:
            shown = f"{shown} · {key}"
            self._key_toasts.add(shown)
        self.services.show_toast(shown, seconds=seconds)

    def dismiss_key_toasts(self) -> None:
        """Remove the toasts that name keys of this screen."""
        self.services.dismiss_toasts(self._key_toasts)

    # Reading and writing

    def read(self, reading: Awaitable[Any], then: Callable[[], object] | None = None) -> None:
        """Read something in a worker of this screen, then call `then`. The title line says so if it is slow."""

        due = ClosingAwaitable(reading)

        async def carry_out() -> None:
            self.reading += 1
            try:
                with slow_notice(self, self.show_remark):
                    await due
                self.read_error = ""
            except Exception as error:  # noqa: BLE001  (the failure is shown, and the screen stays)
                self.read_error = one_line(str(error) or type(error).__name__)
                self.services.show_toast(one_line(error_text(error)), severity="error")
            finally:
                self.reading -= 1
            self.show_remark()
            if then is not None:
                then()

        self.run_worker(carry_out, exit_on_error=False)

    def run_with_progress(self, text: str, work: Awaitable[Any]) -> None:
        """Run something that goes on if the screen is closed. The title line shows `text` if it is slow."""
        self.services.run_in_background(self._run_with_progress(text, ClosingAwaitable(work)))

    async def _run_with_progress(self, text: str, work: Awaitable[Any]) -> None:
        try:
            with slow_notice(self, partial(self._show_progress, text)):
                await work
        finally:
            if text in self._progress_texts:
                self._progress_texts.remove(text)
                if self.is_attached:
                    self.show_remark()

    def _show_progress(self, text: str) -> None:
        self._progress_texts.append(text)
        self.show_remark()

    def show_remark(self) -> None:
        """Update the remark in the title line."""
        progress = self._progress_texts[-1] if self._progress_texts else ""
        self.title_line.tone = "paused" if progress else "faint"
        self.title_line.remark = progress or (self.reads if self.reading else self.remark())

    @property
    def reads(self) -> str:
        """The remark while something is read."""
        return "Reading…"

    def remark(self) -> str:
        """The remark on the state of the screen."""
        return ""

    def tick(self, now: Situation) -> None:
        """Called once a tick while the screen is visible."""
        self.footer.attempt(self._show_keys, now)
        self.health_line.attempt(self.health_line.show, self.services.health.problem)

    def _show_keys(self, now: Situation) -> None:
        self.footer.keys = self.services.footer_keys(self.keys_of, now, self.footer.content_size.width)

    @property
    def keys_of(self) -> str:
        """The place whose keys the footer shows."""
        return self.where()
