"""Shorter ways about the console, and what a person settled for themselves: jump, editor, history, colours, tour."""

import asyncio
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from console.bindings import keys_of
from console.model.commands import BY_ID, COMMANDS, Command
from console.model.commands.naming import change_in_force, key_of, keyed, put_in_force
from console.model.settings.palette import BORROWED, PALETTES
from console.model.words import number
from console.settling import Settled, is_there
from console.terminal.themes import borrowed, theme_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from textual.app import App

    from console.acts.jumping import Spot
    from console.model.glyphs import Glyphs
    from console.model.settings.settings import Settings
    from console.opening import Opening
    from console.screens.choices import Told
    from console.screens.main import Main
    from console.stage import Stage

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


class Ways(_App):
    """The part of the app that leads about in it."""

    main: "Main"
    stage: "Stage"
    glyphs: "Glyphs"
    settled: Settled
    _opening: "Opening"
    commands: Sequence[Command] = COMMANDS
    """The table, with the keys that hold here."""
    is_away = False
    """Another program has the terminal."""
    _still_until = 0.0

    if TYPE_CHECKING:

        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None: ...
        def use_letters(self, *, is_ascii: bool) -> None: ...

    # What was settled

    def settle(self, settled: Settled) -> None:
        """Have the colours and the keys that a person wants, before the first frame."""
        self._know(settled)
        self.wear(settled.theme if self._has_theme(settled.theme) else next(iter(PALETTES)))
        if settled.settings.keys:
            self._use_keys()
        put_in_force(self.commands)

    def _know(self, settled: Settled) -> None:
        self.settled = settled
        self._own_themes = {one.name: one for one in (*PALETTES.values(), *settled.settings.palettes)}
        for palette in self._own_themes.values():
            self.register_theme(theme_of(palette))

    def _use_keys(self) -> None:
        from console.model.settings.keymap import changed  # noqa: PLC0415  (most people change none)

        changes = self.settled.settings.keys
        self.commands = changed(changes)
        new = {one.id: ",".join(keys_of(one)) or NO_KEY for one in self.commands if one.id in changes}
        self.set_keymap({name: keys for name, keys in new.items() if BY_ID[name].keys})
        for name, keys in new.items():
            if not BY_ID[name].keys and keys != NO_KEY:  # Textual changes a key; it gives none to what had none
                self.bind(keys, f"perform('{name}')", show=False)

    def tell_of_settings(self) -> None:
        """What is wrong in the file, and what is new: once the screen is there."""
        from console.model.news import since  # noqa: PLC0415
        from engine.version import VERSION  # noqa: PLC0415

        problems, memory = self.settled.settings.problems, self.settled.memory
        if problems:
            more = f" · {len(problems) - 1} more: {key_of('app.choices')}" if len(problems) > 1 else ""
            self.tell(f"console.yaml, {problems[0]}{more}", severity="warning", seconds=LONG)
        if memory.version != VERSION:
            for version, news in list(since(memory.version, VERSION).items())[:1]:
                self.tell(f"new in {version}: {keyed(news[0])} · all of it: {key_of('app.news')}", seconds=LONG)
            self._keep(version=VERSION)

    def _keep(self, **chosen: str | bool) -> None:
        """Remember a choice; one that cannot be written holds until the console is left."""
        try:
            self.settled.memory.keep(**chosen)
        except OSError as error:
            self.tell(f"it cannot be kept for the next time: {error.strerror}", severity="warning")

    def action_choices(self) -> None:
        self.do(self._show_choices())

    async def _show_choices(self) -> None:
        from console.screens.choices import Choices  # noqa: PLC0415

        again = self.settled.again
        now = await asyncio.to_thread(again) if again is not None else None
        self.push_screen(Choices(self._told_of(now), self._settle_again))

    def _told_of(self, now: "Settings | None") -> "Told":
        from console.model.settings.told import told  # noqa: PLC0415

        settings = self.settled.settings
        has_file = bool(settings.where) and is_there(Path(settings.where))
        return told(settings, self.theme, is_ascii=self.glyphs.is_ascii, now=now, is_there=has_file)

    async def _settle_again(self) -> "Told | None":
        """Read the file, and have all that it says from now on; what it no longer says is as it comes."""
        if (again := self.settled.again) is None:
            self.tell("no file was read, so none can be read again", severity="warning")
            return None
        before, now = self.settled.settings, await asyncio.to_thread(again)
        self._know(self.settled.anew(now))
        self._change_keys()
        self._wear_anew(before)
        stays = now.is_ascii == before.is_ascii or self._opening.ascii_only  # what was typed counts for more
        self.use_letters(is_ascii=self.glyphs.is_ascii if stays else self.settled.is_ascii)
        wrong = number(len(now.problems), "line") if now.problems else ""
        words = (
            f"console.yaml was read again; {wrong} to mend"
            if wrong
            else "console.yaml was read again; what it says holds now"
        )
        self.tell(words, severity="warning" if wrong else "information")
        return self._told_of(now)

    def _wear_anew(self, before: "Settings") -> None:
        """The theme that the file names now, where it names another; else the same, whose colours may be others."""
        wanted = self.settled.theme if self.settled.settings.theme != before.theme else self.theme
        wanted = next(name for name in (wanted, self.settled.theme, *PALETTES) if self._has_theme(name))
        if wanted == self.theme:
            self.theme = next(name for name in PALETTES if name != wanted)  # Textual only looks at another name
        self.wear(wanted)

    def _change_keys(self) -> None:
        """The keys that the file gives now, and none that it gave before."""
        given = {f"perform('{one.id}')" for one in COMMANDS if not one.keys}
        for key, bound in [*self._bindings.key_to_bindings.items()]:
            if kept := [one for one in bound if one.action not in given]:
                self._bindings.key_to_bindings[key] = kept
            else:
                del self._bindings.key_to_bindings[key]
        self._use_keys()
        change_in_force(self.commands)

    # Colours and letters

    def action_theme(self) -> None:
        from console.screens.theme import ThemeFinder  # noqa: PLC0415

        names = [*self._own_themes, *(name for name in BORROWED if name not in self._own_themes)]
        self.push_screen(ThemeFinder(names, self.theme, self.wear), self._chosen_theme)

    def wear(self, name: str) -> None:
        """Have these colours."""
        if name in BORROWED and name not in self._own_themes:
            self.register_theme(borrowed(name))
        if self.theme != name:
            self.theme = name

    def _chosen_theme(self, name: str | None) -> None:
        if name is not None:
            self.wear(name)
            self._keep(theme=name)
            if (settled := self.settled.settings.theme) not in (None, name):
                self.tell(f"console.yaml names {settled}: the next time it is that again")

    def keep_letters(self, *, is_ascii: bool) -> None:
        """Plain letters, or not, the next time too."""
        self._keep(ascii=is_ascii)

    def _has_theme(self, name: str) -> bool:
        return name in self._own_themes or name in BORROWED

    # To anything that is seen

    def action_jump(self) -> None:
        from console.acts.jumping import spots  # noqa: PLC0415
        from console.screens.jump import Jump  # noqa: PLC0415

        below = self.screen
        self._still_until = monotonic() + STILL
        self.push_screen(Jump(below, spots(below)), self._arrive)

    @property
    def is_still(self) -> bool:
        """Letters lie on what is seen: it is to be there, too, when one of them is typed."""
        return monotonic() < self._still_until

    def _arrive(self, spot: "Spot | None") -> None:
        if spot is None:
            self._still_until = 0.0
        else:
            spot.go()
            spot.widget.call_later(setattr, self, "_still_until", 0.0)  # when it was heard

    # Into another editor

    def action_editor(self) -> None:
        self.do(self._edit_outside())

    async def _edit_outside(self) -> None:
        from console.terminal.editing import edited, editor  # noqa: PLC0415

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
        from console.screens.finder import Finder  # noqa: PLC0415

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
        for run in reversed(await engine.runs(limit=REMEMBERED)):
            text = str(run.metadata.get("input") or "")
            if len(text) >= INPUT_GLIMPSE:  # the rest is in its event
                text = (await engine.event_of(run.run_id)).envelope.input.to_text()
            if text.strip():
                texts.append(text)
        self.main.prompt.remember(texts)

    # What there is

    def action_tour(self) -> None:
        from console.screens.tour import Tour  # noqa: PLC0415

        self.push_screen(Tour(self.main))

    def action_news(self) -> None:
        from console.model.news import NEWS  # noqa: PLC0415
        from console.screens.notes import Notes  # noqa: PLC0415

        self.push_screen(Notes("What is new", {one: [keyed(words) for words in news] for one, news in NEWS.items()}))


def _nowhere(data: str) -> None:
    pass
