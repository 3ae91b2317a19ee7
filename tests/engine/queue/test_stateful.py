"""Messages are sent, changed, pulled, stopped and killed in any order: each ends in one fate, in order, once.

Every step is done to a real engine and to a world of plain lists, and both must agree. No step has a condition: what
there is to act on may hang on a race, so each kind takes what it finds. The seed is fixed, and the test counts
how often each step was done. `make test-long` does four times as many steps.
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

from tests.support.profile import IS_LONG
from tests.support.queue.action_choice import (
    KINDS,
    OUTCOMES,
    STEERABLE,
    ActionChooser,
    expected_outcome,
    outcome_of,
    without_second_ends,
)
from tests.support.queue.queue_actions import NO_ANSWER, Action, Pull, SendAgain, find_explanation
from tests.support.queue.queue_model import QueueModel
from tests.support.queue.scripted_engine import ScriptedEngine

EXAMPLES, STEPS = (39, 200) if IS_LONG else (10, 200)
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A folder in memory, so that nothing waits for a disk."""
CRASH, SEVERAL = "crash", "several at once"
ENOUGH = {**dict.fromkeys((*OUTCOMES, SEVERAL), 300 if IS_LONG else 60), CRASH: 200 if IS_LONG else 40}
"""The minimum number of times for each action."""
WEIGHT = {CRASH: 15, "resume": 8, "set steer": 8}
"""Weights; ten is an even share. A crash takes long; a message must be paused before it can be resumed or turned."""
DONE: Counter[str] = Counter()
"""How often each kind of action took effect."""

picks = st.integers(0, 2**12)
chosen = st.tuples(*[st.sampled_from((*KINDS, CRASH))] * 6)
another = st.tuples(st.tuples(*[st.sampled_from(tuple(KINDS))] * 3), picks)
beside = st.sampled_from((0, 0, 0, 0, 0, 0, 1, 2)).flatmap(lambda size: st.lists(another, min_size=size, max_size=size))
"""Actions that happen at the same time."""
Kinds = tuple[str, ...]


class Steering(RuleBasedStateMachine):
    """An engine and the model of its queue."""

    def __init__(self) -> None:
        super().__init__()
        self.model = QueueModel(STEERABLE)
        self.chooser = ActionChooser()
        self.loop = asyncio.new_event_loop()
        self.root = Path(tempfile.mkdtemp(dir=FAST))
        self.scripted = ScriptedEngine(self.root, self.loop)
        self.received: list[str] = []
        """Every message that a runner received."""
        self.done: Counter[str] = Counter()
        self.failed = False

    @rule(kinds=chosen, pick=picks, beside=beside)
    def step(self, kinds: Kinds, pick: int, beside: list[tuple[Kinds, int]]) -> None:
        self.failed = True
        if self.least(kinds) == CRASH:
            self.crash(self.together(beside), pick)
        else:
            self.do(self.together([(kinds, pick), *beside]))
        self.failed = False

    def least(self, kinds: Kinds) -> str:
        """Return the action that was done least, so that rare actions get their share."""
        return min(kinds, key=lambda kind: self.done[expected_outcome(kind)])

    def together(self, several: list[tuple[Kinds, int]]) -> list[Action]:
        return without_second_ends(
            [self.chooser.choose(self.model, self.least(kinds), pick) for kinds, pick in several]
        )

    def do(self, actions: list[Action]) -> None:
        observed = self.scripted.perform(actions)
        self.model = find_explanation(self.model, actions, observed, self.scripted.database.snapshot())
        self.scripted.check_tickets(self.model)
        self.note(actions, observed)
        DONE[SEVERAL] += len(actions) > 1

    def crash(self, actions: list[Action], pick: int) -> None:
        # The id of a resent message is not known before the reply; only a live host cancels a pull.
        actions = [
            action
            for action in actions
            if not isinstance(action, SendAgain) and not (isinstance(action, Pull) and action.cancelled)
        ]
        turns, unwritten = pick // 2 % 8, pick % 2 == 1
        observed, snapshot = self.scripted.crash_host(actions, turns, unwritten=unwritten)
        self.model = find_explanation(self.model, actions, observed, snapshot, died=True, unwritten=unwritten)
        self.note(actions, observed)
        live = {run.event for run in self.model.live()}
        assert {
            self.scripted.database.event_of(run) for run in self.scripted.action_runner.engine.recovered_runs
        } == live
        self.model.recover()
        assert self.scripted.database.snapshot() == self.model.snapshot()
        self.count(CRASH)

    def note(self, actions: list[Action], observed: list[Any]) -> None:
        for action, answer in zip(actions, observed, strict=True):
            if answer != NO_ANSWER:
                self.count(outcome_of(action, answer))
            if isinstance(action, Pull) and isinstance(answer, list):
                self.received += [event for event, _ in answer]

    def count(self, kind: str) -> None:
        DONE[kind] += 1
        self.done[kind] += WEIGHT.get(kind, 10)

    def teardown(self) -> None:
        try:
            self.scripted.close()
            if not self.failed:
                self.check_the_end()
        finally:
            self.loop.close()
            shutil.rmtree(self.root)

    def check_the_end(self) -> None:
        self.model.close()
        assert not self.model.open()
        with self.scripted.open_database() as database:
            assert database.snapshot() == self.model.snapshot()
            database.check_consistency(self.model)
        assert len(self.received) == len(set(self.received))
        assert all(ticket.started.done() for ticket in self.scripted.action_runner.tickets.values())


def test_every_message_has_exactly_one_fate_and_is_delivered_once_in_order(capsys: pytest.CaptureFixture[str]):
    run_state_machine_as_test(
        Steering,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large),
        ),
    )
    steps = DONE.total() - DONE[SEVERAL]
    with capsys.disabled():
        print(f"\n{steps} steps")
        for kind, times in sorted(DONE.items()):
            print(f"{times:6} {kind}")
    assert steps >= EXAMPLES * STEPS
    assert {kind: DONE[kind] for kind in ENOUGH if DONE[kind] < ENOUGH[kind]} == {}
