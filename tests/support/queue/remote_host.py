"""A host in another process with its runners in children, and the database between us; it can be killed."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from itertools import count, product
from pathlib import Path
from typing import Any

from tests.support.faults.faults import alive, descendants, line_of, other_process, say, wait_until
from tests.support.queue.queue_actions import NOT_TOLD, OK, UNASKED, UNHEARD, Act, End, Pull
from tests.support.queue.queue_checks import Witness

HERE = Path(__file__).resolve().parent


class Theatre:
    """One database through the lives of its hosts."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._db = root / "facts.db"
        self._numbers = count(1)
        shutil.copytree(HERE / "runners", root / "project")
        (root / "project" / "trackside.yaml").write_text("{}")
        self._open_hosts = ExitStack()
        self.recovered: list[str] = []
        """Runs that the newest host had to close when it opened."""
        self._open()
        self.witness = Witness(self._db)

    def _open(self) -> None:
        hosting = other_process(HERE / "hosting.py", self._db, self._root / "project")
        self._host = self._open_hosts.enter_context(hosting)
        self.recovered = json.loads(line_of(self._host))["recovered"]

    # Acting

    def perform(self, acts: list[Act]) -> list[Any]:
        """Do all of this at the same time, and wait until nothing moves; gives the answers."""
        numbers = [self._begin(act) for act in acts]
        asked = {number for act, number in zip(acts, numbers, strict=True) if not isinstance(act, Pull)}
        told = self._hear(asked)
        for act, number in zip(acts, numbers, strict=True):
            if isinstance(act, Pull):
                (told[number],) = wait_until(lambda act=act, number=number: self._pulled(act, number))
        self._settle()
        return [told[number] for number in numbers]

    def kill(self, acts: list[Act], wait: Any) -> list[Any]:
        """Begin these, and kill the host after a while; gives what was answered by then."""
        numbers = [self._begin(act) for act in acts]
        wait()
        family = descendants(self._host.pid)
        self._host.kill()
        assert self._host.stdout is not None
        answers = [json.loads(line) for line in self._host.stdout if line.endswith("\n")]
        told = {answer["number"]: answer["answer"] for answer in answers}
        wait_until(lambda: not alive(family))
        for act, number in zip(acts, numbers, strict=True):
            got = self._told(act.run).get(number) if isinstance(act, Pull) else None
            if isinstance(got, list):
                told[number] = got
        return [told.get(number, NOT_TOLD) for number in numbers]

    def reopen(self) -> None:
        """What the dead host left is closed by the next one."""
        self._open()

    def close(self) -> None:
        """Let the host close as it should, and wait for it."""
        assert self._host.stdin is not None
        self._host.stdin.close()
        assert self._host.wait(60) == 0

    def over(self) -> None:
        self.witness.close()
        self._open_hosts.close()

    def _begin(self, act: Act) -> int:
        number = next(self._numbers)
        if isinstance(act, Pull):
            after = None if act.cancelled is None else float(act.cancelled)
            self._tell_runner(act.run, {"number": number, "do": "pull", "limit": act.limit, "cancel_after": after})
            return number
        if isinstance(act, End):
            self._tell_runner(act.run, {"number": number, "do": "die" if act.reason else act.status})
        say(self._host, json.dumps({"number": number, "kind": type(act).__name__, "given": asdict(act)}))
        return number

    def _tell_runner(self, run: str, order: dict[str, Any]) -> None:
        with (self._root / f"{self.witness.run_of(run)}.todo").open("a") as todo:
            todo.write(json.dumps(order) + "\n")

    # Hearing

    def _hear(self, numbers: set[int]) -> dict[int, Any]:
        told: dict[int, Any] = {}
        while told.keys() < numbers:
            answer = json.loads(line_of(self._host))
            told[answer["number"]] = answer["answer"]
        return told

    def _told(self, run: str) -> dict[int, Any]:
        """What a runner has answered; a line that it died over is none."""
        told = self._root / f"{self.witness.run_of(run)}.told"
        lines = told.read_text().split("\n")[:-1] if told.exists() else []
        return {answer["number"]: answer["answer"] for answer in map(json.loads, lines)}

    def _pulled(self, act: Pull, number: int) -> tuple[Any] | None:
        """The runner's answer, or that its run was over before it gave one; nothing where it may yet come."""
        is_over = self.witness.sees().runs[act.run] != "live"
        told = self._told(act.run)
        return (told[number],) if number in told else (NOT_TOLD,) if is_over else None

    def _settle(self) -> None:
        """Nothing is on its way, and the runner of every run is at work."""
        number = next(self._numbers)
        say(self._host, json.dumps({"number": number, "settle": True}))
        assert self._hear({number}) == {number: OK}
        live = [run for run, status in self.witness.sees().runs.items() if status == "live"]
        for run in live:
            wait_until(lambda run=run: 0 in self._told(run))


def readings(acts: list[Act], told: list[Any]) -> Iterator[list[Any]]:
    """What the answers can mean: whether a reply reached a runner that had stopped to listen, only the host knows."""

    def means(act: Act, answer: Any) -> list[Any]:
        is_open = isinstance(act, Pull) and isinstance(answer, str)
        return [answer, "refused", UNHEARD, UNASKED] if is_open else [answer]

    yield from map(list, product(*(means(act, answer) for act, answer in zip(acts, told, strict=True))))
