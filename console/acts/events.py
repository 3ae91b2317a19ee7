"""Events put together by hand, files that go along with what is said, and artifacts: what the app does about them."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Any

from console.model.attach.mentions import sought
from console.model.attach.paths import Candidate, candidates, files_meant
from console.model.commands.naming import key_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App

    from console.acts.drafts import Drafts
    from console.model.glyphs import Glyphs
    from console.reading.hearing import Hearing
    from console.screens.composer.desk import Writing
    from console.screens.full import FullScreen
    from console.screens.main import Main
    from console.stage import Stage
    from console.widgets.chips import Attaching
    from console.widgets.conversation.asking import Asking
    from console.widgets.path_picks import PathPicks
    from engine.api import EventEnvelope, Ticket

    _App = App[None]
else:
    _App = object


class Eventing(_App):
    """A part of the app."""

    stage: "Stage"
    main: "Main"
    glyphs: "Glyphs"

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "Hearing": ...
        @property
        def cover(self) -> "FullScreen | None": ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...
        def can(self, command_id: str) -> bool: ...

    # Events

    @cached_property
    def writings(self) -> "list[Writing]":
        """Events that are being put together, also while their screen is not there; the one at hand is the last."""
        return []

    def action_compose(self) -> None:
        if self.can("app.compose"):
            from console.screens.composer.desk import new_writing  # noqa: PLC0415

            self._compose(self.writings[-1] if self.writings else new_writing(self.stage.session))

    def action_edit_event(self) -> None:
        if self.can("app.edit_event") and (view := self.hearing.view) is not None:
            self.do(self._edit_event(view.run_id))

    def on_asking_edit_event(self, event: "Asking.EditEvent") -> None:
        self.do(self._edit_event(event.run_id))

    async def _edit_event(self, run_id: str) -> None:
        from console.screens.composer.desk import writing_of  # noqa: PLC0415

        self._compose(writing_of(await self.stage.engine.event_of(run_id)))

    def _compose(self, writing: "Writing") -> None:
        from console.screens.composer.screen import Composer  # noqa: PLC0415

        self.take_up(writing)
        self.push_screen(Composer(self.glyphs, writing))

    def take_up(self, writing: "Writing") -> None:
        """This one is at hand; another that was begun waits until it is done with."""
        if writing not in self.writings:
            self.writings.append(writing)

    def put_away(self, writing: "Writing") -> None:
        """It is done with."""
        if writing in self.writings:
            self.writings.remove(writing)
            self.keep_events()

    def tell_of_another(self) -> None:
        """Where one event is done with, and another was begun before it."""
        if self.writings:
            self.tell(f"the other event that you began is kept; {key_of('app.compose')} goes on with it")

    event_drafts: "Drafts | None" = None
    _kept_events: "tuple[list[object], str]" = ([], "")
    """How they were when they were kept, and what is said of that."""

    def begin_keeping_events(self) -> None:
        """Give back what a process before this one had begun, and keep from now on what is begun here."""
        from console.acts.drafts import Drafts  # noqa: PLC0415

        self.event_drafts = Drafts(self.stage.engine.database_path, ".event-")
        found: list[Writing] = []
        while (kept := self.event_drafts.take()) is not None:
            from console.screens.composer.kept import read  # noqa: PLC0415

            found = [*read(kept.text), *found]
        if found:
            self.writings[:0] = found
            self.tell(f"the event that you began the last time is kept; {key_of('app.compose')} goes on with it")
            self.keep_events()

    def keep_events(self) -> str:
        """Have what was begun in its file; gives in words what of it is not there."""
        if not self.has_begun_event and not self._kept_events[0]:
            return ""
        now: list[object] = [(each.values, tuple(each.attachments)) for each in self.writings]
        if now != self._kept_events[0]:
            self._kept_events = now, self._write_events()
        return self._kept_events[1]

    def _write_events(self) -> str:
        from console.acts.drafts import Draft  # noqa: PLC0415
        from console.screens.composer.kept import written  # noqa: PLC0415

        kept = written(self.writings)
        if kept.lost and not kept.text:
            return "The event that you put together is not kept: it is too large."
        if self.event_drafts is None or not self.event_drafts.keep(Draft(kept.text)):
            return "The event that you put together is not kept." if kept.text else ""
        return f"Of the event that you put together: {'; '.join(kept.lost)}." if kept.lost else ""

    @property
    def has_begun_event(self) -> bool:
        """An event is being put together, and would be lost."""
        if not self.writings:
            return False
        from console.screens.composer.screen import Composer  # noqa: PLC0415

        if isinstance(self.cover, Composer):
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
                self.tell(f"it waits for the end of the run: {ticket.why or 'one run at a time in a session'}")
        elif envelope.conversation_id != self.stage.session:
            await self.hearing.visit(await ticket.started)

    # Files

    def action_attach(self) -> None:
        if self.can("app.attach"):
            self.main.focus_pane("chat")
            self.main.prompt.action_attach()

    def on_path_picks_asked(self, event: "PathPicks.Asked") -> None:
        self.main.prompt.choose_path(event.what)

    def on_attaching_path_wanted(self, event: "Attaching.PathWanted") -> None:
        async def offer() -> None:
            self.main.prompt.offer(event.typed, await asyncio.to_thread(candidates, event.typed))

        self.do(offer())

    def on_attaching_path_left(self, event: "Attaching.PathLeft") -> None:
        async def look() -> None:
            found = (await asyncio.to_thread(sought, [event.path]))[event.path]
            if isinstance(found, Candidate):
                self.main.prompt.settle({event.path: found})

        self.do(look())

    def on_attaching_paths_pasted(self, event: "Attaching.PathsPasted") -> None:
        async def look() -> None:
            files, trouble = await asyncio.to_thread(files_meant, event.readings)
            if files:
                self.main.prompt.attach(files, instead_of=event.text)
            elif trouble:
                self.tell(f"{trouble}; it stays as text")

        self.do(look())

    def on_attaching_attached(self, event: "Attaching.Attached") -> None:
        """It is taken as it is now; what cannot go along is told at once, not only when it is sent."""
        if not self.stage.is_open:
            return

        async def try_it() -> None:
            try:
                await self.stage.attach(event.file.path, is_new=event.is_new)
            except Exception:
                self.main.prompt.detach(event.token)
                raise

        self.do(try_it())

    # Artifacts

    def action_artifacts(self) -> None:
        if self.can("app.artifacts"):
            from console.screens.artifacts.screen import Artifacts  # noqa: PLC0415

            view = self.hearing.view
            self.push_screen(Artifacts(self.glyphs, self.stage.session, view.run_id if view else None))

    def on_asking_see_artifact(self, event: "Asking.SeeArtifact") -> None:
        from console.screens.artifacts.screen import Artifacts  # noqa: PLC0415

        wanted = event.artifact_id or event.name
        self.push_screen(Artifacts(self.glyphs, self.stage.session, event.run_id, wanted))
