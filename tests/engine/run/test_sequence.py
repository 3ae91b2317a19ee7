"""Sequence numbers of results: they are checked, and the host never waits for a missing one."""

import pytest

from engine.run.normalise import SequenceTracker
from tests.support.engines import ScriptRunner, delta, done, lines_of


async def play_numbers(run_script: ScriptRunner, *numbers: object):
    """Deltas a, b, c … with these numbers, and the outcome of each."""
    deltas = [delta(chr(97 + place)) | {"sequence": number} for place, number in enumerate(numbers)]
    run = await run_script(*deltas, done())
    assert run.row.status == "completed"
    return [(entry.sequence, entry.outcome, entry.reason) for entry in run.all("message.delta")]


async def test_consecutive_numbers_from_1_are_applied_without_a_warning(run_script: ScriptRunner):
    assert await play_numbers(run_script, 1, 2, 3) == [(1, None, None), (2, None, None), (3, None, None)]


async def test_a_repeat_is_dropped(run_script: ScriptRunner):
    fates = await play_numbers(run_script, 1, 2, 2, 3)

    assert fates[2] == (2, "dropped", "sequence 2 was seen before")
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "abd")]


async def test_a_gap_is_a_warning_and_the_result_is_applied(run_script: ScriptRunner):
    fates = await play_numbers(run_script, 1, 4)

    assert fates[1] == (4, "warned", "sequence 4, expected 2")
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "ab")]


async def test_a_first_number_above_1_is_a_gap(run_script: ScriptRunner):
    assert await play_numbers(run_script, 2) == [(2, "warned", "sequence 2, expected 1")]


async def test_out_of_order_number_is_a_warning_and_the_late_result_is_applied_once(run_script: ScriptRunner):
    fates = await play_numbers(run_script, 1, 3, 2, 2)

    assert fates[2:] == [(2, "warned", "sequence 2 came after 3"), (2, "dropped", "sequence 2 was seen before")]
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "abc")]


@pytest.mark.parametrize("number", [0, -1])
async def test_a_non_positive_number_is_a_warning_and_the_result_is_applied(run_script: ScriptRunner, number: int):
    fates = await play_numbers(run_script, number, 1)

    assert fates == [(number, "warned", f"sequence {number} is not positive"), (1, None, None)]
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "ab")]


@pytest.mark.parametrize("number", ["1", 1.5, True, [1]])
async def test_a_number_that_is_none_is_a_warning_and_the_result_is_applied(run_script: ScriptRunner, number: object):
    fates = await play_numbers(run_script, number)

    assert fates == [(None, "warned", f"sequence {number!r} is not an integer")]


async def test_results_without_a_number_may_be_mixed_with_numbered_ones(run_script: ScriptRunner):
    assert [fate[1] for fate in await play_numbers(run_script, 1, None, 2)] == [None, None, None]


async def test_a_number_beyond_64_bits_is_applied(run_script: ScriptRunner):
    fates = await play_numbers(run_script, 2**64 - 1)

    assert fates[0][:2] == (None, "warned")


def test_skipped_sequence_numbers_are_remembered_in_bounded_memory():
    sequence = SequenceTracker()
    for claim in range(2, 20_000, 2):
        assert sequence.check(claim) == (False, f"sequence {claim}, expected {claim - 1}")

    assert len(sequence._skipped) <= 1_000
    assert sequence.check(3)[0] is False, "forgotten, so it counts as skipped"
    assert sequence.check(19_997)[0] is False
    assert sequence.check(19_997)[0] is True


def test_numbers_that_split_the_skipped_ranges_are_remembered_in_bounded_memory():
    sequence = SequenceTracker()
    sequence.check(1_000_000)
    for claim in range(2, 20_000, 2):
        assert sequence.check(claim)[0] is False

    assert len(sequence._skipped) <= 1_000
    assert sequence.check(19_998) == (True, "sequence 19998 was seen before")
    assert sequence.check(19_997) == (False, "sequence 19997 came after 1000000")
    assert sequence.check(19_997)[0] is True
    assert sequence.check(3)[0] is False, "forgotten, so it counts as skipped"


async def test_a_number_of_many_parts_is_shown_shortened(run_script: ScriptRunner):
    ((_, outcome, reason),) = await play_numbers(run_script, [[]] * 1_000)

    assert (outcome, reason) == ("warned", "sequence [[], [], [], [], [], [], ...] is not an integer")
