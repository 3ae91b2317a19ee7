"""Announced means recorded: hosts are killed at random moments, and no announced entry is missing."""

import asyncio
import itertools
import json
import os
import random
import secrets
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.api import Engine
from tests.support.faults.faults import marked_processes, until
from tests.support.faults.forked_host import forked_host

HERE = Path(__file__).resolve().parents[2] / "support" / "faults"
SEED = int(os.environ.get("TRACKSIDE_SEED", "20260601"))
KILLS, MID_STREAM = 52, 40
MARK_VALUE = f"kill-{secrets.token_hex(8)}"
WITH_CHILDREN = 12
"""The number of hosts that run their runner in a real child."""


@dataclass(frozen=True)
class Plan:
    """One kill: of which kind of host, and after how many announced entries."""

    children: bool
    after: int
    count: int
    """The length of each run of this host."""


@dataclass(frozen=True)
class Kill:
    """The state after one kill."""

    plan: Plan
    announced: list[str]
    is_mid_stream: bool


def plans(chance: random.Random) -> list[Plan]:
    made = [
        Plan(number < WITH_CHILDREN, chance.randint(1, 700), chance.choice((20, 300, 1_000))) for number in range(KILLS)
    ]
    chance.shuffle(made)
    return made


def kill_one(db: Path, plan: Plan) -> list[str]:
    """Host until this many entries are announced, then SIGKILL. Returns every complete line of its output."""
    config = {"count": plan.count}
    with forked_host(MARK_VALUE, db, HERE / "streamer.py", "go", children=plan.children, config=config) as hosting:
        announced = list(itertools.islice(hosting.lines, plan.after))
        hosting.kill()
        announced += hosting.lines
    assert hosting.process.exitcode == -signal.SIGKILL
    return [line[:-1] for line in announced if line.endswith("\n")]


async def check_recovery(db: Path, announced: list[str]) -> bool:
    """Reopen to host. Returns whether the kill interrupted an announced run."""
    async with await Engine.open(db=db) as engine:
        assert await engine.integrity() == []
        seen = [json.loads(line) for line in announced]
        kept: dict[tuple[str, int], str] = {}
        for run_id in {entry["run_id"] for entry in seen}:
            entries = [entry async for entry in engine.runs.entries(run_id)]
            assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
            assert [entry.position for entry in entries if entry.type == "run.finished"] == [len(entries)]
            kept |= {(run_id, entry.position): entry.line() for entry in entries}
        assert [kept.get((entry["run_id"], entry["position"])) for entry in seen] == announced

        assert len(engine.recovered_runs) <= 1
        for run_id in engine.recovered_runs:
            run = await engine.runs.get(run_id)
            assert (run.status, run.status_reason) == ("failed", "host_restarted")
            last = (await engine.runs.journal(run_id, before=2**62, limit=1))[0]
            assert (last.type, last.source) == ("run.finished", "host")
            assert json.loads(last.data)["reason"] == "host_restarted"
        assert {run.status for run in await engine.runs.list()} <= {"completed", "failed"}
    return seen[-1]["type"] != "run.finished" and list(engine.recovered_runs) == [seen[-1]["run_id"]]


async def lane(db: Path, todo: list[Plan], done: list[Kill]) -> None:
    """Kill after kill on one database, each host recovering the one before it."""
    while todo:
        plan = todo.pop()
        announced = await asyncio.to_thread(kill_one, db, plan)
        done.append(Kill(plan, announced, await check_recovery(db, announced)))


async def test_every_announced_entry_is_on_disk_after_a_kill(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    todo = plans(random.Random(SEED))
    done: list[Kill] = []
    await asyncio.gather(*(lane(tmp_path / f"{name}.db", todo, done) for name in ("one", "two")))
    await until(lambda: not marked_processes(MARK_VALUE), 1.0)

    mid_stream = sum(kill.is_mid_stream for kill in done)
    with capsys.disabled():
        print(f"\nkill test, seed {SEED}: entries announced before each kill (c = child, - = between runs):")
        print(
            " ".join(
                f"{len(kill.announced)}{'c' if kill.plan.children else ''}{'' if kill.is_mid_stream else '-'}"
                for kill in done
            )
        )
        print(
            f"{len(done)} kills, {mid_stream} mid-stream, {sum(len(kill.announced) for kill in done)} entries announced"
        )
    assert len(done) >= 50
    assert mid_stream >= MID_STREAM
