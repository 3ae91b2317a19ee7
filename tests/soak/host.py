"""One host of the soak. It acts at random and logs JSON lines.

`python -m tests.soak.host DATABASE LOG SEED SECONDS deletes|keeps`
A line is written before an action that deletes something, and after everything that the engine announced or accepted.
The host ends after its seconds, or when it is killed.
"""

import asyncio
import json
import os
import random
import sys
import time
import traceback
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from engine.api import Engine, Mode, RunOptions, StoreError, message

SESSIONS: Final = [f"soak-{number}" for number in range(6)]
RUNNER: Final = Path(__file__).with_name("worker_runner.py")
STUCK_SECONDS: Final = 60.0
"""How long a continued run may stay at the same pause before it counts as stuck."""
SAMPLE_SECONDS: Final = 5.0
BREAKPOINTS: Final = ("steering", "message.delta#3", "run.completed", "state.updated")


def resources_in_use() -> tuple[int, int]:
    """Return the memory of this process in bytes, and the number of its descriptors."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), sum(1 for _ in Path("/proc/self/fd").iterdir())


class SoakHost:
    """Acts on one engine until it is told to stop."""

    def __init__(self, engine: Engine, log: int, seed: int, *, deletes: bool) -> None:
        self.engine = engine
        self._deletes = deletes
        self._log = log
        self._random = random.Random(seed)
        self._tasks: set[asyncio.Task[None]] = set()

    def log(self, **line: Any) -> None:
        os.write(self._log, json.dumps(line).encode() + b"\n")

    async def follow(self, since: int) -> None:
        """Log every entry that is announced."""
        async with self.engine.subscribe(since) as news:
            async for batch in news:
                told = [
                    (each.entry.run_id, each.entry.position, zlib.crc32(each.entry.line().encode())) for each in batch
                ]
                self.log(announced=told)

    async def sample(self) -> None:
        """Log memory and descriptors of this process."""
        while True:
            self.log(sample=[time.monotonic(), *resources_in_use()])
            await asyncio.sleep(SAMPLE_SECONDS)

    async def act(self) -> None:
        """Do one thing."""
        actions = {
            self._submit: 30,
            self._change_queue: 25,
            self._pause: 10,
            self._continue: 14,
            self._stop: 6,
            self._run_again: 3,
            self._resend: 4,
            self._fork: 3,
            self._delete: 3 if self._deletes else 0,
            self._prune: 1 if self._deletes else 0,
            self._read: 6,
        }
        action = self._random.choices(list(actions), list(actions.values()))[0]
        try:
            await action()
        except StoreError:
            pass  # a refusal: another host was faster, or the action does not apply now
        except Exception:  # noqa: BLE001  (everything else is a finding)
            self.log(failed=action.__name__, traceback=traceback.format_exc(limit=-2))

    async def _submit(self) -> None:
        pick = self._random
        end = pick.choice((0, 0, 0, 0, 1, 2, 3))
        text = f"{pick.randint(0, 60)} deltas, {pick.randint(0, 5)} pulls, {pick.randint(0, 30)} ms, end {end}"
        session, event_id = pick.choice(SESSIONS), self.engine.ids.new("evt")
        breakpoints = (pick.choice(BREAKPOINTS),) if pick.random() < 0.1 else ()
        options = RunOptions(breakpoints=breakpoints)
        envelope = message(event_id, text, conversation_id=session)
        self.log(submitting=event_id, session=session)
        ticket = await self.engine.runs.submit(envelope, options, after=pick.random() < 0.3)
        self.log(accepted=event_id, session=session)
        self._keep(self._watch_ticket(ticket.started, event_id))

    async def _watch_ticket(self, started: "asyncio.Future[str]", event_id: str) -> None:
        with suppress(StoreError, asyncio.CancelledError):
            await started
        self.log(settled=event_id)

    async def _change_queue(self) -> None:
        items = await self.engine.queue.list(self._random.choice(SESSIONS))
        if not items:
            return
        item, queue = self._random.choice(items), self.engine.queue
        change = self._random.randrange(7)
        if change == 0:
            await queue.edit(item.item_id, "9 deltas, 2 pulls, 3 ms")
        elif change == 1:
            await queue.withdraw(item.item_id)
        elif change == 2:
            await queue.pause(item.item_id)
        elif change in (3, 4):
            await queue.resume(item.item_id)
        elif change == 5:
            await queue.set_mode(item.item_id, self._random.choice((Mode.STEER, Mode.AFTER)))
        else:
            await queue.move(item.item_id, self._random.choice(items).item_id)

    async def _live_run(self) -> str | None:
        runs = await self.engine.runs.list(limit=20)
        own = [run.run_id for run in runs if self.engine.runs.is_in_progress(run.run_id)]
        return self._random.choice(own) if own else None

    async def _pause(self) -> None:
        if (run_id := await self._live_run()) is not None:
            await self.engine.breakpoints.set(run_id, self._random.choice(BREAKPOINTS), once=True)

    async def _continue(self) -> None:
        runs = await self.engine.runs.list(limit=30)
        for run in runs:
            if self.engine.runs.is_in_progress(run.run_id):
                pause = await self.engine.runs.current_pause(run.run_id)
                if pause is not None:
                    if self._random.random() < 0.3:
                        await self.engine.runs.step(run.run_id)
                    else:
                        await self.engine.runs.continue_run(run.run_id)
                    self._keep(self._watch_pause(run.run_id, pause))

    async def _watch_pause(self, run_id: str, pause: object) -> None:
        """Log a run that is still at the same pause long after it was continued."""
        until = time.monotonic() + STUCK_SECONDS
        while time.monotonic() < until:
            await asyncio.sleep(0.5)
            with suppress(StoreError):
                if not self.engine.runs.is_in_progress(run_id):
                    return
                if await self.engine.runs.current_pause(run_id) is not pause:
                    return
        self.log(stuck=run_id)

    async def _stop(self) -> None:
        if (run_id := await self._live_run()) is not None:
            await self.engine.runs.cancel(run_id)

    async def _run_again(self) -> None:
        runs = await self.engine.runs.list(limit=20)
        if runs:
            run = self._random.choice(runs)
            self.log(submitting=f"again {run.run_id}", session=run.conversation_id)
            ticket = await self.engine.runs.run_again(run.run_id)
            self.log(accepted=ticket.event_id, session=run.conversation_id)
            self._keep(self._watch_ticket(ticket.started, ticket.event_id))

    async def _resend(self) -> None:
        session = self._random.choice(SESSIONS)
        items = await self.engine.queue.list_resendable(session, withdrawn_since=0, limit=5)
        if items:
            ticket = await self.engine.queue.resend(self._random.choice(items).item_id)
            self.log(accepted=ticket.event_id, session=session)
            self._keep(self._watch_ticket(ticket.started, ticket.event_id))

    async def _fork(self) -> None:
        await self.engine.sessions.fork(self._random.choice(SESSIONS))

    async def _delete(self) -> None:
        session = self._random.choice(SESSIONS)
        self.log(deleting=session)
        await self.engine.sessions.delete(session)

    async def _prune(self) -> None:
        before = self.engine.now() - 20_000_000
        self.log(pruning=before)
        await self.engine.prune(before)

    async def _read(self) -> None:
        session = self._random.choice(SESSIONS)
        await self.engine.sessions.transcript(session, limit=50)
        for run in await self.engine.runs.list(conversation_id=session, limit=3):
            await self.engine.runs.journal(run.run_id, after=0, limit=100)
            await self.engine.queue.receipts(run.run_id)

    def _keep(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def main(database: str, log_path: str, seed: str, seconds: str, deletes: str) -> None:
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    until = time.monotonic() + float(seconds)
    async with await Engine.open(RUNNER, db=Path(database)) as engine:
        host = SoakHost(engine, log, int(seed), deletes=deletes == "deletes")
        following = asyncio.ensure_future(host.follow(await engine.last_row()))
        sampling = asyncio.ensure_future(host.sample())
        pace = random.Random(int(seed))
        os.write(1, b"ready\n")
        while time.monotonic() < until:
            await host.act()
            await asyncio.sleep(pace.expovariate(12))
        sampling.cancel()
        # The rest: continue everything that is paused, and let it end.
        with suppress(TimeoutError, StoreError):
            async with asyncio.timeout(90):
                while True:
                    for session in SESSIONS:
                        for item in await engine.queue.list(session):
                            with suppress(StoreError):
                                await engine.queue.resume(item.item_id)
                    live = [
                        run.run_id
                        for run in await engine.runs.list(limit=100)
                        if engine.runs.is_in_progress(run.run_id)
                    ]
                    if not live:
                        break
                    for run_id in live:
                        with suppress(StoreError):
                            await engine.runs.continue_run(run_id)
                    await asyncio.sleep(0.2)
        following.cancel()
    host.log(closed=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:6]))
