from dataclasses import replace
from typing import Any

import pytest

from console.model.prompt.intent import mode_of, title_of, why_no_mode
from console.model.prompt.waiting import ItemView, RunSeen, pending, views
from console.model.situation import Situation
from engine.api import QueueItem

SECOND = 1_000_000
RUN = RunSeen("run_1", turn=3)


def item(**changes: Any) -> QueueItem:
    known = {"item_id": "i1", "event_id": "e1", "mode": "steer", "created_at": 0, "run_id": "run_1", "text": "skip"}
    return QueueItem(**{**known, "envelope": {}, **changes})


def view(given: QueueItem, run: RunSeen | None = RUN, now: int = 9 * SECOND) -> ItemView:
    (only,) = views([given], run, now)
    return only


def row(shown: ItemView) -> tuple[str, ...]:
    return shown.glyph, shown.word, shown.text, shown.detail, shown.age


def test_a_message_for_the_run_tells_the_boundary_that_it_waits_for_and_since_when():
    assert row(view(item())) == ("queued", "steer", "skip", "waiting for T3→T4", "9s")
    assert row(view(item(), now=190 * SECOND, run=replace(RUN, last_pull_at=189 * SECOND)))[-1] == "3min"


def test_files_and_what_is_no_message_are_told():
    file = {"attachments": [{"name": "notes.txt"}]}
    assert view(item(envelope={"input": file})).text == "skip · 1 file"
    assert view(item(text="", envelope={"input": file})).text == "notes.txt"
    assert view(item(text="", envelope={"event_type": "group.member_joined"})).text == "group.member_joined"


def test_before_the_first_turn_it_waits_for_the_first_pull():
    assert view(item(), RunSeen("run_1")).detail == "waiting for the first pull"


def test_while_the_run_is_held_that_is_what_it_waits_for():
    shown = view(item(), replace(RUN, is_held=True), now=300 * SECOND)

    assert (shown.detail, shown.is_overdue) == ("waiting, the run is held", False)


@pytest.mark.parametrize(
    ("now", "last_pull_at", "is_overdue"),
    [(29, None, False), (30, None, True), (100, 90, False), (120, 90, True), (31, 0, True)],
)
def test_after_thirty_seconds_without_a_pull_it_says_so(now: int, last_pull_at: int | None, is_overdue: bool):
    pulled = None if last_pull_at is None else last_pull_at * SECOND

    shown = view(item(), replace(RUN, last_pull_at=pulled), now=now * SECOND)

    assert shown.is_overdue == is_overdue
    assert (shown.detail == "runner has not pulled yet") == is_overdue


def test_a_message_for_after_the_run_waits_for_its_end():
    assert row(view(item(mode="after"))) == ("after", "after", "skip", "when the run ends", "")


def test_a_message_that_could_not_go_into_the_run_says_why():
    why = "this runner cannot be steered: capabilities.steering is not declared"

    assert row(view(item(mode="slot", reason=why)))[:4] == ("after", "after", "skip", why)


def test_what_is_kept_back_says_as_what():
    assert row(view(item(fate="held"))) == ("held", "held", "skip", "steer, kept back", "")
    assert view(item(fate="held", mode="slot")).detail == "after, kept back"
    assert view(item(fate="held")).is_editable


def test_what_was_pulled_can_no_longer_be_changed_and_says_so():
    shown = view(item(fate="pulled", pulled_at=1), replace(RUN, turn=4))

    assert row(shown) == ("pulled", "pulled", "skip", "T4", "")
    assert (shown.is_open, shown.is_editable) == (True, False)
    assert shown.why_not_editable == "the runner has pulled it; it can no longer be changed"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("completed", "run completed before T4"),
        ("failed", "run failed before T4"),
        ("cancelled", "run was stopped before T4"),
        ("timeout", "run ran out of time before T4"),
        ("runner_lost", "runner was lost before T4"),
        ("host_restarted", "the process that hosted the run was lost"),
        ("host_closed", "the process that it waited in was closed"),
        ("a new reason", "a new reason"),
        (None, "no reason is known"),
    ],
)
def test_what_was_dropped_stays_with_the_reason(reason: str | None, words: str):
    shown = view(item(fate="dropped", reason=reason), replace(RUN, is_over=True))

    assert row(shown) == ("dropped", "dropped", "skip", words, "")
    assert not shown.is_open
    assert shown.why_not_editable == "it was dropped; enter takes it back to the prompt"


def test_what_was_dropped_with_another_run_names_no_turn():
    assert view(item(fate="dropped", reason="failed"), None).detail == "run failed before it pulled"
    assert view(item(fate="dropped", reason="failed", pulled_at=1)).detail == "run failed before it had it"


def test_what_was_withdrawn_stays_five_seconds_so_that_it_can_be_undone():
    withdrawn = item(fate="withdrawn", decided_at=10 * SECOND)

    assert view(withdrawn, now=10 * SECOND).detail == "u brings it back, 5s"
    assert view(withdrawn, now=15 * SECOND - 1).detail == "u brings it back, 1s"
    assert views([withdrawn], RUN, 15 * SECOND) == ()


def test_what_was_delivered_or_sent_again_is_not_there_any_more():
    gone = [
        item(item_id="a", fate="injected"),
        item(item_id="b", fate="own_run"),
        item(item_id="c", fate="dropped", metadata={"sent_again_as": "e9"}),
    ]

    assert views(gone, RUN, 0) == ()


def test_what_is_open_comes_first_and_in_its_order():
    shown = views([item(item_id="b", fate="dropped"), item(item_id="c"), item(item_id="a")], RUN, 0)

    assert [one.item_id for one in shown] == ["c", "a", "b"]
    assert pending(shown) == "2 pending · 1 dropped"


def test_a_message_is_given_to_the_run_only_where_one_can_take_it_in():
    after = item(mode="after")

    assert view(after).why_not_turned is None
    assert view(after, None).why_not_turned == "there is no run at work that could take it in"
    assert view(after, replace(RUN, is_over=True)).why_not_turned == "there is no run at work that could take it in"
    assert view(after, replace(RUN, cannot_steer="no")).why_not_turned == "it cannot go into the run: no"
    assert view(item()).why_not_turned is None


def test_what_people_and_runners_write_is_made_harmless():
    shown = view(item(text="a\x1b[2J\n\u202eb", mode="slot", reason="x\x07\ny"))

    assert shown.text == "a␛[2J␊\\u202eb"
    assert shown.detail == "x␇␊y"


# What Enter does

RUNNING = Situation(is_ready=True, is_running=True)


@pytest.mark.parametrize(
    ("now", "given", "title"),
    [
        (Situation(), {"runner": "echo"}, "send ▸ echo, as soon as it is open"),
        (Situation(is_ready=True), {"runner": "rehearsal (built in, no key)"}, "send ▸ rehearsal (built in, no key)"),
        (Situation(is_ready=True), {}, "send ▸"),
        (Situation(trouble="the database is locked"), {"runner": "echo"}, "send ▸ the database is locked"),
        (RUNNING, {"turn": 3}, "steer ▸ lands at the next turn boundary (≈ T4)"),
        (RUNNING, {}, "steer ▸ lands at the next turn boundary"),
        (RUNNING, {"mode": "after"}, "after ▸ waits for the end of the run"),
        (replace(RUNNING, is_held=True, is_held_at_pull=True), {"turn": 3}, "steer ▸ lands now"),
        (
            replace(RUNNING, is_held=True, can_edit_held=True),
            {"turn": 3},
            "steer ▸ lands at the next turn boundary (≈ T4)",
        ),
        (
            replace(RUNNING, cannot_steer="this runner declares no steering"),
            {},
            "after ▸ this runner declares no steering",
        ),
        (
            Situation(is_ready=True, is_elsewhere=True),
            {},
            "after ▸ the run works in another process; it is said when that ends",
        ),
        (RUNNING, {"is_editing": True}, "editing a queued message ▸ enter saves · esc leaves it"),
    ],
)
def test_the_title_tells_what_enter_does(now: Situation, given: dict[str, Any], title: str):
    assert title_of(now, **given).full == title
    assert len(title_of(now, **given).short) <= 40


def test_a_short_title_is_taken_only_where_the_long_one_does_not_fit():
    title = title_of(RUNNING, turn=3)

    assert title.fitting(60) == title.full
    assert title.fitting(30) == "steer ▸ lands ≈ T4"


def test_what_a_run_cannot_take_in_waits_for_its_end_whatever_was_wanted():
    assert mode_of(RUNNING, "steer") == "steer"
    assert mode_of(replace(RUNNING, cannot_steer="no"), "steer") == "after"
    assert mode_of(Situation(is_elsewhere=True), "steer") == "after"
    assert mode_of(replace(RUNNING, is_running=False, cannot_steer="no"), "steer") == "steer"


def test_where_there_is_nothing_to_choose_the_reason_is_told():
    assert why_no_mode(RUNNING) is None
    assert why_no_mode(Situation(is_ready=True)) == "nothing runs: what you say is sent at once"
    assert why_no_mode(replace(RUNNING, cannot_steer="no")) == "what you say waits for the run's end: no"
