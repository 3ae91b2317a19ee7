"""Theme, ASCII mode and the user's keys."""

from typing import TYPE_CHECKING, Final

from textual.widget import Widget

from console.model.commands.key_labels import use_key_table
from console.model.commands.table import BY_ID
from console.model.preferences.color_themes import PALETTES, TEXTUAL_THEMES
from console.model.preferences.store import Preferences
from console.ui.shared.bindings import keys_of
from console.ui.terminal.textual_themes import textual_theme, theme_of

if TYPE_CHECKING:
    from textual.app import App

    from console.ui.shared.services import AppServices
    from console.ui.terminal.ascii_filter import AsciiFilter

NO_KEY: Final = "none"
"""A key that no terminal sends, for commands whose key the user removed: Textual cannot remove a binding."""
LONG_TOAST_SECONDS: Final = 12.0
"""For a toast that the user did not ask for and has to read."""


class PreferencesController:
    """Applies the preferences, and saves those that are chosen on the screen."""

    def __init__(self, app: "App[None]", services: "AppServices", ascii_filter: "AsciiFilter") -> None:
        self._app = app
        self._services = services
        self._preferences = Preferences()
        self._ascii_filter = ascii_filter

    def apply(self, preferences: Preferences) -> None:
        """Use the theme and the keys of these preferences, before the first frame."""
        self._preferences = preferences
        for palette in PALETTES.values():
            self._app.register_theme(theme_of(palette))
        theme = self._preferences.theme
        self.use_theme(theme if theme in PALETTES or theme in TEXTUAL_THEMES else next(iter(PALETTES)))
        if self._preferences.file.keys:
            self._use_keys()
        use_key_table(self._services.commands)

    def _use_keys(self) -> None:
        from console.model.preferences.keymap import apply_keymap  # noqa: PLC0415  (most users change none)

        changes = self._preferences.file.keys
        self._services.commands = apply_keymap(changes)
        keymap = {
            command.id: ",".join(keys_of(command)) or NO_KEY
            for command in self._services.commands
            if command.id in changes
        }
        self._app.set_keymap({command_id: keys for command_id, keys in keymap.items() if BY_ID[command_id].keys})
        for command_id, keys in keymap.items():
            if not BY_ID[command_id].keys and keys != NO_KEY:  # a keymap cannot add a key to a command without one
                self._app.bind(keys, f"perform('{command_id}')", show=False)

    def show_problems(self) -> None:
        """Show a toast with the first problem of console.yaml and the number of others."""
        problems = self._preferences.file.problems
        if problems:
            more = f" · {len(problems) - 1} more: run `trackside keys`" if len(problems) > 1 else ""
            text = f"console.yaml, {problems[0]}{more}"
            self._services.show_toast(text, severity="warning", seconds=LONG_TOAST_SECONDS)

    def _save(self, **chosen: str | bool) -> None:
        """Save a choice. If that fails, the choice holds until the console is closed."""
        try:
            self._preferences.saved.save(**chosen)
        except OSError as error:
            text = f"Not saved: {error.strerror}. The choice applies until you quit."
            self._services.show_toast(text, severity="warning")

    # Theme

    def action_theme(self) -> None:
        from console.ui.preferences.theme_picker import ThemeFinder  # noqa: PLC0415

        names = [*PALETTES, *TEXTUAL_THEMES]
        self._services.push_screen(ThemeFinder(names, self._app.theme, self.use_theme), self._choose_theme)

    def use_theme(self, name: str) -> None:
        if name in TEXTUAL_THEMES:
            self._app.register_theme(textual_theme(name))
        if self._app.theme != name:
            self._app.theme = name

    def _choose_theme(self, name: str | None) -> None:
        if name is not None:
            self.use_theme(name)
            self._save(theme=name)
            if (configured := self._preferences.file.theme) not in (None, name):
                text = f"console.yaml sets the theme for the next start: {configured}. Change it there to keep {name}."
                self._services.show_toast(text)

    # ASCII mode

    def action_ascii(self) -> None:
        self.use_ascii(not self.is_ascii)
        self._save(ascii=self.is_ascii)

    @property
    def is_ascii(self) -> bool:
        return self._ascii_filter.enabled

    def use_ascii(self, is_ascii: bool) -> None:
        """Switch ASCII mode on or off and draw every screen again."""
        self._ascii_filter.enabled = is_ascii
        for screen in self._app.screen_stack:
            for widget in screen.walk_children(Widget, with_self=True):
                widget.notify_style_update()  # cached lines were drawn through the other filter
                widget.refresh()
