"""Random steering actions with a host in its own process, runners in children and real kills. The seed is printed."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.queue.action_choice import KINDS, STEERS, Choosing, chosen, kind_of, meant, without_second_ends
from tests.support.queue.queue_actions import NOT_TOLD, Act, End, Pull, SendAgain, explained
from tests.support.queue.queue_model import Seen, World
from tests.support.queue.remote_host import Theatre, readings

SEED, STEPS, CRASHES = 4, 200, 5


@pytest.fixture
def theatre(tmp_path: Path) -> Iterator[Theatre]:
    opened = Theatre(tmp_path)
    yield opened
    opened.over()


class Walk:
    """Steps from one state to the next, in the host's process and in the model of plain lists."""

    def __init__(self, theatre: Theatre, seed: int) -> None:
        self.theatre = theatre
        self.world = World(STEERS)
        self.done: Counter[str] = Counter()
        self.got: list[str] = []
        self._choosing = Choosing()
        self._random = random.Random(seed)

    def step(self) -> None:
        acts = self._some(chosen((1, 1, 1, 2, 3), self._random.randrange(5)))
        told = self.theatre.perform(acts)
        self.world = self._explained(acts, told, self.theatre.witness.sees())
        self._note(acts, told)

    def crash(self) -> None:
        some = (act for act in self._some(self._random.randrange(3)) if not isinstance(act, SendAgain))
        acts: list[Act] = [replace(act, cancelled=None) if isinstance(act, Pull) else act for act in some]
        told = self.theatre.kill(acts, lambda: time.sleep(self._random.random() * 0.05))
        self.world = self._explained(acts, told, self.theatre.witness.sees(), died=True, unwritten=True)
        self._note(acts, told)
        live = {run.event for run in self.world.live()}
        self.theatre.reopen()
        assert {self.theatre.witness.event_of(run) for run in self.theatre.recovered} == live
        self.world.recover()
        assert self.theatre.witness.sees() == self.world.seen()
        self.done["crash"] += 1

    def _some(self, several: int) -> list[Act]:
        return without_second_ends([self._act() for _ in range(several)])

    def _act(self) -> Act:
        kinds, pick = self._random.sample(tuple(KINDS), 3), self._random.randrange(2**12)
        kind = min(kinds, key=lambda each: self.done[meant(each)])
        act = self._choosing.act(self.world, kind, pick)
        if isinstance(act, Pull) and act.cancelled is not None:
            return replace(act, cancelled=str(self._random.random() * 0.01))
        if isinstance(act, End) and act.status == "failed" and pick % 2:
            return replace(act, reason="runner_lost")
        return act

    def _explained(self, acts: list[Act], told: list[Any], seen: Seen, **how: bool) -> World:
        faults: list[AssertionError] = []
        for reading in readings(acts, told):
            try:
                return explained(self.world, acts, reading, seen, **how)
            except AssertionError as fault:
                faults.append(fault)
        raise faults[0]

    def _note(self, acts: list[Act], told: list[Any]) -> None:
        for act, answer in zip(acts, told, strict=True):
            if answer != NOT_TOLD:
                self.done[kind_of(act, answer)] += 1
            if isinstance(act, Pull) and isinstance(answer, list):
                self.got += [event for event, _ in answer]


def test_with_children_and_kills_every_message_ends_in_exactly_one_fate_too(
    theatre: Theatre, capsys: pytest.CaptureFixture[str]
):
    walk = Walk(theatre, SEED)
    for number in range(1, STEPS + 1):
        walk.step()
        if number % (STEPS // CRASHES) == 0:
            walk.crash()
    theatre.close()
    walk.world.shut()

    assert not walk.world.open()
    assert theatre.witness.sees() == walk.world.seen()
    theatre.witness.check_whole(walk.world)
    assert len(walk.got) == len(set(walk.got))
    assert walk.done["crash"] == CRASHES
    with capsys.disabled():
        told = ", ".join(f"{kind} {times}" for kind, times in sorted(walk.done.items()))
        print(f"\nseed {SEED}, {STEPS} steps with children: {told}")
