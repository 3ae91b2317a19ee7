"""Faults in the commands."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "console/cli/exits.py",
        '"timeout": Exit.TIMEOUT,',
        '"timeout": Exit.FAILED,',
        "a timeout exits with 3",
        "tests/cli/test_exits.py::test_every_end_of_a_run_has_its_exit_code",
    ),
    Mutant(
        "console/cli/exits.py",
        "CANCELLED = 4",
        "CANCELLED = 5",
        "a cancelled run exits with 4",
        "tests/cli/test_exits.py::test_every_end_of_a_run_has_its_exit_code",
    ),
    Mutant(
        "console/cli/exits.py",
        "return Exit.USAGE if reason == NOT_LOADED else _BY_STATUS",
        "return _BY_STATUS",
        "a runner that does not import exits with 2",
        "tests/cli/test_exits.py::test_every_end_of_a_run_has_its_exit_code",
    ),
    Mutant(
        "console/cli/watching.py",
        "return exit_of(run.status, run.status_reason)\n\n    def _exit_of",
        "return Exit.OK\n\n    def _exit_of",
        "a repeated event exits as its first run did",
        "tests/cli/test_run.py::test_a_repeated_event_exits_as_its_first_run_did",
    ),
    Mutant(
        "console/cli/interruption.py",
        "return 128 + (self.number or signal.SIGINT)",
        "return 1",
        "an interrupted run exits with 130",
        "tests/cli/test_run.py::test_an_interrupt_cancels_the_run_and_records_it",
    ),
    Mutant(
        "console/model/safe.py",
        "if code not in (0x09, 0x0A)}",
        "if code not in (0x09, 0x0A, 0x1B)}",
        "no terminal escape reaches the terminal",
        "tests/cli/test_narrator.py::test_control_characters_and_directions_are_made_visible",
    ),
    Mutant(
        "console/model/safe.py",
        "for code in range(0x80, 0xA0)}",
        "for code in range(0x80, 0x9B)}",
        "no C1 control reaches the terminal",
        "tests/cli/test_narrator.py::test_control_characters_and_directions_are_made_visible",
    ),
    Mutant(
        "console/cli/watching.py",
        "out.write_lines([entry.line() for entry in entries])",
        "out.write_lines([entry.line() for entry in entries if entry.source != 'host'])",
        "every journal entry is one line of --jsonl",
        "tests/cli/test_run.py::test_each_entry_is_one_line_and_show_prints_the_same_bytes_again",
    ),
    Mutant(
        "console/cli/watching.py",
        "code = code or ended_as",
        "code = ended_as",
        "several runs exit as the first that did not complete",
        "tests/cli/test_steering.py::test_the_exit_code_is_that_of_the_first_run_that_did_not_complete",
    ),
    Mutant(
        "console/cli/watching.py",
        "await self._speaker.withdraw()  # first",
        "pass  # first",
        "an interrupt takes back what waits for the run's end",
        "tests/cli/test_steering.py::test_an_interrupt_takes_back_what_waits_and_gives_every_undelivered_text_back",
    ),
    Mutant(
        "console/cli/speaking.py",
        "after=said.is_after)",
        "after=False)",
        "what is said for after the run is not offered to it",
        "tests/cli/test_steering.py::test_a_message_for_after_the_run_is_not_offered_to_it",
    ),
    Mutant(
        "console/cli/speaking.py",
        '"bot_id": place.bot_id, ',
        "",
        "a message goes where its event came from",
        "tests/cli/test_steering.py::test_a_message_goes_where_its_event_came_from",
    ),
    Mutant(
        "console/cli/holding.py",
        "await self._engine.edit_held(run_id, reply)",
        'await self._engine.edit_held(run_id, {"result": {"high_celsius": 0}})',
        "the runner goes on with the answer that was typed",
        "tests/cli/test_holds.py::test_the_answer_of_a_held_tool_is_edited_and_the_runner_goes_on_with_it",
    ),
)
