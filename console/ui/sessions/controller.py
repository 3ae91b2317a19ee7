"""Opens sessions, lines and forks."""

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from console.model.commands.key_labels import key_of
from console.model.text.safe import one_line
from console.model.text.units import short_runner

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.ui.main.screen import MainScreen
    from console.ui.sessions.delete import SessionDeleter
    from console.ui.shared.clipboard import Clipboard
    from console.ui.shared.services import AppServices
    from engine.api import Hit, TranscriptLine

MAX_TITLE_CHARACTERS: Final = 60


class SessionsController:
    """Opens the session browser, and changes the active session."""

    def __init__(
        self,
        services: "AppServices",
        active_session: "ActiveSession",
        main: "MainScreen",
        deleter: "SessionDeleter",
        clipboard: "Clipboard",
    ) -> None:
        self._services = services
        self._session = active_session
        self._main = main
        self._deleter = deleter
        self._clipboard = clipboard

    def action_sessions(self) -> None:
        from console.ui.sessions.screen import SessionsScreen  # noqa: PLC0415

        if self._services.check_can("app.sessions"):
            self._services.push_screen(SessionsScreen(self._services, self, self._deleter, self._clipboard))

    def action_new_session(self) -> None:
        if self._services.check_can("app.new_session"):
            self._session.start_session()
            self._services.run_in_background(self._services.updater.enter_session(self._session.session_id))

    # Opening

    async def resume(self, session_id: str) -> None:
        """Continue a session."""
        if self._services.save_inputs():
            await self._enter(session_id)
            self.show_runner_change()

    async def _enter(self, session_id: str) -> None:
        self._services.close_full_screens()
        await self._services.updater.enter_session(session_id)
        self._main.focus_pane("chat")

    def open_from_list(self, *, session_id: str = "", run_id: str = "") -> None:
        """Open a session or a run of the list at the side."""
        self._services.run_in_background(self.resume(session_id) if session_id else self._open_run(run_id))
        self._main.close_rail()
        self._main.focus_pane("chat")

    async def _open_run(self, run_id: str) -> None:
        before, updater = self._session.session_id, self._services.updater
        await updater.open_run(run_id)
        if self._session.session_id != before and not updater.is_past:
            self.show_runner_change()  # the user opened the last run of another session and may continue it

    def show_runner_change(self) -> None:
        """Show a toast if the last run of the session used another runner than the chosen one."""
        updater, session = self._services.updater, self._session
        view = updater.view
        if view is None or session.not_ready_reason is not None or view.runner_id in (None, session.runner_id):
            return
        last, chosen = short_runner(view.runner_id or ""), session.agent_id or short_runner(session.runner_id)
        text = f"{chosen} answers the next message; the last run here used {last}"
        if updater.active_run is not None:
            text = f"A run of {last} is in progress; {chosen} answers after it"
        self._services.show_toast(f"{text} · {key_of('app.runners')} chooses")

    async def open_line(self, hit: "Hit") -> None:
        """Open the conversation at a line. A line without a run, or inherited by a fork, opens its session."""
        line, conversation = hit.line, self._main.conversation
        if line.run_id is None or hit.position is None or "forked_from" in line.metadata:
            await self.resume(line.conversation_id)
            return
        if not self._services.save_inputs():
            return
        self._services.close_full_screens()
        await self._services.updater.open_run(line.run_id, hit.position)
        self._main.go_to("conversation")
        conversation.attempt(conversation.select_entry, line.run_id, hit.position)

    async def send_again(self, run_id: str) -> None:
        """Send the input of a run again, to the same runner, in its own session."""
        if not self._services.save_inputs():
            return
        run = await self._session.engine.runs.get(run_id)
        if run.conversation_id is not None:
            await self._enter(run.conversation_id)
        await self._session.engine.runs.run_again(run_id)

    # Forking

    async def fork(self, session_id: str, line: "TranscriptLine | None" = None) -> None:
        """Continue in a copy of a session: of all of it, or up to a line."""
        from console.data.session_fork import fork  # noqa: PLC0415
        from console.data.session_names import names_of  # noqa: PLC0415

        if not self._services.save_inputs():
            return
        names = await names_of(self._session.engine, [session_id])
        forked = await fork(self._session.engine, session_id, line, names.get(session_id, ""))
        await self.resume(forked.session_id)
        if forked.text:
            self._main.prompt.restore_text(forked.text)
        text = (
            "Forked; your message is in the prompt" if forked.text else "Forked; your next message continues from here"
        )
        self._services.show_toast(f"{text}. {key_of('app.sessions')} goes back to the other session.")
        if forked.lost:
            self._services.show_toast(" ".join(forked.lost), severity="warning")

    def fork_at(self, run_id: str, position: int, *, is_inherited: bool) -> None:
        """Fork the active session at a block of the conversation."""
        self._services.run_in_background(self._fork_at(run_id, position, is_inherited=is_inherited))

    async def _fork_at(self, run_id: str, position: int, *, is_inherited: bool) -> None:
        engine, session_id = self._session.engine, self._session.session_id
        if is_inherited:
            found = await engine.sessions.transcript(session_id, before=position + 1, limit=1)
            line = found[0] if found else None
        else:
            line = await engine.search.line_at(run_id, position)
        if line is None:
            self._services.show_toast("The session has no message up to here to fork at.", severity="warning")
        else:
            await self.fork(session_id, line)

    # Deleted by another process

    async def check_deleted_session(self) -> None:
        """Called once a second. The health monitor shows a database that cannot be read."""
        from console.data.errors import StoreError  # noqa: PLC0415  (loads the engine)

        with suppress(StoreError):
            await self.leave_deleted_session()

    async def leave_deleted_session(self) -> None:
        """If another process deleted the active session, say so and start a new one."""
        updater = self._services.updater
        title = one_line(updater.run_list.title or "", MAX_TITLE_CHARACTERS)
        if await updater.is_session_deleted():
            text = f"{f'“{title}”' if title else 'The session'} was deleted in another process. This is a new session."
            self._session.start_session(text)
            self._services.show_toast(text, severity="warning")
            await updater.enter_session(self._session.session_id)
