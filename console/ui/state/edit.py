"""One value, as JSON that can be changed. What is wrong is said here, and what was typed stays."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from console.model.commands.key_labels import key_of
from console.model.state.json_text import NotJson, TooLarge, read
from console.model.state.rows import meanwhile
from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog
from console.ui.shared.slow_notice import slow_notice
from engine.api import Expected, StateConflict

Save = Callable[[Any, object], Awaitable[None]]
"""A value, and what it is to take the place of; raises StateMoved where that is something else by now."""

SAVE: Final = "f4"
SAVING: Final = "saving… it is not on disk yet"
LONG: Final = 10_000
"""Characters of a line above which it is not wrapped: Textual takes seconds for 300,000, and the screen stands."""


class ValueArea(TextArea):
    """Wraps its lines as long as none of them is very long."""

    def __init__(self, text: str) -> None:
        super().__init__(text, soft_wrap=not _has_long_line(text), id="value")

    def on_paste(self, event: events.Paste) -> None:
        """Comes before Textual's own, which wraps what is pasted."""
        if _has_long_line(event.text):
            self.soft_wrap = False


class EditValue(Dialog[None]):
    """Saves by itself, so that what is refused can be mended. Esc asks before changes are thrown away.

    What others wrote meanwhile is overwritten only by who was told of it, and stays in the history of the key.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave it", priority=True),
        Binding(SAVE, "save", "save", priority=True),
    ]
    own_keys = ((SAVE, "save"), ("esc", "leave it"))
    DEFAULT_CSS = """
    EditValue { align: center middle; }
    EditValue > Vertical { width: 100%; max-width: 120; height: 80%; padding: 0 1; }
    EditValue > Vertical { border: round $accent; background: $surface; }
    EditValue TextArea, EditValue TextArea:focus { height: 1fr; border: none; padding: 0; }
    EditValue #wrong { color: $text-error; height: auto; max-height: 4; }
    """

    def __init__(
        self, title: str, text: str, save: Save, seen: object, now: Callable[[], int], show_error: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        """As it was opened, or saved last."""
        self.area = ValueArea(text)
        self._wrong = Static("", id="wrong", markup=False)
        self._save = save
        self._seen = seen
        """What is kept there, as far as a person knows."""
        self._now = now
        self._show_error = show_error
        """Shows an error after the dialog was closed."""
        self._moved = ""
        """What is said of it, where others wrote it meanwhile: as long as it is not saved."""
        self._is_asked = False
        self._is_saving = False
        self._is_done = False
        """All of it is saved."""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content(one_line(self._title, 120))
            box.border_subtitle = f"{SAVE} saves · esc leaves it"
            yield self.area
            yield self._wrong

    def on_text_area_changed(self) -> None:
        self._is_asked = False
        self._say(self._moved)

    def action_leave(self) -> None:
        if self._is_sure("esc"):
            self.dismiss()

    def may_quit(self) -> bool:
        return self._is_sure(key_of("app.quit"))

    def _is_sure(self, key: str) -> bool:
        """Whether nothing was changed, or it was asked already; else it is asked now."""
        if self._is_asked or (self.area.text == self._text and not self._is_saving):
            return True
        self._is_asked = True
        if self._is_saving:
            self._say(f"{SAVING}; {key} again does not wait for it")
        else:
            self._say(f"changed and not saved: {SAVE} saves it, {key} again throws it away")
        return False

    def action_save(self) -> None:
        if not self._is_saving:
            self._is_saving = True
            self.app.run_worker(self._try_to_save, exit_on_error=False)  # keys are heard meanwhile

    async def _try_to_save(self) -> None:
        text = self.area.text
        try:
            value = read(text)
            with slow_notice(self, partial(self._say, SAVING)):
                await self._save(value, self._seen)
        except TooLarge as error:
            self._say(f"not saved: {error}")
        except NotJson as error:
            self._say(f"not JSON: {error}")
            self.area.move_cursor((error.line - 1, error.column - 1))
        except StateConflict as moved:
            self._seen = Expected.ANYTHING  # told once: a run that goes on writing must not be in the way for ever
            self._moved = f"{meanwhile(moved, self._now())} · {SAVE} again writes yours in its place"
            self._say(self._moved)
        except Exception as error:  # noqa: BLE001  (whatever was in the way is said, and the text stays)
            self._say(str(error) or type(error).__name__)
        else:
            self._text, self._seen, self._moved = text, value, ""
            if self.area.text != text:
                self._say(f"saved; what you typed since is not: {SAVE} saves it, too")
            else:
                self._is_done = True
                self._go()
        finally:
            self._is_saving = False

    def _go(self) -> None:
        """Leave it; from under another dialog as soon as that is closed, since only the one on top can be."""
        if self._is_done and self.app.screen is self:
            self.dismiss()

    def on_screen_resume(self) -> None:
        self._go()

    def _say(self, words: str) -> None:
        if not self.is_attached:  # nobody waited for it
            self._show_error(words)
            return
        self._wrong.update(Content(one_line(words, 400)))


def _has_long_line(text: str) -> bool:
    return any(len(line) > LONG for line in text.splitlines())
