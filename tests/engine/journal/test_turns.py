"""Where a turn of a run starts."""

from typing import Any

import pytest

from engine.journal.turns import Turns

Step = tuple[str, Any]
DELTA: Step = ("message.delta", {})
PULL: Step = ("pull", True)
EMPTY_PULL: Step = ("pull", False)


def started(ident: object) -> Step:
    return "tool.call.started", {"tool_call_id": ident}


def completed(ident: object) -> Step:
    return "tool.call.completed", {"tool_call_id": ident}


def asks(*results: str) -> Step:
    """A model call whose messages contain these tool results."""
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}]
    return "model", [*messages, *({"role": "tool", "tool_call_id": one[0], "content": one} for one in results)]


def turns_of(*steps: Step) -> list[int]:
    """Return the turn of each step."""
    turns, found = Turns(), []
    for kind, data in steps:
        if kind == "model":
            turns.note_model_call(data)
        elif kind == "pull":
            if data and turns.can_begin_at_pull:
                turns.begin(turns.turn)
        else:
            turns.note_result(kind, data)
        found.append(turns.turn)
    return found


BY_CALLS = {
    "two tools of one reply, one after the other": (
        [asks(), started("a"), completed("a"), started("b"), completed("b"), asks("a1", "b1")],
        [1, 1, 1, 1, 1, 2],
    ),
    "parallel tools": (
        [asks(), started("a"), started("b"), completed("b"), completed("a"), asks("a1", "b1"), DELTA],
        [1, 1, 1, 1, 1, 2, 2],
    ),
    "results that arrive late": (
        [asks(), EMPTY_PULL, asks("a1"), started("a"), completed("a"), EMPTY_PULL, asks("a1", "b1"), started("b")],
        [1, 1, 2, 2, 2, 2, 3, 3],
    ),
    "fallback model": ([asks(), asks(), asks("a1"), asks("a1")], [1, 1, 2, 2]),
    "summary call": ([asks("a1"), asks("a1", "b1"), asks(), asks("b1")], [1, 2, 2, 2]),
    "pull before the next model call": (
        [asks(), started("a"), completed("a"), PULL, asks("a1"), PULL, PULL, asks("a1")],
        [1, 1, 1, 2, 2, 3, 3, 3],
    ),
    "pull without messages": ([asks(), EMPTY_PULL, asks("a1")], [1, 1, 2]),
    "pull before the first model call": ([PULL, asks(), PULL], [1, 1, 2]),
    "text between tools": ([asks(), DELTA, started("a"), completed("a"), DELTA, asks("a1")], [1, 1, 1, 1, 1, 2]),
    "the same result of two calls with one id": ([asks("a1"), asks("a1", "a1"), asks("a1", "a1")], [1, 2, 2]),
    "the first model call comes late": (
        [DELTA, started("a"), completed("a"), DELTA, asks("a1"), DELTA, started("b"), completed("b"), asks("a1", "b1")],
        [1, 1, 1, 2, 2, 2, 2, 2, 3],
    ),
}
BY_RESULTS = {
    "one tool after the other": ([started("a"), completed("a"), started("b"), completed("b"), DELTA], [1, 1, 2, 2, 3]),
    "parallel tools": (
        [DELTA, started("a"), started("b"), completed("a"), DELTA, completed("b"), DELTA, DELTA],
        [1, 1, 1, 1, 1, 1, 2, 2],
    ),
    "no tools": ([DELTA, ("message.completed", {}), DELTA, completed("never started"), DELTA], [1, 1, 1, 1, 1]),
    "pull with messages": ([DELTA, PULL, DELTA], [1, 2, 2]),
    "pull before the first text": ([PULL, DELTA, PULL, PULL, DELTA], [1, 1, 2, 2, 2]),
    "pull after tools": ([started("a"), completed("a"), PULL, DELTA, started("b")], [1, 1, 2, 2, 2]),
    "pull without messages": ([DELTA, EMPTY_PULL, DELTA], [1, 1, 1]),
}


@pytest.mark.parametrize(("steps", "turns"), BY_CALLS.values(), ids=BY_CALLS)
def test_run_with_model_calls_is_counted_by_calls(steps: list[Step], turns: list[int]) -> None:
    assert turns_of(*steps) == turns


@pytest.mark.parametrize(("steps", "turns"), BY_RESULTS.values(), ids=BY_RESULTS)
def test_run_without_model_calls_is_counted_by_results(steps: list[Step], turns: list[int]) -> None:
    assert turns_of(*steps) == turns


def test_hostile_ids_and_messages_are_counted_in_bounded_memory() -> None:
    turns = Turns()
    for number in range(20_000):
        turns.note_result(*started({"nested": ["x" * 1_000, number]}))
        turns.note_model_call([{"role": "tool", "content": f"{number}"}, None, 7])
    turns.note_model_call([{"role": "tool", "tool_call_id": [1], "content": {"a": 1}}])

    assert len(turns._open) <= 10_000
    assert len(turns._tool_results) <= 10_000


def test_turn_that_began_meanwhile_is_not_begun_again() -> None:
    turns = Turns()
    turns.note_model_call([])
    before = turns.turn
    turns.note_model_call([{"role": "tool", "content": "1"}])
    turns.begin(before)

    assert turns.turn == 2


def test_results_of_parts_are_told_apart_by_their_whole_text():
    def with_result(number: int) -> list[dict[str, Any]]:
        text = f"the result of page {number} of the search is complete"
        return [{"role": "tool", "content": [{"type": "text", "text": text}]}]

    turns = Turns()
    for messages in ([], with_result(1), with_result(2), with_result(2)):
        turns.note_model_call(messages)

    assert turns.turn == 3
