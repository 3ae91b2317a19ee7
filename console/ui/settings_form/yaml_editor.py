"""A form as YAML: all of it at once, with what is wrong said at its line."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer
from textual.widgets import Static, TextArea

from console.data.form_store import FormStore
from console.model.commands.situation import Situation
from console.model.settings_form.form_draft import FormDraft
from console.model.text.safe import one_line, safe
from console.model.text.units import short_runner
from console.ui.shared.bindings import text_area_bindings
from console.ui.shared.full_screen import FullScreen

SOON = 0.15
"""Seconds after the last key until the text is looked at."""
KEEP = "keep it"
"""What esc does with what was changed and fits."""
MOST = 4
"""Problems that are listed; the others are marked at their lines."""


class Page(TextArea, inherit_bindings=False):
    """Lines that do not fit are seen to."""

    BINDINGS: ClassVar[list[BindingType]] = text_area_bindings()
    COMPONENT_CLASSES: ClassVar[set[str]] = {"page--wrong", "page--odd"}
    DEFAULT_CSS = """
    Page .page--wrong { color: $text-error; text-style: underline; }
    Page .page--odd { color: $text-warning; text-style: underline; }
    """

    marks: dict[int, str]
    """By line from 0, the class of those that are marked."""

    def __init__(self, text: str) -> None:
        self.marks = {}
        super().__init__(text, show_line_numbers=True, id="page")
        self.cursor_blink = False

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        if (mark := self.marks.get(line_index)) is not None:
            line.stylize(self.get_component_rich_style(mark, partial=True))
        return line

    def mark(self, marks: dict[int, str]) -> None:
        self.marks = marks
        self._line_cache.clear()
        self.refresh()


class YamlEditor(FullScreen):
    """Esc keeps what fits; what does not is only left when that is meant."""

    place = "form_text"
    opened_by = "settings"
    heading = "Settings as YAML"
    AUTO_FOCUS = "#page"
    DEFAULT_CSS = """
    YamlEditor #page { height: 1fr; border: none; padding: 0; }
    YamlEditor #wrong { height: auto; max-height: 6; padding: 0 1; border-top: solid $panel-lighten-2; }
    """

    def __init__(self, desk: FormStore, filling: Callable[[], FormDraft], keep: Callable[[FormDraft], None]) -> None:
        super().__init__()
        self._desk, self._filling, self._keep = desk, filling, keep
        self._began = safe(desk.text(filling()))
        self.page = Page(self._began)
        self._wrong = Static("", id="wrong", markup=False)
        self._read: FormDraft | None = filling()
        self._stands = ""
        """Whether it fits."""
        self._soon: Timer | None = None

    def body(self) -> ComposeResult:
        yield self.page
        yield self._wrong

    def on_mount(self) -> None:
        self.title_line.title = f"Settings of {one_line(short_runner(self._desk.name), 60)} as YAML"
        self._look()

    def on_text_area_changed(self) -> None:
        if self._soon is not None:
            self._soon.stop()
        self._soon = self.set_timer(SOON, self._look)

    def _look(self) -> None:
        """Read the text, and mark what does not fit."""
        self._read, problems = self._desk.read_text(self._filling(), self.page.text)
        self.page.mark(
            {
                (problem.line or 1) - 1: "page--odd" if problem.warning else "page--wrong"
                for problem in sorted(problems, key=lambda one: not one.warning)
            }
        )
        lacking = self._read.problems() if self._read is not None else []  # what the text need not say, but a run needs
        again = {slot.key for slot, _ in lacking}
        said = [f"{'⚠' if one.warning else '✗'} {one_line(str(one), 300)}" for one in problems if one.key not in again]
        said += [f"⚠ {slot.section}.{one_line(slot.name, 60)} {words} before it can run" for slot, words in lacking]
        more = [f"and {len(said) - MOST} more"] if len(said) > MOST else []
        self._wrong.update("\n".join([*said[:MOST], *more]) or "it fits")
        fits = f"{len(lacking)} to fill in" if lacking else "fits"
        self._stands = fits if self._read is not None else f"{len(problems)} to mend"
        self.show_remark()

    def remark(self) -> str:
        return f"{self._stands} · esc keeps it" if self.back == KEEP else self._stands

    def tick(self, now: Situation) -> None:
        """Both lines speak of esc, and what is typed decides what it does."""
        super().tick(now)
        self.show_remark()

    @property
    def unkept(self) -> str:
        return "" if self.page.text == self._began else "What you changed in the YAML is not kept."

    @property
    def back(self) -> str:
        if self.page.text == self._began:
            return "back"
        return KEEP if self._read is not None else "leave it…"

    def _hand_over(self) -> bool:
        """Keep what was changed; whether that could be."""
        self._look()
        if self.page.text == self._began:
            return True
        if self._read is None:
            return False
        self._began = self.page.text
        self._keep(self._read)
        return True

    def let_go(self) -> bool:
        is_done = self._hand_over()
        if not is_done:
            self.trackside.tell("the YAML does not fit yet: mend it, or esc leaves it", severity="warning")
        return is_done

    def step_back(self) -> None:
        if self._hand_over():
            self.leave()
        else:
            from console.ui.shared.dialog import Question  # noqa: PLC0415

            asked = Question(
                "It does not fit yet, so it cannot be kept.\nLeave it as it was before?", "Leave it", "Mend"
            )
            self.app.push_screen(asked, self._answered)

    def _answered(self, sure: bool | None) -> None:
        if sure:
            self.leave()
