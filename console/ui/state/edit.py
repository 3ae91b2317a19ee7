"""The dialog that edits one value as JSON. Errors are shown in it, and the typed text stays."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from console.data.health import error_text
from console.data.state import StateConflict
from console.model.commands.key_labels import key_of
from console.model.state.json_text import InvalidJson, NumberTooLarge, parse_json
from console.model.state.rows import conflict_text
from console.model.text.safe import one_line
from console.ui.shared.dialog import Dialog
from console.ui.shared.fields import SafeTextArea
from console.ui.shared.slow_notice import slow_notice
from engine.events import Expected

Save = Callable[[Any, object], Awaitable[None]]
"""Saves a value in place of an expected one. Raises StateConflict if the stored value is another."""

SAVE_KEY: Final = "f4"
SAVING: Final = "Saving… not on disk yet"


class EditValue(Dialog[None]):
    """Edits a value and saves it. It stays open if that fails; esc asks before it discards changes.

    A value that was written since is overwritten only after the dialog has shown it. It stays in the key's history.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close", priority=True),
        Binding(SAVE_KEY, "save", "save", priority=True),
    ]
    own_keys = ((SAVE_KEY, "save"), ("esc", "close"))
    DEFAULT_CSS = """
    EditValue { align: center middle; }
    EditValue > Vertical { width: 100%; max-width: 120; height: 80%; padding: 0 1; }
    EditValue > Vertical { border: round $accent; background: $surface; }
    EditValue TextArea, EditValue TextArea:focus { height: 1fr; border: none; padding: 0; }
    EditValue #wrong { color: $text-error; height: auto; max-height: 4; }
    """

    def __init__(
        self, title: str, text: str, save: Save, seen: object, now: Callable[[], int], report: Callable[[str], object]
    ) -> None:
        super().__init__()
        self._title = title
        self._text = text
        """The text when the dialog was opened or last saved."""
        self.area = SafeTextArea(text, id="value")
        self._wrong = Static("", id="wrong", markup=False)
        self._save = save
        self._seen = seen
        """The stored value that the user has seen."""
        self._now = now
        self._report = report
        """Reports a failed save if the dialog was closed meanwhile."""
        self._conflict = ""
        """The message about a value that was written since, until this one is saved."""
        self._is_confirmed = False
        """The user was asked whether to discard the changes."""
        self._is_saving = False
        self._is_saved = False
        """All of the text is saved."""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = Content(one_line(self._title, 120))
            box.border_subtitle = f"{SAVE_KEY} saves · esc closes"
            yield self.area
            yield self._wrong

    def on_text_area_changed(self) -> None:
        self._is_confirmed = False
        self._show_message(self._conflict)

    def action_leave(self) -> None:
        if self._may_close("esc"):
            self.dismiss()

    def may_quit(self) -> bool:
        return self._may_close(key_of("app.quit"))

    def _may_close(self, key: str) -> bool:
        """Whether nothing is lost, or the user was asked before; otherwise ask now."""
        if self._is_confirmed or (self.area.text == self._text and not self._is_saving):
            return True
        self._is_confirmed = True
        if self._is_saving:
            self._show_message(f"{SAVING}. {key} again closes without waiting for it.")
        else:
            self._show_message(f"Your changes are not saved. {SAVE_KEY} saves them, {key} again discards them.")
        return False

    def action_save(self) -> None:
        if not self._is_saving:
            self._is_saving = True
            self.app.run_worker(self._try_to_save, exit_on_error=False)  # a worker, so that keys are handled meanwhile

    async def _try_to_save(self) -> None:
        text = self.area.text
        try:
            value = parse_json(text)
            with slow_notice(self, partial(self._show_message, SAVING)):
                await self._save(value, self._seen)
        except NumberTooLarge as error:
            self._show_message(f"Not saved: {error}")
        except InvalidJson as error:
            self._show_message(f"Not JSON: {error}")
            self.area.move_cursor((error.line - 1, error.column - 1))
        except StateConflict as conflict:
            self._seen = Expected.ANYTHING  # shown once: a run that keeps writing must not prevent the save forever
            self._conflict = f"Not saved: {conflict_text(conflict, self._now())} · {SAVE_KEY} again overwrites it"
            self._show_message(self._conflict)
        except Exception as error:  # noqa: BLE001  (the failure is shown, and the text stays)
            self._show_message(error_text(error))
        else:
            self._text, self._seen, self._conflict = text, value, ""
            if self.area.text != text:
                self._show_message(f"Saved without your latest changes. {SAVE_KEY} saves them too.")
            else:
                self._is_saved = True
                self._close_if_saved()
        finally:
            self._is_saving = False

    def _close_if_saved(self) -> None:
        """Close the dialog. Under another dialog this must wait: only the screen on top can be closed."""
        if self._is_saved and self.app.screen is self:
            self.dismiss()

    def on_screen_resume(self) -> None:
        self._close_if_saved()

    def _show_message(self, words: str) -> None:
        if not self.is_attached:  # the user did not wait
            self._report(words)
            return
        self._wrong.update(Content(one_line(words, 400)))
