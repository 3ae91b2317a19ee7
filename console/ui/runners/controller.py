"""Who runs: chosen from a list or by a path, configured, and read anew as soon as its files are saved."""

import asyncio
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from console.model.commands.key_labels import key_of
from console.model.runners.code_changes import CodeNote, news_of, unread
from console.model.text.safe import one_line
from console.model.text.units import short_runner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Iterable

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.data.form_store import FormStore
    from console.model.commands.situation import Situation
    from console.model.runners.choices import RunnerChoice
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater
    from console.ui.runners.screen import Offered, RunnersScreen
    from console.ui.settings_form.screen import FormScreen
    from console.ui.shared.full_screen import FullScreen
    from engine.api import CodeChange

    _App = App[None]
else:
    _App = object

T = TypeVar("T")
SLOW: Final = 0.5
"""Seconds after which it is said that something is being read."""


class RunnersController(_App):
    """The part of the app that knows of runners."""

    stage: "ActiveSession"
    main: "MainScreen"
    _watching: asyncio.Task[None] | None = None

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        @property
        def situation(self) -> "Situation": ...
        @property
        def cover(self) -> "FullScreen | None": ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None: ...
        def can(self, command_id: str) -> bool: ...
        def hush(self, said: "Collection[str]") -> None: ...
        def may_leave(self, screens: "Iterable[FullScreen]") -> bool: ...

    def begin_casting(self) -> None:
        """The engine is open: files are watched from now on, and where nobody is chosen someone has to be."""
        self._watching = asyncio.ensure_future(self._watch())
        if self.stage.unready is not None:
            if self.cover is None:  # who was quick is in the form, which says it at its field
                self.tell(self.stage.unready, severity="warning")
            if not self.stage.runner_id:
                self.action_runners()

    @cached_property
    def code_note(self) -> CodeNote:
        return CodeNote()

    @cached_property
    def _desks(self) -> "dict[str, FormStore]":
        """By name, those of forms that were open."""
        return {}

    @property
    def code_words(self) -> str | None:
        """What the header says of the code, or of why it cannot be run."""
        view = self.hearing.view
        words = self.code_note.words(view and view.run_id, is_over=view is None or view.status.is_over)
        if words is None and self.stage.unready is not None:
            if self.stage.lacks_settings:
                return f"settings to mend · {key_of('app.settings')}"
            return f"no runner · {key_of('app.runners')}"
        return words

    async def _patiently(self, act: "Awaitable[T]", words: str) -> T:
        """Carry something out; where that takes long, these words say so for as long as it does."""
        task = asyncio.ensure_future(act)
        try:
            while not (await asyncio.wait({task}, timeout=SLOW))[0]:
                self.tell(words, seconds=2 * SLOW)
            return task.result()
        finally:
            task.cancel()

    # The list of runners

    def action_runners(self) -> None:
        if self.can("app.runners"):
            from console.ui.runners.screen import RunnersScreen  # noqa: PLC0415

            self.push_screen(RunnersScreen(self._offers))

    async def _offers(self) -> "Offered":
        from console.model.runners.choices import offers  # noqa: PLC0415
        from console.model.text.paths import short_path  # noqa: PLC0415
        from console.ui.runners.screen import Offered  # noqa: PLC0415

        engine = self.stage.engine
        facts = await engine.runners.summaries()
        said = partial(short_path, here=str(Path.cwd()), home=str(Path.home()))
        before, used = await engine.runners.recent_places(), await engine.runners.agents_last_used()
        found = offers(
            engine.runners.agents(),
            facts,
            engine.runners.problems(),
            engine.runners.invalid_agents(),
            said,
            before,
            used,
        )
        return Offered(found, self._in_use(found), engine.now())

    def _in_use(self, found: "tuple[RunnerChoice, ...]") -> str:
        """The key of the one in use, in the list."""
        kind, name = ("runner", self.stage.runner_id) if self.stage.agent_id is None else ("agent", self.stage.agent_id)
        return next((one.key for one in found if one.kind == kind and name in (one.name, one.runner_id)), "")

    def _listed(self) -> "RunnersScreen | None":
        from console.ui.runners.screen import RunnersScreen  # noqa: PLC0415

        return next((screen for screen in self.screen_stack if isinstance(screen, RunnersScreen)), None)

    def on_runners_screen_take(self, event: "RunnersScreen.Take") -> None:
        name = event.offer.name if event.offer.kind == "agent" else event.offer.runner_id
        self.do(self._patiently(self._take(name), f"reading {short_runner(name)}…"))

    async def _take(self, name: str) -> None:
        from console.ui.runners.screen import RunnersScreen  # noqa: PLC0415
        from console.ui.settings_form.screen import FormScreen  # noqa: PLC0415

        if (form := self._form()) is not None and not self.may_leave([form]):
            return
        await self.stage.choose(name)
        while isinstance(self.screen, (RunnersScreen, FormScreen)):
            self.pop_screen()
        self.main.show_card(is_shown=False)  # it speaks of another
        self.main.prompt.take_proposal_back()
        shown = self.stage.agent_id or short_runner(self.stage.runner_id)
        if self.stage.unready is not None:
            self.tell(f"{self.stage.unready} {key_of('app.settings')} opens its settings.", severity="warning")
        else:
            self.tell(f"{shown} runs from now on{self._at_work()}")

    def _at_work(self) -> str:
        return "; the run at work goes on as it is" if self.situation.is_running else ""

    def on_runners_screen_open_place(self, event: "RunnersScreen.OpenPlace") -> None:
        opening = self._open_place(Path(event.path), is_listed=event.is_listed)
        self.do(self._patiently(opening, f"reading {one_line(event.path, 80)}…"))

    async def _open_place(self, path: Path, *, is_listed: bool) -> None:
        from engine.api import RunnersError, TargetNotFound  # noqa: PLC0415

        engine = self.stage.engine
        try:
            runners = await engine.runners.add_place(path)
        except RunnersError as error:
            listed = self._listed()
            if is_listed and isinstance(error, TargetNotFound):
                await engine.runners.forget_recent_place(str(path))
                await self.refresh_list()
                self.tell(f"{path} is no longer there; it is forgotten", severity="warning")
            elif is_listed or listed is None:
                raise
            else:
                listed.say(str(error))
            return
        self.do(
            engine.runners.add_recent_place(path)
        )  # beside: where it cannot be written the runner can run all the same
        if len(runners) == 1:
            await self._take(str(runners[0].id))
            return
        await self.refresh_list()
        if (listed := self._listed()) is not None:
            listed.search.value = ""
        self.tell(f"{len(runners)} runners are there: choose one")

    async def refresh_list(self) -> None:
        """The list, where it is open: others may be there, or fit."""
        if (listed := self._listed()) is not None:
            await listed.look_again()

    # The form

    def action_settings(self) -> None:
        """Of the runner that the cursor is on in the list, else of the one in use."""
        if not self.can("app.settings"):
            return
        listed = self._listed()
        offer = listed.offer if listed is not None else None
        if offer is not None and offer.kind == "place":
            self.tell("enter opens it; then it has settings")
            return
        if offer is not None and offer.kind == "problem":
            self.tell(f"{offer.path} is left out: {offer.label}", severity="warning")
            return
        name = self.stage.agent_id or self.stage.runner_id
        if offer is not None:
            name = offer.name if offer.kind == "agent" else offer.runner_id
        if not name:
            self.tell(f"choose a runner first; {key_of('app.runners')} lists them", severity="warning")
            return
        self.do(self._open_form(name))

    async def _open_form(self, name: str) -> None:
        from console.data.form_store import FormStore  # noqa: PLC0415
        from console.ui.settings_form.screen import FormScreen  # noqa: PLC0415

        desk = self._desks.setdefault(name, FormStore(self.stage.engine, name))
        filling = await self._patiently(desk.read(), f"reading the settings of {short_runner(name)}…")
        if self._form() is None:
            if self.stage.unready:
                self.hush([one_line(self.stage.unready, 60).rstrip("…")])  # the form says it at its field
            self.push_screen(FormScreen(desk, filling))

    def _form(self) -> "FormScreen | None":
        from console.ui.settings_form.screen import FormScreen  # noqa: PLC0415

        return next((screen for screen in self.screen_stack if isinstance(screen, FormScreen)), None)

    # New code

    def action_reload_code(self) -> None:
        if self.can("app.reload_code"):
            self.do(self._renew(), "runners and trackside.yaml are read again")

    async def _watch(self) -> None:
        # While nobody waits for it: whoever opens the form first would (15 to 60 ms on a slow machine).
        await asyncio.to_thread(import_module, "console.ui.settings_form.screen")
        try:
            async for change in self.stage.engine.runners.watch():
                await self._hear_of(change)
        except Exception as error:  # noqa: BLE001  (whatever it was, it is said, and the screen lives)
            self.tell(str(error) or type(error).__name__, severity="warning")

    async def _hear_of(self, change: "CodeChange") -> None:  # noqa: ARG002  (all is looked at anew)
        try:
            await self._renew()
        except Exception as error:  # noqa: BLE001
            self.tell(unread(error), severity="error")

    async def _renew(self) -> None:
        """Read the files again; what that means for who is chosen is said. Raises where they cannot be used."""
        from engine.api import ConfigError  # noqa: PLC0415

        engine, view, note = self.stage.engine, self.hearing.view, self.code_note
        before, was_broken, was_unread = engine.runners.problems(), note.is_broken, note.is_unread
        unfit = {(agent.agent_id, agent.key) for agent in await asyncio.to_thread(engine.runners.invalid_agents)}
        try:
            reloaded = await engine.runners.reload()
        except ConfigError:
            note.is_unread = True
            raise
        except Exception:
            note.is_broken = True
            raise
        left_out = await asyncio.to_thread(engine.runners.invalid_agents)
        run_id = view.run_id if view is not None else None
        is_old = run_id is not None and await engine.runners.has_stale_code(run_id)
        runner_id, agent_id = self.stage.runner_id, self.stage.agent_id
        if runner_id in (*reloaded.changed, *reloaded.gone):
            note.changed(run_id, is_old=is_old)
        await self.stage.look_again()
        is_out = self.stage.unready is not None and not self.stage.lacks_settings
        note.is_broken, note.is_unread = runner_id in reloaded.gone or (was_broken and is_out), False
        news = news_of(
            reloaded, before, runner_id, is_old=is_old, can_run_again=self.situation.can_run_again,
            was_broken=(was_broken or was_unread) and not note.is_broken, agent_id=agent_id,
            is_listed=self.screen is self._listed(),
            unfit=[agent for agent in left_out if (agent.agent_id, agent.key) not in unfit],
        )  # fmt: skip
        if news is not None:
            self.tell(news.words, severity=news.severity)
        for words in reloaded.notes:
            self.tell(words)
        await self.refresh_list()
        if (form := self._form()) is not None:
            await form.read_again()
