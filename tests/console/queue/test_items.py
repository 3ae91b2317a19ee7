from dataclasses import replace
from typing import Any

import pytest

from console.model.queue.items import QueueRow, QueueRun, count_words, queue_rows
from engine.api import QueueItem
from engine.events import Fate

SECOND = 1_000_000
RUN = QueueRun("run_1", turn=3)


def item(**changes: Any) -> QueueItem:
    known = {"item_id": "i1", "event_id": "e1", "mode": "steer", "created_at": 0, "run_id": "run_1", "text": "skip"}
    return QueueItem(**{**known, "envelope": {}, **changes})


def view(given: QueueItem, run: QueueRun | None = RUN, now: int = 9 * SECOND) -> QueueRow:
    (only,) = queue_rows([given], run, now)
    return only


def row(shown: QueueRow) -> tuple[str, ...]:
    return shown.glyph, shown.word, shown.text, shown.detail, shown.age


def test_steering_message_shows_its_steering_point_and_age():
    assert row(view(item())) == ("queued", "steer", "skip", "waiting for T3→T4", "9s")
    assert row(view(item(), now=190 * SECOND, run=replace(RUN, last_pull_at=189 * SECOND)))[-1] == "3min"


def test_files_and_event_types_are_shown():
    file = {"attachments": [{"name": "notes.txt"}]}
    assert view(item(envelope={"input": file})).text == "skip · 1 file"
    assert view(item(text="", envelope={"input": file})).text == "notes.txt"
    assert view(item(text="", envelope={"event_type": "group.member_joined"})).text == "group.member_joined"


def test_message_before_the_first_turn_waits_for_the_first_pull():
    assert view(item(), QueueRun("run_1")).detail == "waiting for the first pull"


def test_message_to_a_paused_run_shows_the_pause():
    shown = view(item(), replace(RUN, is_paused=True), now=300 * SECOND)

    assert (shown.detail, shown.is_overdue) == ("waiting, the run is paused", False)


@pytest.mark.parametrize(
    ("now", "last_pull_at", "is_overdue"),
    [(29, None, False), (30, None, True), (100, 90, False), (120, 90, True), (31, 0, True)],
)
def test_message_is_overdue_after_thirty_seconds_without_a_pull(now: int, last_pull_at: int | None, is_overdue: bool):
    pulled = None if last_pull_at is None else last_pull_at * SECOND

    shown = view(item(), replace(RUN, last_pull_at=pulled), now=now * SECOND)

    assert shown.is_overdue == is_overdue
    assert (shown.detail == "runner has not pulled yet") == is_overdue


def test_message_for_after_the_run_waits_for_its_end():
    assert row(view(item(mode="after"))) == ("after", "after", "skip", "when the run ends", "")


def test_message_that_cannot_steer_shows_the_reason():
    why = "this runner cannot be steered: capabilities.steering is not declared"

    assert row(view(item(mode="slot", reason=why)))[:4] == ("after", "after", "skip", why)


def test_paused_message_shows_its_mode():
    assert row(view(item(fate=Fate.PAUSED))) == ("paused", "paused", "skip", "steer, until resumed", "")
    assert view(item(fate=Fate.PAUSED, mode="slot")).detail == "after, until resumed"
    assert view(item(fate=Fate.PAUSED)).is_editable


def test_pulled_message_cannot_be_changed():
    shown = view(item(fate="pulled", pulled_at=1), replace(RUN, turn=4))

    assert row(shown) == ("pulled", "pulled", "skip", "T4", "")
    assert (shown.is_open, shown.is_editable) == (True, False)
    assert shown.why_not_editable == "The runner has pulled this message. It can no longer be changed."


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("completed", "run completed before T4"),
        ("failed", "run failed before T4"),
        ("cancelled", "run was stopped before T4"),
        ("timeout", "run timed out before T4"),
        ("runner_lost", "runner was lost before T4"),
        ("host_restarted", "the process that hosted the run was lost"),
        ("host_closed", "the process that queued it was closed"),
        ("session_deleted", "its session was deleted"),
        ("a new reason", "a new reason"),
        (None, "no reason given"),
    ],
)
def test_dropped_message_stays_with_its_reason(reason: str | None, words: str):
    shown = view(item(fate="dropped", reason=reason), replace(RUN, is_over=True))

    assert row(shown) == ("dropped", "dropped", "skip", words, "")
    assert not shown.is_open
    assert shown.why_not_editable == "This message was dropped. Press enter to edit it in the prompt."


def test_message_dropped_with_another_run_names_no_turn():
    assert view(item(fate="dropped", reason="failed"), None).detail == "run failed before it pulled"
    assert view(item(fate="dropped", reason="failed", pulled_at=1)).detail == "run failed before it was delivered"


def test_withdrawn_message_stays_for_five_seconds():
    withdrawn = item(fate="withdrawn", decided_at=10 * SECOND)

    assert view(withdrawn, now=10 * SECOND).detail == "u restores it, 5s"
    assert view(withdrawn, now=15 * SECOND - 1).detail == "u restores it, 1s"
    assert queue_rows([withdrawn], RUN, 15 * SECOND) == ()


def test_delivered_and_resent_messages_have_no_row():
    gone = [
        item(item_id="a", fate="injected"),
        item(item_id="b", fate="own_run"),
        item(item_id="c", fate="dropped", metadata={"sent_again_as": "e9"}),
    ]

    assert queue_rows(gone, RUN, 0) == ()


def test_open_messages_come_first_in_order():
    shown = queue_rows([item(item_id="b", fate="dropped"), item(item_id="c"), item(item_id="a")], RUN, 0)

    assert [one.item_id for one in shown] == ["c", "a", "b"]
    assert count_words(shown) == "2 queued · 1 dropped"


def test_mode_can_be_switched_only_if_the_run_can_be_steered():
    after = item(mode="after")

    assert view(after).why_not_turned is None
    assert view(after, None).why_not_turned == "No run in progress can receive this message."
    assert view(after, replace(RUN, is_over=True)).why_not_turned == "No run in progress can receive this message."
    assert view(after, replace(RUN, cannot_steer="no")).why_not_turned == "The run cannot take this message: no"
    assert view(item()).why_not_turned is None


def test_texts_in_the_queue_are_safe():
    shown = view(item(text="a\x1b[2J\n\u202eb", mode="slot", reason="x\x07\ny"))

    assert shown.text == "a␛[2J␊\\u202eb"
    assert shown.detail == "x␇␊y"
