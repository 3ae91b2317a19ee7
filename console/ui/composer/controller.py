"""Composed events: drafts that are kept in memory, and what happens after one is sent."""

from typing import TYPE_CHECKING

from console.model.commands.key_labels import key_of

if TYPE_CHECKING:
    from console.data.active_session import ActiveSession
    from console.data.event_draft import ComposerDraft
    from console.ui.main.screen import MainScreen
    from console.ui.sessions.controller import SessionsController
    from console.ui.shared.services import AppServices
    from engine.api import EventEnvelope, Ticket


class ComposerController:
    """Opens the composer, and keeps the drafts of events while their screen is closed."""

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
        self.drafts: list[ComposerDraft] = []
        """Unsent events; the newest is the last."""

    def action_compose(self) -> None:
        if self._services.check_can("app.compose"):
            from console.data.event_draft import new_draft  # noqa: PLC0415

            self._open(self._draft_of_session() or new_draft(self._session.session_id))

    def action_edit_event(self) -> None:
        if self._services.check_can("app.edit_event") and (view := self._services.updater.view) is not None:
            self.edit_event(view.run_id)

    def edit_event(self, run_id: str) -> None:
        """Open the composer with the event of a run."""
        self._services.run_in_background(self._edit_event(run_id))

    async def _edit_event(self, run_id: str) -> None:
        from console.data.event_draft import draft_of_event  # noqa: PLC0415

        self._open(draft_of_event(await self._session.engine.runs.event(run_id), self._session.session_id))

    def _open(self, draft: "ComposerDraft") -> None:
        from console.ui.composer.screen import ComposerScreen  # noqa: PLC0415

        self.add_draft(draft)
        self._services.push_screen(ComposerScreen(self._services, self, draft))

    def add_draft(self, draft: "ComposerDraft") -> None:
        if draft.session == self._session.session_id:
            draft.is_session_stored = self._services.updater.has_messages
        if draft not in self.drafts:
            self.drafts.append(draft)

    def remove_draft(self, draft: "ComposerDraft") -> None:
        """Forget a draft that was sent or left empty."""
        if draft in self.drafts:
            self.drafts.remove(draft)

    def _draft_of_session(self) -> "ComposerDraft | None":
        """The newest draft of the active session."""
        return next((each for each in reversed(self.drafts) if each.session == self._session.session_id), None)

    def show_other_draft(self) -> None:
        """Show a toast if the session has another draft."""
        if self._draft_of_session() is not None:
            self._services.show_toast(f"There is another event draft; {key_of('app.compose')} opens it.")

    @property
    def has_unsent_draft(self) -> bool:
        """Whether quitting would lose an event draft."""
        if not self.drafts:
            return False
        from console.ui.composer.screen import ComposerScreen  # noqa: PLC0415

        if isinstance(top := self._services.full_screen, ComposerScreen):
            top.collect()
        return any(draft.is_changed for draft in self.drafts)

    async def leave_deleted_session(self, draft: "ComposerDraft") -> None:
        """Move a draft whose session was deleted in another process to a new session."""
        if draft.session == self._session.session_id:
            await self._sessions.leave_deleted_session()
        draft.move_to(self._session.session_id)

    def follow_sent(self, ticket: "Ticket", envelope: "EventEnvelope") -> None:
        """Show what becomes of an event that was sent."""
        self._main.show_card(is_shown=False)
        self._main.focus_pane("chat")
        self.show_other_draft()
        self._services.run_in_background(self._follow_sent(ticket, envelope))

    async def _follow_sent(self, ticket: "Ticket", envelope: "EventEnvelope") -> None:
        updater = self._services.updater
        updater.refresh("queue", "rail")
        if ticket.item_id is not None:
            if ticket.claimed_by is None:
                reason = ticket.not_claimed_reason or "a session has one run at a time"
                self._services.show_toast(f"Queued until the run ends: {reason}")
        elif envelope.conversation_id != self._session.session_id:
            await updater.open_run(await ticket.started)
