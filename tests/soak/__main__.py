"""`python -m tests.soak [--minutes 10 | --kills N] [--seed N] [--hosts N]`: prints JSON lines, exits 1 if it fails."""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from engine.api import Engine
from tests.soak.check import findings, read_logs
from tests.support.faults.faults import MARK_VARIABLE, marked_processes

ROOT: Final = Path(__file__).resolve().parents[2]
KILL_AFTER_SECONDS: Final = (0.05, 2.5)
"""How long a host lives before it is killed, at least and at most, after it is ready."""
END_SECONDS: Final = 120


class Soak:
    """Starts hosts on one database and kills some of them."""

    def __init__(self, folder: Path, seed: int, *, deletes: bool) -> None:
        self.database = folder / "soak.db"
        self.logs: list[Path] = []
        self.kills = 0
        self._folder = folder
        self._seed = seed
        self._deletes = deletes
        """Whether sessions are deleted and old data is pruned; without it every loss is found."""
        self._mark = f"soak-{os.getpid()}"

    def start(self, seconds: float) -> "subprocess.Popen[bytes]":
        number = len(self.logs)
        log = self._folder / f"host-{number}.jsonl"
        log.touch()
        self.logs.append(log)
        arguments = [str(self.database), str(log), str(self._seed * 100_003 + number), str(seconds)]
        arguments.append("deletes" if self._deletes else "keeps")
        return subprocess.Popen(
            [sys.executable, "-m", "tests.soak.host", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env={**os.environ, MARK_VARIABLE: self._mark},
        )

    def lane(self, seconds: float, kills: int | None, pick: random.Random) -> None:
        """Run hosts one after another. With `kills`, each is killed; else now and then one of them."""
        until = time.monotonic() + seconds
        while (self.kills < kills) if kills is not None else (time.monotonic() < until - 5):
            life = pick.uniform(*KILL_AFTER_SECONDS) if kills is not None else pick.uniform(20, 60)
            host = self.start(600)
            assert host.stdout is not None
            if host.stdout.readline() != b"ready\n":
                host.wait()
                continue
            time.sleep(min(life, max(0.0, until - time.monotonic())) if kills is None else life)
            host.send_signal(signal.SIGKILL)
            host.wait()
            self.kills += 1

    def leftovers(self) -> set[int]:
        """Return the processes of this soak that are still there ten seconds after its end."""
        until = time.monotonic() + 10
        while (left := marked_processes(self._mark)) and time.monotonic() < until:
            time.sleep(0.1)
        return left


async def run(soak: Soak, options: argparse.Namespace) -> list[str]:
    """Run the soak. Returns what was found wrong."""
    pick = random.Random(options.seed)
    seconds = options.minutes * 60.0
    killed = [
        asyncio.to_thread(soak.lane, seconds, options.kills, random.Random(pick.random()))
        for _ in range(options.hosts if options.kills is not None else options.hosts - 1)
    ]
    steady = None if options.kills is not None else soak.start(seconds)
    await asyncio.gather(*killed)
    problems: list[str] = []
    if steady is not None:
        try:
            await asyncio.to_thread(steady.wait, seconds + END_SECONDS)
        except subprocess.TimeoutExpired:
            problems.append("the host that was not killed did not end")
            steady.kill()
        else:
            if steady.returncode:
                problems.append(f"the host that was not killed ended with {steady.returncode}")
    async with await Engine.open(db=soak.database) as engine:
        await engine.runs.wait_until_idle()
    problems += [f"process {pid} is left" for pid in soak.leftovers()]
    return [*problems, *findings(soak.database, read_logs(soak.logs))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.soak", description="Act at random on one database, then check it.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kills", type=int, help="kill this many hosts, each soon after its start")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", type=Path, help="write database and logs here and keep them")
    options = parser.parse_args()
    print(json.dumps({"soak": "started", "seed": options.seed, "hosts": options.hosts}), flush=True)
    with TemporaryDirectory(prefix="trackside-soak-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        soak = Soak(folder, options.seed, deletes=options.kills is None)
        problems = asyncio.run(run(soak, options))
        lines = [line for log in read_logs(soak.logs) for line in log]
    counts: Counter[str] = Counter(next(iter(line)) for line in lines)
    entries = sum(len(line["announced"]) for line in lines if "announced" in line)
    result: dict[str, Any] = {"soak": "ended", "hosts": len(soak.logs), "kills": soak.kills, "announced": entries}
    print(json.dumps({**result, "lines": dict(counts), "findings": len(problems)}))
    for problem, times in Counter(problems).most_common(50):
        print(json.dumps({"finding": problem, "times": times}))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
