"""Random steering actions with a host in its own process, runners in children and real kills. The seed is printed."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.queue.action_choice import (
    KINDS,
    STEERABLE,
    ActionChooser,
    chosen,
    expected_outcome,
    outcome_of,
    without_second_ends,
)
from tests.support.queue.queue_actions import NO_ANSWER, Action, End, Pull, SendAgain, find_explanation
from tests.support.queue.queue_model import QueueModel, QueueSnapshot
from tests.support.queue.remote_host import RemoteHost, possible_answers

SEED, STEPS, CRASHES = 4, 200, 5


@pytest.fixture
def remote_host(tmp_path: Path) -> Iterator[RemoteHost]:
    opened = RemoteHost(tmp_path)
    yield opened
    opened.close_all()


class Walk:
    """Steps from one state to the next, in the host's process and in the model of plain lists."""

    def __init__(self, remote_host: RemoteHost, seed: int) -> None:
        self.remote_host = remote_host
        self.model = QueueModel(STEERABLE)
        self.done: Counter[str] = Counter()
        self.received: list[str] = []
        self._chooser = ActionChooser()
        self._random = random.Random(seed)

    def step(self) -> None:
        actions = self._some(chosen((1, 1, 1, 2, 3), self._random.randrange(5)))
        observed = self.remote_host.perform(actions)
        self.model = self._find_explanation(actions, observed, self.remote_host.database.snapshot())
        self._note(actions, observed)

    def crash(self) -> None:
        some = (action for action in self._some(self._random.randrange(3)) if not isinstance(action, SendAgain))
        actions: list[Action] = [
            replace(action, cancelled=None) if isinstance(action, Pull) else action for action in some
        ]
        observed = self.remote_host.kill(actions, lambda: time.sleep(self._random.random() * 0.05))
        self.model = self._find_explanation(
            actions, observed, self.remote_host.database.snapshot(), died=True, unwritten=True
        )
        self._note(actions, observed)
        live = {run.event for run in self.model.live()}
        self.remote_host.reopen()
        assert {self.remote_host.database.event_of(run) for run in self.remote_host.recovered} == live
        self.model.recover()
        assert self.remote_host.database.snapshot() == self.model.snapshot()
        self.done["crash"] += 1

    def _some(self, several: int) -> list[Action]:
        return without_second_ends([self._do() for _ in range(several)])

    def _do(self) -> Action:
        kinds, pick = self._random.sample(tuple(KINDS), 3), self._random.randrange(2**12)
        kind = min(kinds, key=lambda each: self.done[expected_outcome(each)])
        action = self._chooser.choose(self.model, kind, pick)
        if isinstance(action, Pull) and action.cancelled is not None:
            return replace(action, cancelled=str(self._random.random() * 0.01))
        if isinstance(action, End) and action.status == "failed" and pick % 2:
            return replace(action, reason="runner_lost")
        return action

    def _find_explanation(
        self, actions: list[Action], observed: list[Any], snapshot: QueueSnapshot, **how: bool
    ) -> QueueModel:
        faults: list[AssertionError] = []
        for reading in possible_answers(actions, observed):
            try:
                return find_explanation(self.model, actions, reading, snapshot, **how)
            except AssertionError as fault:
                faults.append(fault)
        raise faults[0]

    def _note(self, actions: list[Action], observed: list[Any]) -> None:
        for action, answer in zip(actions, observed, strict=True):
            if answer != NO_ANSWER:
                self.done[outcome_of(action, answer)] += 1
            if isinstance(action, Pull) and isinstance(answer, list):
                self.received += [event for event, _ in answer]


def test_every_message_has_exactly_one_fate_with_children_and_kills(
    remote_host: RemoteHost, capsys: pytest.CaptureFixture[str]
):
    walk = Walk(remote_host, SEED)
    for number in range(1, STEPS + 1):
        walk.step()
        if number % (STEPS // CRASHES) == 0:
            walk.crash()
    remote_host.close()
    walk.model.close()

    assert not walk.model.open()
    assert remote_host.database.snapshot() == walk.model.snapshot()
    remote_host.database.check_consistency(walk.model)
    assert len(walk.received) == len(set(walk.received))
    assert walk.done["crash"] == CRASHES
    with capsys.disabled():
        observed = ", ".join(f"{kind} {times}" for kind, times in sorted(walk.done.items()))
        print(f"\nseed {SEED}, {STEPS} steps with children: {observed}")
