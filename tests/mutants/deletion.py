"""Faults in hiding, restoring and purging sessions, in the clean-up of files, and in the expiry of artifacts."""

from typing import Final

from tests.mutants.mutant import Mutant

_DELETION: Final = "engine/store/deletion.py"
_PRUNING: Final = "engine/store/pruning.py"
_CLEANUP: Final = "engine/store/index_cleanup.py"
_STORE: Final = "tests/engine/store/test_deletion.py"
_SESSIONS: Final = "tests/engine/api/test_deleted_sessions.py"
_INDEX: Final = "tests/engine/store/test_index_cleanup.py"
_DATABASE: Final = "tests/engine/store/test_database.py"
_EXPIRY: Final = "tests/engine/run/test_artifact_expiry.py"
_CONSOLE: Final = "tests/console/sessions/test_delete.py"

MUTANTS: Final = (
    # Hide and restore
    Mutant(
        "engine/store/hidden_sessions.py",
        'return func.coalesce(conversation_id, "").not_in(_HIDDEN)',
        'return func.coalesce(conversation_id, "").in_(_HIDDEN)',
        "a hidden session is out of every list and call",
        f"{_STORE}::test_hidden_session_is_in_no_list_and_no_search",
    ),
    Mutant(
        "engine/store/search.py",
        "    if hidden_sessions.has_any(conn):\n",
        "    if False:\n",
        "a hidden session is out of every search",
        f"{_STORE}::test_hidden_session_is_in_no_list_and_no_search",
    ),
    Mutant(
        _DELETION,
        "return self.deleted_at != _PURGING and abs(now - self.deleted_at) < _RESTORE_US",
        "return self.deleted_at != _PURGING",
        "a hidden session can be restored for eight seconds",
        f"{_STORE}::test_hidden_session_can_be_restored_for_eight_seconds",
    ),
    Mutant(
        _DELETION,
        ".values(deleted_at=_PURGING))",
        ".values(deleted_at=at))",
        "a session whose purge has begun is never restored",
        f"{_STORE}::test_session_whose_purge_has_begun_is_never_restored",
    ),
    Mutant(
        "engine/queue/decided_elsewhere.py",
        "    if fate is None or reason == DropReason.SESSION_DELETED:\n",
        "    if fate is None:\n",
        "the sender of a message learns that its session was deleted",
        "tests/engine/queue/test_deleted_session.py::test_a_message_of_a_hidden_session_is_dropped_and_stays_so",
    ),
    # Purge
    Mutant(
        "engine/store/cleanup.py",
        "        self._timer = self._clock.later(seconds, self.wake)\n",
        "        self._timer = self._clock.later(seconds + 60, self.wake)\n",
        "a hidden session is purged when it can no longer be restored",
        f"{_SESSIONS}::test_hidden_session_is_restored_within_eight_seconds_and_purged_then",
    ),
    Mutant(
        "engine/host.py",
        "        await self.cleanup.close()\n",
        "        self.cleanup.wake()\n",
        "closing the engine purges what it has hidden",
        f"{_SESSIONS}::test_closing_the_engine_purges_what_it_has_hidden",
    ),
    Mutant(
        "engine/host.py",
        "        self.cleanup.start()\n",
        "        self.cleanup.wake()\n",
        "a host purges a hidden session that it finds",
        f"{_SESSIONS}::test_killed_between_hide_and_purge",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "    if may_purge and purge_hidden(",
        "    if not may_purge and known and purge_hidden(",
        "an event for a hidden session starts an empty one",
        f"{_SESSIONS}::test_event_for_a_hidden_session_starts_an_empty_one",
    ),
    Mutant(
        "engine/queue/dispatch.py",
        "    places = {known.conversation_id if known is not None else None, envelope.conversation_id}\n",
        "    places = {envelope.conversation_id}\n",
        "an event of a hidden session is a new event, also in another session",
        f"{_SESSIONS}::test_event_that_is_sent_to_another_session_again_is_new_after_hiding",
    ),
    Mutant(
        _DELETION,
        '        self._delete(conn, "events", events, events.c.seq, own, events.c.source.not_in(AUDIT_SOURCES))\n',
        '        self._delete(conn, "events", events, events.c.seq, own, events.c.source.in_(()))\n',
        "the event ids of a deleted session are removed",
        f"{_STORE}::test_purge_removes_event_ids_and_the_text_of_audit_events",
    ),
    Mutant(
        _DELETION,
        'stripped = _ids_of(metadata) | {"session_id": self._session_id}',
        'stripped = metadata | {"session_id": self._session_id}',
        "audit events of a deleted session keep no text",
        f"{_STORE}::test_purge_removes_event_ids_and_the_text_of_audit_events",
    ),
    Mutant(
        _DELETION,
        'place = {"conversation_id": None, "thread_id": None}',
        'place = {"thread_id": None}',
        "a new session with the same id cannot read old audit events",
        f"{_STORE}::test_purge_removes_event_ids_and_the_text_of_audit_events",
    ),
    Mutant(
        _DELETION,
        "        delete_session_files(_path_of(conn), session_id)\n",
        '        delete_session_files(_path_of(conn), "")\n',
        "crash reports and abandoned drafts are deleted with their session",
        "tests/console/cli/test_deleted_words.py::test_no_file_and_no_output_has_the_words_of_a_deleted_session",
    ),
    Mutant(
        _DELETION,
        'is_fork = func.json_extract(sessions.c.metadata, f"$.{FORKED_FROM}") == session_id',
        'is_fork = func.json_extract(sessions.c.metadata, f"$.{FORKED_FROM}") == ""',
        "the question before deleting names what is kept",
        f"{_STORE}::test_data_that_was_shared_on_purpose_is_named",
    ),
    # Files
    Mutant(
        "engine/store/database.py",
        'driver.execute("PRAGMA secure_delete = ON")',
        'driver.execute("PRAGMA secure_delete")',
        "deleted content is overwritten",
        f"{_DATABASE}::test_writing_connection_overwrites_what_is_deleted",
    ),
    Mutant(
        "engine/store/database.py",
        "            return not is_blocked\n",
        "            return True\n",
        "a log that still has deleted words counts as not emptied",
        f"{_DATABASE}::test_wal_is_emptied_unless_another_process_reads",
    ),
    Mutant(
        "engine/store/database.py",
        'driver.execute("VACUUM")',
        'driver.execute("SELECT 1")',
        "a small file is rewritten, so that unused parts of its pages hold no old content",
        f"{_DATABASE}::test_rewritten_file_has_no_unused_pages_and_no_process_is_waited_for",
    ),
    Mutant(
        _CLEANUP,
        "    _merge(driver, name, -max_pages)\n",
        "    _merge(driver, name, max_pages)\n",
        "all segments of the index are merged",
        f"{_INDEX}::test_deleted_words_are_merged_out_of_the_index_while_lines_are_added",
    ),
    Mutant(
        _CLEANUP,
        'inputs = "[]" if cleanup.merging == cleanup.requested else None',
        'inputs = "[]"',
        "words that are deleted during a merge are merged again",
        f"{_INDEX}::test_words_that_are_deleted_during_a_merge_are_merged_out_too",
    ),
    Mutant(
        _CLEANUP,
        "levels = tuple(level for level in structure.levels if level.segments)",
        "levels = structure.levels",
        "the index has few levels after many merges",
        f"{_INDEX}::test_empty_levels_of_the_index_are_removed",
    ),
    Mutant(
        _CLEANUP,
        "AND requested = ? AND inputs = '[]'\"",
        'AND ? > 0"',
        "a clean-up is not finished if more was deleted since",
        f"{_INDEX}::test_clean_up_is_not_finished_if_more_was_deleted_since",
    ),
    Mutant(
        "console/cli/doctor.py",
        "    yield from _check_cleanup(health)\n",
        "    yield from _check_permissions(health)\n",
        "doctor shows the progress of the clean-up",
        "tests/console/cli/test_cleanup_progress.py::test_doctor_shows_the_progress_of_the_clean_up",
    ),
    Mutant(
        "engine/store/cleanup.py",
        "            if work.has_live_runs:\n",
        "            if False:\n",
        "the file is not rewritten while a run is in progress",
        f"{_SESSIONS}::test_file_is_rewritten_only_while_no_run_is_in_progress",
    ),
    Mutant(
        "engine/store/cleanup.py",
        "        if self._database.is_small and not self._is_rewritten:\n",
        "        if not self._is_rewritten:\n",
        "a large file is not rewritten",
        f"{_SESSIONS}::test_large_file_is_not_rewritten",
    ),
    # The console
    Mutant(
        "console/ui/sessions/screen.py",
        "        await self._deleter.load()\n",
        "        await self.reader.load_first()\n",
        "a session that was deleted before a crash can be restored",
        f"{_CONSOLE}::test_session_that_was_deleted_before_a_crash_can_be_restored",
    ),
    # Artifacts
    Mutant(
        "engine/store/artifacts.py",
        "seconds = min((each for each in lifetimes if each is not None), default=None)",
        "seconds = max((each for each in lifetimes if each is not None), default=None)",
        "the earlier lifetime of an artifact holds",
        f"{_EXPIRY}::test_earlier_of_both_lifetimes_holds",
    ),
    Mutant(
        "engine/run/effects.py",
        "    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:\n",
        "    if not isinstance(seconds, int | float):\n",
        "an unusable lifetime is ignored with a warning",
        f"{_EXPIRY}::test_unusable_lifetime_is_ignored_with_a_warning",
    ),
    Mutant(
        _PRUNING,
        "WHERE {REFERENCED_ID} IS NOT NULL AND transcript.seq NOT IN",
        "WHERE {REFERENCED_ID} IS NULL AND transcript.seq NOT IN",
        "prune keeps artifacts that a kept line refers to",
        f"{_STORE}::test_pruning_keeps_artifacts_that_a_kept_line_refers_to",
    ),
    Mutant(
        _PRUNING,
        "run_id IS NOT NULL AND run_id NOT IN ({_KEPT_RUNS})\n        AND artifact_id",
        "run_id IS NULL\n        AND artifact_id",
        "prune deletes the artifacts of pruned runs",
        f"{_STORE}::test_pruning_keeps_artifacts_that_a_kept_line_refers_to",
    ),
    Mutant(
        _PRUNING,
        "OR run_id IS NULL OR run_id NOT IN ({_KEPT_RUNS}))",
        "OR run_id IS NULL OR run_id IS NOT NULL)",
        "prune keeps the event of a kept run",
        f"{_STORE}::test_pruning_keeps_the_event_of_a_kept_run",
    ),
)
