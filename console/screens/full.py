"""A screen that lies over the panes as long as someone looks: what it is at the top, its keys at the bottom."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from console.model.act import Act
from console.model.glyphs import Glyphs
from console.model.piece import Piece
from console.model.safe import one_line
from console.model.situation import Situation
from console.widgets.footer import Footer
from console.widgets.guard import Shielded
from console.widgets.tones import Toned
from console.widgets.trouble import TroubleLine

if TYPE_CHECKING:
    from console.app import Trackside


SLOW: Final = 0.5
"""Seconds after which it is said that something is being read or written."""


class TitleLine(Toned):
    """What the screen is, and at the right where it stands."""

    DEFAULT_CSS = """
    TitleLine { height: 1; dock: top; padding: 0 1; background: $panel; }
    """
    title: reactive[str] = reactive("")
    remark: reactive[str] = reactive("")
    tone: reactive[str] = reactive("faint")
    """Of the remark."""

    def render(self) -> Content:
        left = self.content_of([Piece("trackside", "brand"), Piece(f"   {self.title}", "runner")])
        right = self.content_of([Piece(self.remark, self.tone)])
        # Where it stands matters more than what it is called.
        left = left.truncate(max(0, self.content_size.width - right.cell_length - 2), ellipsis=True)
        room = self.content_size.width - left.cell_length - right.cell_length
        return Content.assemble(left, " " * max(2, room), right)


class FullScreen(Shielded, Screen[None]):
    """Pushed over the main screen; esc goes back one step at a time, at last to where one was.

    Its commands are those of its `place` in the table. Of the commands of everywhere, those that speak of the panes
    underneath wait until it is left (see `Command.over`).
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]  # noqa: RUF012  (as Textual has it)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]  # noqa: RUF012
    BLANK = True  # what lies on it covers it: else each of its lines is drawn, too
    DEFAULT_CSS = """
    FullScreen { layout: vertical; background: $background; }
    """
    place: ClassVar[str]
    """Where its commands are, in the table."""
    opened_by: ClassVar[str] = ""
    """The command that opens it, where that is not called as its place."""
    heading: ClassVar[str]
    """What the line at the top says."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self.glyphs = glyphs
        self.title_line = TitleLine()
        self.trouble_line = TroubleLine()
        self.footer = Footer()
        self.reading = 0
        """How much is being read."""
        self.trouble = ""
        """Why the last of it could not be read."""
        self._doing: list[str] = []
        """What is being done and takes long, in words."""
        self._mentioned: set[str] = set()
        """Toasts that name a key of this screen."""
        self._is_left = False
        """It is to be closed as soon as it is on top."""

    def compose(self) -> ComposeResult:
        # Here, since a class that comes with the first size has everything styled once more.
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
        """What lies between the two lines."""
        yield Static()

    @property
    def trackside(self) -> "Trackside":
        """The app, which has the engine."""
        return cast("Trackside", self.app)

    # What the app asks and tells

    def where(self) -> str:
        """The part of it that has the focus, by the name that commands have."""
        return self.place

    def owns(self, where: str) -> bool:
        """Whether commands of this place are carried out here."""
        return where == self.place

    def why_not(self, what: str) -> str | None:  # noqa: ARG002  (others know of something)
        """Why one of its commands cannot be carried out now."""
        return None

    @property
    def own_keys(self) -> Sequence[tuple[str, str]]:
        """Keys of a line that is open here, which the line at the bottom names; each with what it does."""
        return ()

    @property
    def back(self) -> str:
        """What esc does now."""
        return "back"

    def on_listing_empty(self) -> None:
        self.trackside.tell("there is nothing to go through", severity="warning")

    @property
    def unkept(self) -> str:
        """What would be lost by leaving the console now, in a sentence."""
        return ""

    def let_go(self) -> bool:
        """Keep what is only here; where that cannot be, it says why, and the screen has to stay."""
        return True

    def step_back(self) -> None:
        """One step back; at last it is left."""
        self.leave()

    def leave(self) -> None:
        """Close it; from under another as soon as that is closed, since only the one on top can be."""
        if self.app.screen is self:  # not `is_current`, which it is under a dialog, too
            self.dismiss()
        else:
            self._is_left = True

    def on_screen_resume(self) -> None:
        if self._is_left:
            self.leave()

    def on_screen_suspend(self) -> None:
        """Nobody sees it: let go of what was drawn.

        Textual (8.2.8) keeps the line caches of a thousand widgets long after these are gone, as arguments of a
        function whose answers it remembers; so each screen that was ever open would stay, to its last letter.
        """
        for widget in self.query(Widget):
            widget._styles_cache.clear()  # noqa: SLF001
        if self.trackside.cover is not self:
            self.trackside.hush(self._mentioned)

    def mention(self, words: str, key: str, seconds: float | None = None) -> None:
        """Tell what was done, and a key that is heard here alone: this toast goes when the screen is left."""
        said = one_line(words, 80)
        if key and self.trackside.cover is self:
            said = f"{said} · {key}"
            self._mentioned.add(said)
        self.trackside.tell(said, seconds=seconds)

    def hush(self) -> None:
        """The keys that toasts named have nothing to do any more: one was pressed."""
        self.trackside.hush(self._mentioned)

    # Reading and writing

    def read(self, reading: Awaitable[Any], then: Callable[[], object] | None = None) -> None:
        """Read something for as long as the screen is there, then show it; what takes long says so."""

        due = Act(reading)

        async def carry_out() -> None:
            self.reading += 1
            slow = self.set_timer(SLOW, self.show_remark)
            try:
                await due
                self.trouble = ""
            except Exception as error:  # noqa: BLE001  (what could not be read is told, and all else stays)
                self.trouble = one_line(str(error) or type(error).__name__)
                self.trackside.tell(self.trouble, severity="error")
            finally:
                self.reading -= 1
                slow.stop()
            self.show_remark()
            if then is not None:
                then()

        self.run_worker(carry_out, exit_on_error=False)

    def do(self, words: str, act: Awaitable[Any]) -> None:
        """Carry something out, whether the screen stays or not; what takes long says so in these words, until then."""
        self.trackside.do(self._do(words, Act(act)))

    async def _do(self, words: str, act: Awaitable[Any]) -> None:
        slow = self.set_timer(SLOW, partial(self._say_doing, words))
        try:
            await act
        finally:
            slow.stop()
            if words in self._doing:
                self._doing.remove(words)
                if self.is_attached:
                    self.show_remark()

    def _say_doing(self, words: str) -> None:
        self._doing.append(words)
        self.show_remark()

    def show_remark(self) -> None:
        """Where it stands, in the line at the top."""
        doing = self._doing[-1] if self._doing else ""
        self.title_line.tone = "held" if doing else "faint"
        self.title_line.remark = doing or (self.reads if self.reading else self.remark())

    @property
    def reads(self) -> str:
        """What is said while something is read."""
        return "reading…"

    def remark(self) -> str:
        """What there is to say there."""
        return ""

    def tick(self, now: Situation) -> None:
        """Once a tick, while it is the one that is seen."""
        self.footer.attempt(self._show_keys, now)
        self.trouble_line.attempt(self.trouble_line.show, self.trackside.trouble)

    def _show_keys(self, now: Situation) -> None:
        self.footer.keys = self.trackside.keys_at(self.keys_of, now, self.footer.content_size.width)

    @property
    def keys_of(self) -> str:
        """Whose keys the footer shows; where letters are typed they are no keys."""
        return self.where()

    def use(self, glyphs: Glyphs) -> None:
        """Show the same with other glyphs."""
        self.glyphs = glyphs
