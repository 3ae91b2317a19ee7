"""Claim versus end of run is decided once: 200 messages, each sent at a random instant around a run's end."""

import asyncio
import os
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from engine.api import Engine, Fate, RunOptions, RunRow, message
from engine.store import tables
from engine.store.queue import QueueItem
from engine.store.row_mapping import every
from engine.store.transcript import TranscriptLine
from tests.support.engines import Engines, FakeClock, declares, done, read_database
from tests.support.faults.faults import MARK_VARIABLE, open_pooled_engine
from tests.support.queue.steering import check_stored_data

IN_PROCESS, WITH_CHILDREN = 180, 20
AT_ONCE = 6
"""The number of conversations at the same time."""
BEYOND = 1.4
"""How far after the end of a run a message may be sent, as a factor of the last run's length."""
LISTENER = Path(__file__).parents[2] / "support" / "queue" / "listener.py"


@pytest.fixture
def seed() -> int:
    return int(os.environ.get("TRACKSIDE_SEED", random.randrange(2**32)))


def fates(engine: Engine) -> Counter[str]:
    """The fates of the messages; those that did not have to wait are runs of their own too.

    Whoever was taken in is in the answer of the run that took it in, once; whoever was not has an answer of its own;
    what was dropped has none.
    """
    items = {item.event_id: item for item in read_database(engine, lambda c: every(c, select(tables.queue), QueueItem))}
    lines = read_database(engine, lambda c: every(c, select(tables.transcript), TranscriptLine))
    found: Counter[str] = Counter()
    for late in (line for line in lines if line.role == "user" and str(line.content).startswith("late")):
        answered = Counter(
            line.run_id for line in lines if line.role == "assistant" and f"{late.content}." in str(line.content)
        )
        item = items.get(late.event_id)
        fate = Fate.OWN_RUN if item is None else Fate(item.fate)
        expected = {Fate.INJECTED: item and item.run_id, Fate.OWN_RUN: late.run_id, Fate.DROPPED: None}[fate]
        assert answered == ({} if expected is None else {expected: 1}), (late.content, fate)
        found[fate] += 1
    return found


async def turns_until(ending: asyncio.Future[RunRow], most: int = 100_000) -> int:
    """Run the loop until a run has ended, at most this often. Returns how often it ran."""
    for turn in range(most):
        if ending.done():
            return turn
        await asyncio.sleep(0)
    return most


async def in_process(root: Path, chance: random.Random) -> Counter[str]:
    begun: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def closing(ctx: Any) -> AsyncIterator[Any]:
        begun[ctx.run_id].set()
        texts = [ctx.input.to_text()]
        for _ in range(3):
            texts += [item.input.to_text() for item in (await ctx.api.steering_pull()).items]
        yield done(" ".join(f"{text}." for text in texts))

    engines = Engines(root, FakeClock())
    engine = await engines(declares(capabilities={"steering": True})(closing))

    async def begin(number: int) -> asyncio.Future[RunRow]:
        """Start a run that pulls and ends. Returns its end."""
        first = message(f"first-{number}", f"first {number}", conversation_id=f"s{number % AT_ONCE}")
        run_id = await (await engine.runs.submit(first)).started
        await begun[run_id].wait()
        return asyncio.ensure_future(engine.runs.wait_for_end(run_id))

    async def conversation(first: int) -> None:
        lasts = await turns_until(await begin(IN_PROCESS + first))
        for number in range(first, IN_PROCESS, AT_ONCE):
            ending = await begin(number)
            await turns_until(ending, chance.randint(0, int(BEYOND * lasts)))
            late = message(f"late-{number}", f"late {number}", conversation_id=f"s{first}")
            ticket = await engine.runs.submit(late)
            await ending
            await engine.runs.wait_for_end(await ticket.started)

    await asyncio.gather(*(conversation(first) for first in range(AT_ONCE)))
    await engine.runs.wait_until_idle()
    found = fates(engine)
    await engines.close_all()
    check_stored_data(engines.db)
    return found


async def with_children(db: Path, chance: random.Random) -> Counter[str]:
    async with open_pooled_engine(db, LISTENER) as opened:
        engine, choice = opened.engine, RunOptions(env=(MARK_VARIABLE,))
        lasts = 0.05
        for number in range(WITH_CHILDREN):
            first = message(f"first-{number}", f"first {number}", conversation_id="s")
            ending = asyncio.ensure_future(
                engine.runs.wait_for_end(await (await engine.runs.submit(first, choice)).started)
            )
            await asyncio.wait({ending}, timeout=chance.uniform(0, BEYOND * lasts))
            late = await engine.runs.submit(message(f"late-{number}", f"late {number}", conversation_id="s"), choice)
            run = await ending
            await engine.runs.wait_for_end(await late.started)
            lasts = ((run.finished_at or 0) - run.created_at) / 1e6
        await engine.runs.wait_until_idle()
        found = fates(engine)
    check_stored_data(db)
    return found


async def test_message_sent_as_the_run_ends_is_either_claimed_or_gets_its_own_run(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv(MARK_VARIABLE, tmp_path.name)
    chance = random.Random(seed)
    with capsys.disabled():
        print(f"\nmessages around a run's end, seed {seed}:", end=" ")
    inside = await in_process(tmp_path, chance)
    children = await with_children(tmp_path / "children.db", chance)
    with capsys.disabled():
        print({str(fate): count for fate, count in (inside + children).items()})

    assert (inside.total(), children.total()) == (IN_PROCESS, WITH_CHILDREN)
    assert (inside + children)[Fate.INJECTED] > 0
    assert (inside + children)[Fate.OWN_RUN] > 0
