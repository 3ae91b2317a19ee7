"""The base of full screens over the panes: a title line at the top, a footer at the bottom."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, cast

from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

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
    from console.app import Trackside


P = ParamSpec("P")


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

    def __init__(self) -> None:
        super().__init__()
        self.title_line = TitleLine()
        self.trouble_line = HealthLine()
        self.footer = Footer()
        self.reading = 0
        """The number of reads in progress."""
        self.trouble = ""
        """Why the last read failed."""
        self._doing: list[str] = []
        """Texts of slow operations in progress."""
        self._mentioned: set[str] = set()
        """Toasts that name a key of this screen; they are removed when it is left."""
        self._is_left = False
        """Close the screen as soon as it is on top."""

    def compose(self) -> ComposeResult:
        # Set here: a class that is added with the first resize makes Textual style everything again.
        size = self.app.size
        self.set_class(size.width < 100, "-narrow").set_class(100 <= size.width < 140, "-medium")
        self.set_class(size.width >= 140, "-wide").set_class(size.height < 30, "-short")
        self.set_class(size.height >= 30, "-tall")
        self.title_line.title = self.heading
        yield self.title_line
        yield self.trouble_line
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

    @property
    def trackside(self) -> "Trackside":
        """The app."""
        return cast("Trackside", self.app)

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
        self.trackside.tell("The list is empty.", severity="warning")

    @property
    def unkept(self) -> str:
        """What quitting now would lose, as a sentence."""
        return ""

    def let_go(self) -> bool:
        """Save unsaved input. Returns False, and says why, if the screen must stay open."""
        return True

    def step_back(self) -> None:
        """Go back one step; at the last step, close the screen."""
        self.leave()

    def leave(self) -> None:
        """Close the screen. If another lies over it, close it when that is closed."""
        if self.app.screen is self:  # not `is_current`, which is also true under a dialog
            self.dismiss()
        else:
            self._is_left = True

    def on_screen_resume(self) -> None:
        if self._is_left:
            self.leave()

    def on_screen_suspend(self) -> None:
        """Free what was drawn.

        Textual (8.2.8) keeps the line caches of up to a thousand removed widgets as arguments of a memoised function,
        so the contents of every screen that was ever open would stay in memory.
        """
        for widget in self.query(Widget):
            widget._styles_cache.clear()  # noqa: SLF001
        if self.trackside.cover is not self:
            self.trackside.hush(self._mentioned)

    def mention(self, words: str, key: str, seconds: float | None = None) -> None:
        """Show a toast with a key of this screen. It is removed when the screen is left."""
        said = one_line(words, 80)
        if key and self.trackside.cover is self:
            said = f"{said} · {key}"
            self._mentioned.add(said)
        self.trackside.tell(said, seconds=seconds)

    def hush(self) -> None:
        """Remove the toasts that name keys: one of these keys was pressed."""
        self.trackside.hush(self._mentioned)

    # Reading and writing

    def read(self, reading: Awaitable[Any], then: Callable[[], object] | None = None) -> None:
        """Read something in a worker of this screen, then call `then`. The title line says so if it is slow."""

        due = ClosingAwaitable(reading)

        async def carry_out() -> None:
            self.reading += 1
            try:
                with slow_notice(self, self.show_remark):
                    await due
                self.trouble = ""
            except Exception as error:  # noqa: BLE001  (the failure is shown, and the screen stays)
                self.trouble = one_line(str(error) or type(error).__name__)
                self.trackside.tell(self.trouble, severity="error")
            finally:
                self.reading -= 1
            self.show_remark()
            if then is not None:
                then()

        self.run_worker(carry_out, exit_on_error=False)

    def do(self, words: str, act: Awaitable[Any]) -> None:
        """Run something that goes on if the screen is closed. The title line shows `words` if it is slow."""
        self.trackside.do(self._do(words, ClosingAwaitable(act)))

    async def _do(self, words: str, act: Awaitable[Any]) -> None:
        try:
            with slow_notice(self, partial(self._say_doing, words)):
                await act
        finally:
            if words in self._doing:
                self._doing.remove(words)
                if self.is_attached:
                    self.show_remark()

    def _say_doing(self, words: str) -> None:
        self._doing.append(words)
        self.show_remark()

    def show_remark(self) -> None:
        """Update the remark in the title line."""
        doing = self._doing[-1] if self._doing else ""
        self.title_line.tone = "paused" if doing else "faint"
        self.title_line.remark = doing or (self.reads if self.reading else self.remark())

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
        self.trouble_line.attempt(self.trouble_line.show, self.trackside.trouble)

    def _show_keys(self, now: Situation) -> None:
        self.footer.keys = self.trackside.keys_at(self.keys_of, now, self.footer.content_size.width)

    @property
    def keys_of(self) -> str:
        """The place whose keys the footer shows."""
        return self.where()
