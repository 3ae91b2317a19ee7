"""Shorter ways about the console, and what a person settled for themselves: jump, editor, history, colours, tour."""

from collections.abc import Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from console.model.commands.key_labels import use_key_table
from console.model.commands.table import BY_ID, COMMANDS, Command
from console.model.preferences.palette import PALETTES, TEXTUAL_THEMES
from console.model.preferences.store import Preferences
from console.ui.shared.bindings import keys_of
from console.ui.terminal.themes import textual_theme, theme_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.help.jump import JumpTarget
    from console.ui.main.screen import MainScreen

    _App = App[None]
else:
    _App = object

REMEMBERED: Final = 200
"""Runs whose inputs are known to the prompt at the start."""
NO_KEY: Final = "none"
"""What is bound to it is never heard: Textual changes keys, it takes none away."""
STILL: Final = 5.0
"""Seconds for which nothing moves while someone looks for a letter."""
LONG: Final = 12.0
"""Seconds that a person needs to read what they did not ask for."""


class NoTerminal(Exception):
    """The screen is drawn elsewhere, as in a browser."""


class PreferencesController(_App):
    """The part of the app that leads about in it."""

    main: "MainScreen"
    stage: "ActiveSession"
    preferences: Preferences
    commands: Sequence[Command] = COMMANDS
    """The table, with the keys that hold here."""
    is_away = False
    """Another program has the terminal."""
    _still_until = 0.0

    if TYPE_CHECKING:

        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None: ...

    # What was settled

    def settle(self, preferences: Preferences) -> None:
        """Have the colours and the keys that a person wants, before the first frame."""
        self.preferences = preferences
        for palette in PALETTES.values():
            self.register_theme(theme_of(palette))
        self.wear(preferences.theme if self._has_theme(preferences.theme) else next(iter(PALETTES)))
        if preferences.file.keys:
            self._use_keys()
        use_key_table(self.commands)

    def _use_keys(self) -> None:
        from console.model.preferences.keymap import apply_keymap  # noqa: PLC0415  (most people change none)

        changes = self.preferences.file.keys
        self.commands = apply_keymap(changes)
        new = {one.id: ",".join(keys_of(one)) or NO_KEY for one in self.commands if one.id in changes}
        self.set_keymap({name: keys for name, keys in new.items() if BY_ID[name].keys})
        for name, keys in new.items():
            if not BY_ID[name].keys and keys != NO_KEY:  # Textual changes a key; it gives none to what had none
                self.bind(keys, f"perform('{name}')", show=False)

    def tell_of_settings(self) -> None:
        """Show a toast with the first problem of console.yaml and the number of others."""
        problems = self.preferences.file.problems
        if problems:
            more = f" · {len(problems) - 1} more: run `trackside keys`" if len(problems) > 1 else ""
            self.tell(f"console.yaml, {problems[0]}{more}", severity="warning", seconds=LONG)

    def _keep(self, **chosen: str | bool) -> None:
        """Remember a choice; one that cannot be written holds until the console is left."""
        try:
            self.preferences.saved.save(**chosen)
        except OSError as error:
            self.tell(f"it cannot be kept for the next time: {error.strerror}", severity="warning")

    # Colours and letters

    def action_theme(self) -> None:
        from console.ui.preferences.theme import ThemeFinder  # noqa: PLC0415

        names = [*PALETTES, *TEXTUAL_THEMES]
        self.push_screen(ThemeFinder(names, self.theme, self.wear), self._chosen_theme)

    def wear(self, name: str) -> None:
        """Have these colours."""
        if name in TEXTUAL_THEMES:
            self.register_theme(textual_theme(name))
        if self.theme != name:
            self.theme = name

    def _chosen_theme(self, name: str | None) -> None:
        if name is not None:
            self.wear(name)
            self._keep(theme=name)
            if (settled := self.preferences.file.theme) not in (None, name):
                self.tell(f"console.yaml names {settled}: the next time it is that again")

    def keep_letters(self, *, is_ascii: bool) -> None:
        """Plain letters, or not, the next time too."""
        self._keep(ascii=is_ascii)

    def _has_theme(self, name: str) -> bool:
        return name in PALETTES or name in TEXTUAL_THEMES

    # To anything that is seen

    def action_jump(self) -> None:
        from console.ui.help.jump import Jump, spots  # noqa: PLC0415

        below = self.screen
        self._still_until = monotonic() + STILL
        self.push_screen(Jump(below, spots(below)), self._arrive)

    @property
    def is_still(self) -> bool:
        """Letters lie on what is seen: it is to be there, too, when one of them is typed."""
        return monotonic() < self._still_until

    def _arrive(self, spot: "JumpTarget | None") -> None:
        if spot is None:
            self._still_until = 0.0
        else:
            spot.go()
            spot.widget.call_later(setattr, self, "_still_until", 0.0)  # when it was heard

    # Into another editor

    def action_editor(self) -> None:
        self.do(self._edit_outside())

    async def _edit_outside(self) -> None:
        from console.ui.terminal.editor import edited, editor  # noqa: PLC0415

        prompt, command = self.main.prompt, editor()
        before = prompt.whole
        with self._away():
            text = await edited(command, before)
        came_back = "" if prompt.whole == before else prompt.whole.removesuffix(before).removesuffix("\n")
        prompt.load(text)
        if came_back:  # it could not be sent, and nobody has seen it yet
            prompt.give_back(came_back)
        self.main.go_to("prompt")

    @contextmanager
    def _away(self) -> "Iterator[None]":
        """The terminal is another program's meanwhile: runs go on, and nothing is drawn."""
        driver = self._driver
        if driver is None or not driver.can_suspend:
            raise NoTerminal("there is no terminal here that an editor could have")
        failed: BaseException | None = None
        with self.suspend():
            self.is_away = True
            # Textual would wait for ever for a writer that has ended.
            setattr(driver, "write", _nowhere)  # noqa: B010
            try:
                yield
            except BaseException as error:  # noqa: BLE001  (Textual does not come back where it is raised in there)
                failed = error
            del driver.write
            self.is_away = False
        self.screen.refresh(layout=True)
        if failed is not None:
            raise failed

    # To what was sent before

    def action_history(self) -> None:
        from console.ui.shared.finder import Finder  # noqa: PLC0415

        prompt = self.main.prompt
        newest_first = prompt.sent[::-1]
        self.push_screen(Finder("Sent before", newest_first, nothing="nothing that was sent matches"), self._recall)

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.main.prompt.recall(text)
            self.main.go_to("prompt")

    async def remember_sent(self) -> None:
        """Give the prompt what was sent in other sessions, and before this console was opened."""
        from engine.api import INPUT_GLIMPSE  # noqa: PLC0415

        engine, texts = self.stage.engine, list[str]()
        for run in reversed(await engine.runs.list(limit=REMEMBERED)):
            text = str(run.metadata.get("input") or "")
            if len(text) >= INPUT_GLIMPSE:  # the rest is in its event
                text = (await engine.runs.event(run.run_id)).envelope.input.to_text()
            if text.strip():
                texts.append(text)
        self.main.prompt.remember(texts)

    # The tour

    def action_tour(self) -> None:
        from console.ui.help.tour import Tour  # noqa: PLC0415

        self.push_screen(Tour(self.main))


def _nowhere(data: str) -> None:
    pass
