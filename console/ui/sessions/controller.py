"""Going elsewhere: to another session, to where something was said, or on from there in a fork."""

from typing import TYPE_CHECKING, Any

from console.model.commands.key_labels import key_of
from console.model.text.units import short_runner
from console.ui.shared.full_screen import FullScreen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.ui.conversation.pane import Conversation
    from console.ui.main.runs_list import RunsList
    from console.ui.main.screen import MainScreen
    from console.ui.main.updater import ScreenUpdater
    from engine.api import Hit, TranscriptLine

    _App = App[None]
else:
    _App = object


class SessionsController(_App):
    """The part of the app that opens the session browser and does what is chosen there."""

    stage: "ActiveSession"
    main: "MainScreen"

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        def do(self, act: Any, said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None: ...
        def can(self, command_id: str) -> bool: ...

    def action_sessions(self) -> None:
        from console.ui.sessions.screen import SessionsScreen  # noqa: PLC0415

        if self.can("app.sessions"):
            self.push_screen(SessionsScreen())

    def may_leave(self, screens: "Iterable[FullScreen]") -> bool:
        """Whether nothing is lost with these screens; one that has what it cannot keep is brought up, and says so."""
        for screen in screens:
            if not screen.let_go():
                screen.pop_until_active()
                return False
        return True

    def may_uncover(self) -> bool:
        """Whether one may go back to the panes."""
        return self.may_leave([each for each in reversed(self.screen_stack) if isinstance(each, FullScreen)])

    def uncover(self) -> None:
        """Back to the panes."""
        while isinstance(self.screen, FullScreen):
            self.pop_screen()

    async def resume(self, session_id: str) -> None:
        """Go on with a session."""
        if self.may_uncover():
            await self._go_into(session_id)
            self.say_who_answers()

    async def _go_into(self, session_id: str) -> None:
        self.uncover()
        await self.hearing.enter(session_id)
        self.main.focus_pane("chat")

    def on_runs_list_session_chosen(self, event: "RunsList.SessionChosen") -> None:
        self.do(self.resume(event.session_id))
        self.main.close_rail()
        self.main.focus_pane("chat")

    def on_runs_list_run_chosen(self, event: "RunsList.RunChosen") -> None:
        self.do(self._open_run(event.run_id))
        self.main.close_rail()
        self.main.focus_pane("chat")

    async def _open_run(self, run_id: str) -> None:
        before = self.stage.session
        await self.hearing.visit(run_id)
        if self.stage.session != before and not self.hearing.is_past:
            self.say_who_answers()  # who opens the last run of another session goes on with it

    def say_who_answers(self) -> None:
        """Where the last run of the session was of another runner than the one that is chosen."""
        view, stage = self.hearing.view, self.stage
        if view is None or stage.unready is not None or view.runner_id in (None, stage.runner_id):
            return
        last, chosen = short_runner(view.runner_id or ""), stage.agent_id or short_runner(stage.runner_id)
        answers = f"{chosen} answers from now on; the last run here was of {last}"
        if self.hearing.working is not None:
            answers = f"{last} is at work here; after it {chosen} answers"
        self.tell(f"{answers} · {key_of('app.runners')} chooses")

    async def go_to_line(self, hit: "Hit") -> None:
        """To where a line was said; one that a fork began with, or whose run is gone, is in its session."""
        line = hit.line
        if line.run_id is None or hit.position is None or "forked_from" in line.metadata:
            await self.resume(line.conversation_id)
            return
        if not self.may_uncover():
            return
        self.uncover()
        await self.hearing.visit(line.run_id, hit.position)
        self.main.go_to("conversation")
        self.main.conversation.attempt(self.main.conversation.point_at, line.run_id, hit.position)

    async def send_again(self, run_id: str) -> None:
        """The input of a run once more, to the same runner, in its own session."""
        if not self.may_uncover():
            return
        run = await self.stage.engine.runs.get(run_id)
        if run.conversation_id is not None:
            await self._go_into(run.conversation_id)
        await self.stage.engine.runs.run_again(run_id)

    async def fork(self, session_id: str, line: "TranscriptLine | None" = None) -> None:
        """Go on in a copy of a session: of all of it, or up to a line."""
        from console.data.session_fork import fork  # noqa: PLC0415
        from console.data.session_names import names_of  # noqa: PLC0415

        if not self.may_uncover():
            return
        names = await names_of(self.stage.engine, [session_id])
        forked = await fork(self.stage.engine, session_id, line, names.get(session_id, ""))
        await self.resume(forked.session_id)
        if forked.text:
            self.main.prompt.give_back(forked.text)
        said = "your message is in the prompt" if forked.text else "what you say goes on from here"
        self.tell(f"this is a fork; {said}. {key_of('app.sessions')} leads back to the other")
        if forked.lost:
            self.tell(" ".join(forked.lost), severity="warning")

    def on_conversation_fork_at(self, event: "Conversation.ForkAt") -> None:
        self.do(self._fork_at(event))

    async def _fork_at(self, event: "Conversation.ForkAt") -> None:
        engine, session = self.stage.engine, self.stage.session
        if event.is_inherited:
            found = await engine.sessions.transcript(session, before=event.position + 1, limit=1)
            line = found[0] if found else None
        else:
            line = await engine.search.line_at(event.run_id, event.position)
        if line is None:
            self.tell("nothing was said by then; there is nothing to go on from", severity="warning")
        else:
            await self.fork(session, line)
