"""Faults in what a run leaves said: streamed text, lines, and the artifacts that they refer to."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    # Deltas
    Mutant(
        "engine/run/deltas.py",
        "if all_content:",
        "if all_content and not content:",
        "all_content wins over content",
        "tests/run/test_deltas.py::test_the_shown_text_is_the_stored_text",
    ),
    Mutant(
        "engine/run/deltas.py",
        "content.startswith(self._snapshot):",
        "len(content) >= len(self._snapshot):",
        "chunks are snapshots only while each starts with the previous one",
        "tests/run/test_deltas.py::test_the_shown_text_is_the_stored_text",
    ),
    Mutant(
        "engine/run/deltas.py",
        "if self._grew or len(self._lengths) < 2:",
        "if self._lengths:",
        "chunks are snapshots only if some chunk grew",
        "tests/run/test_deltas.py::test_the_shown_text_is_the_stored_text",
    ),
    Mutant(
        "engine/run/live.py",
        "self.deltas_since = None\n        self._spoke = True\n        self._last_message",
        "self.deltas_since = self.deltas_since\n        self._spoke = True\n        self._last_message",
        "message.completed replaces what was streamed",
        "tests/run/test_deltas.py::test_a_completed_message_replaces_what_was_streamed",
    ),
    Mutant(
        "engine/facts/journal.py",
        "(outcome IS NULL OR outcome = 'warned') ORDER BY position",
        "(outcome IS NULL) ORDER BY position",
        "a delta that was applied with a warning is part of the text",
        "tests/run/test_sequence.py::test_a_gap_is_a_warning_and_the_result_is_applied",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        '{"assembled_from": "deltas"}',
        "{}",
        "a line put together from deltas says so",
        "tests/run/test_deltas.py::test_deltas_and_then_the_end_make_one_line_that_says_so_and_a_warning",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        'await self._unfinished_text(live) if verdict.status is Status.COMPLETED else ""',
        "await self._unfinished_text(live)",
        "a failed run's deltas stay in the journal only",
        "tests/run/test_endings.py::test_a_failed_runs_deltas_stay_in_the_journal_only",
    ),
    # Lines
    Mutant(
        "engine/run/live.py",
        "if said == self._last_message:",
        "if said is self._last_message:",
        "a message repeated in run.completed writes no second line",
        "tests/run/test_lines.py::test_a_message_repeated_at_the_end_writes_no_second_line",
    ),
    Mutant(
        "engine/run/live.py",
        "if said == self._last_message:",
        "if self._last_message and said[1] == self._last_message[1]:",
        "only the same role and content is a repeat",
        "tests/run/test_lines.py::test_a_message_of_another_role_is_no_repeat",
    ),
    Mutant(
        "engine/run/effects.py",
        'text_of(message.get("content"), " ")',
        'text_of(message.get("content"))',
        "the assistant's text parts join with a space",
        "tests/run/test_lines.py::test_assistant_text_parts_join_with_a_space",
    ),
    Mutant(
        "engine/run/effects.py",
        "return list(dict.fromkeys([*pending, *named]))",
        "return [*pending, *named]",
        "artifact references merge once per id",
        "tests/run/test_lines.py::test_pending_references_and_the_messages_own_merge_once_per_id",
    ),
    Mutant(
        "engine/run/effects.py",
        '_merged(self._pending, message.get("artifact_refs")), []',
        '_merged(self._pending, message.get("artifact_refs")), self._pending',
        "an artifact is referenced by the next assistant line only",
        "tests/run/test_lines.py::test_the_next_assistant_line_refers_to_the_artifacts_made_before_it",
    ),
    Mutant(
        "engine/facts/transcript.py",
        "LONGEST: Final = 4_000",
        "LONGEST: Final = 4_001",
        "a line's text has at most 4,000 characters",
        "tests/facts/test_log_and_transcript.py::test_long_text_is_cut_and_the_whole_is_kept",
    ),
    Mutant(
        "engine/facts/transcript.py",
        "content[: LONGEST - len(CUT)] + CUT",
        "content[:LONGEST]",
        "cut text ends in ...",
        "tests/facts/test_log_and_transcript.py::test_long_text_is_cut_and_the_whole_is_kept",
    ),
    Mutant(
        "engine/facts/event_log.py",
        "SUMMARY: Final = 1_000",
        "SUMMARY: Final = 1_001",
        "an event's summary has at most 1,000 characters",
        "tests/facts/test_log_and_transcript.py::test_a_summary_has_at_most_a_thousand_characters",
    ),
    # Redaction
    Mutant(
        "engine/facts/redact.py",
        '"content_base64", "image_base64", "file_base64"}',
        '"content_base64", "image_base64"}',
        "inline files become null with a mark",
        "tests/facts/test_log_and_transcript.py::test_only_inline_base64_is_redacted",
    ),
    Mutant(
        "engine/facts/redact.py",
        'key in _ADDRESSES and value.startswith("data:")',
        'key == "url:" and value.startswith("data:")',
        "an address that holds the bytes themselves is inline base64 too",
        "tests/facts/test_log_and_transcript.py::test_only_inline_base64_is_redacted",
    ),
    Mutant(
        "engine/facts/transcript.py",
        "content_json=redact(whole),",
        "content_json=whole,",
        "the transcript holds no inline base64",
        "tests/run/test_lines.py::test_inline_base64_is_null_in_the_transcript_and_marked",
    ),
    # Artifacts that results make
    Mutant(
        "engine/run/effects.py",
        "INLINE_LIMIT: Final = 1024 * 1024",
        "INLINE_LIMIT: Final = 1024 * 1025",
        "an inline artifact has at most 1 MiB",
        "tests/run/test_numbers.py::test_an_inline_artifact_has_at_most_a_mebibyte",
    ),
    Mutant(
        "engine/run/effects.py",
        "base64.b64decode(encoded, validate=True)",
        "base64.b64decode(encoded)",
        "bad base64 drops the result",
        "tests/run/test_lines.py::test_an_artifact_that_cannot_be_stored_is_dropped_and_the_run_goes_on",
    ),
    Mutant(
        "engine/run/effects.py",
        "!= hashlib.sha256(content).hexdigest():",
        "== hashlib.sha256(content).hexdigest():",
        "a digest that is not the content's drops the result",
        "tests/run/test_lines.py::test_an_artifact_whose_digest_is_not_its_own_is_dropped",
    ),
    Mutant(
        "engine/run/effects.py",
        'self._audit(tx, event_id, "artifact.created", entry.at, {"artifact_id": artifact_id})',
        "del event_id",
        "every artifact is in the event log",
        "tests/run/test_lines.py::test_an_artifact_is_stored_and_audited",
    ),
)
