"""The title and the placeholder of the prompt: what enter does now."""

from dataclasses import replace
from typing import Any

import pytest

from console.model.commands.situation import Situation
from console.model.prompt.intent import effective_mode, title_of, why_mode_is_fixed

RUNNING = Situation(is_ready=True, is_running=True)


@pytest.mark.parametrize(
    ("now", "given", "title"),
    [
        (Situation(), {"runner": "echo"}, "send ▸ echo, when the engine is open"),
        (Situation(is_ready=True), {"runner": "rehearsal (built in, no key)"}, "send ▸ rehearsal (built in, no key)"),
        (Situation(is_ready=True), {}, "send ▸"),
        (Situation(trouble="the database is locked"), {"runner": "echo"}, "send ▸ the database is locked"),
        (RUNNING, {"turn": 3}, "steer ▸ delivered at the next steering point (≈ T4)"),
        (RUNNING, {}, "steer ▸ delivered at the next steering point"),
        (RUNNING, {"mode": "after"}, "after ▸ sent when the run ends"),
        (replace(RUNNING, is_paused=True, is_paused_at_steering_point=True), {"turn": 3}, "steer ▸ delivered now"),
        (
            replace(RUNNING, is_paused=True, can_edit_reply=True),
            {"turn": 3},
            "steer ▸ delivered at the next steering point (≈ T4)",
        ),
        (
            replace(RUNNING, cannot_steer="this runner declares no steering"),
            {},
            "after ▸ this runner declares no steering",
        ),
        (
            Situation(is_ready=True, is_elsewhere=True, is_external=True),
            {},
            "after ▸ sent when the run ends: the run is executed elsewhere and only recorded here",
        ),
        (Situation(is_ready=True, is_elsewhere=True), {}, "steer ▸ delivered at the next steering point"),
        (Situation(is_ready=True, is_elsewhere=True), {"mode": "after"}, "after ▸ sent when the run ends"),
        (RUNNING, {"is_editing": True}, "editing a queued message ▸ enter saves · esc cancels"),
    ],
)
def test_title_shows_what_enter_does(now: Situation, given: dict[str, Any], title: str):
    assert title_of(now, **given).full == title
    assert len(title_of(now, **given).short) <= 40


def test_short_title_is_used_if_the_full_one_does_not_fit():
    title = title_of(RUNNING, turn=3)

    assert title.fitting(60) == title.full
    assert title.fitting(30) == "steer ▸ delivered ≈ T4"


def test_message_to_a_run_without_steering_waits_for_its_end():
    assert effective_mode(RUNNING, "steer") == "steer"
    assert effective_mode(replace(RUNNING, cannot_steer="no"), "steer") == "after"
    assert effective_mode(Situation(is_elsewhere=True), "steer") == "steer"
    assert effective_mode(Situation(is_elsewhere=True, cannot_steer="no"), "steer") == "after"
    assert effective_mode(replace(RUNNING, is_external=True), "steer") == "after"
    assert effective_mode(replace(RUNNING, is_running=False, cannot_steer="no"), "steer") == "steer"


def test_reason_is_shown_if_the_mode_cannot_be_chosen():
    assert why_mode_is_fixed(RUNNING) is None
    assert why_mode_is_fixed(Situation(is_ready=True)) == "No run in progress. Messages are sent at once."
    assert why_mode_is_fixed(replace(RUNNING, cannot_steer="no")) == "Messages wait for the end of the run: no"
    assert why_mode_is_fixed(replace(RUNNING, is_external=True)) == (
        "Messages wait for the end of the run: the run is executed elsewhere and only recorded here"
    )
