"""What a person asks for in the panes, carried out by the engine."""

import asyncio
from contextlib import suppress
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from console.data.health import words_of
from console.model.commands.key_labels import key_of
from console.model.text.safe import one_line
from console.model.text.units import number
from console.ui.shared.refused import Refused
from engine.events import Mode

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from console.data.active_session import ActiveSession
    from console.data.health import HealthProblem
    from console.data.inspector_loader import InspectorLoader
    from console.model.queue.items import QueueRow
    from console.ui.conversation.pane import Conversation
    from console.ui.inspector import Inspector
    from console.ui.main.ribbon import RibbonBar
    from console.ui.main.screen import MainScreen
    from console.ui.main.tabs import PaneTabs
    from console.ui.main.updater import ScreenUpdater
    from console.ui.prompt.prompt import Prompt
    from console.ui.queue.pane import Queue
    from console.ui.shared.crash_guard import FailureReport, PaneGuard
    from console.ui.stream.pane import StreamPane


SLOW = 0.3
"""Seconds after which it is shown that something is being sent: mostly that takes none."""
LARGE = 100_000
"""Characters that a terminal may not take on its clipboard."""


class MainController:
    """The app's answers to its panes. It is a part of the app, and keeps nothing itself."""

    stage: "ActiveSession"
    main: "MainScreen"
    gathering: "InspectorLoader"

    if TYPE_CHECKING:

        @property
        def hearing(self) -> "ScreenUpdater": ...
        def do(self, act: "Awaitable[Any]", said: str = "") -> None: ...
        def tell(self, words: str, *, severity: Any = "information") -> None: ...
        def can(self, command_id: str) -> bool: ...
        def copy_to_clipboard(self, text: str) -> None: ...

    # The prompt

    def on_prompt_submitted(self, event: "Prompt.Submitted") -> None:
        self.main.show_card(is_shown=False)
        self.main.focus_pane("chat")
        if self.hearing.is_dropped(event.item_id):
            self.do(self._send(event, dropped=event.item_id))
        elif event.item_id is not None:
            self.do(self._edit(event.item_id, event.text))
        elif self.stage.is_open:
            self.do(self._send(event))
        else:
            self.early.append(event)
            if self.trouble is None or self.trouble.passes:
                self.main.queue.items = self.being_sent()
            else:
                self.give_back_early()

    def give_back_early(self) -> None:
        """What was sent before the engine was there, and is not sent by waiting for it: the screen says why."""
        if self.early:
            why = self.trouble.short if self.trouble is not None else "the engine cannot be opened"
            self.tell(f"it cannot be sent yet, and is in the prompt again: {why}", severity="warning")
        while self.early:
            self.main.prompt.give_back(self.early.pop().typed)
        self.main.queue.items = ()

    def being_sent(self) -> "tuple[QueueRow, ...]":
        """What was sent and is not on disk yet: at once what waits for the engine, else what takes long."""
        from console.model.queue.items import sending_rows  # noqa: PLC0415  (not before the first frame)

        early = sending_rows((said.typed for said in self.early), "as soon as the engine is open")
        if not self.sending or monotonic() - self._sent_at < SLOW:
            return early
        why = "not on disk yet" if self.trouble is None else self.trouble.short
        return (*sending_rows(self.sending, why), *early)

    _sent_at = 0.0
    """When the first of what is being sent was."""
    early: "list[Prompt.Submitted]"
    trouble: "HealthProblem | None"
    broken: "tuple[FailureReport, ...]"
    sending: list[str]

    async def _send(self, said: "Prompt.Submitted", *, dropped: str | None = None) -> None:
        if not self.sending:
            self._sent_at = monotonic()
        self.sending.append(said.typed)
        to, is_known = self.stage.address, bool(self.hearing.talk.blocks)
        try:
            async with self._in_turn:  # messages stay in the order in which they were sent
                await self.leave_what_is_gone()
                is_here = self.stage.session == to.session
                if is_known and not is_here and not await self.stage.engine.sessions.exists(to.session):
                    self.main.prompt.give_back(said.typed)
                    return
                if is_here and self.hearing.working is None:
                    self.hearing.go_live()  # who begins a run wants to see it
                is_after = said.mode == Mode.AFTER
                ticket = await self.stage.send(said.text, to, after=is_after, files=said.files, dropped=dropped)
        except Exception:
            self.main.prompt.give_back(said.typed)
            raise
        finally:
            self.sending.remove(said.typed)
        self.hearing.refresh("queue")
        if ticket.item_id is not None and ticket.claimed_by is None and ticket.not_claimed_reason:
            self.tell(f"it waits for the end of the run: {ticket.not_claimed_reason}")

    @cached_property
    def _in_turn(self) -> asyncio.Lock:
        return asyncio.Lock()

    async def mind_the_session(self) -> None:
        """Once a second."""
        from engine.api import StoreError  # noqa: PLC0415

        with suppress(StoreError):  # a database that cannot be read is told of elsewhere
            await self.leave_what_is_gone()

    async def leave_what_is_gone(self) -> None:
        """Where another process deleted the session: that is said, and a new one begins."""
        title = one_line(self.hearing.listing.title or "", 60)
        if await self.hearing.is_gone():
            words = f"{f'“{title}”' if title else 'The session'} was deleted in another process. This is a new session."
            self.stage.new_session(words)
            self.tell(words, severity="warning")
            await self.hearing.enter(self.stage.session)

    async def _send_early(self) -> None:
        while self.early:
            try:
                await self._send(self.early.pop(0))
            except Exception as error:  # noqa: BLE001  (it is in the prompt again, and the next is sent all the same)
                self.tell(words_of(error), severity="error")

    async def _edit(self, item_id: str, text: str) -> None:
        try:
            await self._changed(self.stage.engine.queue.edit(item_id, text))
        except Exception:
            self.main.prompt.give_back(text)
            raise

    # A pane that failed

    def on_pane_guard_reload(self, event: "PaneGuard.Reload") -> None:
        self.reload(event.pane)

    def on_pane_guard_copy_report(self, event: "PaneGuard.CopyReport") -> None:
        self.copy(event.report, "the report")

    def action_reload(self) -> None:
        self.reload(*self.main.guarded)

    def action_report(self) -> None:
        failures = [*self.broken, *(pane.failure for pane in self.main.guarded if pane.failure is not None)]
        if reports := [failure.report for failure in failures]:
            self.copy("\n\n".join(reports), "the report")

    def reload(self, *panes: "PaneGuard") -> None:
        """Let panes begin again, with what is shown made anew."""
        for pane in panes:
            pane.recover()
        if self.stage.is_open:
            self.do(self.hearing.reload())

    def on_prompt_into_queue(self) -> None:
        self.main.queue.enter_from_below()

    def on_refused(self, event: Refused) -> None:
        """Show why a pane did not carry out a command."""
        self.tell(event.reason, severity="warning")

    # The queue

    def on_queue_edit(self, event: "Queue.Edit") -> None:
        text = self.hearing.text_of(event.item_id)
        if text is not None:
            self.main.prompt.begin_editing(event.item_id, text)
            self.main.prompt.focus()

    def on_queue_withdraw(self, event: "Queue.Withdraw") -> None:
        self.do(self._changed(self.stage.engine.queue.withdraw(event.item_id)))

    def on_queue_withdraw_all(self, event: "Queue.WithdrawAll") -> None:
        self.do(self._changed(self._withdraw_all(event.item_ids)))

    async def _withdraw_all(self, item_ids: tuple[str, ...]) -> None:
        """One after another; what the runner has taken meanwhile stays said."""
        from engine.api import AlreadyDecided  # noqa: PLC0415

        self._together = ()
        for item_id in item_ids:
            with suppress(AlreadyDecided):
                await self.stage.engine.queue.withdraw(item_id)
                self._together += (item_id,)
        undo = f"{key_of('queue.undo')} in the queue brings back all of it"
        said = f"withdrew {number(len(self._together), 'message')}; {undo}"
        taken = len(item_ids) - len(self._together)
        self.tell(f"{said} · {taken} had been taken by the runner" if taken else said)

    _together: tuple[str, ...] = ()
    """What was withdrawn at once comes back at once."""

    def on_queue_undo(self, event: "Queue.Undo") -> None:
        self.do(self._changed(self._restore(self._together if event.item_id in self._together else (event.item_id,))))

    async def _restore(self, item_ids: tuple[str, ...]) -> None:
        for item_id in item_ids:
            await self.stage.engine.queue.restore(item_id)
        self._together = ()

    def on_queue_dismiss(self, event: "Queue.Dismiss") -> None:
        self.do(self._changed(self.stage.engine.queue.dismiss(event.item_id)))

    def on_queue_move(self, event: "Queue.Move") -> None:
        self.do(self._changed(self.stage.engine.queue.move(event.item_id, event.before)))

    def on_queue_turn(self, event: "Queue.Turn") -> None:
        self.do(self._changed(self.stage.turn(event.item_id, event.mode)))

    def on_queue_hold(self, event: "Queue.Hold") -> None:
        self.do(self._changed(self.stage.engine.queue.pause(event.item_id)))

    def on_queue_release(self, event: "Queue.Release") -> None:
        self.do(self._changed(self.stage.engine.queue.resume(event.item_id)))

    def on_queue_left(self) -> None:
        self.main.prompt.focus()

    async def _changed(self, act: "Awaitable[Any]") -> None:
        try:
            await act
        finally:
            self.hearing.refresh("queue")

    # The conversation

    def on_conversation_open_in_stream(self, event: "Conversation.OpenInStream") -> None:
        self.do(self._open_in_stream(event.run_id, event.position))

    async def _open_in_stream(self, run_id: str, position: int) -> None:
        if self.hearing.view is None or self.hearing.view.run_id != run_id:
            await self.hearing.look_at(run_id)
        if self.hearing.view is None or self.hearing.view.run_id != run_id:
            return  # one went elsewhere while it was read
        self.main.show_pane("stream")
        self.main.stream.go_to(position)
        self.main.stream.focus()

    def on_conversation_put_back(self, event: "Conversation.PutBack") -> None:
        # The queue has it whole; what is recorded of it has marks for its secrets.
        self.main.prompt.begin_editing(event.item_id, self.hearing.text_of(event.item_id) or event.text)
        self.main.prompt.focus()

    def on_conversation_copy(self, event: "Conversation.Copy") -> None:
        self.copy(event.text, "the block")

    def on_conversation_retry(self, event: "Conversation.Retry") -> None:
        if self.can("app.run_again"):
            self.do(self.stage.again(event.run_id))
            self.main.prompt.focus()

    def on_conversation_type_in_prompt(self, event: "Conversation.TypeInPrompt") -> None:
        self.main.prompt.focus()
        self.main.prompt.type_in(event.character)

    def on_conversation_want_earlier(self) -> None:
        self.do(self.hearing.read_earlier())

    def on_conversation_want_later(self) -> None:
        self.do(self.hearing.read_later())

    def on_conversation_want_end(self) -> None:
        self.do(self.hearing.go_to_the_end())

    # The stream and the inspector

    def on_stream_pane_cursor_moved(self, event: "StreamPane.CursorMoved") -> None:
        self.hearing.as_of = event.position

    def on_stream_pane_inspect(self, event: "StreamPane.Inspect") -> None:
        self.hearing.as_of = event.position
        self.main.show_pane("state")
        self.main.inspector.choose("event")
        self.main.inspector.focus()

    def on_stream_pane_hold_on(self, event: "StreamPane.HoldOn") -> None:
        view = self.hearing.view
        if self.can("stream.breakpoint") and view is not None:
            self.do(self._hold_on(view.run_id, event.kind, event.position))

    async def _hold_on(self, run_id: str, kind: str, position: int) -> None:
        from console.data.breakpoint_at import breakpoint_at  # noqa: PLC0415

        engine = self.stage.engine
        point = await breakpoint_at(engine, run_id, kind, position)
        if any(str(armed.location) == point for armed in await engine.breakpoints.list(run_id)):
            await engine.breakpoints.remove(run_id, point)
            self.tell(f"Breakpoint removed: {point}.")
        else:
            await engine.breakpoints.set(run_id, point)
            again = key_of("stream.breakpoint")
            self.tell(f"Breakpoint set: the run pauses before each {point}. {again} again removes it.")

    def on_stream_pane_yank(self, event: "StreamPane.Yank") -> None:
        view = self.hearing.view
        if view is not None:
            self.do(self._yank(view.run_id, event.what, event.position))

    async def _yank(self, run_id: str, what: str, position: int) -> None:
        from console.data.entry_copy import copied_text  # noqa: PLC0415

        self.copy(await copied_text(self.stage.engine, run_id, what, position), what)

    def on_inspector_need(self, event: "Inspector.Need") -> None:
        self.do(self._gather(event))

    async def _gather(self, need: "Inspector.Need") -> None:
        facts = await self.gathering.load_tab(need.tab, need.run_id, need.position)
        self.main.inspector.attempt(self.main.inspector.show, need.tab, facts, need.number)

    def on_inspector_need_call(self, event: "Inspector.NeedCall") -> None:
        async def gather() -> None:
            facts = await self.gathering.load_call(event.run_id, event.number, event.positions)
            self.main.inspector.attempt(self.main.inspector.show_call, facts)

        self.do(gather())

    def on_inspector_copy(self, event: "Inspector.Copy") -> None:
        self.copy(event.text, event.what)

    def on_inspector_jump(self, event: "Inspector.Jump") -> None:
        self.main.show_pane("stream")
        self.main.stream.go_to(event.position)
        self.main.stream.focus()

    # The rail, the tabs and the ribbon

    def on_runs_list_want_more(self) -> None:
        self.do(self.hearing.list_more())

    def on_ribbon_bar_turn_chosen(self, event: "RibbonBar.TurnChosen") -> None:
        self.main.go_to("stream")
        self.main.stream.go_to_turn(event.turn)

    def on_pane_tabs_chosen(self, event: "PaneTabs.Chosen") -> None:
        self.main.focus_pane(event.name)

    def copy(self, text: str, what: str) -> None:
        """Onto the clipboard; a large text also into a file, since not every terminal takes it."""
        self.copy_to_clipboard(text)
        if len(text) <= LARGE:
            self.tell(f"copied {one_line(what)} ({len(text):,} characters)")
            return
        import tempfile  # noqa: PLC0415
        from pathlib import Path  # noqa: PLC0415

        with tempfile.NamedTemporaryFile(
            "w", suffix=".txt", prefix="trackside-", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        self.tell(f"copied {one_line(what)}, also into {Path(file.name)}")
