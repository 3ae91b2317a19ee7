"""Sends requests to the hosts of other processes, and waits for their receipts."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from engine.clock import Clock
from engine.intake.envelope import EventEnvelope
from engine.queue.leftovers import Resend
from engine.queue.requests import Action, error_of, error_receipt, host_gone, run_words, settle_requests
from engine.queue.ticket import Ticket
from engine.store import hosts, requests
from engine.store.batch import Transaction
from engine.store.database import Database
from engine.store.errors import HostSilent, StoreError
from engine.store.runs import RunRow

ANSWER_POLL_SECONDS: Final = 0.01
"""How often a sender looks for its receipt. Mostly a few rounds are enough."""
CHECK_SECONDS: Final = 0.25
"""How often a sender that waits checks whether the host is alive."""
ANSWER_SECONDS: Final = 10.0
"""A request that no host has taken by then is withdrawn."""


class RequestSender:
    """Sends requests of this process, each with the process id as its sender."""

    def __init__(
        self,
        database: Database,
        write: Callable[[Callable[[Transaction], Any]], Awaitable[Any]],
        clock: Clock,
    ) -> None:
        self._database = database
        self._write = write
        self._clock = clock
        self._sender = f"process {os.getpid()}"
        self._withdrawing: set[asyncio.Task[None]] = set()
        """Requests that are being withdrawn, because their senders were cancelled."""

    async def steer(
        self, run: RunRow, envelope: EventEnvelope, *, runner_id: str | None = None, resend: Resend | None = None
    ) -> Ticket:
        """Offer a message to a run of another host. Returns the ticket that the host has given.

        Raises CannotSteer if the run cannot receive it; then nothing is recorded.
        """
        arguments: dict[str, Any] = {"envelope": envelope.model_dump(mode="json"), "runner_id": runner_id}
        if resend is not None:
            arguments["resend"] = {"item_id": resend.item_id, "place": resend.place, "fate": resend.fate}
        receipt = await self.send(Action.STEER, run.host, run.run_id, arguments)
        ticket = Ticket(envelope.event_id, asyncio.get_running_loop().create_future(), is_repeat=receipt["is_repeat"])
        ticket.item_id, ticket.claimed_by = receipt["item_id"], receipt["run_id"]
        ticket.started.set_result(receipt["run_id"])
        return ticket

    async def stop(self, run: RunRow) -> None:
        """Ask the host of a run to stop it. Returns when the host has recorded that."""
        await self.send(Action.STOP, run.host, run.run_id, {})

    async def send(
        self, action: Action, host: str | None, run_id: str | None, arguments: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Send a request and return its receipt.

        Raises the host's error if it refused; HostGone if the host has died; HostSilent if it did not take the request.
        """
        adding = asyncio.ensure_future(self._write(lambda tx: self._add(tx, action, host, run_id, arguments)))
        try:
            request_id = await asyncio.shield(adding)
            receipt = await self._wait_for_receipt(request_id, host or "", run_id)
        except asyncio.CancelledError:
            # The user does not wait any longer: what the host has not begun must not be done later.
            withdrawing = asyncio.ensure_future(self._withdraw_added(adding))
            self._withdrawing.add(withdrawing)
            withdrawing.add_done_callback(self._withdrawing.discard)
            raise
        with suppress(StoreError):  # the next host to open the database removes it
            await self._write(lambda tx: requests.remove(tx.connection, request_id))
        if (error := error_of(receipt)) is not None:
            raise error
        return receipt

    def _add(
        self, tx: Transaction, action: Action, host: str | None, run_id: str | None, arguments: Mapping[str, Any]
    ) -> int:
        if host is None or hosts.process_of(tx.connection, host) is None:
            raise host_gone(run_id)
        return requests.add(
            tx.connection,
            host=host,
            run_id=run_id,
            action=action,
            arguments=arguments,
            sender=self._sender,
            at=self._clock.now(),
        )

    async def _wait_for_receipt(self, request_id: int, host: str, run_id: str | None) -> Mapping[str, Any]:
        time = asyncio.get_running_loop().time
        version, checked_at, give_up_at = -1, time(), time() + ANSWER_SECONDS
        while True:
            try:
                version, found = await self._database.fetch_if_changed(requests.find_query(request_id), version)
                if found is not None and (not found or found[0].answered_at is not None):
                    return found[0].receipt or {} if found else error_receipt(host_gone(run_id))
                if time() - checked_at >= CHECK_SECONDS:
                    checked_at = time()
                    await self._check_host(request_id, host, run_id, is_late=time() >= give_up_at)
            except HostSilent:
                raise
            except StoreError:
                # The database cannot be read now. The request may be carried out, so its sender goes on waiting.
                if time() >= give_up_at:
                    raise
            await asyncio.sleep(ANSWER_POLL_SECONDS)

    async def _check_host(self, request_id: int, host: str, run_id: str | None, *, is_late: bool) -> None:
        """Settle the requests of a host that has died. Raises HostSilent if a living one is late and has not begun."""
        process = await self._database.read(lambda conn: hosts.process_of(conn, host))
        if process is None:
            await self._write(partial(settle_requests, host_id=host, at=self._clock.now()))
        elif is_late and await self._write(lambda tx: self._withdraw(tx, request_id)):
            raise HostSilent(
                f"process {process}, which hosts {run_words(run_id)}, has not answered for {ANSWER_SECONDS:g} s. "
                "Nothing was changed. Try again, or end that process."
            )

    async def _withdraw_added(self, adding: "asyncio.Future[int]") -> None:
        with suppress(StoreError):  # it could not be added, or the host answers it
            request_id = await adding
            await self._write(lambda tx: self._withdraw(tx, request_id))

    @staticmethod
    def _withdraw(tx: Transaction, request_id: int) -> bool:
        """Inside the writer: delete a request that its host has not taken. Returns whether it was deleted."""
        request = requests.get(tx.connection, request_id)
        if request is None or request.taken_at is not None or request.answered_at is not None:
            return False
        requests.remove(tx.connection, request_id)
        return True
