"""The ways out of the console: a person's, a signal's, a fault's. What was typed and not sent outlives them all."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from textual.widgets import TextArea

from console.drafts import Drafts
from console.model.failure import Failure
from console.widgets.guard import pane_to_blame

if TYPE_CHECKING:
    from textual.app import App

    from console.hearing import Hearing
    from console.screens.main import Main
    from console.stage import Stage

    _App = App[None]
else:
    _App = object

FIRST_WORDS: Final = "Plan a day in Kyoto"
"""What a newcomer finds in the prompt: nobody typed it, so nobody misses it."""
SOON: Final = 0.5
"""Seconds after which what was typed is in the file."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Leaving(_App):
    """The part of the app that ends it."""

    stage: "Stage"
    main: "Main"
    drafts: Drafts | None = None
    crash: Failure | None = None
    """What broke the console."""
    last_words: tuple[str, ...] = ()
    """What is said when the terminal is a terminal again."""
    _is_draft_old = False
    early: list[tuple[str, str]]
    sending: list[str]

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "Hearing": ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...

    # What was typed

    @property
    def unsent(self) -> str:
        """All that was typed and is not on disk yet."""
        typed = self.main.prompt.unsent
        parts = [*self.sending, *(text for text, _ in self.early), "" if typed == FIRST_WORDS else typed]
        return "\n".join(filter(None, parts))

    def begin_drafts(self) -> None:
        """Give back what a process before this one could not send, and keep from now on what is typed here."""
        self.drafts = Drafts(self.stage.engine.database_path)
        if (text := self.drafts.take()) is not None:
            self.main.prompt.give_back(text)
            self.tell("what was typed and not sent the last time is in the prompt again")
        self.set_interval(SOON, self.keep_draft)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._is_draft_old = self._is_draft_old or event.text_area is self.main.prompt

    def keep_draft(self, *, at_once: bool = False) -> None:
        """Put what was typed since the last time into its file."""
        if self.drafts is not None and (self._is_draft_old or self.sending or at_once):
            self._is_draft_old = bool(self.sending)
            self.drafts.keep(self.unsent)

    # A person's way

    async def action_quit(self) -> None:
        loss = await self._loss()
        if not loss:
            self.exit()
            return
        from console.screens.question import Leave  # noqa: PLC0415

        self.push_screen(Leave(f"{loss}\nLeave? ^q again leaves, too.", "Leave"), self._leave)

    def _leave(self, sure: bool | None) -> None:
        if sure:
            self.exit()

    async def _loss(self) -> str:
        """What would be lost by leaving now; empty where nothing would."""
        working, waiting = self.hearing.working_here(), await self.hearing.waiting_here()
        parts: list[str] = []
        if working:
            parts.append("A run is at work: it is stopped." if working == 1 else f"{working} runs are stopped.")
        if waiting:
            what = "1 message waits: it is" if waiting == 1 else f"{waiting} messages wait: they are"
            parts.append(f"{what} dropped, not said.")
        if self.drafts is None and self.unsent:
            parts.append("What is in the prompt is not kept.")
        elif parts and self.unsent:
            parts.append("What is in the prompt is kept.")
        return "\n".join(parts)

    def action_help_quit(self) -> None:
        """ctrl+c, where nothing is marked that could be copied."""
        self.tell("^q quits; ^c copies what is marked")

    # A signal's way

    def heed_signals(self) -> None:
        """End in order where the system or another program asks for it."""
        for one in _SIGNALS:
            asyncio.get_running_loop().add_signal_handler(one, self._leave_by, one)

    def _leave_by(self, one: signal.Signals) -> None:
        self.keep_draft(at_once=True)
        if self._exit:
            os._exit(128 + one)  # asked twice: whatever it waits for, it waits no longer
        if one is signal.SIGHUP and self._driver is not None:
            # There is no terminal any more: who writes to it waits for ever.
            setattr(self._driver, "write", _nowhere)  # noqa: B010
        self.exit(return_code=128 + one)

    # A fault's way

    def _handle_exception(self, error: Exception) -> None:
        """Textual comes here with whatever nobody caught. In a pane it is the pane's; all else ends the console."""
        pane = pane_to_blame(error)
        if pane is not None:
            pane.fail(error)
            return
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        if self.crash is None:
            self.crash = Failure.of("The console", error)
            self.keep_draft(at_once=True)
            self.last_words = _last_words(self.crash, self._write_report(self.crash), is_typed=bool(self.unsent))
        self._close_messages_no_wait()

    def _write_report(self, crash: Failure) -> Path | None:
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


def _last_words(crash: Failure, report: Path | None, *, is_typed: bool) -> tuple[str, ...]:
    kept = " What you had typed comes back when you open it again." if is_typed else ""
    where = f"the full report is in {report}." if report else "no report could be written."
    return (f"the console broke ({crash.words}). What was recorded is kept.{kept}", where)


def _nowhere(data: str) -> None:
    pass
