"""Mutants of the checks of results, and of how results end a run."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    # Sequence numbers
    Mutant(
        "engine/run/normalise.py",
        'return True, f"sequence {claim} was seen before"',
        'return False, f"sequence {claim} was seen before"',
        "a repeated sequence is dropped",
        "tests/engine/run/test_sequence.py::test_a_repeat_is_dropped",
    ),
    Mutant(
        "engine/run/normalise.py",
        'return f"sequence {claim}, expected {expected}"',
        "return None",
        "a gap in the sequence is a warning",
        "tests/engine/run/test_sequence.py::test_a_gap_is_a_warning_and_the_result_is_applied",
    ),
    Mutant(
        "engine/run/normalise.py",
        "if claim < self._forgotten_below or self._take_skipped(claim):",
        "if claim < self._forgotten_below:",
        "a late result is applied",
        "tests/engine/run/test_sequence.py::test_out_of_order_number_is_a_warning_and_the_late_result_is_applied_once",
    ),
    Mutant(
        "engine/run/normalise.py",
        "if claim < 1:",
        "if claim < 0:",
        "a non-positive sequence is a warning and the result is applied",
        "tests/engine/run/test_sequence.py::test_a_non_positive_number_is_a_warning_and_the_result_is_applied",
    ),
    # Checks
    Mutant(
        "engine/run/normalise.py",
        "if not isinstance(kind, str) or not kind:",
        "if not isinstance(kind, str):",
        "a result without a type is a protocol error",
        "tests/engine/run/test_results.py::test_result_without_a_type_fails_the_run_as_protocol_error",
    ),
    Mutant(
        "engine/run/normalise.py",
        "problem, sequence, protocol_error=problem)",
        "problem, sequence, protocol_error=None)",
        "a protocol error fails the run",
        "tests/engine/run/test_results.py::test_result_that_is_not_an_object_is_a_protocol_error",
    ),
    Mutant(
        "engine/run/normalise.py",
        "if own is not None and own != run_id:",
        "if own is not None and own != run_id and kind in TERMINAL_TYPES:",
        "a foreign run id fails the run, whatever the type",
        "tests/engine/run/test_results.py::test_a_foreign_run_id_fails_the_run_whatever_the_type",
    ),
    Mutant(
        "engine/run/normalise.py",
        "if own is not None and own != run_id:",
        "if own != run_id:",
        "a missing run id is accepted",
        "tests/engine/run/test_results.py::test_missing_and_own_run_id_are_accepted",
    ),
    Mutant(
        "engine/run/normalise.py",
        'return Outcome.UNKNOWN, "the host does not know this type", False',
        "return None, None, True",
        "an unknown type is recorded with a warning",
        "tests/engine/run/test_results.py::test_unknown_type_is_recorded_with_a_warning_and_has_no_effect",
    ),
    Mutant(
        "engine/run/normalise.py",
        "return Outcome.DROPPED, problem, False",
        "return Outcome.WARNED, problem, True",
        "a bad payload has no effect",
        "tests/engine/run/test_results.py::test_invalid_payload_is_dropped_with_a_reason_and_the_run_continues",
    ),
    Mutant(
        "engine/run/normalise.py",
        "if kind not in _KNOWN and _is_host_type(kind):",
        "if not kind:",
        "a result named like an entry of the host is renamed",
        "tests/engine/run/test_results.py::test_result_named_like_an_entry_of_the_host_is_renamed",
    ),
    Mutant(
        "engine/run/normalise.py",
        "MAX_RESULT_BYTES: Final = 1024 * 1024",
        "MAX_RESULT_BYTES: Final = 1024 * 1025",
        "a result has at most 1 MiB of JSON",
        "tests/engine/journal/test_limits.py::test_a_result_has_at_most_a_mebibyte_of_json",
    ),
    Mutant(
        "engine/run/normalise.py",
        "size -= len(inline.encode()) if isinstance(inline, str) else 0",
        "size -= 0",
        "content_base64 does not count towards a result's size",
        "tests/engine/run/test_results.py::test_inline_content_does_not_count_towards_the_size_of_a_result",
    ),
    Mutant(
        "engine/run/normalise.py",
        "MAX_RESULT_DEPTH: Final = 100",
        "MAX_RESULT_DEPTH: Final = 101",
        "JSON is at most 100 levels deep",
        "tests/engine/journal/test_limits.py::test_a_result_is_at_most_100_deep",
    ),
    Mutant(
        "engine/run/normalise.py",
        'elif "base64" in text or \'"attachments"\' in text:',
        'elif "base64" in text:',
        "the journal holds no inline base64",
        "tests/engine/run/test_results.py::test_inline_base64_is_null_in_the_journal_and_marked",
    ),
    # Endings
    Mutant(
        "engine/run/normalise.py",
        'return Outcome.IGNORED, f"came after {self.final_type}", False',
        'return Outcome.IGNORED, f"came after {self.final_type}", True',
        "results after the end have no effect",
        "tests/engine/run/test_endings.py::test_first_terminal_result_ends_the_run_and_later_results_are_ignored",
    ),
    Mutant(
        "engine/run/normalise.py",
        "frozenset({ResultType.RUN_COMPLETED.value, ResultType.RUN_FAILED.value})",
        "frozenset({ResultType.RUN_COMPLETED.value})",
        "run.failed ends the run",
        "tests/engine/run/test_endings.py::test_foreign_run_id_after_the_end_is_ignored",
    ),
    Mutant(
        "engine/run/verdict.py",
        "FailureCode.CANCELLED.value: Status.CANCELLED}",
        "FailureCode.CANCELLED.value: Status.FAILED}",
        "a failure with the code cancelled is cancelled",
        "tests/engine/run/test_endings.py::test_the_code_of_a_failure_decides_the_status",
    ),
    Mutant(
        "engine/run/verdict.py",
        'result.get("retryable", status is Status.TIMEOUT)',
        'result.get("retryable", False)',
        "runner.timeout is retryable",
        "tests/engine/run/test_endings.py::test_the_code_of_a_failure_decides_the_status",
    ),
    Mutant(
        "engine/run/verdict.py",
        'Verdict(Status.COMPLETED, "ended" if live.has_output',
        'Verdict(Status.FAILED, "ended" if live.has_output',
        "a stream without terminal result is completed",
        "tests/engine/run/test_endings.py::test_stream_without_terminal_result_is_completed",
    ),
    Mutant(
        "engine/run/verdict.py",
        'str(result.get("finish_reason", "stop")) if live.has_output else NO_OUTPUT',
        'str(result.get("finish_reason", "stop"))',
        "a run without messages is completed with no_output",
        "tests/engine/run/test_endings.py::test_run_without_messages_is_completed_with_no_output_and_writes_no_line",
    ),
    Mutant(
        "engine/run/verdict.py",
        "Verdict(Status.FAILED, FailureCode.EXCEPTION, ending.message)",
        "Verdict(Status.FAILED, FailureCode.ERROR, ending.message)",
        "an exception fails the run as runner.exception",
        "tests/engine/run/test_endings.py::test_a_runner_that_raises_fails_with_its_traceback_in_the_journal",
    ),
)
