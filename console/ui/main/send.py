"""Sends the messages of the prompt, in the order in which they were submitted."""

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Final

from console.data.health import error_text
from engine.events import Mode

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.model.queue.items import QueueRow
    from console.ui.main.screen import MainScreen
    from console.ui.prompt.prompt import Prompt
    from console.ui.sessions.controller import SessionsController
    from console.ui.shared.services import AppServices

SLOW_SECONDS: Final = 0.3
"""Seconds after which the queue shows that a message is being sent; mostly sending is faster."""


class MessageSender:
    """Holds the messages that are not on disk yet."""

    def __init__(
        self,
        services: "AppServices",
        active_session: "ActiveSession",
        main: "MainScreen",
        sessions: "SessionsController",
    ) -> None:
        self._services = services
        self._session = active_session
        self._main = main
        self._sessions = sessions
        self.early: list[Prompt.Submitted] = []
        """Messages submitted before the engine was open."""
        self.sending: list[str] = []
        """The texts, as typed, of messages that are being sent."""
        self._sending_since = 0.0
        self._order = asyncio.Lock()

    def submit(self, message: "Prompt.Submitted") -> None:
        """Send a message, resend a dropped one, or change the text of a queued one."""
        run = self._services.run_in_background
        if self._services.updater.is_dropped(message.item_id):
            run(self._send(message, dropped=message.item_id))
        elif message.item_id is not None:
            run(self._edit(message.item_id, message.text))
        elif self._session.is_open:
            run(self._send(message))
        else:
            self.early.append(message)
            problem = self._services.health.problem
            if problem is None or problem.is_temporary:
                self._main.queue.items = self.slow_rows()
            else:
                self.return_early_messages()

    def return_early_messages(self) -> None:
        """Put early messages back into the prompt: waiting does not help, and the screen shows why."""
        if self.early:
            problem = self._services.health.problem
            cause = problem.short if problem is not None else "the engine cannot be opened"
            text = f"Not sent: {cause.rstrip('.')}. The message is in the prompt again."
            self._services.show_toast(text, severity="warning")
        while self.early:
            self._main.prompt.restore_text(self.early.pop().typed)
        self._main.queue.items = ()

    async def send_early_messages(self) -> None:
        """Send the early messages, now that the engine is open."""
        while self.early:
            try:
                await self._send(self.early.pop(0))
            except Exception as error:  # noqa: BLE001  (it is back in the prompt, and the next one is sent)
                self._services.show_toast(error_text(error), severity="error")

    def slow_rows(self) -> "tuple[QueueRow, ...]":
        """Rows of the queue pane for messages that are not on disk: early ones, and slow ones."""
        from console.model.queue.items import sending_rows  # noqa: PLC0415  (not before the first frame)

        early = sending_rows((message.typed for message in self.early), "as soon as the engine is open")
        if not self.sending or monotonic() - self._sending_since < SLOW_SECONDS:
            return early
        problem = self._services.health.problem
        return (*sending_rows(self.sending, "not on disk yet" if problem is None else problem.short), *early)

    async def _send(self, message: "Prompt.Submitted", *, dropped: str | None = None) -> None:
        """Send a message. If that fails, it returns to the prompt."""
        from console.data.errors import SessionDeleted  # noqa: PLC0415  (loads the engine)

        if not self.sending:
            self._sending_since = monotonic()
        self.sending.append(message.typed)
        updater = self._services.updater
        target, continues = self._session.message_target, updater.has_messages
        try:
            async with self._order:
                if self._session.session_id == target.session_id and updater.active_run is None:
                    updater.go_live()  # a user who starts a run wants to see it
                ticket = await self._session.send(
                    message.text,
                    target,
                    after=message.mode == Mode.AFTER,
                    continues=continues,
                    files=message.files,
                    dropped=dropped,
                )
        except SessionDeleted:
            self._main.prompt.restore_text(message.typed)
            ticket = None
        except Exception:
            self._main.prompt.restore_text(message.typed)
            raise
        finally:
            self.sending.remove(message.typed)
        if ticket is None:
            await self._leave_deleted_session(target.session_id)
            return
        updater.refresh("queue")
        if ticket.item_id is not None and ticket.claimed_by is None and ticket.not_claimed_reason:
            self._services.show_toast(f"Queued until the run ends: {ticket.not_claimed_reason}")

    async def _leave_deleted_session(self, session_id: str) -> None:
        if session_id == self._session.session_id:
            await self._sessions.leave_deleted_session()
        else:
            text = "Not sent: the session was deleted in another process. The message is in the prompt again."
            self._services.show_toast(text, severity="warning")

    async def _edit(self, item_id: str, text: str) -> None:
        try:
            await self._session.engine.queue.edit(item_id, text)
        except Exception:
            self._main.prompt.restore_text(text)
            raise
        finally:
            self._services.updater.refresh("queue")
