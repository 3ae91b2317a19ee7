"""The console: draws first, opens the engine after the first frame, and then shows 30 times a second what is new."""

import gc
from collections.abc import Awaitable, Iterator
from functools import partial
from typing import Any, ClassVar, Final

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from console.acting import Acting
from console.bindings import action_of, bindings_for
from console.hearing import Hearing
from console.model.commands import BY_ID, COMMANDS, shown_key
from console.model.footing import footing
from console.model.glyphs import Glyphs
from console.model.headline import Headline
from console.model.safe import one_line
from console.model.situation import Situation
from console.model.words import short_runner
from console.opening import Opening
from console.screens.main import Main
from console.stage import OpenEngine, Stage
from console.widgets import tones

TICK: Final = 1 / 30
FIRST_WORDS: Final = "Plan a day in Kyoto"
TWICE: Final = 1_500_000
"""Microseconds within which a second esc counts."""
REHEARSAL: Final = "plugin:trackside/rehearsal/default"


class Trackside(Acting, App[None]):
    """One screen over one engine."""

    TITLE = "trackside"
    CSS_PATH = "screens/main.tcss"
    CSS = tones.CSS
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("app")

    def __init__(self, opening: Opening, open_engine: OpenEngine | None = None) -> None:
        super().__init__()
        self._opening = opening
        self.stage = Stage(opening, open_engine)
        self.glyphs = Glyphs(ascii_only=opening.ascii_only)
        self.main = Main(self.glyphs)
        self.hearing = Hearing(self.stage, self.main)
        self.trouble: str | None = None
        self.early: list[tuple[str, str]] = []
        """What was sent before the engine was there."""
        self._escaped_at = 0

    def get_default_screen(self) -> Main:
        return self.main

    def on_mount(self) -> None:
        self._show()
        self.call_after_refresh(self.run_worker, self._open(), exit_on_error=False)

    async def _open(self) -> None:
        try:
            await self.stage.open()
        except Exception as error:  # noqa: BLE001  (whatever it was, the screen says it)
            self.trouble = str(error)
            self._show()
            return
        from console.gathering import Gathering  # noqa: PLC0415  (it needs the engine)

        self.gathering = Gathering(self.stage.engine)
        await self.hearing.begin()
        gc.collect()
        gc.freeze()  # what is here stays: looking through it for garbage would be a dropped frame
        self.set_interval(TICK, self._tick)
        for text, mode in self.early:
            self.do(self.stage.send(text, after=mode == "after"))
        if self.stage.is_first_time and not self.early and self.stage.runner_id == REHEARSAL:
            self.main.card.display = True
            self.main.prompt.load(FIRST_WORDS)
        self._show()

    async def on_unmount(self) -> None:
        await self.stage.close()

    # Once a tick

    def _tick(self) -> None:
        self.hearing.tick(self.stage.drain())
        self._show()

    @property
    def situation(self) -> Situation:
        """What can be done now."""
        return self.hearing.situation(self.trouble)

    def _show(self) -> None:
        now = self.stage.engine.now() if self.stage.is_open else 0
        situation, view, main = self.situation, self.hearing.view, self.main
        runner = short_runner(self.stage.runner_id) if self.stage.is_open else self._opened_on()
        main.header.headline = Headline(
            runner=runner,
            session=self.stage.session,
            status=view.status if view else None,
            queued=sum(item.is_open for item in main.queue.items),
            as_of=self.hearing.as_of,
            now=now,
            trouble=self.trouble,
            is_loading=not self.stage.is_open and self.trouble is None,
        )
        title = f"{runner} (built in, no key)" if self.stage.runner_id == REHEARSAL else runner
        main.prompt.show(situation, runner=title, turn=view.status.turn if view else 0)
        main.footer.keys = footing(
            main.where(), situation, main.footer.content_size.width, lambda command: command.words
        )

    def _opened_on(self) -> str:
        return self._opening.runner or (self._opening.target.name if self._opening.target else "")

    # Saying and doing

    def do(self, act: Awaitable[Any], said: str = "") -> None:
        """Carry something out; what goes wrong is told in words, and nothing else happens."""

        async def carry_out() -> None:
            try:
                await act
            except Exception as error:  # noqa: BLE001  (an act that failed must not take the screen with it)
                self.tell(str(error), severity="error")
            else:
                if said:
                    self.tell(said)

        self.run_worker(carry_out(), exit_on_error=False)

    def tell(self, words: str, *, severity: Any = "information") -> None:
        """A toast; what a runner wrote is only ever text."""
        self.notify(one_line(words, 400), severity=severity, markup=False)

    def can(self, command_id: str) -> bool:
        """Whether a command can be carried out now; says why not."""
        why = BY_ID[command_id].why_not(self.situation)
        if why is not None:
            self.tell(why, severity="warning")
        return why is None

    # Commands

    def action_go(self) -> None:
        if self.can("app.go") and (view := self.hearing.view) is not None:
            held = view.status.held is not None
            self.do(self.stage.engine.release(view.run_id) if held else self.stage.again(view.run_id))

    def action_hold(self) -> None:
        if self.can("app.hold") and (view := self.hearing.view) is not None:
            act = self.stage.engine.hold(view.run_id, "pull", once=True)
            self.do(act, "the run will be held before its next pull")

    def action_step(self) -> None:
        if self.can("app.step") and (view := self.hearing.view) is not None:
            self.do(self.stage.engine.step(view.run_id))

    def action_edit_held(self) -> None:
        if self.can("app.edit_held") and (view := self.hearing.view) is not None:
            self.run_worker(self._edit_held(view.run_id), exit_on_error=False)

    async def _edit_held(self, run_id: str) -> None:
        from console.screens.edit_held import EditHeld  # noqa: PLC0415

        held = await self.stage.engine.held(run_id)
        if held is None:
            self.tell("nothing is held any more", severity="warning")
            return
        reply = await self.push_screen_wait(EditHeld(held))
        if reply is not None:
            self.do(self.stage.engine.edit_held(run_id, reply), "it will be answered with this; f5 lets it go")

    def action_stop(self) -> None:
        if self.can("app.stop") and (view := self.hearing.view) is not None:
            self.do(self._stop(view.run_id))

    async def _stop(self, run_id: str) -> None:
        stopped = await self.stage.engine.stop(run_id)
        self.hearing.refresh("queue", "rail")
        if stopped.undelivered:
            count = len(stopped.undelivered)
            self.tell(f"{count} message{'s' if count > 1 else ''} came back: up, then enter sends again")

    def action_help(self) -> None:
        from console.screens.help import Help, keys_in  # noqa: PLC0415

        where = self.main.where()
        own = list(keys_in(where)) or [
            (shown_key(active.binding.key), active.binding.description)
            for active in self.active_bindings.values()
            if active.node is not self and active.node is not self.main and active.binding.description
        ]
        self.push_screen(Help(where, own))

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:  # noqa: ARG002  (Textual's)
        """The palette: the table of commands, and the theme."""
        for command in COMMANDS:
            if command.palette:
                why = command.why_not(self.situation)
                said = command.help if why is None else f"not now: {why}"
                yield SystemCommand(command.palette, said, partial(self.run_action, action_of(command)))
        yield SystemCommand("view: Theme", "Choose other colours.", self.action_change_theme)

    def action_zoom(self) -> None:
        self.main.zoom()

    def action_rail(self) -> None:
        self.main.slide_rail()

    def action_time_mode(self) -> None:
        self.main.stream.cycle_times()

    def action_new_session(self) -> None:
        self.stage.new_session()
        self.do(self.hearing.enter(self.stage.session))

    def action_escape(self) -> None:
        """Close, clear, go live, go to the prompt; then, twice, stop."""
        main = self.main
        if main.prompt.leave_editing() or main.conversation.clear_cursor() or main.stream.step_back():
            return
        if self.hearing.as_of is not None:
            main.stream.action_end()
        elif main.where() != "prompt" or (main.is_narrow and not main.has_class("-chat")):
            main.focus_pane("chat")
        elif self.situation.is_running:
            now = self.stage.engine.now()
            if now - self._escaped_at < TWICE:
                self.action_stop()
            else:
                self.tell("esc again stops the run", severity="warning")
            self._escaped_at = now

    async def action_quit(self) -> None:
        if self.situation.is_running:
            from console.screens.question import Question  # noqa: PLC0415

            self.push_screen(Question("A run is at work. Stop it and leave?", "Stop and leave"), self._leave)
        else:
            self.exit()

    def _leave(self, sure: bool | None) -> None:
        if sure:
            self.exit()
