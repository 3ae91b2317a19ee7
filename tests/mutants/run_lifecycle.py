"""Mutants of a run: deadline, cancel, slots, journal, and masked secrets."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    # Deadline and cancel
    Mutant(
        "engine/run/verdict.py",
        "Verdict(Status.TIMEOUT, FailureCode.TIMEOUT, error, retryable=True)",
        "Verdict(Status.TIMEOUT, FailureCode.TIMEOUT, error)",
        "a timeout is retryable",
        "tests/engine/api/test_deadline_and_cancel.py::test_run_past_its_deadline_ends_as_retryable_timeout",
    ),
    Mutant(
        "engine/run/live.py",
        'came after the run was stopped ({self.stop_reason})", applies=False',
        'came after the run was stopped ({self.stop_reason})"',
        "results after the deadline have no effect",
        "tests/engine/api/test_deadline_and_cancel.py::test_results_after_the_deadline_are_ignored",
    ),
    Mutant(
        "engine/run/live.py",
        "if self.stop_reason is None:\n            self.stop_reason = reason",
        "if reason is not self.stop_reason:\n            self.stop_reason = reason",
        "the first stop reason is final",
        "tests/engine/api/test_deadline_and_cancel.py::test_first_stop_reason_is_final",
    ),
    Mutant(
        "engine/host.py",
        "record(Source.USER, EntryKind.CANCEL_REQUESTED, {})",
        'record("host", "cancel.requested", {})',
        "a cancel is recorded as an entry of the user",
        "tests/engine/journal/test_recorder.py::test_sources_distinguish_host_runner_and_user",
    ),
    Mutant(
        "engine/store/runs.py",
        "if run.cancel_requested_at is not None:",
        "if run.status in FINAL_STATUSES:",
        "the time of the first cancel is kept",
        "tests/engine/store/test_runs.py::test_cancel_request_is_stored_once_and_found_by_the_host",
    ),
    # Slots
    Mutant(
        "engine/queue/dispatch.py",
        "queue.in_line(conn, *slot, self._host) if item.item_id in self.pending",
        "queue.in_line(conn, *slot, self._host)[::-1] if item.item_id in self.pending",
        "messages that wait for a slot run in order",
        "tests/engine/queue/test_slots.py::test_messages_that_wait_for_a_slot_run_in_the_order_they_came",
    ),
    Mutant(
        "engine/store/tables.py",
        "status IN ({_LIVE}) AND",
        "status IN ('running') AND",
        "a created run occupies its slot",
        "tests/engine/store/test_runs.py::test_a_slot_is_one_conversation_and_thread_and_free_after_the_end",
    ),
    Mutant(
        "engine/store/tables.py",
        "func.coalesce(runs.c.thread_id, text(\"''\")),",
        "runs.c.thread_id,",
        "a conversation without threads has one slot",
        "tests/engine/store/test_runs.py::test_a_slot_is_one_conversation_and_thread_and_free_after_the_end",
    ),
    Mutant(
        "engine/store/tables.py",
        "    unique=True,\n",
        "    unique=False,\n",
        "one live run per conversation and thread holds across processes",
        "tests/engine/api/test_processes.py::test_one_live_run_per_conversation_across_engines",
    ),
    # Status of a run
    Mutant(
        "engine/store/runs.py",
        "    Status.RUNNING: FINAL_STATUSES,",
        "    Status.RUNNING: FINAL_STATUSES | {Status.RUNNING},",
        "a run starts once",
        "tests/engine/store/test_runs.py::test_a_run_starts_once",
    ),
    Mutant(
        "engine/store/runs.py",
        "if run.status != status or status not in FINAL_STATUSES:",
        "if run.status not in FINAL_STATUSES:",
        "the status of an ended run is final",
        "tests/engine/store/test_runs.py::test_terminal_states_are_final",
    ),
    Mutant(
        "engine/store/runs.py",
        "usage=merged(run.usage, usage) if",
        "usage=merged(usage, None) if",
        "ending a run again with the same status is accepted",
        "tests/engine/store/test_runs.py::test_terminal_states_are_final",
    ),
    # The journal
    Mutant(
        "engine/events.py",
        ',"outcome":{_json(self.outcome)}',
        ',"result":{_json(self.outcome)}',
        "a journal line has the keys of the contract",
        "tests/engine/store/test_entries.py::test_line_has_its_keys_in_order_without_missing_values",
    ),
    Mutant(
        "engine/events.py",
        "if self.sequence is not None:",
        "if self.sequence:",
        "a line includes a sequence of 0",
        "tests/engine/store/test_entries.py::test_line_has_its_keys_in_order_without_missing_values",
    ),
    Mutant(
        "engine/clock.py",
        "{moment.microsecond:06d}Z",
        "{moment.microsecond}Z",
        "times are RFC 3339 with microseconds and Z",
        "tests/engine/store/test_entries.py::test_line_has_its_keys_in_order_without_missing_values",
    ),
    Mutant(
        "engine/store/entries.py",
        'position > ? AND position < ? "  # noqa',
        'position >= ? AND position < ? "  # noqa',
        "a page starts after the given position",
        "tests/engine/store/test_entries.py::test_journal_is_paged_by_position_in_both_directions",
    ),
    Mutant(
        "engine/journal/turns.py",
        "self._has_completed_tools = not self._open",
        "self._has_completed_tools = True",
        "a turn ends when all open tool calls have completed",
        "tests/engine/journal/test_turns.py::test_run_without_model_calls_is_counted_by_results[parallel tools]",
    ),
    Mutant(
        "engine/journal/recorder.py",
        "OUTPUT_LIMIT: Final = 8 * 1024 * 1024",
        "OUTPUT_LIMIT: Final = 9 * 1024 * 1024",
        "at most 8 MiB of a child's output are recorded",
        "tests/engine/journal/test_recorder.py::test_output_beyond_8_mib_is_counted_in_one_entry",
    ),
    Mutant(
        "engine/journal/recorder.py",
        "JOURNAL_LIMIT: Final = 1024 * 1024 * 1024",
        "JOURNAL_LIMIT: Final = 1024 * 1024 * 1025",
        "a journal has at most 1 GiB",
        "tests/engine/journal/test_limits.py::test_a_journal_has_at_most_a_gibibyte",
    ),
    # Subscriptions
    Mutant(
        "engine/events.py",
        "if first_row > self._row + 1:",
        "if first_row > self._row + 9:",
        "a subscriber gets entries of other processes",
        "tests/engine/api/test_subscriptions.py::test_rows_of_another_process_are_read_from_disk",
    ),
    Mutant(
        "engine/events.py",
        "if self._run_id in (None, committed.entry.run_id)]",
        "if committed.entry.run_id]",
        "a subscription to one run gets only its entries",
        "tests/engine/api/test_subscriptions.py::test_subscription_to_one_run_gets_only_its_entries",
    ),
    # Secrets
    Mutant(
        "engine/journal/recorder.py",
        "self._marks.cover(text if text is not None else orjson.dumps(data).decode())",
        "text if text is not None else orjson.dumps(data).decode()",
        "secrets are masked in the journal",
        "tests/engine/journal/test_secret_mask.py::test_secret_in_config_reaches_the_runner_and_is_masked_in_the_journal",
    ),
    Mutant(
        "engine/run/prepare.py",
        "secrets_in((*config.items(), *launch.env, *given))",
        "secrets_in((*config.items(), *options.params.items()))",
        "secrets in the environment are masked",
        "tests/engine/journal/test_secret_mask.py::test_secret_in_the_environment_is_masked",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        "data = mask.cover_value({**verdict.data(usage), **loaded})",
        "data = {**verdict.data(usage), **loaded}",
        "secrets are masked at the end of a run",
        "tests/engine/journal/test_secret_mask.py::test_no_secret_is_left_in_the_database",
    ),
    Mutant(
        "engine/journal/secret_mask.py",
        "key=lambda pair: -len(pair[0])",
        "key=lambda pair: len(pair[0])",
        "overlapping secrets are masked",
        "tests/engine/journal/test_secret_mask.py::test_longer_of_two_overlapping_secrets_is_masked_first",
    ),
)
