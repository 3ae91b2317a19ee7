"""A host in another process, with runners in child processes; a test can kill it and read its database."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from itertools import count, product
from pathlib import Path
from typing import Any

from tests.support.faults.faults import alive, descendants, other_process, read_line, wait_until, write_line
from tests.support.queue.queue_actions import NO_ANSWER, OK, PULL_NOT_STARTED, REPLY_UNREAD, Action, End, Pull
from tests.support.queue.queue_checks import QueueDatabase

HERE = Path(__file__).resolve().parent


class RemoteHost:
    """One database and its successive host processes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._db = root / "facts.db"
        self._numbers = count(1)
        shutil.copytree(HERE / "runners", root / "project")
        (root / "project" / "trackside.yaml").write_text("{}")
        self._open_hosts = ExitStack()
        self.recovered: list[str] = []
        """Runs of the previous host that the current one closed when it was opened."""
        self._open()
        self.database = QueueDatabase(self._db)

    def _open(self) -> None:
        hosting = other_process(HERE / "hosting.py", self._db, self._root / "project")
        self._host = self._open_hosts.enter_context(hosting)
        self.recovered = json.loads(read_line(self._host))["recovered"]

    # Actions

    def perform(self, actions: list[Action]) -> list[Any]:
        """Do the actions concurrently, wait until nothing is in progress, and return their answers."""
        numbers = [self._begin(action) for action in actions]
        expected = {number for action, number in zip(actions, numbers, strict=True) if not isinstance(action, Pull)}
        observed = self._read_answers(expected)
        for action, number in zip(actions, numbers, strict=True):
            if isinstance(action, Pull):
                (observed[number],) = wait_until(lambda action=action, number=number: self._pull_answer(action, number))
        self._settle()
        return [observed[number] for number in numbers]

    def kill(self, actions: list[Action], wait: Any) -> list[Any]:
        """Start the actions and kill the host after `wait()`. Returns the answers that were given by then."""
        numbers = [self._begin(action) for action in actions]
        wait()
        family = descendants(self._host.pid)
        self._host.kill()
        assert self._host.stdout is not None
        answers = [json.loads(line) for line in self._host.stdout if line.endswith("\n")]
        observed = {answer["number"]: answer["answer"] for answer in answers}
        wait_until(lambda: not alive(family))
        for action, number in zip(actions, numbers, strict=True):
            received = self._runner_answers(action.run).get(number) if isinstance(action, Pull) else None
            if isinstance(received, list):
                observed[number] = received
        return [observed.get(number, NO_ANSWER) for number in numbers]

    def reopen(self) -> None:
        """Start the next host, which closes the runs of the dead one."""
        self._open()

    def close(self) -> None:
        """Close the host properly, and wait for its end."""
        assert self._host.stdin is not None
        self._host.stdin.close()
        assert self._host.wait(60) == 0

    def close_all(self) -> None:
        self.database.close()
        self._open_hosts.close()

    def _begin(self, action: Action) -> int:
        number = next(self._numbers)
        if isinstance(action, Pull):
            after = None if action.cancelled is None else float(action.cancelled)
            self._tell_runner(
                action.run, {"number": number, "do": "pull", "limit": action.limit, "cancel_after": after}
            )
            return number
        if isinstance(action, End):
            self._tell_runner(action.run, {"number": number, "do": "die" if action.reason else action.status})
        write_line(self._host, json.dumps({"number": number, "kind": type(action).__name__, "given": asdict(action)}))
        return number

    def _tell_runner(self, run: str, order: dict[str, Any]) -> None:
        with (self._root / f"{self.database.run_of(run)}.todo").open("a") as todo:
            todo.write(json.dumps(order) + "\n")

    # Answers

    def _read_answers(self, numbers: set[int]) -> dict[int, Any]:
        observed: dict[int, Any] = {}
        while observed.keys() < numbers:
            answer = json.loads(read_line(self._host))
            observed[answer["number"]] = answer["answer"]
        return observed

    def _runner_answers(self, run: str) -> dict[int, Any]:
        """Return the answers of a runner. An incomplete last line is ignored."""
        file = self._root / f"{self.database.run_of(run)}.answers"
        lines = file.read_text().split("\n")[:-1] if file.exists() else []
        return {answer["number"]: answer["answer"] for answer in map(json.loads, lines)}

    def _pull_answer(self, action: Pull, number: int) -> tuple[Any] | None:
        """Return the runner's answer, NO_ANSWER if its run ended without one, or None if it may still come."""
        is_over = self.database.snapshot().runs[action.run] != "live"
        observed = self._runner_answers(action.run)
        return (observed[number],) if number in observed else (NO_ANSWER,) if is_over else None

    def _settle(self) -> None:
        """Wait until nothing is in progress and every runner has started."""
        number = next(self._numbers)
        write_line(self._host, json.dumps({"number": number, "settle": True}))
        assert self._read_answers({number}) == {number: OK}
        live = [run for run, status in self.database.snapshot().runs.items() if status == "live"]
        for run in live:
            wait_until(lambda run=run: 0 in self._runner_answers(run))


def possible_answers(actions: list[Action], observed: list[Any]) -> Iterator[list[Any]]:
    """Yield all readings of the answers. Only the host knows whether a runner that stopped waiting got the reply."""

    def means(action: Action, answer: Any) -> list[Any]:
        is_open = isinstance(action, Pull) and isinstance(answer, str)
        return [answer, "refused", REPLY_UNREAD, PULL_NOT_STARTED] if is_open else [answer]

    yield from map(list, product(*(means(action, answer) for action, answer in zip(actions, observed, strict=True))))
