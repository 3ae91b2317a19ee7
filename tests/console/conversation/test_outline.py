"""The outline of a run decides where a window begins and which deltas and output have to be read in addition."""

import pytest

from console.model.conversation.outline import (
    SplitMessage,
    find_message_start,
    find_split_messages,
    find_unfinished_range,
)
from engine.api import Entry
from tests.support.console.journal_writer import OUTLINE_LEAVES_OUT, Journal


def outline(journal: Journal) -> list[Entry]:
    return [entry for entry in journal.entries if entry.type not in OUTLINE_LEAVES_OUT]


# The start of a window


def test_window_starts_after_the_first_completed_message() -> None:
    journal = Journal().began().tool().said("one").tool().answered().said("two").tool()

    assert find_message_start(outline(journal)) == 3


def test_window_has_a_minimum_of_entries() -> None:
    journal = Journal().began().tool().said("one").tool().answered()

    assert find_message_start(outline(journal), min_entries=2) == 3
    assert find_message_start(outline(journal), min_entries=3) is None


def test_outline_without_a_completed_message_has_no_message_start() -> None:
    journal = Journal().began().delta("a").tool().answered().delta("b").tool(call_id="2")

    assert find_message_start(outline(journal)) is None


def test_message_that_the_end_may_repeat_stays_with_the_end() -> None:
    journal = Journal().began().said("one").tool().said("two").tool().answered()
    journal("run.completed", {"message": {"role": "assistant", "content": "two"}})

    assert find_message_start(outline(journal)) == 2
    assert find_message_start(outline(journal)[2:]) is None


def test_dropped_message_does_not_start_a_window() -> None:
    journal = Journal().began()
    journal("message.completed", {}, outcome="dropped")

    assert find_message_start(outline(journal.tool())) is None


# The end of a run


def test_completed_run_needs_only_its_outline() -> None:
    journal = Journal().began().delta("a").said("a").finished()

    assert find_unfinished_range(outline(journal), after=0) is None


@pytest.mark.parametrize("status", ["failed", "timeout", "cancelled"])
def test_failed_run_needs_all_entries_since_its_last_message(status: str) -> None:
    journal = Journal().began().delta("x").said("x").delta("half")
    journal("output", {"stream": "traceback", "text": "Oh"})
    journal.finished(status)

    assert find_unfinished_range(outline(journal), after=0) == (3, 6)


@pytest.mark.parametrize("dropped", [0, 9])
@pytest.mark.parametrize(
    "warning",
    [
        {"message": "The run ended without a completed message.", "assembled_from": "deltas"},
        {"message": "The run ended without a completed message; its transcript line is assembled from deltas."},
    ],
    ids=["with the field", "older, without the field"],
)
def test_completed_run_with_an_incomplete_message_needs_its_deltas(dropped: int, warning: dict[str, str]) -> None:
    journal = Journal().began().said("one").delta("half")
    journal("run.completed", {"finish_reason": "stop"})
    journal("warning", warning)
    for number in range(dropped):
        journal("steering.dropped", {"item_id": f"i{number}"})

    assert find_unfinished_range(outline(journal.finished()), after=0) == (2, 6 + dropped)


def test_completed_run_with_another_warning_needs_nothing() -> None:
    journal = Journal().began().said("one")
    journal("call.requested", {"call_id": "c1", "action": "state_get"})
    journal("warning", {"message": "The runner responds again after 5 s."})

    assert find_unfinished_range(outline(journal.finished()), after=0) is None


def test_run_in_progress_needs_all_entries_since_its_last_message() -> None:
    journal = Journal().began().delta("a").said("a").delta("b")

    after, before = find_unfinished_range(outline(journal), after=0) or (0, 0)

    assert after == 3
    assert before > 10**9


def test_outline_without_a_message_needs_all_entries_since_its_start() -> None:
    journal = Journal().began().said("a").delta("b").tool().finished("failed")

    assert find_unfinished_range(outline(journal)[2:], after=2) == (2, 5)


def test_empty_outline_needs_nothing() -> None:
    assert find_unfinished_range([], after=0) is None


# Split messages


def test_message_with_a_block_in_its_middle_may_be_split() -> None:
    journal = Journal().began().delta("a").tool().answered().delta("b").said("ab")

    assert find_split_messages(outline(journal), after=0) == [SplitMessage(0, 4, 6)]


def test_message_without_a_block_in_its_middle_is_not_split() -> None:
    journal = Journal().began().said("a").delta("b").said("b").finished()

    assert find_split_messages(outline(journal), after=0) == []


def test_message_that_goes_on_below_the_window_may_be_split() -> None:
    journal = Journal().began().said("a").delta("b").tool()

    assert find_split_messages(outline(journal), after=0, before=7) == [SplitMessage(2, 7, 7)]


def test_message_that_began_above_the_window_may_be_split() -> None:
    journal = Journal().began().delta("a").tool().delta("b").said("ab")

    assert find_split_messages(outline(journal)[2:], after=3, is_inside=True) == [SplitMessage(3, 5, 5)]
    assert find_split_messages(outline(journal)[2:], after=3) == []
