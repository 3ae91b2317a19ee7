"""Mutants of breakpoints: where a run pauses, what waits meanwhile, its deadline, steps, and edits of the user."""

from typing import Final

from tests.mutants.mutant import Mutant

_BREAKPOINTS: Final = "tests/engine/run/test_breakpoints.py"
_STEPS: Final = "tests/engine/run/test_steps.py"
_RESULTS: Final = "tests/engine/run/test_held_results.py"
_DEADLINE: Final = "tests/engine/run/test_paused_deadline.py"

MUTANTS: Final = (
    # Breakpoints
    Mutant(
        "engine/run/breakpoints.py",
        "location.number in (None, count)",
        "(location.number is None or location.number >= count)",
        "a breakpoint with a number pauses only at that occurrence",
        f"{_STEPS}::test_a_breakpoint_with_a_number_pauses_only_at_that_one",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "location.number <= count:",
        "location.number < count:",
        "a breakpoint cannot be set for an occurrence that has passed",
        f"{_STEPS}::test_a_breakpoint_with_a_number_pauses_only_at_that_one",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "if one.once or one.location.number is not None:",
        "if one.location.number is not None:",
        "a breakpoint that is set once pauses once",
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
        "if outcome.mode is not None:",
        "a step from a call stops at its reply",
        f"{_STEPS}::test_stepping_stops_at_every_boundary_and_nowhere_else",
    ),
    # The clock
    Mutant(
        "engine/run/breakpoints.py",
        "self._deadline.pause()",
        "self._deadline.seconds_left",
        "a pause stops the run's clock",
        f"{_DEADLINE}::test_a_pause_stops_the_runs_clock_and_moves_its_deadline",
    ),
    Mutant(
        "engine/run/deadline.py",
        "self._start_timer(self._paused_seconds_left, self._clock.now())",
        "self._start_timer(self._seconds or 0, self._clock.now())",
        "a continued run has its remaining time",
        f"{_DEADLINE}::test_a_pause_stops_the_runs_clock_and_moves_its_deadline",
    ),
    Mutant(
        "engine/run/deadline.py",
        "(self._ends - self._clock.monotonic()) / _MICROSECONDS_PER_SECOND)",
        "((self.expires_at or 0) - self._clock.now()) / _MICROSECONDS_PER_SECOND)",
        "a change of the machine's time changes no deadline",
        f"{_DEADLINE}::test_a_change_of_the_machines_time_changes_no_deadline",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "seconds = (self._clock.monotonic() - item.began) / 1_000_000",
        "seconds = (self._clock.now() - item.pause.since) / 1_000_000",
        "a change of the machine's time does not change how long a pause took",
        f"{_DEADLINE}::test_a_change_of_the_machines_time_changes_no_deadline",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "self._paused.remove(item)\n            if not self._paused:",
        "self._paused.remove(item)\n            if item not in self._paused:",
        "the clock does not run while anything is paused",
        f"{_DEADLINE}::test_the_clock_stands_still_while_any_call_is_paused",
    ),
    Mutant(
        "engine/run/run_start.py",
        "if order.timeout is None or order.breakpoints else",
        "if order.timeout is None else",
        "a run that starts with breakpoints has no deadline in its context",
        f"{_DEADLINE}::test_a_run_with_breakpoints_has_no_deadline_in_its_context_but_times_out",
    ),
    # Edits of the user
    Mutant(
        "engine/access/held_calls.py",
        "return original.as_reply() if outcome.edit is None else _as_reply(call.call_type.name, outcome.edit)",
        "return original.as_reply()",
        "the runner continues with the edited reply",
        f"{_BREAKPOINTS}::test_a_step_makes_the_call_and_pauses_at_its_reply_which_can_be_edited",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "return PauseDecision(NextStep.SEND_REPLY, _as_reply(call.call_type.name, outcome.edit))",
        "return PauseDecision(NextStep.MAKE_CALL)",
        "a call with an edited reply is not made",
        f"{_BREAKPOINTS}::test_call_with_an_edited_reply_is_not_made",
    ),
    Mutant(
        "engine/access/held_calls.py",
        '"original": orjson.dumps(original)',
        '"original": b"null"',
        "the journal has the original reply and the edit",
        f"{_BREAKPOINTS}::test_a_step_makes_the_call_and_pauses_at_its_reply_which_can_be_edited",
    ),
    Mutant(
        "engine/access/held_calls.py",
        'edit = cast("dict[str, Any]", wire.parse(line, wire.MAX_DEPTH))',
        'edit = cast("dict[str, Any]", reply)',
        "an edit is copied when it is made",
        f"{_BREAKPOINTS}::test_changing_an_edited_reply_afterwards_has_no_effect",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "edit_reply if pause.is_editable else None",
        "edit_reply",
        "the reply of a pull cannot be edited",
        "tests/engine/run/test_edit_reply.py::test_reply_of_a_pull_cannot_be_edited",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "arguments=run.order.secret_mask.cover_value(",
        "arguments=dict(",
        "secrets are masked in a paused call",
        f"{_BREAKPOINTS}::test_secrets_are_masked_in_a_paused_call_and_the_tool_gets_them",
    ),
    # Held results
    Mutant(
        "engine/run/live.py",
        "if not self._held_results.is_holding:\n            location",
        "if not self._held_results.is_holding or kind:\n            location",
        "no result overtakes a held result",
        f"{_RESULTS}::test_results_and_calls_after_a_held_result_wait_in_order",
    ),
    Mutant(
        "engine/run/live.py",
        "if not self._held_results.is_holding:\n            return open_call()",
        "if not self._held_results.is_holding or action:\n            return open_call()",
        "no call overtakes a held result",
        f"{_RESULTS}::test_results_and_calls_after_a_held_result_wait_in_order",
    ),
    Mutant(
        "engine/run/live.py",
        "return self._held_results.is_holding or self._writer.full",
        "return self._writer.full",
        "nothing is read from the runner while a result is held",
        f"{_RESULTS}::test_results_and_calls_after_a_held_result_wait_in_order",
    ),
    # The end
    Mutant(
        "engine/run/orchestrator.py",
        "await live.wait_for_held_results()",
        "await asyncio.sleep(0)",
        "a run stays open while one of its results is held",
        f"{_RESULTS}::test_a_run_whose_code_has_ended_stays_open_while_a_result_of_it_is_held",
    ),
    Mutant(
        "engine/run/breakpoints.py",
        "if self._has_ended:\n            raise",
        "if self._has_ended and once:\n            raise",
        "a run that is being stopped does not pause",
        f"{_DEADLINE}::test_run_that_is_being_stopped_does_not_pause",
    ),
    Mutant(
        "engine/access/held_calls.py",
        "if outcome is None:",
        "if outcome is None and run.stop_reason is not None:",
        "a call that is paused when its run ends is not made",
        f"{_DEADLINE}::test_a_call_that_is_paused_when_its_run_ends_is_refused_and_not_made",
    ),
)
