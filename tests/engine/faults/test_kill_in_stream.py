"""A killed host loses at most the last few milliseconds of a streamed reply."""

import random
import secrets
import shutil
import time
from pathlib import Path

from engine.api import Engine
from engine.journal.call_record import read_frames
from tests.support.engines import read_database
from tests.support.faults.faults import marked_processes, until
from tests.support.faults.forked_host import forked_host
from tests.support.limits import slowness
from tests.support.profile import IS_LONG

PROJECT = Path(__file__).parents[2] / "support" / "record" / "streaming"
KILLS = 20 if IS_LONG else 2
LOST_SECONDS = 0.05
"""Frames that arrived later than this before the kill may be missing."""
MARK_VALUE = f"stream-{secrets.token_hex(8)}"


async def test_frames_that_the_runner_received_are_on_disk_after_a_kill(tmp_path: Path):
    chance = random.Random(20261118)
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    for number in range(KILLS):
        db, log = tmp_path / f"{number}.db", tmp_path / f"{number}.log"
        with forked_host(MARK_VALUE, db, folder, "go", config={"log": str(log)}) as host:
            await until(log.exists, 60)
            wanted = chance.randint(1, 300)
            await until(lambda log=log, wanted=wanted: log.read_bytes().count(b"\n") >= wanted, 60)
            killed_at = time.monotonic()
            host.kill()
        received = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
        settled = killed_at - LOST_SECONDS * slowness()
        due = [word for _, at, word in received if float(at) <= settled]
        assert (await recorded_words(db, received[0][0]))[: len(due)] == due
    await until(lambda: not marked_processes(MARK_VALUE), 1.0)


async def recorded_words(db: Path, run_id: str) -> list[str]:
    """Return the words of the recorded frames, after another host has closed the run."""
    async with await Engine.open(db=db) as engine:
        assert list(engine.recovered_runs) == [run_id]
        frames = read_database(engine, lambda conn: list(read_frames(conn, run_id, "c1", 0, 2**62)))
    return [frame["chunk"]["content"].strip() for _, frame in frames]
