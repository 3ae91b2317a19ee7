"""The settings form as YAML text, with problems marked at their lines."""

from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.timer import Timer
from textual.widgets import Static

from console.data.form_store import FormStore
from console.model.commands.situation import Situation
from console.model.settings_form.form_draft import FormDraft
from console.model.text.safe import one_line, safe
from console.model.text.units import number, short_runner
from console.ui.shared.bindings import text_area_bindings
from console.ui.shared.fields import SafeTextArea
from console.ui.shared.full_screen import FullScreen
from console.ui.shared.services import AppServices

CHECK_DELAY_SECONDS: Final = 0.15
"""The text is checked this long after the last key."""
SAVE_LABEL: Final = "save"
"""The label of esc if the text was changed and is valid."""
MAX_LISTED_PROBLEMS: Final = 4
"""The others are only marked at their lines."""


class YamlArea(SafeTextArea, inherit_bindings=False):
    """A text area that underlines lines with problems."""

    BINDINGS: ClassVar[list[BindingType]] = text_area_bindings()
    COMPONENT_CLASSES: ClassVar[set[str]] = {"yaml--error", "yaml--warning"}
    DEFAULT_CSS = """
    YamlArea .yaml--error { color: $text-error; text-style: underline; }
    YamlArea .yaml--warning { color: $text-warning; text-style: underline; }
    """

    marks: dict[int, str]
    """The component class of marked lines, by line number from 0."""

    def __init__(self, text: str) -> None:
        self.marks = {}
        super().__init__(text, show_line_numbers=True, id="yaml")
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
    """Edits the whole form as text. esc saves valid text, and asks before it discards invalid text."""

    place = "form_text"
    opened_by = "settings"
    heading = "Settings as YAML"
    AUTO_FOCUS = "#yaml"
    DEFAULT_CSS = """
    YamlEditor #yaml { height: 1fr; border: none; padding: 0; }
    YamlEditor #problems { height: auto; max-height: 6; padding: 0 1; border-top: solid $panel-lighten-2; }
    """

    def __init__(
        self,
        services: AppServices,
        store: FormStore,
        draft: Callable[[], FormDraft],
        save: Callable[[FormDraft], None],
    ) -> None:
        super().__init__(services)
        self._store, self._draft, self._save_draft = store, draft, save
        self._initial_text = safe(store.to_yaml(draft()))
        self.area = YamlArea(self._initial_text)
        self._problems = Static("", id="problems", markup=False)
        self._parsed: FormDraft | None = draft()
        """The draft of the text; None if it is invalid."""
        self._status = ""
        self._check_timer: Timer | None = None

    def body(self) -> ComposeResult:
        yield self.area
        yield self._problems

    def on_mount(self) -> None:
        self.title_line.title = f"Settings of {one_line(short_runner(self._store.name), 60)} as YAML"
        self._check()

    def on_text_area_changed(self) -> None:
        if self._check_timer is not None:
            self._check_timer.stop()
        self._check_timer = self.set_timer(CHECK_DELAY_SECONDS, self._check)

    def _check(self) -> None:
        """Parse the text and mark its problems."""
        self._parsed, problems = self._store.parse_yaml(self._draft(), self.area.text)
        self.area.mark(
            {
                (problem.line or 1) - 1: "yaml--warning" if problem.warning else "yaml--error"
                for problem in sorted(problems, key=lambda one: not one.warning)
            }
        )
        # Optional in the text, but a run needs it.
        missing = self._parsed.problems() if self._parsed is not None else []
        listed = {field.key for field, _ in missing}
        lines = [
            f"{'⚠' if problem.warning else '✗'} {one_line(str(problem), 300)}"
            for problem in problems
            if problem.key not in listed
        ]
        lines += [
            f"⚠ {field.section}.{one_line(field.name, 60)} {words} before the runner can run"
            for field, words in missing
        ]
        count = len(lines) - MAX_LISTED_PROBLEMS
        more = [f"and {count} more"] if count > 0 else []
        self._problems.update("\n".join([*lines[:MAX_LISTED_PROBLEMS], *more]) or "The settings are valid.")
        valid = f"{number(len(missing), 'value')} missing" if missing else "Valid"
        self._status = valid if self._parsed is not None else f"{number(len(problems), 'problem')} found"
        self.show_remark()

    def remark(self) -> str:
        return f"{self._status} · esc saves" if self.back == SAVE_LABEL else self._status

    def tick(self, now: Situation) -> None:
        """Update the remark too: what esc does depends on the text."""
        super().tick(now)
        self.show_remark()

    @property
    def unsaved_warning(self) -> str:
        return "" if self.area.text == self._initial_text else "Your changes in the YAML are not saved."

    @property
    def back(self) -> str:
        if self.area.text == self._initial_text:
            return "back"
        return SAVE_LABEL if self._parsed is not None else "discard…"

    def _save(self) -> bool:
        """Save the text. Returns False if it is invalid."""
        self._check()
        if self.area.text == self._initial_text:
            return True
        if self._parsed is None:
            return False
        self._initial_text = self.area.text
        self._save_draft(self._parsed)
        return True

    def save_input(self) -> bool:
        is_saved = self._save()
        if not is_saved:
            self.services.show_toast("The YAML has errors. Fix them, or press esc to discard it.", severity="warning")
        return is_saved

    def step_back(self) -> None:
        if self._save():
            self.close_screen()
        else:
            from console.ui.shared.dialog import Question  # noqa: PLC0415

            question = "The YAML has errors, so it cannot be saved.\nDiscard your changes?"
            self.app.push_screen(Question(question, "Discard", "Edit"), self._on_answer)

    def _on_answer(self, is_discarded: bool | None) -> None:
        if is_discarded:
            self.close_screen()
