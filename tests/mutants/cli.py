"""Mutants of the commands."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "console/cli/exit_codes.py",
        "Status.TIMEOUT: ExitCode.TIMEOUT,",
        "Status.TIMEOUT: ExitCode.NO,",
        "a timeout exits with 3",
        "tests/console/cli/test_exit_codes.py::test_status_of_a_run_gives_its_exit_code",
    ),
    Mutant(
        "console/cli/exit_codes.py",
        "STOPPED = 4",
        "STOPPED = 5",
        "a stopped run exits with 4",
        "tests/console/cli/test_exit_codes.py::test_status_of_a_run_gives_its_exit_code",
    ),
    Mutant(
        "console/cli/exit_codes.py",
        "if reason == NOT_LOADED:",
        "if not reason:",
        "a runner that does not import exits with 2",
        "tests/console/cli/test_exit_codes.py::test_status_of_a_run_gives_its_exit_code",
    ),
    Mutant(
        "console/cli/run_watcher.py",
        "return exit_code_of_run(run.status, run.status_reason)\n\n    def _exit_code_of(",
        "return ExitCode.OK\n\n    def _exit_code_of(",
        "a repeated event exits as its first run did",
        "tests/console/cli/test_run.py::test_repeated_event_exits_as_its_first_run_did",
    ),
    Mutant(
        "console/cli/exit_codes.py",
        "INTERRUPTED = 130",
        "INTERRUPTED = 1",
        "an interrupted run exits with 130",
        "tests/console/cli/test_run.py::test_interrupt_stops_the_run_and_is_recorded",
    ),
    Mutant(
        "console/model/text/safe.py",
        "if code not in (0x09, 0x0A)}",
        "if code not in (0x09, 0x0A, 0x1B)}",
        "no terminal escape reaches the terminal",
        "tests/console/cli/test_narrator.py::test_control_characters_and_text_directions_are_made_visible",
    ),
    Mutant(
        "console/model/text/safe.py",
        "for code in range(0x80, 0xA0)}",
        "for code in range(0x80, 0x9B)}",
        "no C1 control reaches the terminal",
        "tests/console/cli/test_narrator.py::test_control_characters_and_text_directions_are_made_visible",
    ),
    Mutant(
        "console/cli/run_watcher.py",
        "out.write_lines([entry.line() for entry in entries])",
        "out.write_lines([entry.line() for entry in entries if entry.source != 'host'])",
        "every journal entry is one line of --jsonl",
        "tests/console/cli/test_run.py::test_jsonl_has_one_line_per_entry_and_show_prints_the_same_bytes",
    ),
    Mutant(
        "console/cli/run_watcher.py",
        "code = code or run_code",
        "code = run_code",
        "several runs exit as the first that did not complete",
        "tests/console/cli/test_steering.py::test_exit_code_is_that_of_the_first_run_that_did_not_complete",
    ),
    Mutant(
        "console/cli/run_watcher.py",
        "await self._scheduler.withdraw()  # before",
        "pass  # before",
        "an interrupt withdraws the messages queued for after the run",
        "tests/console/cli/test_steering.py::test_interrupt_withdraws_queued_messages_and_reports_undelivered_ones",
    ),
    Mutant(
        "console/cli/scheduled_messages.py",
        "after=sent.is_after",
        "after=False",
        "a message for after the run does not steer it",
        "tests/console/cli/test_steering.py::test_message_for_after_the_run_does_not_steer_it",
    ),
    Mutant(
        "console/cli/scheduled_messages.py",
        '"bot_id": origin.bot_id, ',
        "",
        "a message belongs to the bot of its event",
        "tests/console/cli/test_steering.py::test_message_belongs_to_the_session_of_its_event",
    ),
    Mutant(
        "console/cli/debug_prompt.py",
        "await self._engine.runs.edit_reply(run_id, reply)",
        'await self._engine.runs.edit_reply(run_id, {"result": {"high_celsius": 0}})',
        "the runner gets the reply that was typed",
        "tests/console/cli/test_breakpoints.py::test_edited_reply_of_paused_tool_call_reaches_the_runner",
    ),
)
