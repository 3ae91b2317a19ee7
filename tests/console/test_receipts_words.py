"""Receipts in words, as they stand and as they stood."""

from dataclasses import replace
from typing import Any

import pytest

from console.model.inspect.receipts import pulling, told
from engine.api import Receipt, Steering

SECOND = 1_000_000
QUEUED = Receipt(
    id="i",
    event_id="e",
    text="use metric",
    mode="steer",
    fate="queued",
    reason=None,
    queued_at=10 * SECOND,
    queued_position=49,
    pulled_at=None,
    pulled_position=None,
    injected_at=None,
    first_result=None,
    first_result_at=None,
    first_result_position=None,
    latency=None,
    decided_at=None,
    own_run_id=None,
    sent_again_as=None,
)
PULLED: dict[str, Any] = {"fate": "pulled", "pulled_at": 12 * SECOND, "pulled_position": 55}
INJECTED: dict[str, Any] = PULLED | {"fate": "injected", "injected_at": 12 * SECOND, "decided_at": 12 * SECOND}
ANSWERED: dict[str, Any] = INJECTED | {
    "first_result": "message.delta",
    "first_result_at": 13 * SECOND,
    "first_result_position": 58,
    "latency": SECOND,
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "queued: queued at #49 → waits for a pull, 5.0 s"),
        ({"fate": "held"}, "held back: queued at #49 → 5.0 s; nobody gets it until it is released"),
        ({"mode": "after", "queued_position": None}, "after: waits for the run's end, 5.0 s"),
        (PULLED, "pulled: queued at #49 → pulled at #55 after 2.0 s → no result after it yet"),
        (INJECTED, "injected: queued at #49 → pulled at #55 after 2.0 s → no result after it yet"),
        (ANSWERED, "injected: queued at #49 → pulled at #55 after 2.0 s → first result message.delta #58 +1.0 s"),
        (
            {"fate": "dropped", "reason": "failed", "decided_at": 12 * SECOND},
            "dropped: queued at #49 → run failed before it pulled",
        ),
        (
            {"fate": "withdrawn", "decided_at": 12 * SECOND},
            "withdrawn: queued at #49 → taken back before it was pulled",
        ),
        (
            {"fate": "own_run", "mode": "after", "decided_at": 12 * SECOND, "own_run_id": "run_01k5zzzzzzzzzzzzz"},
            "own run: waited 2.0 s → became a run: run_01k5zzzzzzzzz…",
        ),
    ],
)
def test_every_fate_has_its_words(changes: dict[str, Any], words: str):
    one = told(replace(QUEUED, **changes), 15 * SECOND, is_over=False)
    assert one is not None
    assert f"{one.word}: {' → '.join(one.steps)}" == words


def test_after_half_a_minute_it_says_that_the_runner_has_not_pulled():
    one = told(QUEUED, 41 * SECOND, is_over=False)
    assert one is not None
    assert one.steps[-1] == "waits for a pull, 31.0 s; runner has not pulled yet"


def test_at_an_earlier_moment_it_stands_as_it_did_then():
    receipt = replace(QUEUED, **ANSWERED)
    at = {second: told(receipt, second * SECOND, is_over=False) for second in (9, 11, 12, 13)}

    assert at[9] is None
    assert [at[second] and at[second].word for second in (11, 12, 13)] == ["queued", "injected", "injected"]
    assert at[12] is not None
    assert at[12].steps[-1] == "no result after it yet"
    assert told(receipt, 9 * SECOND, 49, is_over=False) is not None, "its entry counts, not its stamp"


@pytest.mark.parametrize(
    ("steering", "now", "ended_at", "words"),
    [
        (Steering("r", True, None, 4, 12 * SECOND, ()), 15, None, "Last pull 3 s ago · 4 pulls"),
        (Steering("r", True, None, None, 12 * SECOND, ()), 12, None, "Last pull just now"),
        (Steering("r", True, None, 1, 12 * SECOND, ()), 99, 14, "Last pull 2.0 s before its end · 1 pull"),
        (
            Steering("r", True, None, 0, None, ()),
            15,
            None,
            "Never pulled: what is said reaches it with its first pull.",
        ),
        (Steering("r", True, None, 0, None, ()), 15, 14, "Never pulled."),
        (Steering("r", True, None, 4, 12 * SECOND, ()), 11, None, "Nothing was pulled by then."),
        (Steering("r", True, None, 4, 14 * SECOND, (replace(QUEUED, **PULLED),)), 13, None, "Last pull 1 s ago"),
        (
            Steering("r", False, "steering is not in the manifest's capabilities", None, None, ()),
            15,
            None,
            "Cannot be steered: steering is not in the manifest's capabilities. What is said waits for the run's end.",
        ),
    ],
)
def test_how_a_run_listens(steering: Steering, now: int, ended_at: int | None, words: str):
    end = None if ended_at is None else ended_at * SECOND
    assert pulling(steering, now * SECOND, end)[0] == words
