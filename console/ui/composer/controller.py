"""Events put together by hand, files that go along with what is said, and artifacts: what the app does about them."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any

from console.model.commands.key_labels import key_of
from console.model.prompt.mentions import find_mentioned_files
from console.model.text.paths import Candidate, candidates, pasted_files

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.data.event_draft import EventDraftState
    from console.ui.conversation.pane import Conversation
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater
    from console.ui.prompt.attachments import PromptAttachments
    from console.ui.shared.full_screen import FullScreen
    from console.ui.shared.path_picker import PathPicker
    from engine.api import EventEnvelope, Ticket

    _App = App[None]
else:
    _App = object


class ComposerController(_App):
    """A part of the app."""

    stage: "ActiveSession"
    main: "MainScreen"

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        @property
        def cover(self) -> "FullScreen | None": ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...
        def can(self, command_id: str) -> bool: ...

    # Events

    @cached_property
    def writings(self) -> "list[EventDraftState]":
        """Events that are being put together, also while their screen is not there; the one at hand is the last."""
        return []

    def action_compose(self) -> None:
        if self.can("app.compose"):
            from console.data.event_draft import new_writing  # noqa: PLC0415

            self._compose(self._draft_here() or new_writing(self.stage.session))

    def action_edit_event(self) -> None:
        if self.can("app.edit_event") and (view := self.hearing.view) is not None:
            self.do(self._edit_event(view.run_id))

    def on_conversation_edit_event(self, event: "Conversation.EditEvent") -> None:
        self.do(self._edit_event(event.run_id))

    async def _edit_event(self, run_id: str) -> None:
        from console.data.event_draft import writing_of  # noqa: PLC0415

        self._compose(writing_of(await self.stage.engine.runs.event(run_id), self.stage.session))

    def _compose(self, writing: "EventDraftState") -> None:
        from console.ui.composer.screen import ComposerScreen  # noqa: PLC0415

        self.take_up(writing)
        self.push_screen(ComposerScreen(writing))

    def take_up(self, writing: "EventDraftState") -> None:
        """This one is at hand; another that was begun waits until it is done with."""
        if writing not in self.writings:
            self.writings.append(writing)

    def put_away(self, writing: "EventDraftState") -> None:
        """It is done with."""
        if writing in self.writings:
            self.writings.remove(writing)

    def _draft_here(self) -> "EventDraftState | None":
        """The event that was begun last in the open session, if any."""
        return next((each for each in reversed(self.writings) if each.session == self.stage.session), None)

    def tell_of_another(self) -> None:
        """Where one event is done with, and another was begun before it."""
        if self._draft_here() is not None:
            self.tell(f"the other event that you began is kept; {key_of('app.compose')} goes on with it")

    @property
    def has_begun_event(self) -> bool:
        """An event is being put together, and would be lost."""
        if not self.writings:
            return False
        from console.ui.composer.screen import ComposerScreen  # noqa: PLC0415

        if isinstance(self.cover, ComposerScreen):
            self.cover.collect()
        return any(writing.is_begun for writing in self.writings)

    def sent(self, ticket: "Ticket", envelope: "EventEnvelope") -> None:
        """An event is on its way: what comes of it is looked at."""
        self.main.show_card(is_shown=False)
        self.main.focus_pane("chat")
        self.tell_of_another()
        self.do(self._follow(ticket, envelope))

    async def _follow(self, ticket: "Ticket", envelope: "EventEnvelope") -> None:
        self.hearing.refresh("queue", "rail")
        if ticket.item_id is not None:
            if ticket.claimed_by is None:
                self.tell(
                    f"it waits for the end of the run: {ticket.not_claimed_reason or 'one run at a time in a session'}"
                )
        elif envelope.conversation_id != self.stage.session:
            await self.hearing.visit(await ticket.started)

    # Files

    def action_attach(self) -> None:
        if self.can("app.attach"):
            self.main.focus_pane("chat")
            self.main.prompt.action_attach()

    def on_path_picker_asked(self, event: "PathPicker.Asked") -> None:
        self.main.prompt.attachments.run_picker_command(event.what)

    def on_prompt_attachments_path_wanted(self, event: "PromptAttachments.PathWanted") -> None:
        async def offer() -> None:
            self.main.prompt.attachments.offer_paths(event.typed, await asyncio.to_thread(candidates, event.typed))

        self.do(offer())

    def on_prompt_attachments_path_left(self, event: "PromptAttachments.PathLeft") -> None:
        async def look() -> None:
            found = (await asyncio.to_thread(find_mentioned_files, [event.path]))[event.path]
            if isinstance(found, Candidate):
                self.main.prompt.attachments.attach_mentioned({event.path: found})

        self.do(look())

    def on_prompt_attachments_paths_pasted(self, event: "PromptAttachments.PathsPasted") -> None:
        async def look() -> None:
            files, trouble = await asyncio.to_thread(pasted_files, event.readings)
            if files:
                self.main.prompt.attachments.attach(files, instead_of=event.text)
            elif trouble:
                self.tell(f"{trouble}; it stays as text")

        self.do(look())

    def on_prompt_attachments_attached(self, event: "PromptAttachments.Attached") -> None:
        """It is taken as it is now; what cannot go along is told at once, not only when it is sent."""
        if not self.stage.is_open:
            return

        async def try_it() -> None:
            try:
                await self.stage.attach(event.file.path, is_new=event.is_new)
            except Exception:
                self.main.prompt.attachments.detach(event.token)
                raise

        self.do(try_it())

    # Artifacts

    def action_artifacts(self) -> None:
        if self.can("app.artifacts"):
            from console.ui.artifacts.screen import ArtifactsScreen  # noqa: PLC0415

            view = self.hearing.view
            self.push_screen(ArtifactsScreen(self.stage.session, view.run_id if view else None))

    def on_conversation_see_artifact(self, event: "Conversation.SeeArtifact") -> None:
        from console.ui.artifacts.screen import ArtifactsScreen  # noqa: PLC0415

        wanted = event.artifact_id or event.name
        self.push_screen(ArtifactsScreen(self.stage.session, event.run_id, wanted))
