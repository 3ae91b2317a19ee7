"""Whatever is said, changed, pulled, ended, stopped and killed in whatever order: one fate each, in order, once.

Every step is done to a real engine and to a world of plain lists, and both must agree. The seed is fixed, so the last
test can count what was done.
"""

import asyncio
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from tests.steering.acts import NOT_TOLD, Act, End, Pull, SendAgain, explained
from tests.steering.choosing import KINDS, STEERS, Choosing, kind_of
from tests.steering.house import House
from tests.steering.world import World

EXAMPLES, STEPS = 220, 50
import os
PHASES=(Phase.generate,) if os.environ.get("NOSHRINK") else (Phase.generate, Phase.shrink)
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where nothing waits for a disk."""
DONE: Counter[str] = Counter()
"""How often each kind of act took effect."""

picks = st.integers(0, 2**12)
several = st.lists(st.tuples(st.sampled_from(sorted(KINDS)), picks), min_size=2, max_size=3)


def alone(kind: str) -> Any:
    """The rule that does one act of a kind."""

    @rule(pick=picks)
    def act(self: "Steering", pick: int) -> None:
        DONE["steps"] += 1
        self.do([self.choosing.act(self.world, kind, pick)])

    return act


class Steering(RuleBasedStateMachine):
    """An engine beside its world. No rule has a condition: what there is to act on may hang on a race."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(STEERS)
        self.choosing = Choosing()
        self.loop = asyncio.new_event_loop()
        self.root = Path(tempfile.mkdtemp(dir=FAST))
        self.house = House(self.root, self.loop)
        self.got: list[str] = []
        self.agrees = True

    def do(self, acts: list[Act]) -> None:
        self.agrees = False
        told = self.house.perform(acts)
        self.world = explained(self.world, acts, told, self.house.witness.sees())
        self.agrees = True
        self.note(acts, told)

    def note(self, acts: list[Act], told: list[Any]) -> None:
        for act, answer in zip(acts, told, strict=True):
            if answer != NOT_TOLD:
                DONE[kind_of(act, answer)] += 1
            if isinstance(act, Pull) and isinstance(answer, list):
                self.got += [event for event, _ in answer]

    for kind in KINDS:
        locals()[kind] = alone(kind)

    @rule(several=several)
    def at_once(self, several: list[tuple[str, int]]) -> None:
        DONE["steps"] += 1
        acts = self.together(several)
        self.do(acts)
        DONE["several at once"] += len(acts) > 1

    @rule(several=several, turns=st.integers(0, 8), unwritten=st.booleans())
    def crash(self, several: list[tuple[str, int]], turns: int, unwritten: bool) -> None:
        DONE["steps"] += 1
        acts = [
            act
            for act in self.together(several)
            if not isinstance(act, SendAgain) and getattr(act, "cancelled", None) is None
        ]
        self.agrees = False
        told, seen = self.house.die(acts, turns, unwritten=unwritten)
        self.world = explained(self.world, acts, told, seen, died=True, unwritten=unwritten)
        self.note(acts, told)
        live = {run.event for run in self.world.live()}
        assert {self.house.witness.event_of(run) for run in self.house.engine.recovered} == live
        self.world.recover()
        assert self.house.witness.sees() == self.world.seen()
        self.agrees = True
        DONE["crash"] += 1

    def together(self, several: list[tuple[str, int]]) -> list[Act]:
        """A run ends once."""
        acts = [self.choosing.act(self.world, kind, pick) for kind, pick in several]
        ends = {act.run: act for act in acts if isinstance(act, End)}
        return [act for act in acts if not isinstance(act, End) or ends[act.run] is act]

    def teardown(self) -> None:
        try:
            self.house.close()
            if not self.agrees:
                return
            self.world.shut()
            with self.house.looking() as witness:
                assert witness.sees() == self.world.seen()
                witness.check_whole(self.world)
            assert len(self.got) == len(set(self.got))
        finally:
            self.loop.close()
            shutil.rmtree(self.root)


def test_every_message_ends_in_exactly_one_fate_in_order_and_nothing_twice():
    run_state_machine_as_test(
        Steering,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=PHASES,
        ),
    )


def test_each_kind_of_step_was_done_often_enough(capsys: pytest.CaptureFixture[str]):
    with capsys.disabled():
        print()
        for kind, times in sorted(DONE.items()):
            print(f"{times:6} {kind}")
