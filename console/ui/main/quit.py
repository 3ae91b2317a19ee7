"""The end of the console: by the user, by a signal, or by a failure. Unsent text survives all of them."""

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Final

from console.model.commands.key_labels import key_of
from console.model.text.units import number
from console.ui.prompt.controller import discard_output
from console.ui.shared.crash_guard import FailureReport

if TYPE_CHECKING:
    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.composer.controller import ComposerController
    from console.ui.prompt.controller import PromptController
    from console.ui.prompt.drafts import DraftKeeper
    from console.ui.sessions.delete import SessionDeleter
    from console.ui.shared.services import AppServices

QUIT_AT_ONCE: Final = "Quit without waiting. Runs that were in progress are closed when the database is opened again."
SLOW_SECONDS: Final = 0.5
"""Seconds after which a dialog shows what quitting waits for."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class QuitController:
    """Quits the app after its unsaved work is dealt with."""

    def __init__(
        self,
        app: "App[None]",
        services: "AppServices",
        active_session: "ActiveSession",
        drafts: "DraftKeeper",
        deleter: "SessionDeleter",
        composer: "ComposerController",
        prompt: "PromptController",
    ) -> None:
        self._app = app
        self._services = services
        self._session = active_session
        self._drafts = drafts
        self._deleter = deleter
        self._composer = composer
        self._prompt = prompt
        self._closing: asyncio.Task[None] | None = None
        self.is_quitting = False
        """The engine is being closed; the console ends after it."""
        self.is_at_once = False
        """The user did not want to wait for the engine."""
        self.crash: FailureReport | None = None
        """The failure that ended the console."""
        self.exit_messages: tuple[str, ...] = ()
        """Printed after the screen is closed."""

    # By the user

    async def action_quit(self) -> None:
        if self.is_quitting:
            self._quit_at_once()
            return
        losses = await self._losses()
        if not losses:
            self._quit(True)
            return
        from console.ui.shared.dialog import QuitQuestion  # noqa: PLC0415

        text = f"{losses}\nQuit? {key_of('app.quit')} again quits too."
        self._services.push_screen(QuitQuestion(text, "Quit"), self._quit)

    def action_help_quit(self) -> None:
        """Explain ctrl+c, which copies only if text is selected."""
        self._services.show_toast(f"{key_of('app.quit')} quits; ^c copies selected text.")

    def _quit(self, sure: bool | None) -> None:
        if sure and not self.is_quitting:
            self.is_quitting = True
            self._drafts.save(is_forced=True)
            self._app.run_worker(self._close_and_exit, exit_on_error=False)

    async def _close_and_exit(self) -> None:
        """Close the engine while the screen can still show what that waits for: a run, or the database."""
        slow = self._app.set_timer(SLOW_SECONDS, self._show_progress)
        try:
            await self.close_engine()
        finally:
            slow.stop()
            self._app.exit()

    def _show_progress(self) -> None:
        from console.ui.main.quit_progress import QuitProgress  # noqa: PLC0415

        self._services.push_screen(QuitProgress(self._progress_text))

    def _progress_text(self) -> str:
        problem = self._session.engine.write_error
        what = "the run to end" if problem is None and self._services.updater.count_runs_here() else "the database"
        text = f"Quitting: waiting for {what}…"
        return text if problem is None else f"{text}\n{problem}"

    def _quit_at_once(self) -> None:
        """Wait no longer. The next process that opens the database cleans up."""
        self._drafts.save(is_forced=True)
        self.is_at_once = True
        self.exit_messages = (*self.exit_messages, QUIT_AT_ONCE)
        self._app.exit()

    async def close_engine(self) -> None:
        """Close the engine, which purges the deleted sessions, once. Does not wait if the user quits at once."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close_engine())
        if not self.is_at_once:
            await asyncio.shield(self._closing)

    async def _close_engine(self) -> None:
        self.exit_messages = (*self.exit_messages, *await self._deleter.finish())
        await self._session.close()

    async def _losses(self) -> str:
        """Describe what quitting now would stop or lose; empty if nothing."""
        updater, unsent = self._services.updater, self._drafts.unsent
        runs, queued = updater.count_runs_here(), await updater.count_queued_here()
        undelivered = f"{number(queued, 'queued message')} will not be delivered, and can be sent again later"
        parts: list[str] = []
        if runs:
            stops = (
                "A run is in progress. Quitting stops it"
                if runs == 1
                else f"{runs} runs are in progress. Quitting stops them"
            )
            parts.append(f"{stops}; {undelivered}." if queued else f"{stops}.")
        elif queued:
            parts.append(f"{undelivered}.")
        parts += [screen.unsaved_warning for screen in reversed(self._services.full_screens) if screen.unsaved_warning]
        if self._composer.has_unsent_draft:
            parts.append("The event draft will be lost.")
        if unsent and not self._drafts.is_open:
            parts.append("The text in the prompt will be lost.")
        elif unsent and parts:
            parts.append("The text in the prompt is saved.")
        return "\n".join(parts)

    # By a signal

    def handle_signals(self) -> None:
        """Quit in order when the system or another program asks for it."""
        for number_ in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number_, self._quit_by_signal, number_)

    def _quit_by_signal(self, received: signal.Signals) -> None:
        if received is signal.SIGINT and self._prompt.is_editor_open:
            return  # ctrl+c was pressed in the editor
        self._drafts.save(is_forced=True)
        if self._app._exit or self.is_quitting:  # noqa: SLF001
            os._exit(128 + received)  # the second signal: wait for nothing
        driver = self._app._driver  # noqa: SLF001
        if received is signal.SIGHUP and driver is not None:
            # The terminal is gone: writing to it would block for ever.
            setattr(driver, "write", discard_output)  # noqa: B010
        self._app.exit(return_code=128 + received)

    # By a failure

    def report_crash(self, error: Exception) -> None:
        """Save the draft and write a report of the failure that ends the console. Only the first counts."""
        if self.crash is not None:
            return
        from console.ui.shared.crash_report import crash_messages, write_crash_report  # noqa: PLC0415

        self.crash = FailureReport.of("The console", error)
        self._drafts.save(is_forced=True)
        database = self._session.engine.database_path if self._session.is_open else None
        report = write_crash_report(self.crash, database, self._session.session_id)
        self.exit_messages = crash_messages(self.crash, report, has_draft=bool(self._drafts.unsent))
