"""The requests that other processes send to this host: their arguments, the table of actions, and the loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.clock import Clock
from engine.events import Fate, Mode
from engine.intake.envelope import EventEnvelope
from engine.queue.leftovers import Resend
from engine.queue.requests import Action, ReceiptData, error_receipt
from engine.queue.ticket import Ticket
from engine.queue.user_edits import QueueEditor
from engine.store import requests
from engine.store.database import Database
from engine.store.errors import StoreError
from engine.store.requests import RequestRow
from engine.store.runs import RunRow
from engine.store.writer import Writer

TAKE_SECONDS: Final = 0.05
"""How often a host with a live run looks for requests (`python -m tests.bench steer_elsewhere`)."""
IDLE_ROUNDS: Final = 8
"""A host without a live run looks in each eighth round only: a message may still wait for its slot there."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _NoArguments(_Arguments):
    pass


class _ResendArguments(_Arguments):
    item_id: str
    place: int = 0
    fate: Fate = Fate.QUEUED


class _SteerArguments(_Arguments):
    envelope: EventEnvelope
    runner_id: str | None = None
    """The runner that the sender has chosen; None if any runner may receive the message."""
    resend: _ResendArguments | None = None


class _ItemArguments(_Arguments):
    item_id: str


class _EditArguments(_ItemArguments):
    text: str


class _MoveArguments(_ItemArguments):
    before: str | None = None


class _ModeArguments(_ItemArguments):
    mode: Mode


class _StaleArguments(_Arguments):
    max_idle_seconds: float = Field(ge=1)


class RunActions(Protocol):
    """The actions on runs that a host offers. Implemented above this package, by the host."""

    async def cancel(self, run_id: str) -> None:
        """Stop a run."""
        ...

    async def close_stale(self, max_idle_seconds: float) -> list[RunRow]:
        """Close runs that nothing executes."""
        ...

    async def steer(
        self, run_id: str, envelope: EventEnvelope, *, runner_id: str | None = None, resend: Resend | None = None
    ) -> Ticket:
        """Offer a message to a run."""
        ...


class _ActionType(NamedTuple):
    arguments: type[_Arguments]
    perform: "Callable[[RequestedActions, str | None, Any], Awaitable[ReceiptData]]"


class RequestedActions:
    """Carries out the actions that other processes request, as if the user of this process had asked for them."""

    def __init__(self, runs: RunActions, editor: QueueEditor) -> None:
        self._runs = runs
        self._editor = editor

    async def carry_out(self, request: RequestRow) -> ReceiptData:
        """Carry out one request. Returns its receipt, which contains the error if it is refused or fails."""
        action = ACTIONS.get(request.action)
        if action is None:
            known = ", ".join(ACTIONS)
            return error_receipt(StoreError(f"unknown action {request.action!r:.60}. This host knows: {known}."))
        try:
            arguments = action.arguments.model_validate(request.arguments or {})
            return await action.perform(self, request.run_id, arguments)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            return error_receipt(StoreError(f"the request {request.action} is invalid: {field}: {first['msg']}."))
        except Exception as error:  # noqa: BLE001  (the sender must get every error, and the host goes on)
            return error_receipt(error)

    async def steer(self, run_id: str | None, arguments: _SteerArguments) -> ReceiptData:
        resend = None if arguments.resend is None else Resend(**arguments.resend.model_dump())
        ticket = await self._runs.steer(
            _needed(run_id), arguments.envelope, runner_id=arguments.runner_id, resend=resend
        )
        joined = ticket.claimed_by or (ticket.started.result() if ticket.started.done() else None)
        return {"item_id": ticket.item_id, "run_id": joined, "is_repeat": ticket.is_repeat}

    async def edit(self, _: str | None, arguments: _EditArguments) -> ReceiptData:
        return {"item_id": (await self._editor.edit(arguments.item_id, arguments.text)).item_id}

    async def withdraw(self, _: str | None, arguments: _ItemArguments) -> ReceiptData:
        return {"item_id": (await self._editor.withdraw(arguments.item_id)).item_id}

    async def move(self, _: str | None, arguments: _MoveArguments) -> ReceiptData:
        return {"item_id": (await self._editor.move(arguments.item_id, arguments.before)).item_id}

    async def pause_message(self, _: str | None, arguments: _ItemArguments) -> ReceiptData:
        return {"item_id": (await self._editor.pause(arguments.item_id)).item_id}

    async def resume_message(self, _: str | None, arguments: _ItemArguments) -> ReceiptData:
        return {"item_id": (await self._editor.resume(arguments.item_id)).item_id}

    async def set_mode(self, _: str | None, arguments: _ModeArguments) -> ReceiptData:
        return {"item_id": (await self._editor.set_mode(arguments.item_id, arguments.mode)).item_id}

    async def stop(self, run_id: str | None, _: _NoArguments) -> ReceiptData:
        await self._runs.cancel(_needed(run_id))
        return {"run_id": run_id}

    async def close_stale(self, _: str | None, arguments: _StaleArguments) -> ReceiptData:
        closed = await self._runs.close_stale(arguments.max_idle_seconds)
        return {"closed": [run.run_id for run in closed]}


ACTIONS: Final[Mapping[str, _ActionType]] = {
    Action.STEER: _ActionType(_SteerArguments, RequestedActions.steer),
    Action.EDIT: _ActionType(_EditArguments, RequestedActions.edit),
    Action.WITHDRAW: _ActionType(_ItemArguments, RequestedActions.withdraw),
    Action.MOVE: _ActionType(_MoveArguments, RequestedActions.move),
    Action.PAUSE_MESSAGE: _ActionType(_ItemArguments, RequestedActions.pause_message),
    Action.RESUME_MESSAGE: _ActionType(_ItemArguments, RequestedActions.resume_message),
    Action.SET_MODE: _ActionType(_ModeArguments, RequestedActions.set_mode),
    Action.STOP: _ActionType(_NoArguments, RequestedActions.stop),
    Action.CLOSE_STALE: _ActionType(_StaleArguments, RequestedActions.close_stale),
}
"""Every action by its name. A new action is one row here and one method."""


class RequestServer:
    """Takes the requests of other processes in their order, one at a time, and writes their receipts."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        actions: RequestedActions,
        host: str,
        clock: Clock,
        has_live_run: Callable[[], bool],
        on_error: Callable[[StoreError], None],
    ) -> None:
        self._database = database
        self._writer = writer
        self._actions = actions
        self._host = host
        self._clock = clock
        self._has_live_run = has_live_run
        self._on_error = on_error
        self._version = -1
        self._unwritten: dict[int, ReceiptData] = {}
        """Receipts of requests that were carried out and that the disk refused."""

    async def serve(self) -> None:
        """Look for requests until cancelled. Costs one read of `PRAGMA data_version` in each round."""
        rounds = 0
        while True:
            await asyncio.sleep(TAKE_SECONDS)
            rounds += 1
            if not self._has_live_run() and rounds % IDLE_ROUNDS:
                continue
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001  (a failed read must not end the loop)
                self._on_error(error if isinstance(error, StoreError) else StoreError(repr(error)))

    async def _look(self) -> None:
        version, is_waiting = await self._database.fetch_if_changed(
            requests.is_waiting_query(self._host), self._version
        )
        if is_waiting or self._unwritten:
            await self._take()
        self._version = version  # only now: after an error the next round looks again

    async def _take(self) -> None:
        for request_id in tuple(self._unwritten):
            await self._answer(request_id)
        now = self._clock.now()
        for request in await self._writer.submit(lambda tx: requests.take(tx.connection, self._host, at=now)):
            self._unwritten[request.request_id] = await self._actions.carry_out(request)
            await self._answer(request.request_id)

    async def _answer(self, request_id: int) -> None:
        receipt, now = self._unwritten[request_id], self._clock.now()
        await self._writer.submit(lambda tx: requests.answer(tx.connection, request_id, receipt, at=now))
        del self._unwritten[request_id]


def _needed(run_id: str | None) -> str:
    if run_id is None:
        raise StoreError("the request names no run.")
    return run_id
