"""The console: draws the first frame, opens the engine after it, then shows new entries 30 times a second."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, cast

from textual._context import active_message_pump
from textual.app import SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen

from console.data.active_session import RETRY_SECONDS, ActiveSession, OpenEngine
from console.data.health import HealthMonitor
from console.launch import LaunchOptions
from console.model.commands.key_labels import with_keys
from console.model.commands.situation import Situation
from console.model.commands.table import BY_ID, COMMANDS
from console.model.run.headline import Headline
from console.model.text.safe import one_line
from console.model.text.units import session_name, who_runs
from console.ui.artifacts.controller import ArtifactsController
from console.ui.composer.controller import ComposerController
from console.ui.help.controller import HelpController
from console.ui.inspector.controller import InspectorController
from console.ui.main.controllers import Controllers
from console.ui.main.escape import EscapeKey
from console.ui.main.failures import FailureController
from console.ui.main.layout import LayoutController
from console.ui.main.quit import QuitController
from console.ui.main.run_control import RunControl
from console.ui.main.screen import MainScreen
from console.ui.main.send import MessageSender
from console.ui.preferences.controller import PreferencesController
from console.ui.prompt.controller import PromptController
from console.ui.prompt.drafts import FIRST_MESSAGE, SAVE_SECONDS, DraftKeeper
from console.ui.queue.controller import QueueController
from console.ui.runners.code_watch import CodeWatcher
from console.ui.runners.controller import RunnersController
from console.ui.sessions.controller import SessionsController
from console.ui.sessions.delete import SessionDeleter
from console.ui.settings_form.controller import SettingsFormController
from console.ui.shared.bindings import action_of, bindings_for
from console.ui.shared.clipboard import Clipboard
from console.ui.shared.crash_guard import ActionGuard, MessageGuard, PaneGuard, ScreenFailed, contain_failure
from console.ui.shared.services import AppServices
from console.ui.state.controller import StateController
from console.ui.stream.controller import StreamController
from console.ui.terminal.ascii_filter import AsciiFilter
from console.ui.terminal.key_order import KeyOrder
from console.ui.terminal.paste import OneLinePaste, use_whole_pastes

TICK_SECONDS: Final = 1 / 30
GC_THRESHOLDS: Final = (5_000, 5, 200)
"""Full collections are rare, because drawing makes much short-lived garbage and a full collection drops a frame.
Those of the middle generation are frequent, so that each is short."""
REHEARSAL: Final = "plugin:trackside/rehearsal/default"
_UI: Final = Path(__file__).parent / "ui"


class Trackside(MessageGuard, ActionGuard, KeyOrder, OneLinePaste):
    """The composition root: creates the controllers, starts, ticks and ends."""

    TITLE = "trackside"
    CSS_PATH = [_UI / "main" / "main.tcss", _UI / "shared" / "textual_widgets.tcss"]  # noqa: RUF012  (as Textual has it)
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("app")

    def __init__(self, options: LaunchOptions, open_engine: OpenEngine | None = None) -> None:
        super().__init__()
        self._options = options
        self._ascii_filter = AsciiFilter(enabled=options.ascii_only or options.preferences.is_ascii)
        self.active_session = ActiveSession(options, open_engine)
        self.health = HealthMonitor(self.active_session)
        self.main = MainScreen()
        self.services = AppServices(self, self.active_session, self.main, self.health)
        self.controllers = self._make_controllers()
        self.main.connect(self.controllers)
        self.controllers.preferences.apply(options.preferences)

    def _make_controllers(self) -> Controllers:
        services, session, main = self.services, self.active_session, self.main
        clipboard = Clipboard(self, services)
        deleter = SessionDeleter(services, session)
        sessions = SessionsController(services, session, main, deleter, clipboard)
        sender = MessageSender(services, session, main, sessions)
        drafts = DraftKeeper(services, session, main.prompt, sender)
        prompt = PromptController(self, services, session, main)
        composer = ComposerController(services, session, main, sessions)
        run_control = RunControl(services, session)
        runners = RunnersController(services, session, main)
        return Controllers(
            services=services,
            clipboard=clipboard,
            sender=sender,
            drafts=drafts,
            prompt=prompt,
            queue=QueueController(services, session, main),
            run_control=run_control,
            escape=EscapeKey(services, session, main, run_control),
            layout=LayoutController(services, main),
            stream=StreamController(services, session, main, clipboard),
            inspector=InspectorController(services, main),
            sessions=sessions,
            deleter=deleter,
            state=StateController(services, session, clipboard),
            composer=composer,
            artifacts=ArtifactsController(services, session, clipboard),
            runners=runners,
            code_watch=CodeWatcher(services, session, runners),
            settings_form=SettingsFormController(services, session, runners),
            preferences=PreferencesController(self, services, self._ascii_filter),
            help=HelpController(services, main),
            failures=FailureController(self, services, session, main, clipboard),
            quit=QuitController(self, services, session, drafts, deleter, composer, prompt),
        )

    # Start

    def get_default_screen(self) -> MainScreen:
        self.main.set_size_classes(self.size)
        return self.main

    def get_driver_class(self) -> type[Driver]:
        return use_whole_pastes(super().get_driver_class())

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *([self._ascii_filter] if self._ascii_filter.enabled else [])]

    def on_mount(self) -> None:
        self._show_first_frame()
        if not self.is_headless:
            self.controllers.quit.handle_signals()
        self.call_after_refresh(self.services.run_in_background, self._start())

    async def _start(self) -> None:
        session, controllers = self.active_session, self.controllers
        await self.main.mount_panes()
        self._show()
        while not await self._open_engine():
            gc.enable()
            self._show()
            await asyncio.sleep(session.retry_seconds)
        controllers.drafts.open()
        self.set_interval(SAVE_SECONDS, controllers.drafts.save)
        gc.collect()
        gc.freeze()  # objects of the start stay: later collections need not look at them
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()
        self.set_interval(TICK_SECONDS, self._tick)
        self.set_interval(RETRY_SECONDS, self._check_once_a_second)
        is_new_user = session.is_first_time and not controllers.drafts.unsent
        if controllers.sender.early:
            self.services.run_in_background(controllers.sender.send_early_messages())
        if is_new_user and session.runner_id == REHEARSAL:
            self.main.show_card(is_shown=True)
            self.main.prompt.propose(FIRST_MESSAGE)
        self._show()
        controllers.code_watch.start()
        controllers.runners.ask_if_not_ready()
        self.services.run_in_background(controllers.prompt.load_history())
        controllers.preferences.show_problems()
        for remark in session.engine.remarks:
            self.services.show_toast(remark)
        controllers.sessions.show_runner_change()
        self.services.run_in_background(self._warn_of_large_database())

    async def _warn_of_large_database(self) -> None:
        if (text := await self.health.disk_warning()) is not None:
            self.services.show_toast(text, severity="warning")

    async def _open_engine(self) -> bool:
        """Open the engine and read the session. If that fails, the screen shows why, and it is tried again."""
        try:
            if not self.active_session.is_open:
                await self.active_session.open(on_upgrade=self._show_upgrade)
            self.controllers.inspector.connect(self.active_session.engine)
            await self.services.updater.load_session()
        except Exception as error:  # noqa: BLE001  (whatever it was, the screen shows it)
            self.health.set_open_error(error)
            if self.health.problem is not None and not self.health.problem.is_temporary:
                self.controllers.sender.return_early_messages()
            return False
        self.health.set_open_error(None)
        return True

    def _show_upgrade(self) -> None:
        gc.enable()  # it was disabled for the start, and an upgrade may take minutes
        self._show()

    # Once a tick

    def _tick(self) -> None:
        if self.controllers.quit.is_quitting or self.controllers.help.is_screen_still:
            return
        self.services.updater.sending = self.controllers.sender.slow_rows()
        self.services.updater.tick(self.active_session.take_new_entries())
        self.health.update()
        self._show()

    async def _check_once_a_second(self) -> None:
        if not self.controllers.quit.is_quitting:
            await self.health.check()
            await self.controllers.sessions.check_deleted_session()

    def _show_first_frame(self) -> None:
        """Show what is known before the engine is loaded."""
        runner = self._launch_name()
        self.main.header.headline = Headline(runner, "", None, queued=0, as_of=None, now=0, is_loading=True)
        self.main.prompt.show(Situation(), runner=runner)

    def _launch_name(self) -> str:
        return self._options.runner or (self._options.target.name if self._options.target else "")

    def _show(self) -> None:
        session, updater, main, problem = self.active_session, self.services.updater, self.main, self.health.problem
        situation, view, active = self.services.situation, updater.view, updater.active_run
        runner = who_runs(session.agent_id, session.runner_id) if session.is_open else self._launch_name()
        main.header.headline = Headline(
            runner=who_runs(view.agent_id, view.runner_id) if view and view.runner_id else runner,
            session=session_name(session.session_id, updater.run_list.title, is_new=True),
            status=view.status if view else None,
            queued=sum(item.is_waiting for item in main.queue.items),
            as_of=updater.as_of,
            now=session.engine.now() if session.is_open else 0,
            trouble=problem.short if problem else None,
            others=self.health.other_pids,
            is_elsewhere=situation.is_elsewhere,
            is_loading=not session.is_open,
            upgrade_percent=session.upgrade_percent,
            is_past=updater.is_past,
            starts_before=session.engine.runs.starts_before(view.run_id) if view else None,
            code=self.controllers.code_watch.header_text,
        )
        is_built_in = session.runner_id == REHEARSAL and session.agent_id is None
        title = f"{runner} (built in, no key)" if is_built_in else runner
        main.health_line.attempt(main.health_line.show, problem, is_upgrading=session.upgrade_percent is not None)
        self.controllers.run_control.tick(situation)
        main.prompt.attempt(main.prompt.show, situation, runner=title, turn=active[1].turn if active else 0)
        if (top := self.services.full_screen) is not None:
            top.attempt(top.tick, situation)
        else:
            main.footer.keys = self.services.footer_keys(main.keys_of, situation, main.footer.content_size.width)

    # Commands

    async def action_perform(self, command_id: str) -> None:
        """Run a command of the table wherever the focus is, for the palette and the footer."""
        command, main = BY_ID[command_id], self.main
        if not self.services.check_can(command_id):
            return
        top = self.services.full_screen
        if top is not None and top.owns(command.where):
            await self.run_action(action_of(command), top)
            return
        pane = main.panes.get(command.where)
        if pane is not None and not pane.is_on_screen:
            main.go_to(command.where)
        line = main.line if main.keys_of == command.where else None
        await self.run_action(action_of(command), pane or line or (self if command.where == "app" else main))

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:  # noqa: ARG002  (Textual's)
        """The commands in the palette, also those that are not available now."""
        for command in COMMANDS:
            if command.palette:
                why = self.services.why_not(command)
                text = with_keys(command.help) if why is None else f"Not available: {one_line(why)}"
                # Textual reads a string as markup, and a reason may contain text of a runner.
                yield SystemCommand(
                    command.palette, cast("str", Content(text)), partial(self.action_perform, command.id)
                )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.controllers.run_control.has_key(action) and super().check_action(action, parameters)

    def action_owner(self, name: str) -> object:
        """The controller that has an action of the app, or the app itself."""
        return next(self.controllers.owners_of(name), self)

    # Failures and the end

    def show_paste_warning(self, text: str) -> None:
        self.services.show_toast(text, severity="warning")

    def on_pane_guard_reload(self, event: PaneGuard.Reload) -> None:
        self.controllers.failures.reload(event.pane)

    def on_pane_guard_copy_report(self, event: PaneGuard.CopyReport) -> None:
        self.controllers.failures.copy_report(event.report)

    def on_screen_failed(self, event: ScreenFailed) -> None:
        self.controllers.failures.close_screen(event)

    def _handle_exception(self, error: Exception) -> None:
        """Called by Textual with errors that nobody handled. If no pane or dialog failed, the console ends."""
        if contain_failure(error, self, active_message_pump.get(None)):
            return
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self.controllers.quit.report_crash(error)
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        self.controllers.drafts.save(is_forced=True)
        await self.controllers.quit.close_engine()
        self.controllers.drafts.release()
