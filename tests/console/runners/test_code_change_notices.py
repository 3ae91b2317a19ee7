"""Notices and header labels about edited files of runners."""

from pathlib import Path
from typing import Any

import pytest

from console.model.runners.code_changes import CodeStatus, change_notice
from engine.api import Problem, Reloaded

ME = "plugin:local/me/default"
TORN = Problem(Path("/p/torn.py"), "no", 3)


def test_notice_reports_a_new_problem_first():
    changed = Reloaded(changed=(ME,), problems=(TORN,))
    notice = change_notice(changed, (), ME, is_old=False, can_run_again=True)
    assert notice is not None
    assert notice.words.startswith("torn.py:3 is left out: no")
    notice = change_notice(changed, (TORN,), ME, is_old=False, can_run_again=True)
    assert notice is not None
    assert notice.words == "Code changed · the next run uses it · f5 runs again"
    assert (
        change_notice(Reloaded(changed=("plugin:local/other/default",)), (), ME, is_old=False, can_run_again=True)
        is None
    )


def test_notice_names_the_plugin_folder_and_the_key_of_a_closed_list():
    torn = Problem(Path("/x/plug/parts/runner.yaml"), "no", 8, Path("/x/plug"))
    words = [
        notice.words
        for is_listed in (False, True)
        if (
            notice := change_notice(
                Reloaded(problems=(torn,)), (), ME, is_old=False, can_run_again=False, is_listed=is_listed
            )
        )
    ]
    assert words == [f"plug/parts/runner.yaml:8 is left out: no{tail}" for tail in (" · f3 shows it", "")]


@pytest.mark.parametrize(
    ("reloaded", "given", "words"),
    [
        (Reloaded(gone=(ME,), problems=(TORN,)), {}, "torn.py:3 is left out: no · fix it to run again"),
        (Reloaded(gone=(ME,), problems=(TORN,)), {"is_old": True},
         "torn.py:3 is left out: no · the run in progress still uses the old code"),
        (Reloaded(gone=(ME,)), {}, "me was removed · f3 chooses another"),
        (Reloaded(added=(ME,)), {"can_run_again": True}, "Code fixed · the next run uses it · f5 runs again"),
        (Reloaded(), {"was_broken": True}, "Code fixed · the next run uses it"),
        (Reloaded(changed=(ME,)), {"is_old": True, "can_run_again": True},
         "Code changed · the next run uses it · the run in progress still uses the old code; f8 stops it, then f5 runs "
         "again"),
        (Reloaded(added=("plugin:local/other/default",)), {}, "New: other · f3 chooses"),
    ],
)  # fmt: skip
def test_notice_says_what_a_change_means_for_the_chosen_runner(reloaded: Reloaded, given: dict[str, Any], words: str):
    defaults: dict[str, Any] = {"is_old": False, "can_run_again": False}
    notice = change_notice(reloaded, (), ME, **(defaults | given))
    assert notice is not None
    assert notice.words == words


def test_label_of_broken_code_stays_until_it_is_fixed():
    status = CodeStatus()
    status.is_broken = True
    status.set_changed("run_1", is_old=True)
    assert status.label("run_1", is_over=False) == "old code · new code broken"
    assert status.label("run_1", is_over=True) == status.label("run_2", is_over=True) == "code broken"
    status.is_broken = False
    assert status.label("run_2", is_over=True) is None


def test_label_of_changed_code_disappears_with_the_next_run():
    status = CodeStatus()
    status.set_changed("run_1", is_old=True)
    assert status.label("run_1", is_over=False) == "old code"
    assert status.label("run_1", is_over=True) == "code changed"
    assert status.label("run_2", is_over=False) is None
    assert status.label("run_1", is_over=True) is None
