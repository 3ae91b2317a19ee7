"""Mutants of the transcript: streamed text, lines, and the artifacts they refer to."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    # Deltas
    Mutant(
        "engine/journal/delta_text.py",
        "if all_content:",
        "if all_content and not content:",
        "all_content wins over content",
        "tests/engine/journal/test_delta_text.py::test_the_shown_text_is_the_stored_text",
    ),
    Mutant(
        "engine/journal/delta_text.py",
        "content.startswith(self._snapshot):",
        "len(content) >= len(self._snapshot):",
        "chunks are snapshots only while each starts with the previous one",
        "tests/engine/journal/test_delta_text.py::test_the_shown_text_is_the_stored_text",
    ),
    Mutant(
        "engine/journal/delta_text.py",
        "if self._grew or not self._lengths:",
        "if self._lengths:",
        "chunks are snapshots only if some chunk grew",
        "tests/engine/journal/test_delta_text.py::test_the_shown_text_is_the_stored_text",
    ),
    Mutant(
        "engine/run/live.py",
        "self.pending_deltas_after = None\n        self._has_message = True\n        self._last_message",
        "pass\n        self._has_message = True\n        self._last_message",
        "message.completed replaces what was streamed",
        "tests/engine/journal/test_delta_text.py::test_a_completed_message_replaces_what_was_streamed",
    ),
    Mutant(
        "engine/store/entries.py",
        " AND {IS_APPLIED} ORDER BY position",
        " AND outcome IS NULL ORDER BY position",
        "a delta that was applied with a warning is part of the text",
        "tests/engine/run/test_sequence.py::test_a_gap_is_a_warning_and_the_result_is_applied",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        '{"assembled_from": DELTAS}',
        "{}",
        "a line made from deltas has a warning",
        "tests/engine/journal/test_delta_text.py::test_deltas_without_a_completed_message_make_one_line_and_a_warning",
    ),
    Mutant(
        "engine/run/orchestrator.py",
        'await self._unfinished_text(live) if verdict.status is Status.COMPLETED else ""',
        "await self._unfinished_text(live)",
        "a failed run's deltas stay in the journal only",
        "tests/engine/run/test_endings.py::test_deltas_of_a_failed_run_are_only_in_the_journal",
    ),
    # Lines
    Mutant(
        "engine/run/live.py",
        "if content == self._last_message:",
        "if content is self._last_message:",
        "a message repeated in run.completed writes no second line",
        "tests/engine/run/test_lines.py::test_a_message_repeated_at_the_end_writes_no_second_line",
    ),
    Mutant(
        "engine/run/live.py",
        "if content == self._last_message:",
        "if self._last_message and content[1] == self._last_message[1]:",
        "a repeat must have the same role and content",
        "tests/engine/run/test_lines.py::test_a_message_of_another_role_is_no_repeat",
    ),
    Mutant(
        "engine/run/effects.py",
        'text_of(message.get("content"), " ")',
        'text_of(message.get("content"))',
        "the assistant's text parts join with a space",
        "tests/engine/run/test_lines.py::test_assistant_text_parts_join_with_a_space",
    ),
    Mutant(
        "engine/run/effects.py",
        "return list(dict.fromkeys([*new, *named]))",
        "return [*new, *named]",
        "artifact references merge once per id",
        "tests/engine/run/test_lines.py::test_pending_artifact_references_are_merged_with_those_of_the_message_once_per_id",
    ),
    Mutant(
        "engine/run/effects.py",
        '_merge_references(self._new_artifacts, message.get("artifact_refs")), []',
        '_merge_references(self._new_artifacts, message.get("artifact_refs")), self._new_artifacts',
        "an artifact is referenced by the next assistant line only",
        "tests/engine/run/test_lines.py::test_the_next_assistant_line_refers_to_the_artifacts_made_before_it",
    ),
    Mutant(
        "engine/store/transcript.py",
        "MAX_LINE_CHARS: Final = 4_000",
        "MAX_LINE_CHARS: Final = 4_001",
        "a line's text has at most 4,000 characters",
        "tests/engine/store/test_event_log_and_transcript.py::test_long_text_is_cut_and_the_whole_text_is_stored",
    ),
    Mutant(
        "engine/store/transcript.py",
        "content[: MAX_LINE_CHARS - len(CUT)] + CUT",
        "content[:MAX_LINE_CHARS]",
        "cut text ends in ...",
        "tests/engine/store/test_event_log_and_transcript.py::test_long_text_is_cut_and_the_whole_text_is_stored",
    ),
    Mutant(
        "engine/store/event_log.py",
        "SUMMARY: Final = 1_000",
        "SUMMARY: Final = 1_001",
        "an event's summary has at most 1,000 characters",
        "tests/engine/store/test_event_log_and_transcript.py::test_a_summary_has_at_most_a_thousand_characters",
    ),
    # Redaction
    Mutant(
        "engine/store/redact.py",
        '"content_base64", "image_base64", "file_base64"}',
        '"content_base64", "image_base64"}',
        "inline files are replaced by null and marked",
        "tests/engine/store/test_event_log_and_transcript.py::test_only_inline_base64_is_redacted",
    ),
    Mutant(
        "engine/store/redact.py",
        'key in _ADDRESSES and value.startswith("data:")',
        'key == "url:" and value.startswith("data:")',
        "a data URL counts as inline base64",
        "tests/engine/store/test_event_log_and_transcript.py::test_only_inline_base64_is_redacted",
    ),
    Mutant(
        "engine/store/transcript.py",
        "content_json=redact(whole),",
        "content_json=whole,",
        "the transcript holds no inline base64",
        "tests/engine/run/test_lines.py::test_inline_base64_is_null_in_the_transcript_and_marked",
    ),
    # Artifacts that results make
    Mutant(
        "engine/run/effects.py",
        "MAX_INLINE_BYTES: Final = 1024 * 1024",
        "MAX_INLINE_BYTES: Final = 1024 * 1025",
        "an inline artifact has at most 1 MiB",
        "tests/engine/journal/test_limits.py::test_an_inline_artifact_has_at_most_a_mebibyte",
    ),
    Mutant(
        "engine/run/effects.py",
        "base64.b64decode(encoded, validate=True)",
        "base64.b64decode(encoded)",
        "bad base64 drops the result",
        "tests/engine/run/test_lines.py::test_artifact_that_cannot_be_stored_is_dropped_and_the_run_continues",
    ),
    Mutant(
        "engine/run/effects.py",
        "!= hashlib.sha256(content).hexdigest():",
        "== hashlib.sha256(content).hexdigest():",
        "a wrong digest drops the result",
        "tests/engine/run/test_lines.py::test_artifact_with_a_wrong_digest_is_dropped",
    ),
    Mutant(
        "engine/run/effects.py",
        'self._log_event(tx, event_id, EntryKind.ARTIFACT_CREATED, entry.at, {"artifact_id": artifact_id})',
        "pass",
        "every artifact is recorded in the event log",
        "tests/engine/run/test_lines.py::test_an_artifact_is_stored_and_audited",
    ),
)
