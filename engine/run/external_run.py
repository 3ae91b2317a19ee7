"""An external run: its runner is executed elsewhere, and its results are given to this host one by one."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

from engine.events import EXECUTED_ELSEWHERE, Status
from engine.run.call_permissions import Clause, available_apis
from engine.run.live import LiveRun, StopReason
from engine.run.run_order import RunOrder
from engine.runtimes import wire
from engine.runtimes.child import ENVELOPE_BYTES, MAX_PARSED_BYTES
from engine.runtimes.runtime import Ending, EndKind, LoadedCode
from engine.runtimes.worker.file_stamps import Stamp
from engine.runtimes.worker.result_encoding import MAX_RESULT_BYTES, encoded
from engine.store.errors import AlreadyFinal, BreakpointError, StoreError

RESULTS_PER_TURN: Final = 64
"""Results in one iteration of the loop: a task that appends without a break must not block the others."""
MAX_ID_CHARACTERS: Final = 255
_FRAME_BYTES: Final = ENVELOPE_BYTES + 1
"""What the wire adds to a result. It counts here too, so that a size in the journal is the same as for a child."""


def as_external(order: RunOrder, external_id: str | None = None) -> RunOrder:
    """Return the order of a run that is executed elsewhere, where its id may be another. It can make no calls here.

    Raises BreakpointError if the order has breakpoints, StoreError if the id is too long.
    """
    if external_id is not None and not 1 <= len(external_id) <= MAX_ID_CHARACTERS:
        raise StoreError(f"the id of an external run has 1 to {MAX_ID_CHARACTERS} characters.")
    if order.breakpoints:
        raise BreakpointError(f"{EXECUTED_ELSEWHERE}, so it cannot be paused. Leave the breakpoints out.")
    apis = {name: Clause(False, EXECUTED_ELSEWHERE) for name in order.grants.apis}
    grants = replace(order.grants, apis=apis, available_apis=available_apis(apis))
    return replace(order, grants=grants, is_external=True, external_id=external_id)


class ExternalExecution:
    """The execution of an external run. Results are checked and recorded like those of a child process."""

    code: Sequence[Stamp] = ()

    def __init__(self, live: LiveRun) -> None:
        self._live = live
        self._ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._order = asyncio.Lock()
        """Held while a result is handled, because a large one is checked in a thread."""
        self._count = 0

    async def append_result(self, result: object) -> None:
        """Take one result: an `AgentRunResult` or a dict. Waits if the writer has no room.

        Raises AlreadyFinal if the run has ended.
        """
        line = encoded(result)
        async with self._order:
            if isinstance(line, wire.Fault):
                self._require_open()
                self._live.unreadable(line.reason, line.size)
            else:
                await self._take(line)

    async def append_line(self, line: bytes) -> None:
        """Take one result as a line of JSON. A line that is none is recorded as unreadable."""
        async with self._order:
            await self._take(line)

    def end(self, status: Status | None, error: str) -> None:
        """End the run with a final status, or as its results say. A terminal result or an earlier end wins."""
        match status:
            case Status.CANCELLED:
                self._live.request_stop(StopReason.CANCELLED, error)
            case Status.TIMEOUT:
                self._live.request_stop(StopReason.DEADLINE, error)
            case Status.FAILED:
                self._finish(Ending(EndKind.RAISED, error))
            case _:
                self._finish(Ending(EndKind.ENDED))

    async def ended(self) -> Ending:
        ending = await asyncio.shield(self._ending)
        async with self._order:  # a result that is being handled belongs to the run
            return ending

    async def loaded_code(self) -> LoadedCode | None:
        return None

    def cancel(self) -> None:
        self._finish(Ending(EndKind.CANCELLED))

    async def kill(self) -> None:
        self.cancel()

    def _finish(self, ending: Ending) -> None:
        """Set the ending. The first one stands."""
        if not self._ending.done():
            self._ending.set_result(ending)

    async def _take(self, line: bytes) -> None:
        live = self._live
        self._require_open()
        if len(line) > MAX_RESULT_BYTES:
            value: object = wire.Fault(f"larger than {wire.MAX_FRAME} bytes", len(line) - _FRAME_BYTES)
        elif len(line) + _FRAME_BYTES > MAX_PARSED_BYTES:
            value = await asyncio.to_thread(self._parse_large, line)
        else:
            value = self._with_own_id(wire.parse(line, wire.MAX_DEPTH))
        if isinstance(value, wire.Fault):
            live.unreadable(value.reason, value.size + _FRAME_BYTES)
        else:
            live.result(value, len(line))
        await self._make_room()

    def _parse_large(self, line: bytes) -> object:
        """Parse and check a large result. Runs in a thread."""
        if wire.too_wide(b"{" + line):  # the frame of the wire is an object too
            return wire.Fault(wire.TOO_WIDE, len(line))
        value = self._with_own_id(wire.parse(line, wire.MAX_DEPTH))
        return value if isinstance(value, wire.Fault) else self._live.prepare(value)

    def _with_own_id(self, value: object) -> object:
        """Return a result that names the run by its id elsewhere as one that names it by its id here."""
        order = self._live.order
        if order.external_id is None or not isinstance(value, dict):
            return value
        result = cast("dict[str, Any]", value)
        return {**result, "run_id": order.run_id} if result.get("run_id") == order.external_id else result

    async def _make_room(self) -> None:
        if self._live.full:
            room = asyncio.Event()
            self._live.when_room(room.set)
            await room.wait()
        self._count += 1
        if self._count % RESULTS_PER_TURN == 0:
            await asyncio.sleep(0)

    def _require_open(self) -> None:
        if self._ending.done():
            raise AlreadyFinal(f"run {self._live.order.run_id} has ended; no result can be added to it.")
