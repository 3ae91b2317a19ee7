"""The ways out of the console: a person's, a signal's, a fault's. What was typed and not sent outlives them all."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import WeakSet

from textual._context import active_message_pump
from textual.screen import Screen
from textual.widgets import TextArea

from console.data.prompt_drafts import Draft, PromptDrafts
from console.model.commands.key_labels import key_of
from console.model.text.safe import one_line
from console.ui.shared.crash_guard import FailureReport, ScreenFailed, contain_failure
from console.ui.shared.full_screen import FullScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater
    from console.ui.prompt.prompt import Prompt
    from console.ui.sessions.delete import Parting

    _App = App[None]
else:
    _App = object

FIRST_WORDS: Final = "Plan a day in Kyoto"
"""What a newcomer finds in the prompt: nobody typed it, so nobody misses it."""
AT_ONCE: Final = "left at once: what could not be written yet is settled when you open it again."
SLOW: Final = 0.5
"""Seconds after which it is said what is waited for."""
SOON: Final = 0.5
"""Seconds after which what was typed is in the file."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class QuitController(_App):
    """The part of the app that ends it."""

    stage: "ActiveSession"
    main: "MainScreen"
    drafts: PromptDrafts | None = None
    crash: FailureReport | None = None
    """What broke the console."""
    is_leaving = False
    """The engine is being closed, and then the console is."""
    leaves_at_once = False
    """Someone did not want to wait for it."""
    _letting_go: "asyncio.Task[None] | None" = None
    broken: tuple[FailureReport, ...] = ()
    """Dialogs and other screens that failed and were closed."""
    last_words: tuple[str, ...] = ()
    """What is said when the terminal is a terminal again."""
    _is_draft_old = False
    _abandoned: ClassVar[WeakSet[Screen[Any]]] = WeakSet()
    """Those of them that may still be on their way out."""
    is_away: bool
    early: "list[Prompt.Submitted]"
    sending: list[str]

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        @property
        def has_begun_event(self) -> bool: ...
        @property
        def parting(self) -> "Parting": ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...

    # What was typed

    @property
    def unsent(self) -> str:
        """All that was typed and is not on disk yet."""
        typed = self.main.prompt.unsent_text
        parts = [*self.sending, *(said.typed for said in self.early), "" if typed == FIRST_WORDS else typed]
        return "\n".join(filter(None, parts))

    def begin_drafts(self) -> None:
        """Give back what a process before this one could not send, and keep from now on what is typed here."""
        self.drafts = PromptDrafts(self.stage.engine.database_path)
        if (kept := self.drafts.take()) is not None:
            self.main.prompt.attachments.restore(kept.text, kept.files)
            self.do(self._tell_of_draft(kept.session))
        self.set_interval(SOON, self.keep_draft)

    async def _tell_of_draft(self, session: str) -> None:
        """That it is back, and from where: one session's words are seldom meant for another."""
        from console.data.session_names import names_of  # noqa: PLC0415
        from console.model.text.units import has_name  # noqa: PLC0415  (few come back to anything)

        said, whose = "what was typed and not sent the last time is in the prompt again", ""
        if session and session != self.stage.session:
            named = (await names_of(self.stage.engine, [session])).get(session)
            whose = named or (session if has_name(session, None) else "")
        self.tell(f"{said}; it was typed in the session “{one_line(whose, 60)}”" if whose else said)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._is_draft_old = self._is_draft_old or event.text_area is self.main.prompt

    def keep_draft(self, *, at_once: bool = False) -> None:
        """Put what was typed since the last time into its file."""
        if self.drafts is not None and (self._is_draft_old or self.sending or at_once):
            self._is_draft_old = bool(self.sending)
            files = self.main.prompt.attachments.tokens.files_in(self.unsent)
            self.drafts.keep(Draft(self.unsent, files, self.stage.session))

    # A person's way

    async def action_quit(self) -> None:
        if self.is_leaving:
            self._leave_now()
            return
        loss = await self._loss()
        if not loss:
            self._leave(True)
            return
        from console.ui.shared.dialog import Leave  # noqa: PLC0415

        self.push_screen(Leave(f"{loss}\nLeave? {key_of('app.quit')} again leaves, too.", "Leave"), self._leave)

    def _leave(self, sure: bool | None) -> None:
        if sure and not self.is_leaving:
            self.is_leaving = True
            self.keep_draft(at_once=True)
            self.run_worker(self._take_leave, exit_on_error=False)

    async def _take_leave(self) -> None:
        """Let go of the engine as long as something can be said: it may have to wait for a run, or for the database."""
        slow = self.set_timer(SLOW, self._say_what_is_waited_for)
        try:
            await self.let_go()
        finally:
            slow.stop()
            self.exit()

    def _say_what_is_waited_for(self) -> None:
        from console.ui.main.quit_progress import QuitProgress  # noqa: PLC0415

        self.push_screen(QuitProgress(self._waited_for))

    def _waited_for(self) -> str:
        """What there is to know of it by now."""
        hindrance = self.stage.engine.write_error
        what = "the run to end" if hindrance is None and self.hearing.working_here() else "the database"
        said = f"Leaving: waiting for {what}…"
        return said if hindrance is None else f"{said}\n{hindrance}"

    def _leave_now(self) -> None:
        """Wait no longer; what is not written yet is settled by whoever opens the database next."""
        self.keep_draft(at_once=True)
        self.leaves_at_once = True
        self.last_words = (*self.last_words, AT_ONCE)
        self.exit()

    async def let_go(self) -> None:
        """Finish what was begun and close the engine, once; there is no waiting where it must be at once."""
        if self._letting_go is None:
            self._letting_go = asyncio.ensure_future(self._finish())
        if not self.leaves_at_once:
            await asyncio.shield(self._letting_go)

    async def _finish(self) -> None:
        self.last_words = (*self.last_words, *await self.parting.finish())
        await self.stage.close()

    async def _loss(self) -> str:
        """What would be lost by leaving now; empty where nothing would."""
        working, waiting = self.hearing.working_here(), await self.hearing.waiting_here()
        parts: list[str] = []
        if working:
            parts.append("A run is at work: it is stopped." if working == 1 else f"{working} runs are stopped.")
        if waiting:
            what = "1 message waits: it is" if waiting == 1 else f"{waiting} messages wait: they are"
            parts.append(f"{what} dropped, not said.")
        parts += [screen.unkept for screen in self.screen_stack if isinstance(screen, FullScreen) and screen.unkept]
        if self.has_begun_event:
            parts.append("The event draft will be lost.")
        if self.drafts is None and self.unsent:
            parts.append("What is in the prompt is not kept.")
        elif parts and self.unsent:
            parts.append("What is in the prompt is kept.")
        return "\n".join(parts)

    def action_help_quit(self) -> None:
        """ctrl+c, where nothing is marked that could be copied."""
        self.tell(f"{key_of('app.quit')} quits; ^c copies what is marked")

    # A signal's way

    def heed_signals(self) -> None:
        """End in order where the system or another program asks for it."""
        for one in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(one, self._leave_by, one)

    def _leave_by(self, one: signal.Signals) -> None:
        if one is signal.SIGINT and self.is_away:
            return  # it was meant for the program that has the terminal
        self.keep_draft(at_once=True)
        if self._exit or self.is_leaving:
            os._exit(128 + one)  # asked twice: whatever it waits for, it waits no longer
        if one is signal.SIGHUP and self._driver is not None:
            # There is no terminal any more: who writes to it waits for ever.
            setattr(self._driver, "write", _nowhere)  # noqa: B010
        self.exit(return_code=128 + one)

    # A fault's way

    def _handle_exception(self, error: Exception) -> None:
        """Textual comes here with whatever nobody caught. A pane says so, a dialog is closed; all else is the end."""
        if contain_failure(error, self, active_message_pump.get(None)):
            return
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        if self.crash is None:
            self.crash = FailureReport.of("The console", error)
            self.keep_draft(at_once=True)
            self.last_words = _last_words(self.crash, self._write_report(self.crash), is_typed=bool(self.unsent))
        self._close_messages_no_wait()

    def on_screen_failed(self, event: ScreenFailed) -> None:
        """Close it, and what was opened over it; whoever waits for its answer gets none."""
        screen, failure = event.screen, FailureReport.of(type(event.screen).__name__, event.error)
        if screen in self._abandoned:
            return  # what follows from the first failure says nothing new
        self._abandoned.add(screen)
        self.broken = (*self.broken, failure)
        while screen in self.screen_stack and self.screen is not screen:
            self.pop_screen()
        if self.screen is screen:
            screen.dismiss(None)
        what = getattr(screen, "heading", "the dialog")
        self.tell(f"{what} failed and is closed: {failure.words} · {key_of('app.report')}", severity="error")

    def _write_report(self, crash: FailureReport) -> Path | None:
        import tempfile  # noqa: PLC0415

        name = f"crash-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
        places = [Path(tempfile.gettempdir()) / f"trackside-{name}"]
        if self.stage.is_open:
            database = self.stage.engine.database_path
            places.insert(0, database.with_name(f"{database.name}.{name}"))
        for place in places:
            try:
                place.write_text(crash.report, encoding="utf-8")
            except OSError:
                continue
            return place
        return None


def _last_words(crash: FailureReport, report: Path | None, *, is_typed: bool) -> tuple[str, ...]:
    kept = " What you had typed comes back when you open it again." if is_typed else ""
    where = f"the full report is in {report}." if report else "no report could be written."
    return (f"the console broke ({crash.words}). What was recorded is kept.{kept}", where)


def _nowhere(data: str) -> None:
    pass
