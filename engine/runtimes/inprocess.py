"""Runs runners in this process, for unit tests and benchmarks."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any, Final, cast

from engine.protocol import AgentRunContext
from engine.runtimes import wire
from engine.runtimes.runtime import (
    ConfirmedReply,
    EncodedReply,
    Ending,
    EndKind,
    Launch,
    LoadedCode,
    ProcessFacts,
    RunnerCall,
    RuntimeProblem,
    Sink,
)
from engine.runtimes.worker.file_stamps import Stamp, stamp_of
from engine.runtimes.worker.host_calls import unsendable
from engine.runtimes.worker.result_encoding import encoded
from engine.runtimes.worker.runner_driver import drive, opened
from engine.runtimes.worker.tracebacks import report, sentence

RESULTS_PER_TURN: Final = 64
"""Results per loop iteration: yielding after each result costs more than recording it."""


class InProcessRuntime:
    """Looks up runners by the launch's attribute, or by the stem of its path."""

    def __init__(self, runners: Mapping[str, Any]) -> None:
        self._runners = runners
        self._live: set[InProcessExecution] = set()

    async def reserve(self, launch: Launch) -> "InProcessReservation":
        """Reserve nothing: any number of runs fit into this process."""
        return InProcessReservation(self, launch)

    def start(self, launch: Launch, context: dict[str, Any], sink: Sink) -> "InProcessExecution":
        """Start a run as a task."""
        name = launch.attr or launch.path.stem
        if name not in self._runners:
            raise RuntimeProblem(f"There is no runner {name!r} in this process. Known: {', '.join(self._runners)}.")
        execution = InProcessExecution(self._runners[name], context, sink, [stamp_of(str(launch.path))])
        self._live.add(execution)
        execution.task.add_done_callback(lambda _: self._live.discard(execution))
        return execution

    async def warm(self, launch: Launch) -> None:
        """Do nothing: in-process runs have no cold start."""

    def renew(self) -> None:
        """Do nothing: in-process code is never reloaded."""

    async def close(self) -> None:
        """Cancel runs in progress."""
        await asyncio.gather(*(execution.kill() for execution in list(self._live)))


class InProcessReservation:
    """A run that is about to start. It has no process of its own, so nothing is seeded."""

    process: ProcessFacts | None = None

    def __init__(self, runtime: InProcessRuntime, launch: Launch) -> None:
        self._runtime = runtime
        self._launch = launch

    async def begin(self, run_id: str, context: dict[str, Any], sink: Sink) -> "InProcessExecution":  # noqa: ARG002 - the interface has it
        return self._runtime.start(self._launch, context, sink)

    def release(self) -> None:
        pass


class InProcessExecution:
    """One run as a task of this loop."""

    def __init__(self, runner: Any, context: dict[str, Any], sink: Sink, code: list[Stamp]) -> None:
        self.code = code
        self._sink = sink
        self._emitted = 0
        self.task = asyncio.get_running_loop().create_task(self._perform(runner, context))

    async def ended(self) -> Ending:
        await asyncio.wait({self.task})
        # A task that is cancelled before its first step has no ending of its own.
        return Ending(EndKind.CANCELLED) if self.task.cancelled() else self.task.result()

    async def loaded_code(self) -> LoadedCode | None:
        return None

    def cancel(self) -> None:
        self.task.cancel()

    async def kill(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    async def _perform(self, runner: Any, context: dict[str, Any]) -> Ending:
        try:
            ctx = AgentRunContext.model_validate(context)
            ctx.connect(_DirectCalls(self._sink))
            await drive(opened(runner, ctx), self._emit, self._yield_to_loop)
        except asyncio.CancelledError as error:
            if self.task.cancelling():
                return Ending(EndKind.CANCELLED)
            return Ending(EndKind.RAISED, sentence(error), report(error))
        except Exception as error:  # noqa: BLE001 - the author's code may raise anything
            return Ending(EndKind.RAISED, sentence(error), report(error))
        return Ending(EndKind.ENDED)

    def _emit(self, result: Any) -> bool:
        """Convert through JSON and back, so that a run sees exactly what the wire would bring."""
        line = encoded(result)
        value = line if isinstance(line, wire.Fault) else wire.parse(line, wire.MAX_DEPTH)
        if isinstance(value, wire.Fault):
            self._sink.unreadable(value.reason, value.size)
        else:
            self._sink.result(value, len(cast("bytes", line)))
        self._emitted += 1
        return self._emitted % RESULTS_PER_TURN == 0 or self._sink.full

    async def _yield_to_loop(self) -> None:
        if not self._sink.full:
            await asyncio.sleep(0)
            return
        room = asyncio.Event()
        self._sink.when_room(room.set)
        await room.wait()


class _DirectCalls:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        with self._request(action, data) as call:
            reply = await call.answer()
            if isinstance(reply, ConfirmedReply):
                reply.written()
                return reply.data
            if isinstance(reply, EncodedReply):
                reply.sent()
                return wire.parse(reply.text, wire.MAX_DEPTH)
            return reply

    async def stream(self, action: str, data: dict[str, Any]) -> AsyncGenerator[Any, None]:
        with self._request(action, data) as call:
            async with aclosing(cast("AsyncGenerator[Any, None]", await call.answer())) as replies:
                try:
                    async for reply in replies:
                        yield reply
                except (asyncio.CancelledError, GeneratorExit):
                    call.cancel()  # before the replies are closed, which records their end
                    raise

    @contextmanager
    def _request(self, action: str, data: dict[str, Any]) -> Generator[RunnerCall]:
        call = self._sink.request(action, _through_wire(action, data))
        try:
            yield call
        except (asyncio.CancelledError, GeneratorExit):
            call.cancel()
            raise
        finally:
            call.close()


def _through_wire(action: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return a request as the wire would carry it. Raises AgentAPIException if it cannot be encoded."""
    try:
        line = wire.dumps(data)
        if len(line) > wire.MAX_FRAME:
            raise wire.TooLarge(f"{len(line)} bytes, more than the {wire.MAX_FRAME} that fit into a frame")
    except wire.Unencodable as error:
        raise unsendable(action, error) from None
    return cast("dict[str, Any]", wire.parse(line, wire.MAX_DEPTH))
