"""Runs runners in child processes, and keeps one warm child per launch."""

import asyncio
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.runtimes.child import Child, ChildExecution, State
from engine.runtimes.environment import passed_variables
from engine.runtimes.guardian import Guardian
from engine.runtimes.heartbeat import HeartbeatTimeouts
from engine.runtimes.resource_shortage import RESERVED_DESCRIPTORS, OutOfResources
from engine.runtimes.runtime import Launch, ProcessFacts, RuntimeProblem, Sink
from engine.runtimes.sandbox import check_folder, find_leftovers
from engine.runtimes.seeds import RandomBits, Seeds, new_random_seed, new_seeds
from engine.runtimes.spawn import known_version, python_of
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


@dataclass(slots=True, eq=False)
class _WarmStart:
    """A child that is started ahead of its run. A run that claims it gets it, and nobody else."""

    launch: Launch
    seeds: Seeds
    is_claimed: bool = False
    child: Child | None = None
    """The loaded child, if it was claimed."""
    task: "asyncio.Task[None] | None" = None


class ChildPool:
    """The runtime for real runners. No process that it starts outlives it or the host."""

    def __init__(
        self,
        timeouts: HeartbeatTimeouts | None = None,
        max_starts: int = MAX_CHILD_STARTS,
        random_bits: RandomBits = secrets.randbits,
        private_paths: Iterable[Path] = (),
    ) -> None:
        self._timeouts = timeouts
        self._random_bits = random_bits
        self._private_paths = tuple(private_paths)
        """Files that no sandboxed runner may have in its folder."""
        self._guardian = Guardian()
        self._children: set[Child] = set()
        self._idle: dict[Launch, Child] = {}
        self._checks: dict[Launch, asyncio.Task[None]] = {}
        """Checks of children after their runs, which will be idle soon."""
        self._warm_starts: dict[Launch, _WarmStart] = {}
        self._starts = StartQueue(max_starts, self._keep)
        self._shortage = asyncio.Lock()
        """Held by the start that waits for resources of the system; the others queue for the lock."""
        self._shortage_cause = ""
        self._child_gone = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def reserve(self, launch: Launch) -> "ReservedChild":
        """Choose the process of a run: the idle child if it is still usable, one that is being warmed, or a new one.

        Waits for the check of an idle child, which takes a few milliseconds, but never for a start.
        """
        if (check := self._checks.get(launch)) is not None:
            await asyncio.wait({check})
        child = self._idle.pop(launch, None)
        if child is not None and await self._is_usable_or_discarded(child):
            return ReservedChild(self, child.facts(new_random_seed(launch, self._random_bits)), launch, child)
        warm = self._warm_starts.pop(launch, None)
        if warm is not None:
            warm.is_claimed = True
        seeds = new_seeds(launch, self._random_bits) if warm is None else warm.seeds
        return ReservedChild(self, _facts_of_new(launch, seeds), launch, warm=warm, is_first=child is not None)

    async def begin(
        self, reserved: "ReservedChild", run_id: str, context: dict[str, Any], sink: Sink
    ) -> ChildExecution:
        """Start a run in the reserved process, or in another one if that cannot be used any more."""
        child = await self._take(reserved, sink)
        try:
            execution = child.run(run_id, context, sink, reserved.process.random_seed)
        except BaseException:
            self._discard(child)
            raise
        # Added first, so that the next run finds this child among the upcoming ones.
        execution.finished.add_done_callback(lambda _: self._add_check(child))
        return execution

    def give_back(self, child: Child) -> None:
        """Take back a child that was reserved and not used."""
        self._keep(child)

    def give_back_start(self, warm: _WarmStart) -> None:
        """Take back a start that was claimed and not used."""
        warm.is_claimed = False
        if warm.child is not None:
            self._keep(warm.child)
        elif warm.task is not None and not warm.task.done():
            self._warm_starts.setdefault(warm.launch, warm)

    async def warm(self, launch: Launch) -> None:
        """Start a child and load its runner before it is needed."""
        is_coming = launch in self._checks or launch in self._warm_starts
        if not is_coming and (launch not in self._idle or not await self._is_usable(self._idle[launch])):
            self._add_warm_start(launch)
        if (check := self._checks.get(launch)) is not None:
            await asyncio.shield(check)
        elif (warm := self._warm_starts.get(launch)) is not None and warm.task is not None:
            await asyncio.shield(warm.task)

    def renew(self) -> None:
        """Do not use the present children again; those with a run finish it."""
        for child in self._children:
            child.is_old = True
        self._warm_starts.clear()
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

    async def _take(self, reserved: "ReservedChild", sink: Sink) -> Child:
        launch, child, is_first = reserved.launch, reserved.child, reserved.is_first
        is_replaced = False
        if reserved.warm is not None:
            child = await self._take_warm(reserved.warm)
        elif child is not None and child.state is not State.IDLE:
            self._discard(child)
            child, is_first, is_replaced = None, True, True
        while child is None:
            free = await self._starts.wait_for_turn(launch, sink.waiting, is_first=is_first)
            if free is None:
                # The seeds that were reserved, so that they are those of the run in any case.
                seeds = Seeds(reserved.process.hash_seed, reserved.process.random_seed)
                child = await self._start(launch, seeds, sink.waiting)
            elif await self._is_usable_or_discarded(free):
                child = free
            is_first = True
        if child is not reserved.child:
            self._report_other(reserved, child, sink, is_replaced=is_replaced)
        return child

    async def _take_warm(self, warm: _WarmStart) -> Child | None:
        """Wait for a child that was warmed for this run. Returns None if it cannot be used."""
        try:
            if warm.task is not None:
                await asyncio.wait({warm.task})
        except asyncio.CancelledError:
            self.give_back_start(warm)
            raise
        child, warm.child = warm.child, None
        return child if child is not None and await self._is_usable_or_discarded(child) else None

    def _report_other(self, reserved: "ReservedChild", child: Child, sink: Sink, *, is_replaced: bool) -> None:
        """Report the process of a run if it is not the one that was reserved."""
        facts = child.facts(reserved.process.random_seed)
        if replace(facts, python_version=reserved.process.python_version) != reserved.process:
            reason = "the reserved process had ended" if is_replaced else "another process became free first"
            sink.process_chosen(facts, reason, is_replaced=is_replaced)

    async def _start(self, launch: Launch, seeds: Seeds, on_wait: OnWait) -> Child:
        """Start a child. The caller has its turn, which ends when the runner is loaded."""
        try:
            child = await self._start_when_possible(launch, seeds, on_wait)
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

    async def _start_when_possible(self, launch: Launch, seeds: Seeds, on_wait: OnWait) -> Child:
        """Start a child. If the system allows no further process, wait until another child has ended."""
        if not self._shortage.locked():
            try:
                return await self._start_shielded(launch, seeds, RESERVED_DESCRIPTORS)
            except OutOfResources as shortage:
                self._shortage_cause = shortage.cause
        with self._starts.blocked(on_wait, self._shortage_cause):
            async with self._shortage:  # one at a time, in the order of their turns
                while True:
                    await asyncio.sleep(0)  # pipes of a child that has ended are closed now
                    is_alone = not self._children
                    try:
                        return await self._start_shielded(launch, seeds, 0 if is_alone else RESERVED_DESCRIPTORS)
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

    async def _start_shielded(self, launch: Launch, seeds: Seeds, reserved: int) -> Child:
        # In a task of its own: a caller that is cancelled must not leave a process that nobody ends.
        starting = self._task(self._start_child(launch, seeds, reserved))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(self._discard_unwanted)
            raise

    async def _start_child(self, launch: Launch, seeds: Seeds, reserved: int) -> Child:
        if self._is_closed:
            raise RuntimeProblem("The host is closing and starts no more runners.")
        check_folder(launch, self._private_paths)
        child = Child(launch, self._guardian, self._timeouts, seeds)
        self._children.add(child)
        try:
            await child.start(reserved)
        except BaseException:
            # For any error, such as no free descriptors: nobody waits for a child that never started.
            await child.kill()
            self._forget(child)
            raise
        return child

    async def _start_ahead(self, warm: _WarmStart) -> None:
        """Start a child ahead of its run, for the run that claims it or for any."""
        child = await self._starts.wait_for_turn(warm.launch, _wait_silently)
        if child is None:
            child = await self._start(warm.launch, warm.seeds, _wait_silently)
        if not await child.loaded:
            self._discard(child)
        elif warm.is_claimed:
            warm.child = child
        else:
            self._keep(child)

    async def _check_after_run(self, child: Child) -> None:
        """Keep a child after its run if it is clean and nothing that it started is left."""
        try:
            is_alone = child.state is State.IDLE and not await asyncio.to_thread(
                find_leftovers, child.launch, child.pid, child.mark
            )
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

    def _add_warm_start(self, launch: Launch) -> None:
        warm = self._warm_starts[launch] = _WarmStart(launch, new_seeds(launch, self._random_bits))
        warm.task = self._task(self._start_ahead(warm))
        warm.task.add_done_callback(lambda _: _remove(self._warm_starts, launch, warm))

    def _add_check(self, child: Child) -> None:
        check = self._checks[child.launch] = self._task(self._check_after_run(child))
        check.add_done_callback(lambda _: _remove(self._checks, child.launch, check))

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


class ReservedChild:
    """The process that was chosen for one run: an idle child, one that is being warmed, or a new one."""

    def __init__(
        self,
        pool: ChildPool,
        process: ProcessFacts,
        launch: Launch,
        child: Child | None = None,
        warm: _WarmStart | None = None,
        *,
        is_first: bool = False,
    ) -> None:
        self.process = process
        self.launch = launch
        self.child = child
        self.warm = warm
        self.is_first = is_first
        """Whether the run had an idle child that was not usable: then it waits for a start ahead of all others."""
        self._pool = pool
        self._is_taken = False

    async def begin(self, run_id: str, context: dict[str, Any], sink: Sink) -> ChildExecution:
        self._is_taken = True
        return await self._pool.begin(self, run_id, context, sink)

    def release(self) -> None:
        if self._is_taken:
            return
        self._is_taken = True
        if self.child is not None:
            self._pool.give_back(self.child)
        elif self.warm is not None:
            self._pool.give_back_start(self.warm)


def _facts_of_new(launch: Launch, seeds: Seeds) -> ProcessFacts:
    return ProcessFacts(
        python=python_of(launch),
        python_version=known_version(launch),
        variables=passed_variables(launch),
        is_fresh=True,
        is_deterministic=launch.is_deterministic,
        hash_seed=seeds.hash_seed,
        random_seed=seeds.random_seed,
    )


def _remove(places: dict[Launch, Any], launch: Launch, value: object) -> None:
    if places.get(launch) is value:
        del places[launch]


def _wait_silently(before: Callable[[], int] | None, reason: str = "") -> None:
    """Nobody is told that a child which is only warmed has to wait."""
