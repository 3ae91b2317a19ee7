"""Mutants of breakpoints: where a run pauses, what waits meanwhile, its deadline, steps, and edits of the user."""

from typing import Final

from tests.mutants.mutant import Mutant

_HOLDS: Final = "tests/engine/run/test_breakpoints.py"
_STEPS: Final = "tests/engine/run/test_steps.py"
_RESULTS: Final = "tests/engine/run/test_held_results.py"
_TIME: Final = "tests/engine/run/test_paused_deadline.py"

MUTANTS: Final = (
    # Points
    Mutant(
        "engine/run/breakpoints.py",
        "location.number in (None, count)",
        "(point.number is None or point.number >= count)",
        "a point with a number holds only the nth",
        f"{_STEPS}::test_a_breakpoint_with_a_number_pauses_only_at_that_one",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "location.number <= count:",
        "location.number < count:",
        "a point that has passed cannot be armed",
        f"{_STEPS}::test_a_breakpoint_with_a_number_pauses_only_at_that_one",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "if one.once or one.location.number is not None:",
        "if one.location.number is not None:",
        "a point that is armed once holds once",
        f"{_STEPS}::test_a_breakpoint_that_is_set_once_pauses_once",
    ),
    # Steps
    Mutant(
        "engine/run/breakpoints.py",
        "(self._is_stepping and name in STEP_BOUNDARIES)",
        "(self._is_stepping and name not in STEP_BOUNDARIES)",
        "a step stops at the next boundary",
        f"{_STEPS}::test_stepping_stops_at_every_boundary_and_nowhere_else",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        '        STEERING,\n        "model",',
        '        PULL_CALL,\n        "model",',
        "a pull is a boundary",
        f"{_STEPS}::test_stepping_stops_at_every_boundary_and_nowhere_else",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "if outcome.mode is ContinueMode.CONTINUE or call.call_type.name == PULL_CALL:",
        "if gone.how is not None:",
        "a step from a call stops at its reply",
        f"{_STEPS}::test_stepping_stops_at_every_boundary_and_nowhere_else",
    ),
    # The clock
    Mutant(
        "engine/run/breakpoints.py",
        "self._deadline.pause()",
        "self._deadline.left",
        "a hold stops the run's clock",
        f"{_TIME}::test_a_pause_stops_the_runs_clock_and_moves_its_deadline",
    ),
    Mutant(
        "engine/run/deadline.py",
        "self._start_timer(self._paused_seconds_left, self._clock.now())",
        "self._run(self._seconds or 0, self._clock.now())",
        "a run that is released has the time that was left",
        f"{_TIME}::test_a_pause_stops_the_runs_clock_and_moves_its_deadline",
    ),
    Mutant(
        "engine/run/deadline.py",
        "(self._ends - self._clock.monotonic()) / _MICROSECONDS_PER_SECOND)",
        "((self.expires_at or 0) - self._clock.now()) / _MICROSECONDS_PER_SECOND)",
        "a change of the machine's time changes no deadline",
        f"{_TIME}::test_a_change_of_the_machines_time_changes_no_deadline",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "seconds = (self._clock.monotonic() - item.began) / 1_000_000",
        "seconds = (self._clock.now() - item.pause.since) / 1_000_000",
        "a change of the machine's time does not change how long a pause took",
        f"{_TIME}::test_a_change_of_the_machines_time_changes_no_deadline",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "self._paused.remove(item)\n            if not self._paused:",
        "self._paused.remove(item)\n            if item not in self._paused:",
        "the clock stands while anything is held",
        f"{_TIME}::test_the_clock_stands_still_while_any_call_is_paused",
    ),
    Mutant(
        "engine/run/run_start.py",
        "if order.timeout is None or order.breakpoints else",
        "if order.timeout is None else",
        "a run that begins with holds is told no deadline",
        f"{_TIME}::test_a_run_with_breakpoints_has_no_deadline_in_its_context_but_times_out",
    ),
    # What a person puts in
    Mutant(
        "engine/access/held_calls.py",
        "return original.as_reply() if outcome.edit is None else _as_reply(call.call_type.name, outcome.edit)",
        "return original.go()",
        "the runner goes on with the edited answer",
        f"{_HOLDS}::test_a_step_makes_the_call_and_pauses_at_its_reply_which_can_be_edited",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "if outcome.edit is not None:\n        return",
        "if outcome.edit is not None and await make():\n        return",
        "a call that was answered by a person is not made",
        f"{_HOLDS}::test_a_call_that_is_answered_before_it_is_made_is_not_made",
    ),
    Mutant(
        "engine/access/held_calls.py",
        'services.entry_part(run, kind, "original", original) |',
        'services.entry_part(run, kind, "original", None) |',
        "the original stays in the journal beside its edit",
        f"{_HOLDS}::test_a_step_makes_the_call_and_pauses_at_its_reply_which_can_be_edited",
    ),
    Mutant(
        "engine/access/held_calls.py",
        'edit = cast("dict[str, Any]", wire.parse(line, wire.MAX_DEPTH))',
        'edit = cast("dict[str, Any]", reply)',
        "an edit goes as it was when it was given",
        f"{_HOLDS}::test_changing_an_edited_reply_afterwards_has_no_effect",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "edit_reply if pause.is_editable else None",
        "edit",
        "a pull takes what waits, so its answer cannot be edited",
        "tests/engine/run/test_edit_reply.py::test_a_pull_takes_what_waits_so_its_answer_cannot_be_edited",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "arguments=run.order.secret_mask.cover_value(",
        "arguments=dict(",
        "what is shown of a held call tells no secret",
        f"{_HOLDS}::test_secrets_are_masked_in_a_paused_call_and_the_tool_gets_them",
    ),
    # What waits behind it
    Mutant(
        "engine/run/live.py",
        "if not self._held_results.is_holding:\n            location",
        "if not self._held_results.is_holding or kind:\n            location",
        "no result overtakes one that is held",
        f"{_RESULTS}::test_everything_behind_a_held_result_waits_and_keeps_its_order",
    ),
    Mutant(
        "engine/run/live.py",
        "if self._held_results.is_holding:\n            try:",
        "if self._held_results.is_holding and self.stop is not None:\n            try:",
        "no call overtakes a result that is held",
        f"{_RESULTS}::test_everything_behind_a_held_result_waits_and_keeps_its_order",
    ),
    Mutant(
        "engine/run/live.py",
        "return self._held_results.is_holding or self._writer.full",
        "return self._writer.full",
        "while a result is held nothing more is read",
        f"{_RESULTS}::test_everything_behind_a_held_result_waits_and_keeps_its_order",
    ),
    # The end
    Mutant(
        "engine/run/orchestrator.py",
        "await live.wait_for_held_results()",
        "await asyncio.sleep(0)",
        "a run stays open while a result of it is held",
        f"{_RESULTS}::test_a_run_whose_code_has_ended_stays_open_while_a_result_of_it_is_held",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "if self._has_ended:\n            raise",
        "if self._is_over and once:\n            raise",
        "a run that is being stopped cannot be held",
        f"{_TIME}::test_a_run_that_is_being_stopped_reaches_no_point_any_more",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "if outcome is None:",
        "if outcome is None and run.stop_reason is not None:",
        "a call that was held when its run ended is not made",
        f"{_TIME}::test_a_call_that_is_paused_when_its_run_ends_is_refused_and_not_made",
    ),
)
