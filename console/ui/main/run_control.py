"""What a person does to the run at work: let it go on, hold it, step, edit what it is answered, stop it."""

from typing import TYPE_CHECKING, Any

from console.model.commands.key_labels import key_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App

    from console.data.active_session import ActiveSession
    from console.model.commands.situation import Situation
    from console.ui.main.updater import ScreenUpdater

    _App = App[None]
else:
    _App = object


class RunControl(_App):
    """A part of the app."""

    stage: "ActiveSession"

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        @property
        def situation(self) -> "Situation": ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...
        def can(self, command_id: str) -> bool: ...

    def action_continue_run(self) -> None:
        if self.can("app.continue") and (working := self.hearing.working) is not None:
            self.do(self.stage.engine.runs.continue_run(working[0]))

    def action_run_again(self) -> None:
        if self.can("app.run_again") and (view := self.hearing.view) is not None:
            self.do(self.stage.again(view.run_id))

    def action_pause(self) -> None:
        if self.can("app.pause") and (working := self.hearing.working) is not None:
            act = self.stage.engine.breakpoints.set(working[0], "steering", once=True)
            self.do(act, "The run will pause at its next steering point.")

    def action_step(self) -> None:
        if self.can("app.step") and (working := self.hearing.working) is not None:
            self.do(self.stage.engine.runs.step(working[0]))

    def action_edit_reply(self) -> None:
        if self.can("app.edit_reply") and (working := self.hearing.working) is not None:
            self.do(self._edit_reply(working[0]))

    async def _edit_reply(self, run_id: str) -> None:
        from console.ui.main.edit_reply import EditReply  # noqa: PLC0415

        held = await self.stage.engine.runs.current_pause(run_id)
        if held is None:
            self.tell("The run is no longer paused.", severity="warning")
            return
        reply = await self.push_screen_wait(EditReply(held))
        if reply is not None:
            said = f"The reply is replaced. {key_of('app.continue')} continues the run."
            self.do(self.stage.engine.runs.edit_reply(run_id, reply), said)

    def action_stop(self) -> None:
        if not self.can("app.stop") or (working := self.hearing.working) is None:
            return
        if working[1].is_stopping:
            self.tell("it was asked to stop; a runner that does not listen is ended by force in a moment")
        else:
            self.do(self._stop(working[0]))

    async def _stop(self, run_id: str) -> None:
        self.hearing.ask_to_stop(run_id, self.stage.engine.now())
        try:
            stopped = await self.stage.engine.runs.stop(run_id)
        except Exception:
            self.hearing.ask_to_stop(run_id, None)
            raise
        self.hearing.refresh("queue", "rail")
        if stopped.undelivered:
            count = len(stopped.undelivered)
            what, one = ("1 message", "it") if count == 1 else (f"{count} messages", "one")
            self.tell(
                f"{what} came back: {key_of('prompt.earlier')}, then {key_of('queue.edit')} takes {one} to the prompt"
            )
