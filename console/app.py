"""The console: draws first, opens the engine after the first frame, and then shows 30 times a second what is new."""

import asyncio
import gc
from collections.abc import Awaitable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from console.data.active_session import AGAIN, ActiveSession, OpenEngine
from console.data.health import HealthMonitor, HealthProblem, words_of
from console.launch import LaunchOptions
from console.model.commands.footer import GAP_COLUMNS, FooterKey, footer_keys
from console.model.commands.key_labels import with_keys
from console.model.commands.situation import Situation
from console.model.commands.table import BY_ID, COMMANDS, Command
from console.model.run.headline import Headline
from console.model.text.glyphs import GLYPHS
from console.model.text.safe import one_line
from console.model.text.units import session_name, who_runs
from console.ui.composer.controller import ComposerController
from console.ui.main.controller import MainController
from console.ui.main.escape import step_back
from console.ui.main.quit import FIRST_WORDS, QuitController
from console.ui.main.run_control import RunControl
from console.ui.main.screen import MainScreen
from console.ui.main.situation import situation
from console.ui.preferences.controller import PreferencesController
from console.ui.runners.controller import RunnersController
from console.ui.sessions.controller import SessionsController
from console.ui.sessions.delete import PendingDeletes
from console.ui.shared.bindings import action_of, bindings_for
from console.ui.shared.closing_awaitable import ClosingAwaitable
from console.ui.shared.crash_guard import MessageGuard, contain_failure
from console.ui.shared.dialog import AT_ALL_TIMES, Palette
from console.ui.shared.full_screen import FullScreen
from console.ui.state.controller import StateController
from console.ui.terminal.ascii_filter import AsciiFilter
from console.ui.terminal.key_order import KeyOrder
from console.ui.terminal.paste import OneLinePaste, taking_pastes_whole

if TYPE_CHECKING:
    from console.ui.main.updater import ScreenUpdater
    from console.ui.prompt.prompt import Prompt

TICK: Final = 1 / 30
GARBAGE: Final = (5_000, 5, 200)
"""How rarely garbage is looked for: drawing makes much that is gone at once, and a full look is a dropped frame.
In the middle it is looked for often, so that each time is short."""
TWICE: Final = 1_500_000
"""Microseconds within which a second esc counts."""
REHEARSAL: Final = "plugin:trackside/rehearsal/default"
_UI: Final = Path(__file__).parent / "ui"


class Trackside(
    MessageGuard,
    KeyOrder,
    OneLinePaste,
    QuitController,
    RunControl,
    RunnersController,
    SessionsController,
    PendingDeletes,
    StateController,
    ComposerController,
    MainController,
    PreferencesController,
    App[None],
):
    """One screen over one engine."""

    TITLE = "trackside"
    CSS_PATH = [_UI / "main" / "main.tcss", _UI / "shared" / "textual_widgets.tcss"]  # noqa: RUF012  (as Textual has it)
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("app")

    def __init__(self, opening: LaunchOptions, open_engine: OpenEngine | None = None) -> None:
        super().__init__()
        self._opening = opening
        self.stage = ActiveSession(opening, open_engine)
        self.main = MainScreen()
        self._hearing: ScreenUpdater | None = None
        self.vigil = HealthMonitor(self.stage)
        self.trouble: HealthProblem | None = None
        self.early: list[Prompt.Submitted] = []
        """What was sent before the engine was there."""
        self.sending: list[str] = []
        """What was sent and is not on disk yet."""
        self._escaped_at = 0
        self._ascii_filter = AsciiFilter(enabled=opening.ascii_only or opening.preferences.is_ascii)
        self.settle(opening.preferences)

    def get_default_screen(self) -> MainScreen:
        self.main.lie_in(self.size)
        return self.main

    def get_driver_class(self) -> type[Driver]:
        return taking_pastes_whole(super().get_driver_class())

    def on_mount(self) -> None:
        self._show_first()
        if not self.is_headless:
            self.heed_signals()
        self.call_after_refresh(self.do, self._open())

    async def _open(self) -> None:
        await self.main.furnish()
        self._show()
        while not await self._has_opened():
            gc.enable()
            self._show()
            await asyncio.sleep(AGAIN)
        self.begin_drafts()
        gc.collect()
        gc.freeze()  # what is here stays: looking through it for garbage would be a dropped frame
        gc.set_threshold(*GARBAGE)
        gc.enable()
        self.set_interval(TICK, self._tick)
        self.set_interval(AGAIN, self._look_around)
        is_new = self.stage.is_first_time and not self.unsent
        if self.early:
            self.do(self._send_early())
        if is_new and self.stage.runner_id == REHEARSAL:
            self.main.show_card(is_shown=True)
            self.main.prompt.propose(FIRST_WORDS)
        self._show()
        self.begin_casting()
        self.do(self.remember_sent())
        self.tell_of_settings()
        self.say_who_answers()

    async def _has_opened(self) -> bool:
        """Open the engine and read what there was; where that fails the screen says why, and it is tried again."""
        try:
            if not self.stage.is_open:
                await self.stage.open()
            from console.data.inspector_loader import InspectorLoader  # noqa: PLC0415  (it needs the engine)

            self.gathering = InspectorLoader(self.stage.engine)
            await self.hearing.begin()
        except Exception as error:  # noqa: BLE001  (whatever it was)
            self.trouble = HealthProblem.of(error)
            if not self.trouble.passes:
                self.give_back_early()
            return False
        self.trouble = None
        return True

    async def on_unmount(self) -> None:
        self.keep_draft(at_once=True)
        await self.let_go()
        if self.drafts is not None:
            self.drafts.release()

    # Once a tick

    def _tick(self) -> None:
        if self.is_leaving or self.is_still:
            return
        self.hearing.sending = self.being_sent()
        self.hearing.tick(self.stage.drain())
        self.trouble = self.vigil.trouble
        self._show()

    async def _look_around(self) -> None:
        if not self.is_leaving:
            await self.vigil.look()
            await self.mind_the_session()

    @property
    def hearing(self) -> "ScreenUpdater":
        """What is shown, made when it is first asked for: not before the first frame."""
        if self._hearing is None:
            from console.ui.main.updater import ScreenUpdater  # noqa: PLC0415

            self._hearing = ScreenUpdater(self.stage, self.main, self.do)
        return self._hearing

    @property
    def situation(self) -> Situation:
        """What can be done now."""
        now = situation(self.hearing, self.stage, self.main, self.trouble.words if self.trouble else None)
        if self.broken:
            now = replace(now, has_failed=True)
        cover = self.cover
        return now if cover is None else replace(now, is_covered=True, back=cover.back)

    @property
    def cover(self) -> FullScreen | None:
        """The screen that lies over the panes, if one does; a question over it changes nothing."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, FullScreen)), None)

    def _show_first(self) -> None:
        """The first frame: as much as can be said without knowing anything."""
        runner = self._opened_on()
        self.main.header.headline = Headline(runner, "", None, queued=0, as_of=None, now=0, is_loading=True)
        self.main.prompt.show(Situation(), runner=runner)

    def _show(self) -> None:
        now = self.stage.engine.now() if self.stage.is_open else 0
        situation, view, main = self.situation, self.hearing.view, self.main
        working = self.hearing.working
        runner = who_runs(self.stage.agent_id, self.stage.runner_id) if self.stage.is_open else self._opened_on()
        main.header.headline = Headline(
            runner=who_runs(view.agent_id, view.runner_id) if view and view.runner_id else runner,
            session=session_name(self.stage.session, self.hearing.listing.title, is_new=True),
            status=view.status if view else None,
            queued=sum(item.is_waiting for item in main.queue.items),
            as_of=self.hearing.as_of,
            now=now,
            trouble=self.trouble.short if self.trouble else None,
            others=self.vigil.others,
            is_elsewhere=situation.is_elsewhere,
            is_loading=not self.stage.is_open,
            is_past=self.hearing.is_past,
            code=self.code_words,
        )
        is_built_in = self.stage.runner_id == REHEARSAL and self.stage.agent_id is None
        title = f"{runner} (built in, no key)" if is_built_in else runner
        main.trouble.attempt(main.trouble.show, self.trouble)
        main.prompt.attempt(main.prompt.show, situation, runner=title, turn=working[1].turn if working else 0)
        if (cover := self.cover) is not None:
            cover.attempt(cover.tick, situation)
        else:
            main.footer.keys = self.keys_at(main.keys_of, situation, main.footer.content_size.width)

    def keys_at(self, where: str, now: Situation, width: int) -> Sequence[FooterKey]:
        """What the line at the bottom shows; under a dialog, its own keys and what is heard there, too."""
        commands, top = self.commands, self.screen_stack[-1] if self.screen_stack else None  # at the very end
        own = [FooterKey(key, words, "") for key, words in getattr(top, "own_keys", ())]
        if isinstance(top, ModalScreen):
            where, commands = "app", [command for command in commands if command.id in AT_ALL_TIMES]
        room = width - sum(key.width + GAP_COLUMNS for key in own)
        return [*own, *footer_keys(where, now, room, partial(self.why_not, now=now), commands)]

    def _opened_on(self) -> str:
        return self._opening.runner or (self._opening.target.name if self._opening.target else "")

    # Saying and doing

    def do(self, act: Awaitable[Any], said: str = "") -> None:
        """Carry something out; what goes wrong is told in words, and nothing else happens."""

        due = ClosingAwaitable(act)

        async def carry_out() -> None:
            try:
                await due
            except Exception as error:  # noqa: BLE001  (an act that failed must not take the screen with it)
                self.tell(words_of(error), severity="error")
            else:
                if said:
                    self.tell(said)

        self.run_worker(carry_out, exit_on_error=False)

    def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None:
        """A toast; what a runner wrote is only ever text. What stands there already is not said again."""
        sign = {"error": "failed", "warning": "lost"}.get(severity)
        cut = one_line(words, min(400, self.size.width * self.size.height // 4))  # more would have no room
        said = f"{GLYPHS[sign]} {cut}" if sign else cut
        if not any(toast.message == said for toast in self._notifications):
            self.notify(said, severity=severity, timeout=seconds, markup=False)

    def hush(self, said: Collection[str]) -> None:
        """Take the toasts away that say this."""
        for toast in [each for each in self._notifications if any(words in each.message for words in said)]:
            self._unnotify(toast)

    def why_not(self, command: Command, now: Situation | None = None) -> str | None:
        """Why a command cannot be carried out now: for the sake of the run, or of what its pane shows."""
        cover = self.cover
        if cover is not None and not command.over_screens and not cover.owns(command.where):
            name = f"{command.label[:1].upper()}{command.label[1:]}"
            return f"{name} speaks of the panes underneath; esc goes back to them"
        opened = [f"app.{each.opened_by or each.place}" for each in self.screen_stack if isinstance(each, FullScreen)]
        if command.id in opened:
            return "this is it; esc leads back" if command.id == opened[-1] else "it lies underneath; esc leads to it"
        pane = cover if cover is not None and cover.owns(command.where) else self.main.panes.get(command.where)
        return command.why_not(now or self.situation) or (pane.why_not(command.what) if pane is not None else None)

    def can(self, command_id: str) -> bool:
        """Whether a command can be carried out now; says why not."""
        why = self.why_not(BY_ID[command_id])
        if why is not None:
            self.tell(why, severity="warning")
        return why is None

    # Commands

    async def action_perform(self, command_id: str) -> None:
        """Carry out a command of the table, wherever the focus is: the palette and the footer do."""
        command, main = BY_ID[command_id], self.main
        if not self.can(command_id):
            return
        cover = self.cover
        if cover is not None and cover.owns(command.where):
            await self.run_action(action_of(command), cover)
            return
        pane = main.panes.get(command.where)
        if pane is not None and not pane.is_on_screen:
            main.go_to(command.where)
        line = main.line if main.keys_of == command.where else None
        await self.run_action(action_of(command), pane or line or (self if command.where == "app" else main))

    def action_help(self) -> None:
        from console.ui.help.screen import Help  # noqa: PLC0415

        self.push_screen(Help((self.cover or self.main).where(), self.commands))

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:  # noqa: ARG002  (Textual's)
        """The palette: every command of the table that has a name there, also those that are not possible now."""
        for command in COMMANDS:
            if command.palette:
                why = self.why_not(command)
                said = with_keys(command.help) if why is None else f"not now: {one_line(why)}"
                # Textual reads a string as markup, and a reason may name what a runner wrote.
                yield SystemCommand(
                    command.palette, cast("str", Content(said)), partial(self.action_perform, command.id)
                )

    def action_zoom(self) -> None:
        if self.can("app.zoom"):
            self.main.zoom()

    def action_rail(self) -> None:
        if self.can("app.rail"):
            self.main.slide_rail()

    def action_time_mode(self) -> None:
        self.main.stream.action_time()

    def action_queue(self) -> None:
        if self.can("app.queue"):
            self.main.show_pane("chat")
            self.main.queue.enter_from_below()

    def action_ascii(self) -> None:
        """All that is drawn in plain letters, or no longer."""
        self.use_letters(is_ascii=not self.is_ascii)
        self.keep_letters(is_ascii=self.is_ascii)

    @property
    def is_ascii(self) -> bool:
        return self._ascii_filter.enabled

    def use_letters(self, *, is_ascii: bool) -> None:
        """Switch ASCII mode on or off and draw every screen again."""
        self._ascii_filter.enabled = is_ascii
        for screen in self.screen_stack:
            for widget in screen.walk_children(Widget, with_self=True):
                widget.notify_style_update()  # lines that are kept were drawn through the other filter
                widget.refresh()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's own, and the one that leaves nothing but ASCII."""
        return [*super().get_line_filters(), *([self._ascii_filter] if self._ascii_filter.enabled else [])]

    def action_new_session(self) -> None:
        if self.can("app.new_session"):
            self.stage.new_session()
            self.do(self.hearing.enter(self.stage.session))

    def action_escape(self) -> None:
        """One rung back; at the foot of the ladder, twice within a moment stops the run."""
        if (cover := self.cover) is not None:
            cover.step_back()
        elif step_back(self.main):
            self._escaped_at = 0
        elif self.hearing.is_past:
            self.do(self.hearing.go_to_the_last_run())
        elif self.situation.is_running:
            now = self.stage.engine.now()
            if now - self._escaped_at < TWICE or self.situation.is_stopping:
                self._escaped_at = 0
                self.action_stop()
            else:
                self._escaped_at = now
                self.tell("esc again to stop", severity="warning", seconds=TWICE / 1_000_000)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """If pause and continue share their key, leave the key to the one that fits the run."""
        if action in ("pause", "continue_run"):
            keys = {command.id: set(command.keys.split(",")) for command in self.commands}
            is_shared = bool(keys["app.pause"] & keys["app.continue"])
            return not is_shared or (action == "continue_run") == self.situation.is_paused
        return super().check_action(action, parameters)

    async def _dispatch_action(self, namespace: DOMNode, action_name: str, params: Any) -> bool:
        """What goes wrong in an action is the failure of the pane whose action it is, or else of who raised it."""
        try:
            return await super()._dispatch_action(namespace, action_name, params)
        except Exception as error:  # noqa: BLE001  (it must not become the failure of who pressed the key)
            if not contain_failure(error, self, namespace):
                self._handle_exception(error)
            return True
