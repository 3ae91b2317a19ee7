"""What a person does to the run at work: let it go on, hold it, step, edit what it is answered, stop it."""

from typing import TYPE_CHECKING, Any

from console.model.commands.naming import key_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App

    from console.model.situation import Situation
    from console.reading.hearing import Hearing
    from console.stage import Stage

    _App = App[None]
else:
    _App = object


class Running(_App):
    """A part of the app."""

    stage: "Stage"

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "Hearing": ...
        @property
        def situation(self) -> "Situation": ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...
        def can(self, command_id: str) -> bool: ...

    def action_go(self) -> None:
        if self.situation.is_held:
            self.action_release()
        elif self.can("app.go"):
            self.action_again()

    def action_release(self) -> None:
        if self.can("app.release") and (working := self.hearing.working) is not None:
            self.do(self.stage.engine.release(working[0]))

    def action_again(self) -> None:
        if self.can("app.again") and (view := self.hearing.view) is not None:
            self.do(self.stage.again(view.run_id))

    def action_hold(self) -> None:
        if self.can("app.hold") and (working := self.hearing.working) is not None:
            act = self.stage.engine.hold(working[0], "pull", once=True)
            self.do(act, "the run will be held before its next pull")

    def action_step(self) -> None:
        if self.can("app.step") and (working := self.hearing.working) is not None:
            self.do(self.stage.engine.step(working[0]))

    def action_edit_held(self) -> None:
        if self.can("app.edit_held") and (working := self.hearing.working) is not None:
            self.do(self._edit_held(working[0]))

    async def _edit_held(self, run_id: str) -> None:
        from console.screens.edit_held import EditHeld  # noqa: PLC0415

        held = await self.stage.engine.held(run_id)
        if held is None:
            self.tell("nothing is held any more", severity="warning")
            return
        reply = await self.push_screen_wait(EditHeld(held))
        if reply is not None:
            said = f"it will be answered with this; {key_of('app.go')} lets it go"
            self.do(self.stage.engine.edit_held(run_id, reply), said)

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
            stopped = await self.stage.engine.stop(run_id)
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
