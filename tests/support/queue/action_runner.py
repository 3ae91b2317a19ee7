"""Does actions with an engine, and returns the answers in the form that the model uses."""

import asyncio
from typing import Any

from engine.api import Engine, Mode, RunOptions, Ticket
from engine.host import Host
from engine.store.errors import StoreError
from engine.store.writer import Writer
from tests.support.engines import event
from tests.support.queue.queue_actions import OK, Action, Cancel, Change, Send, SendAgain
from tests.support.queue.queue_checks import QueueDatabase


class ActionRunner:
    """Does the actions of users and platforms. Pulls and ends are done where the runners are."""

    def __init__(self, engine: Engine, config: dict[str, Any] | None = None) -> None:
        self.engine = engine
        self.database = QueueDatabase(engine.database_path)
        self.tickets: dict[str, Ticket] = {}
        self._config = config or {}

    @property
    def host(self) -> Host:
        assert self.engine._core.host is not None
        return self.engine._core.host

    @property
    def writer(self) -> Writer:
        return self.host.writer

    async def do(self, action: Action) -> Any:
        try:
            match action:
                case Send():
                    return await self._send(action)
                case SendAgain():
                    choice = RunOptions(self._runner_of(action.event), self._config) if self._config else None
                    ticket = await self.engine.queue.resend(self.database.item_of(action.event), choice)
                    return [self._answer(ticket), ticket.event_id]
                case Change():
                    await self._change(action)
                case Cancel():
                    run_id = self.database.run_of(action.run)
                    await self.engine.runs.cancel(run_id)
                    await self.engine.runs.wait_for_end(run_id)
        except StoreError as error:
            return type(error).__name__
        return OK

    async def settled(self) -> None:
        """Wait until everything is written and every free slot was considered."""
        count = -1
        while count != self.writer._added:
            # The writer answers in order, so every earlier operation has its answer when this one has.
            answer = self.writer.submit(lambda _: None)
            count = self.writer._added
            await answer
            while tasks := tuple(self.host.dispatcher._filling_tasks()):
                await asyncio.wait(tasks)

    async def _send(self, action: Send) -> Any:
        envelope = event(
            "message.received" if action.is_message else "schedule.triggered",
            event_id=action.event,
            conversation_id=action.slot[0],
            thread_id=action.slot[1],
            input={"text": action.text},
        )
        choice = RunOptions(action.runner, self._config)
        return self._answer(await self.engine.runs.submit(envelope, choice, after=action.after))

    def _answer(self, ticket: Ticket) -> Any:
        if not ticket.is_repeat:
            self.tickets[ticket.event_id] = ticket
            return "claimed" if ticket.claimed_by else "waits" if ticket.item_id else "began"
        if not ticket.started.done():
            return ["repeat", "waits"]
        if ticket.started.exception() is not None:
            return ["repeat", "nothing"]
        return ["repeat", self.database.event_of(ticket.started.result())]

    async def _change(self, action: Change) -> None:
        item_id = self.database.item_of(action.event)
        match action.how:
            case "edit":
                await self.engine.queue.edit(item_id, str(action.given[0]))
            case "move":
                before = action.given[0]
                await self.engine.queue.move(item_id, None if before is None else self.database.item_of(before))
            case "pause":
                await self.engine.queue.pause(item_id)
            case "resume":
                await self.engine.queue.resume(item_id)
            case "withdraw":
                await self.engine.queue.withdraw(item_id)
            case "set_after":
                await self.engine.queue.set_mode(item_id, Mode.AFTER)
            case "set_steer":
                await self.engine.queue.set_mode(item_id, Mode.STEER)
            case _:
                raise AssertionError(action)

    def _runner_of(self, event_id: str) -> str:
        """Return the short name of the runner that a message was sent to."""
        (found,) = self.database.all("SELECT runner_id FROM queue WHERE event_id = ?", event_id)
        return found[0].split("/")[1]
