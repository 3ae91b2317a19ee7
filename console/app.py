"""The console: draws first, opens the engine after the first frame, and then shows 30 times a second what is new."""

import asyncio
import gc
from collections.abc import Awaitable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widget import Widget

from console.acting import Acting
from console.bindings import action_of, bindings_for
from console.keying import InTurn
from console.leaving import FIRST_WORDS, Leaving
from console.model.commands import BY_ID, COMMANDS, Command
from console.model.footing import footing
from console.model.glyphs import Glyphs
from console.model.headline import Headline
from console.model.safe import one_line
from console.model.situation import Situation
from console.model.trouble import Trouble
from console.model.words import session_name, short_runner
from console.opening import Opening
from console.pasting import taking_pastes_whole
from console.screens.ladder import step_back
from console.screens.main import Main
from console.stage import AGAIN, OpenEngine, Stage
from console.vigil import Vigil
from console.widgets.guard import Shielded, pane_of, pane_to_blame
from console.widgets.plain import Plain

if TYPE_CHECKING:
    from console.hearing import Hearing

TICK: Final = 1 / 30
GARBAGE: Final = (5_000, 20, 50)
"""How rarely garbage is looked for: drawing makes much that is gone at once, and a full look is a dropped frame."""
TWICE: Final = 1_500_000
"""Microseconds within which a second esc counts."""
REHEARSAL: Final = "plugin:trackside/rehearsal/default"


class Trackside(Shielded, InTurn, Leaving, Acting, App[None]):
    """One screen over one engine."""

    TITLE = "trackside"
    CSS_PATH = "screens/main.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_for("app")

    def __init__(self, opening: Opening, open_engine: OpenEngine | None = None) -> None:
        super().__init__()
        self._opening = opening
        self.stage = Stage(opening, open_engine)
        self.glyphs = Glyphs(ascii_only=opening.ascii_only)
        self.main = Main(self.glyphs)
        self._hearing: Hearing | None = None
        self.vigil = Vigil(self.stage)
        self.trouble: Trouble | None = None
        self.early: list[tuple[str, str]] = []
        """What was sent before the engine was there."""
        self.sending: list[str] = []
        """What was sent and is not on disk yet."""
        self._escaped_at = 0
        self._plain = Plain(enabled=opening.ascii_only)

    def get_default_screen(self) -> Main:
        return self.main

    def get_driver_class(self) -> type[Driver]:
        return taking_pastes_whole(super().get_driver_class())

    def on_mount(self) -> None:
        self._show_first()
        if not self.is_headless:
            self.heed_signals()
        self.call_after_refresh(self.do, self._open())

    async def _open(self) -> None:
        await self.main.furnish()
        self._show()
        while not await self._has_opened():
            gc.enable()
            self._show()
            await asyncio.sleep(AGAIN)
        self.begin_drafts()
        gc.collect()
        gc.freeze()  # what is here stays: looking through it for garbage would be a dropped frame
        gc.set_threshold(*GARBAGE)
        gc.enable()
        self.set_interval(TICK, self._tick)
        self.set_interval(AGAIN, self.vigil.look)
        is_new = self.stage.is_first_time and not self.unsent
        if self.early:
            self.do(self._send_early())
        if is_new and self.stage.runner_id == REHEARSAL:
            self.main.show_card(is_shown=True)
            self.main.prompt.load(FIRST_WORDS)
        self._show()

    async def _has_opened(self) -> bool:
        """Open the engine and read what there was; where that fails the screen says why, and it is tried again."""
        try:
            if not self.stage.is_open:
                await self.stage.open()
            from console.gathering import Gathering  # noqa: PLC0415  (it needs the engine)

            self.gathering = Gathering(self.stage.engine)
            await self.hearing.begin()
        except Exception as error:  # noqa: BLE001  (whatever it was)
            self.trouble = Trouble.of(error)
            self.give_back_early()
            return False
        self.trouble = None
        return True

    async def on_unmount(self) -> None:
        self.keep_draft(at_once=True)
        await self.stage.close()
        if self.drafts is not None:
            self.drafts.release()

    # Once a tick

    def _tick(self) -> None:
        self.hearing.tick(self.stage.drain())
        self.trouble = self.vigil.trouble
        self._show()

    @property
    def hearing(self) -> "Hearing":
        """What is shown, made when it is first asked for: not before the first frame."""
        if self._hearing is None:
            from console.hearing import Hearing  # noqa: PLC0415

            self._hearing = Hearing(self.stage, self.main, self.do)
        return self._hearing

    @property
    def situation(self) -> Situation:
        """What can be done now."""
        return self.hearing.situation(self.trouble.words if self.trouble else None)

    def _show_first(self) -> None:
        """The first frame: as much as can be said without knowing anything."""
        runner = self._opened_on()
        self.main.header.headline = Headline(runner, "", None, queued=0, as_of=None, now=0, is_loading=True)
        self.main.prompt.show(Situation(), runner=runner)

    def _show(self) -> None:
        now = self.stage.engine.now() if self.stage.is_open else 0
        situation, view, main = self.situation, self.hearing.view, self.main
        working = self.hearing.working
        runner = short_runner(self.stage.runner_id) if self.stage.is_open else self._opened_on()
        main.header.headline = Headline(
            runner=short_runner(view.runner_id) if view and view.runner_id else runner,
            session=session_name(self.stage.session, self.hearing.listing.title, is_new=True),
            status=view.status if view else None,
            queued=sum(item.is_waiting for item in main.queue.items),
            as_of=self.hearing.as_of,
            now=now,
            trouble=self.trouble.short if self.trouble else None,
            others=self.vigil.others,
            is_elsewhere=situation.is_elsewhere,
            is_loading=not self.stage.is_open,
            is_past=self.hearing.is_past,
        )
        title = f"{runner} (built in, no key)" if self.stage.runner_id == REHEARSAL else runner
        main.trouble.attempt(main.trouble.show, self.trouble)
        main.prompt.attempt(main.prompt.show, situation, runner=title, turn=working[1].turn if working else 0)
        main.footer.keys = footing(main.where(), situation, main.footer.content_size.width, self.why_not)

    def _opened_on(self) -> str:
        return self._opening.runner or (self._opening.target.name if self._opening.target else "")

    # Saying and doing

    def do(self, act: Awaitable[Any], said: str = "") -> None:
        """Carry something out; what goes wrong is told in words, and nothing else happens."""

        async def carry_out() -> None:
            try:
                await act
            except Exception as error:  # noqa: BLE001  (an act that failed must not take the screen with it)
                if (pane := pane_to_blame(error)) is not None:
                    pane.fail(error)
                else:
                    self.tell(str(error) or type(error).__name__, severity="error")
            else:
                if said:
                    self.tell(said)

        self.run_worker(carry_out(), exit_on_error=False)

    def tell(self, words: str, *, severity: Any = "information", seconds: float | None = None) -> None:
        """A toast; what a runner wrote is only ever text. What stands there already is not said again."""
        said = one_line(words, 400)
        if not any(toast.message == said for toast in self._notifications):
            self.notify(said, severity=severity, timeout=seconds, markup=False)

    def why_not(self, command: Command) -> str | None:
        """Why a command cannot be carried out now: for the sake of the run, or of what its pane shows."""
        pane = self.main.panes.get(command.where)
        return command.why_not(self.situation) or (pane.why_not(command.what) if pane is not None else None)

    def can(self, command_id: str) -> bool:
        """Whether a command can be carried out now; says why not."""
        why = self.why_not(BY_ID[command_id])
        if why is not None:
            self.tell(why, severity="warning")
        return why is None

    # Commands

    async def action_perform(self, command_id: str) -> None:
        """Carry out a command of the table, wherever the focus is: the palette and the footer do."""
        command, main = BY_ID[command_id], self.main
        if not self.can(command_id):
            return
        pane = main.panes.get(command.where)
        if pane is not None and not pane.is_on_screen:
            main.go_to(command.where)
        await self.run_action(action_of(command), pane or (self if command.where == "app" else main))

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
            self.do(self.stage.engine.edit_held(run_id, reply), "it will be answered with this; f5 lets it go")

    def action_stop(self) -> None:
        if self.can("app.stop") and (working := self.hearing.working) is not None:
            self.do(self._stop(working[0]))

    async def _stop(self, run_id: str) -> None:
        stopped = await self.stage.engine.stop(run_id)
        self.hearing.refresh("queue", "rail")
        if stopped.undelivered:
            count = len(stopped.undelivered)
            what, one = ("1 message", "it") if count == 1 else (f"{count} messages", "one")
            self.tell(f"{what} came back: up, then enter takes {one} to the prompt")

    def action_help(self) -> None:
        from console.screens.help import Help  # noqa: PLC0415

        self.push_screen(Help(self.main.where(), self.glyphs))

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:  # noqa: ARG002  (Textual's)
        """The palette: every command of the table that has a name there, also those that are not possible now."""
        for command in COMMANDS:
            if command.palette:
                why = self.why_not(command)
                said = command.help if why is None else f"not now: {one_line(why)}"
                # Textual reads a string as markup, and a reason may name what a runner wrote.
                yield SystemCommand(
                    command.palette, cast("str", Content(said)), partial(self.action_perform, command.id)
                )

    def action_zoom(self) -> None:
        if self.can("app.zoom"):
            self.main.zoom()

    def action_rail(self) -> None:
        self.main.slide_rail()

    def action_time_mode(self) -> None:
        self.main.stream.cycle_times()

    def action_queue(self) -> None:
        if self.can("app.queue"):
            self.main.show_pane("chat")
            self.main.queue.enter_from_below()

    def action_ascii(self) -> None:
        """All that is drawn in plain letters, or no longer."""
        self.glyphs = Glyphs(ascii_only=not self.glyphs.is_ascii)
        self._plain.enabled = self.glyphs.is_ascii
        self.main.use(self.glyphs)
        for screen in self.screen_stack:
            for widget in screen.walk_children(Widget, with_self=True):
                widget.notify_style_update()  # lines that are kept were drawn through the other filter
                widget.refresh()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's own, and the one that leaves nothing but ASCII."""
        return [*super().get_line_filters(), *([self._plain] if self._plain.enabled else [])]

    def action_new_session(self) -> None:
        if self.can("app.new_session"):
            self.stage.new_session()
            self.do(self.hearing.enter(self.stage.session))

    def action_escape(self) -> None:
        """One rung back; at the foot of the ladder, twice within a moment stops the run."""
        if step_back(self.main):
            self._escaped_at = 0
        elif self.hearing.is_past:
            self.do(self.hearing.go_to_the_last_run())
        elif self.situation.is_running:
            now = self.stage.engine.now()
            if now - self._escaped_at < TWICE:
                self._escaped_at = 0
                self.action_stop()
            else:
                self._escaped_at = now
                self.tell("esc again to stop", severity="warning", seconds=TWICE / 1_000_000)

    async def _dispatch_action(self, namespace: DOMNode, action_name: str, params: Any) -> bool:
        """What goes wrong in an action is the failure of the pane whose action it is, or else the console's."""
        try:
            return await super()._dispatch_action(namespace, action_name, params)
        except Exception as error:  # noqa: BLE001  (it must not become the failure of who pressed the key)
            pane = pane_of(namespace) or pane_to_blame(error)
            if pane is not None:
                pane.fail(error)
            else:
                self._handle_exception(error)
            return True
