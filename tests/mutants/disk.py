"""Mutants of the sizes of journals, sessions and databases, and of the warning of a large database."""

from typing import Final

from tests.mutants.mutant import Mutant

_SIZES: Final = "engine/store/sizes.py"
_CLOSE: Final = "engine/run/orchestrator.py"
_RECORDER: Final = "engine/journal/recorder.py"
_HEALTH: Final = "console/data/health.py"
_DOCTOR: Final = "console/cli/doctor.py"
_OF_SIZES: Final = "tests/engine/store/test_sizes.py"
_OF_JOURNALS: Final = "tests/engine/run/test_journal_size.py"
_COUNTED: Final = f"{_OF_JOURNALS}::test_recorder_has_counted_the_journal_when_the_run_ends"
_SHARED_PARTS: Final = f"{_OF_SIZES}::test_part_that_sessions_share_counts_for_each_and_once_in_total"
_SHARED_BLOBS: Final = f"{_OF_SIZES}::test_blob_that_sessions_share_counts_for_each_and_once_in_total"
_LARGEST: Final = f"{_OF_SIZES}::test_largest_sessions_come_first_without_hidden_ones"
_WARNING: Final = "tests/console/health/test_disk_warning.py"
_CLI: Final = "tests/console/cli/test_disk.py"
_CONFIG: Final = "tests/engine/project/test_config.py"

MUTANTS: Final = (
    # Journals
    Mutant(
        _CLOSE,
        "        journal_bytes=journal_bytes,\n",
        "        journal_bytes=None,\n",
        "an ended run has the size of its journal",
        f"{_OF_JOURNALS}::test_external_run_has_its_size",
    ),
    Mutant(
        _CLOSE,
        "counted.bytes if counted and counted.position == position else entries.size(conn, run_id)",
        "entries.size(conn, run_id)",
        "the end of a run does not read its journal again",
        _COUNTED,
    ),
    Mutant(
        _CLOSE,
        "counted.bytes if counted and counted.position == position else entries.size(conn, run_id)",
        "counted.bytes if counted else 0",
        "the journal of a dead host's run is counted",
        "tests/engine/api/test_processes.py::test_run_of_a_dead_host_has_the_size_of_its_journal",
    ),
    Mutant(
        _CLOSE,
        "if counted and counted.position == position else",
        "if counted else",
        "entries that were lost in a disk failure do not count",
        f"{_OF_JOURNALS}::test_entries_that_were_not_written_do_not_count",
    ),
    Mutant(
        _CLOSE,
        "journal_bytes += len(text.encode()) + ROW_BYTES",
        "journal_bytes += 0 * len(text.encode()) * ROW_BYTES",
        "the last entries of a run count",
        f"{_OF_JOURNALS}::test_dropped_messages_count",
    ),
    Mutant(
        _RECORDER,
        "self._size += sum(len(name) + _REF_BYTES for name in large)",
        "self._size += 0 * sum(len(name) + _REF_BYTES for name in large)",
        "references to parts count",
        "tests/engine/access/test_calls.py::test_size_of_a_journal_has_its_references_to_parts",
    ),
    Mutant(
        "engine/store/entries.py",
        "return count * ROW_BYTES + (data or 0) + (usage or 0)",
        "return (data or 0) + (usage or 0)",
        "a counted journal has the bytes of its rows, as a recorded one",
        "tests/engine/api/test_processes.py::test_run_of_a_dead_host_has_the_size_of_its_journal",
    ),
    # Sessions
    Mutant(
        _SIZES,
        "SELECT DISTINCT conversation_id AS session, digest FROM",
        "SELECT conversation_id AS session, digest FROM",
        "a part counts once for a session, whichever of its runs use it",
        f"{_OF_SIZES}::test_part_that_only_runs_of_one_session_share_counts_once_and_is_not_marked",
    ),
    Mutant(
        _SIZES,
        "WHERE use.digest = own.digest AND runs.conversation_id IS NOT own.session",
        "WHERE use.digest = own.digest",
        "a part that only one session uses is not marked as shared",
        f"{_OF_SIZES}::test_part_that_only_runs_of_one_session_share_counts_once_and_is_not_marked",
    ),
    Mutant(
        _SIZES,
        "runs.conversation_id IS NOT own.session",
        "runs.conversation_id <> own.session",
        "a part that a run without a session uses too is marked as shared",
        f"{_OF_SIZES}::test_part_that_a_run_without_a_session_uses_too_is_marked",
    ),
    Mutant(
        _SIZES,
        "shared[session_id] += length if has_others else 0",
        "counted[session_id] -= length if has_others else 0",
        "what sessions share counts for each of them",
        _SHARED_PARTS,
    ),
    Mutant(
        _SIZES,
        "(SELECT sum(length(content)) FROM parts),",
        "(SELECT sum(length(content)) FROM parts JOIN part_uses USING (digest)),",
        "a shared part counts once in the total",
        _SHARED_PARTS,
    ),
    Mutant(
        _SIZES,
        "(SELECT sum(length(content)) FROM artifact_blobs),",
        "(SELECT sum(length(content)) FROM artifact_blobs JOIN artifacts USING (blob_key)),",
        "a shared blob counts once in the total",
        _SHARED_BLOBS,
    ),
    Mutant(
        _SIZES,
        "WHERE blob_key = own.blob_key AND conversation_id IS NOT own.session",
        "WHERE blob_key = own.blob_key",
        "a blob that only one session uses is not marked as shared",
        _SHARED_BLOBS,
    ),
    Mutant(
        _SIZES,
        "SELECT session_id, title FROM sessions WHERE deleted_at IS NULL",
        "SELECT session_id, title FROM sessions",
        "a deleted session is not among the largest",
        _LARGEST,
    ),
    Mutant(
        _SIZES,
        "for each, _ in totals.most_common() if",
        "for each, _ in totals.most_common()[::-1] if",
        "the largest session is the first",
        _LARGEST,
    ),
    Mutant(
        _SIZES,
        "characters[each] * INDEX_BYTES,",
        "characters[each] * 0,",
        "the search index is a part of a session's size",
        f"{_OF_SIZES}::test_sum_of_the_pieces_is_near_the_pages_that_they_take",
    ),
    # Limit
    Mutant(
        _SIZES,
        "max(0, self.file_bytes - self.free_bytes)",
        "max(0, self.file_bytes)",
        "room that deleted data has left does not count towards the limit",
        f"{_OF_SIZES}::test_pages_of_deleted_data_are_not_used",
    ),
    Mutant(
        "engine/project/config.py",
        "return (self.config.disk.warn_above_mib << 20) or None",
        "return self.config.disk.warn_above_mib << 20",
        "0 is no limit",
        f"{_CONFIG}::test_limit_of_the_disk_is_in_mebibytes_and_0_for_never",
    ),
    Mutant(
        "engine/project/config.py",
        "warn_above_mib: Annotated[int, Field(ge=0)] = 2_048",
        "warn_above_mib: Any = 2_048",
        "a limit that is no number is refused",
        f"{_CONFIG}::test_limit_of_the_disk_that_is_no_number_is_refused[lots-must be an integer]",
    ),
    Mutant(
        _HEALTH,
        "        if used <= limit:\n",
        "        if used >= limit:\n",
        "the console warns of a large database",
        f"{_WARNING}::test_warning_is_shown_once_per_start[160x45]",
    ),
    Mutant(
        "console/app.py",
        "            await self.health.check()\n",
        "            await self._warn_of_large_database()\n",
        "the console warns once per start",
        f"{_WARNING}::test_warning_is_shown_once_per_start[160x45]",
    ),
    Mutant(
        _DOCTOR,
        "if limit_bytes is not None and disk.used_bytes > limit_bytes:",
        "if limit_bytes is not None and disk.used_bytes < limit_bytes:",
        "doctor warns of a large database",
        f"{_CLI}::test_doctor_warns_above_the_limit_with_the_commands_that_make_room",
    ),
    Mutant(
        "console/cli/sessions.py",
        "record(session) | size_figures(sizes[session.session_id])",
        "record(session)",
        "the list as JSON has the sizes in bytes",
        f"{_CLI}::test_sessions_are_listed_with_their_size_and_what_they_share",
    ),
)
