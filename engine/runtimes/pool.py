"""Runs runners in child processes, and keeps one warm child per launch."""

import asyncio
from typing import Any, Final

from engine.runtimes.child import Child, ChildExecution, State
from engine.runtimes.guardian import Guardian
from engine.runtimes.heartbeat import HeartbeatTimeouts
from engine.runtimes.processes import others
from engine.runtimes.runtime import Launch, RuntimeProblem, Sink
from engine.runtimes.worker.file_stamps import are_unchanged

MAX_IDLE_CHILDREN: Final = 8
"""Warm children that are kept; each holds about 30 MiB."""


class ChildPool:
    """The runtime for real runners. No process that it starts outlives it or the host."""

    def __init__(self, timeouts: HeartbeatTimeouts | None = None) -> None:
        self._timeouts = timeouts
        self._guardian = Guardian()
        self._children: set[Child] = set()
        self._idle: dict[Launch, Child] = {}
        self._coming: dict[Launch, asyncio.Task[None]] = {}
        """Children that will be idle soon: being warmed, or checked after a run."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def begin(self, launch: Launch, run_id: str, context: dict[str, Any], sink: Sink) -> ChildExecution:
        """Start a run, in the warm child if it is still usable."""
        child = await self._take(launch)
        try:
            execution = child.run(run_id, context, sink)
        except RuntimeProblem:
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
        while self._tasks or self._children:
            await asyncio.gather(*(child.kill() for child in list(self._children)))
            self._children = {child for child in self._children if child.state is not State.GONE}
            if self._tasks:
                await asyncio.wait(set(self._tasks))
        self._idle.clear()
        await asyncio.to_thread(self._guardian.close)

    async def _take(self, launch: Launch) -> Child:
        if (coming := self._coming.get(launch)) is not None:
            await asyncio.wait({coming})
        child = self._idle.pop(launch, None)
        if child is not None:
            if await self._is_usable(child):
                return child
            self._discard(child)
        # In a task of its own: a caller that is cancelled must not leave a process that nobody ends.
        starting = self._task(self._start(launch))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(self._discard_unwanted)
            raise

    async def _start(self, launch: Launch) -> Child:
        if self._is_closed:
            raise RuntimeProblem("The host is closing and starts no more runners.")
        child = Child(launch, self._guardian, self._timeouts)
        self._children.add(child)
        try:
            await child.start()
        except BaseException:
            # For any error, such as no free descriptors: nobody waits for a child that never started.
            await child.kill()
            self._children.discard(child)
            raise
        return child

    async def _prepare(self, launch: Launch) -> None:
        child = await self._start(launch)
        if await child.loaded:
            self._keep(launch, child)
        else:
            self._discard(child)

    async def _check_after_run(self, child: Child) -> None:
        """Keep a child after its run if it is clean and its process group has no other process."""
        if child.state is State.IDLE and not await asyncio.to_thread(others, child.pid):
            self._keep(child.launch, child)
        else:
            self._discard(child)

    def _keep(self, launch: Launch, child: Child) -> None:
        if self._is_closed or child.is_old or child.state is not State.IDLE:
            self._discard(child)
            return
        if (other := self._idle.pop(launch, None)) is not None:
            self._discard(other)
        self._idle[launch] = child
        if len(self._idle) > MAX_IDLE_CHILDREN:
            self._discard(self._idle.pop(next(iter(self._idle))))

    async def _is_usable(self, child: Child) -> bool:
        unchanged = await asyncio.to_thread(are_unchanged, child.files)
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
        self._children.discard(child)

    def _task(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved here, so that asyncio does not log an error that nobody waits for
