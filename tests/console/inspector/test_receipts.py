"""Receipts in words, now and as of an earlier entry."""

from dataclasses import replace
from typing import Any

import pytest

from console.model.inspector.receipts import last_pull_words, receipt_words
from engine.api import Receipt, SteeringReport
from engine.events import Fate

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
        ({"fate": Fate.PAUSED}, "paused: queued at #49 → 5.0 s; not delivered until resumed"),
        ({"mode": "after", "queued_position": None}, "after: waits for the end of the run, 5.0 s"),
        (PULLED, "pulled: queued at #49 → pulled at #55 after 2.0 s → no result after it yet"),
        (INJECTED, "delivered: queued at #49 → pulled at #55 after 2.0 s → no result after it yet"),
        (ANSWERED, "delivered: queued at #49 → pulled at #55 after 2.0 s → first result message.delta #58 +1.0 s"),
        (
            {"fate": "dropped", "reason": "failed", "decided_at": 12 * SECOND},
            "dropped: queued at #49 → run failed before it pulled",
        ),
        (
            {"fate": "withdrawn", "decided_at": 12 * SECOND},
            "withdrawn: queued at #49 → withdrawn before it was pulled",
        ),
        (
            {"fate": "own_run", "mode": "after", "decided_at": 12 * SECOND, "own_run_id": "run_01k5zzzzzzzzzzzzz"},
            "own run: waited 2.0 s → became a run: run_01k5zzzzzzzzz…",
        ),
    ],
)
def test_every_fate_is_described(changes: dict[str, Any], words: str):
    one = receipt_words(replace(QUEUED, **changes), 15 * SECOND, is_over=False)
    assert one is not None
    assert f"{one.word}: {' → '.join(one.steps)}" == words


def test_long_wait_is_remarked_after_thirty_seconds():
    one = receipt_words(QUEUED, 41 * SECOND, is_over=False)
    assert one is not None
    assert one.steps[-1] == "waits for a pull, 31.0 s; runner has not pulled yet"


def test_receipt_as_of_an_earlier_time_has_its_earlier_state():
    receipt = replace(QUEUED, **ANSWERED)
    at = {second: receipt_words(receipt, second * SECOND, is_over=False) for second in (9, 11, 12, 13)}

    assert at[9] is None
    assert [at[second] and at[second].word for second in (11, 12, 13)] == ["queued", "delivered", "delivered"]
    assert at[12] is not None
    assert at[12].steps[-1] == "no result after it yet"
    assert receipt_words(receipt, 9 * SECOND, 49, is_over=False) is not None, "its entry counts, not its stamp"


@pytest.mark.parametrize(
    ("steering", "now", "ended_at", "words"),
    [
        (SteeringReport("r", True, None, 4, 12 * SECOND, ()), 15, None, "Last pull 3 s ago · 4 pulls"),
        (SteeringReport("r", True, None, None, 12 * SECOND, ()), 12, None, "Last pull just now"),
        (SteeringReport("r", True, None, 1, 12 * SECOND, ()), 99, 14, "Last pull 2.0 s before its end · 1 pull"),
        (
            SteeringReport("r", True, None, 0, None, ()),
            15,
            None,
            "Not pulled yet: messages are delivered at its first pull.",
        ),
        (SteeringReport("r", True, None, 0, None, ()), 15, 14, "Never pulled."),
        (SteeringReport("r", True, None, 4, 12 * SECOND, ()), 11, None, "No message was pulled up to this entry."),
        (SteeringReport("r", True, None, 4, 14 * SECOND, (replace(QUEUED, **PULLED),)), 13, None, "Last pull 1 s ago"),
        (
            SteeringReport("r", False, "steering is not in the manifest's capabilities", None, None, ()),
            15,
            None,
            "Cannot be steered: steering is not in the manifest's capabilities. Messages wait for the end of the run.",
        ),
    ],
)
def test_last_pull_is_described(steering: SteeringReport, now: int, ended_at: int | None, words: str):
    end = None if ended_at is None else ended_at * SECOND
    assert last_pull_words(steering, now * SECOND, end)[0] == words
