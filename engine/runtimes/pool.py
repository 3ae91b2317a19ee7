"""Runs runners in child processes, and keeps one warm child per launch."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from engine.runtimes.child import Child, ChildExecution, State
from engine.runtimes.guardian import Guardian
from engine.runtimes.heartbeat import HeartbeatTimeouts
from engine.runtimes.processes import others
from engine.runtimes.resource_shortage import RESERVED_DESCRIPTORS, OutOfResources
from engine.runtimes.runtime import Launch, RuntimeProblem, Sink
from engine.runtimes.start_queue import OnWait, StartQueue
from engine.runtimes.worker.file_stamps import are_unchanged

MAX_IDLE_CHILDREN: Final = 8
"""Warm children that are kept; each holds about 30 MiB."""
MAX_CHILD_STARTS: Final = 8
"""Children that start at the same time. More of them would take the processors from the screen for seconds."""
MAX_LOADING_SECONDS: Final = 5.0
"""How long the import of a runner counts as a start: a module that never returns must not stop the others."""
RETRY_SECONDS: Final = 1.0
"""How often a start that lacks resources is tried again while no child ends."""


class ChildPool:
    """The runtime for real runners. No process that it starts outlives it or the host."""

    def __init__(self, timeouts: HeartbeatTimeouts | None = None, max_starts: int = MAX_CHILD_STARTS) -> None:
        self._timeouts = timeouts
        self._guardian = Guardian()
        self._children: set[Child] = set()
        self._idle: dict[Launch, Child] = {}
        self._coming: dict[Launch, asyncio.Task[None]] = {}
        """Children that will be idle soon: being warmed, or checked after a run."""
        self._starts = StartQueue(max_starts, self._keep)
        self._shortage = asyncio.Lock()
        """Held by the start that waits for resources of the system; the others queue for the lock."""
        self._shortage_cause = ""
        self._child_gone = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def begin(self, launch: Launch, run_id: str, context: dict[str, Any], sink: Sink) -> ChildExecution:
        """Start a run, in the warm child if it is still usable."""
        child = await self._take(launch, sink.waiting)
        try:
            execution = child.run(run_id, context, sink)
        except BaseException:
            self._discard(child)
            raise
        # Added first, so that the next run finds this child among the upcoming ones.
        execution.finished.add_done_callback(lambda _: self._add_upcoming(launch, self._check_after_run(child)))
        return execution

    async def warm(self, launch: Launch) -> None:
        """Start a child and load its runner before it is needed."""
        if launch not in self._coming and (launch not in self._idle or not await self._is_usable(self._idle[launch])):
            self._add_upcoming(launch, self._prepare(launch))
        if (coming := self._coming.get(launch)) is not None:
            await asyncio.shield(coming)

    def renew(self) -> None:
        """Do not use the present children again; those with a run finish it."""
        for child in self._children:
            child.is_old = True
        while self._idle:
            self._discard(self._idle.popitem()[1])

    async def close(self) -> None:
        """Kill every child and end the guardian."""
        self._is_closed = True
        self._child_gone.set()
        while self._tasks or self._children:
            await asyncio.gather(*(child.kill() for child in list(self._children)))
            for child in [child for child in self._children if child.state is State.GONE]:
                self._forget(child)
            if self._tasks:
                await asyncio.wait(set(self._tasks))
        self._idle.clear()
        await asyncio.to_thread(self._guardian.close)

    async def _take(self, launch: Launch, on_wait: OnWait) -> Child:
        if (coming := self._coming.get(launch)) is not None:
            await asyncio.wait({coming})
        child = self._idle.pop(launch, None)
        while child is None or not await self._is_usable_or_discarded(child):
            child = await self._starts.wait_for_turn(launch, on_wait, is_first=child is not None)
            if child is None:
                return await self._start(launch, on_wait)
        return child

    async def _start(self, launch: Launch, on_wait: OnWait) -> Child:
        """Start a child. The caller has its turn, which ends when the runner is loaded."""
        try:
            child = await self._start_when_possible(launch, on_wait)
        except BaseException:
            self._starts.leave()
            raise
        self._task(self._leave_when_loaded(child))
        return child

    async def _leave_when_loaded(self, child: Child) -> None:
        try:
            await asyncio.wait({child.loaded}, timeout=MAX_LOADING_SECONDS)
        finally:
            self._starts.leave()

    async def _start_when_possible(self, launch: Launch, on_wait: OnWait) -> Child:
        """Start a child. If the system allows no further process, wait until another child has ended."""
        if not self._shortage.locked():
            try:
                return await self._start_shielded(launch, RESERVED_DESCRIPTORS)
            except OutOfResources as shortage:
                self._shortage_cause = shortage.cause
        with self._starts.blocked(on_wait, self._shortage_cause):
            async with self._shortage:  # one at a time, in the order of their turns
                while True:
                    await asyncio.sleep(0)  # pipes of a child that has ended are closed now
                    is_alone = not self._children
                    try:
                        return await self._start_shielded(launch, 0 if is_alone else RESERVED_DESCRIPTORS)
                    except OutOfResources:
                        if is_alone:  # waiting would not help
                            raise
                    await self._wait_for_room()

    async def _wait_for_room(self) -> None:
        """End an idle child, or wait until any child has ended. Other processes may make room too, so not for ever."""
        if self._idle:
            await self._end(self._idle.pop(next(iter(self._idle))))
        elif self._children and not self._is_closed:
            self._child_gone.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await self._child_gone.wait()

    async def _start_shielded(self, launch: Launch, reserved: int) -> Child:
        # In a task of its own: a caller that is cancelled must not leave a process that nobody ends.
        starting = self._task(self._start_child(launch, reserved))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(self._discard_unwanted)
            raise

    async def _start_child(self, launch: Launch, reserved: int) -> Child:
        if self._is_closed:
            raise RuntimeProblem("The host is closing and starts no more runners.")
        child = Child(launch, self._guardian, self._timeouts)
        self._children.add(child)
        try:
            await child.start(reserved)
        except BaseException:
            # For any error, such as no free descriptors: nobody waits for a child that never started.
            await child.kill()
            self._forget(child)
            raise
        return child

    async def _prepare(self, launch: Launch) -> None:
        child = await self._starts.wait_for_turn(launch, _wait_silently)
        if child is None:
            child = await self._start(launch, _wait_silently)
        if await child.loaded:
            self._keep(child)
        else:
            self._discard(child)

    async def _check_after_run(self, child: Child) -> None:
        """Keep a child after its run if it is clean and nothing that it started is left."""
        try:
            is_alone = child.state is State.IDLE and not await asyncio.to_thread(others, child.pid, child.mark)
        except Exception:  # noqa: BLE001 - such as no free descriptor: whatever it was, this child is not used again
            is_alone = False
        if is_alone:
            self._keep(child)
        else:
            self._discard(child)

    def _keep(self, child: Child) -> None:
        if self._is_closed or child.is_old or child.state is not State.IDLE:
            self._discard(child)
            return
        if self._starts.offer(child):
            return
        if (other := self._idle.pop(child.launch, None)) is not None:
            self._discard(other)
        self._idle[child.launch] = child
        if len(self._idle) > MAX_IDLE_CHILDREN:
            self._discard(self._idle.pop(next(iter(self._idle))))

    async def _is_usable_or_discarded(self, child: Child) -> bool:
        """Whether a child that was taken out of the idle ones can serve a run. If not, it is discarded."""
        is_usable = False
        try:
            is_usable = await self._is_usable(child)
        finally:
            if not is_usable:  # also if the caller is cancelled meanwhile
                self._discard(child)
        return is_usable

    async def _is_usable(self, child: Child) -> bool:
        try:
            unchanged = await asyncio.to_thread(are_unchanged, child.files)
        except Exception:  # noqa: BLE001 - a fault in the check of one child concerns no other
            return False
        return unchanged and child.state is State.IDLE and not self._is_closed

    def _add_upcoming(self, launch: Launch, coming: Any) -> None:
        task = self._task(coming)
        self._coming[launch] = task
        task.add_done_callback(lambda _: self._coming.pop(launch) if self._coming.get(launch) is task else None)

    def _discard(self, child: Child) -> None:
        self._task(self._end(child))

    def _discard_unwanted(self, starting: asyncio.Task[Child]) -> None:
        if not starting.cancelled() and starting.exception() is None:
            self._discard(starting.result())

    async def _end(self, child: Child) -> None:
        await child.kill()
        self._forget(child)

    def _forget(self, child: Child) -> None:
        self._children.discard(child)
        self._child_gone.set()

    def _task(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved here, so that asyncio does not log an error that nobody waits for


def _wait_silently(before: Callable[[], int] | None, reason: str = "") -> None:
    """Nobody is told that a child which is only warmed has to wait."""
