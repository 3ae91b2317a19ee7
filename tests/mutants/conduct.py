"""Faults in how a run is conducted: time, cancel, slots, its journal, and what it must not tell."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    # Time and cancel
    Mutant(
        "engine/run/verdict.py",
        "Verdict(Status.TIMEOUT, FailureCode.TIMEOUT, error, retryable=True)",
        "Verdict(Status.TIMEOUT, FailureCode.TIMEOUT, error)",
        "a run past its deadline is retryable",
        "tests/engine/test_time.py::test_a_run_past_its_deadline_is_closed_as_timeout_and_retryable",
    ),
    Mutant(
        "engine/run/live.py",
        'came after the run was stopped ({self.stop})", applies=False',
        'came after the run was stopped ({self.stop})"',
        "what comes after the deadline has no effect",
        "tests/engine/test_time.py::test_what_comes_after_the_deadline_is_ignored",
    ),
    Mutant(
        "engine/run/live.py",
        "if self.stop is None:\n            self.stop = why",
        "if why is not self.stop:\n            self.stop = why",
        "the first reason to stop a run stands",
        "tests/engine/test_time.py::test_the_first_reason_to_stop_a_run_stands",
    ),
    Mutant(
        "engine/host.py",
        'record("person", "cancel.requested", {})',
        'record("host", "cancel.requested", {})',
        "a cancel is a person's entry in the journal",
        "tests/run/test_journal.py::test_sources_tell_host_runner_and_person_apart",
    ),
    Mutant(
        "engine/facts/runs.py",
        "if run.cancel_requested_at is not None:",
        "if run.status in FINAL:",
        "the first cancel's time stays",
        "tests/facts/test_runs.py::test_cancelling_writes_the_intent_once_and_its_host_finds_it",
    ),
    # Slots
    Mutant(
        "engine/run/dispatch.py",
        "queue.in_line(conn, *slot, self._host) if item.item_id in self.waiting",
        "queue.in_line(conn, *slot, self._host)[::-1] if item.item_id in self.waiting",
        "what waits for a slot runs in the order it came",
        "tests/engine/test_slots.py::test_messages_that_wait_for_a_slot_run_in_the_order_they_came",
    ),
    Mutant(
        "engine/facts/tables.py",
        "status IN ('created', 'running') AND",
        "status IN ('running') AND",
        "a run that is only created holds its slot",
        "tests/facts/test_runs.py::test_a_slot_is_one_conversation_and_thread_and_free_after_the_end",
    ),
    Mutant(
        "engine/facts/tables.py",
        "func.coalesce(runs.c.thread_id, text(\"''\")),",
        "runs.c.thread_id,",
        "no thread is one slot too: null equals null",
        "tests/facts/test_runs.py::test_a_slot_is_one_conversation_and_thread_and_free_after_the_end",
    ),
    Mutant(
        "engine/facts/tables.py",
        "    unique=True,\n",
        "    unique=False,\n",
        "one live run per conversation and thread holds across processes",
        "tests/engine/test_processes.py::test_one_live_run_per_conversation_holds_across_engines",
    ),
    # The ledger
    Mutant(
        "engine/facts/runs.py",
        "    Status.RUNNING: FINAL,",
        "    Status.RUNNING: FINAL | {Status.RUNNING},",
        "a run starts once",
        "tests/facts/test_runs.py::test_a_run_starts_once",
    ),
    Mutant(
        "engine/facts/runs.py",
        "if run.status != status or status not in FINAL:",
        "if run.status not in FINAL:",
        "a run that has ended cannot end otherwise",
        "tests/facts/test_runs.py::test_terminal_states_are_final",
    ),
    Mutant(
        "engine/facts/runs.py",
        "usage=merged(run.usage, usage) if",
        "usage=merged(usage, None) if",
        "ending a run again the same way merges",
        "tests/facts/test_runs.py::test_terminal_states_are_final",
    ),
    # The journal
    Mutant(
        "engine/facts/entry.py",
        ',"outcome":{_json(self.outcome)}',
        ',"result":{_json(self.outcome)}',
        "a journal line has the keys of the contract",
        "tests/facts/test_journal.py::test_a_line_has_the_keys_in_order_and_leaves_out_what_is_not_there",
    ),
    Mutant(
        "engine/facts/entry.py",
        "if self.sequence is not None:",
        "if self.sequence:",
        "a sequence of 0 is in the line too",
        "tests/facts/test_journal.py::test_a_line_has_the_keys_in_order_and_leaves_out_what_is_not_there",
    ),
    Mutant(
        "engine/clock.py",
        "{moment.microsecond:06d}Z",
        "{moment.microsecond}Z",
        "times are RFC 3339 with microseconds and Z",
        "tests/facts/test_journal.py::test_a_line_has_the_keys_in_order_and_leaves_out_what_is_not_there",
    ),
    Mutant(
        "engine/facts/journal.py",
        '"position > ?", after or 0, "ASC"',
        '"position >= ?", after or 0, "ASC"',
        "a page begins behind the position that was named",
        "tests/facts/test_journal.py::test_pages_go_both_ways_by_position",
    ),
    Mutant(
        "engine/run/turns.py",
        "self._batch_done = not self._open",
        "self._batch_done = True",
        "a turn ends when all open tool calls have completed",
        "tests/run/test_journal.py::test_the_next_turn_starts_at_the_first_delta_after_all_open_tool_calls_have_completed",
    ),
    Mutant(
        "engine/run/recorder.py",
        "OUTPUT_LIMIT: Final = 8 * 1024 * 1024",
        "OUTPUT_LIMIT: Final = 9 * 1024 * 1024",
        "8 MiB of a child's output are kept",
        "tests/run/test_journal.py::test_output_beyond_8_mib_is_counted_in_one_entry",
    ),
    Mutant(
        "engine/run/recorder.py",
        "JOURNAL_LIMIT: Final = 1024 * 1024 * 1024",
        "JOURNAL_LIMIT: Final = 1024 * 1024 * 1025",
        "a journal has at most 1 GiB",
        "tests/run/test_numbers.py::test_a_journal_has_at_most_a_gibibyte",
    ),
    # News
    Mutant(
        "engine/events.py",
        "if first_row > self._row + 1:",
        "if first_row > self._row + 9:",
        "a subscriber hears every entry, also of other processes",
        "tests/engine/test_news.py::test_rows_that_another_process_wrote_in_between_are_read_from_disk",
    ),
    Mutant(
        "engine/events.py",
        "if self._run_id in (None, told.entry.run_id)]",
        "if told.entry.run_id]",
        "a subscription to one run hears only that run",
        "tests/engine/test_news.py::test_a_subscription_to_one_run_hears_only_that_run",
    ),
    # Secrets
    Mutant(
        "engine/run/recorder.py",
        "self._marks.cover(text if text is not None else orjson.dumps(data).decode())",
        "text if text is not None else orjson.dumps(data).decode()",
        "secrets are recorded as marks",
        "tests/run/test_secrets.py::test_a_secret_of_the_config_reaches_the_runner_and_only_its_mark_the_journal",
    ),
    Mutant(
        "engine/run/prepare.py",
        "Marks(secrets_in((*config.items(), *launch.env)))",
        "Marks(secrets_in((*config.items(),)))",
        "secrets of the environment are marks too",
        "tests/run/test_secrets.py::test_a_secret_of_the_environment_is_a_mark_too",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        "data = order.marks.cover_value(verdict.data(live.usage))",
        "data = verdict.data(live.usage)",
        "the end of a run tells no secret",
        "tests/run/test_secrets.py::test_no_secret_is_left_in_the_database",
    ),
    Mutant(
        "engine/run/marks.py",
        "key=lambda pair: -len(pair[0])",
        "key=lambda pair: len(pair[0])",
        "a secret within another is covered",
        "tests/run/test_secrets.py::test_the_longer_of_two_secrets_is_covered_first",
    ),
)
