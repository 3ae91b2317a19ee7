"""Mutants of artifacts, sessions, retention and the database."""

from typing import Final

from tests.mutants.mutant import Mutant

_ARTIFACTS: Final = "engine/store/artifacts.py"
_ROOTED: Final = "engine/rooted_files.py"
_SWAPPED: Final = (
    "tests/engine/test_rooted_files.py::test_a_folder_swapped_for_a_link_after_the_path_was_resolved_is_refused"
)

MUTANTS: Final = (
    # Artifacts
    Mutant(
        _ROOTED,
        "if not path.is_relative_to(real_root):",
        "if not str(path).startswith(str(real_root)):",
        "a file artifact must be under its root",
        "tests/engine/store/test_artifacts.py::test_folder_whose_name_starts_with_the_root_is_outside_it",
    ),
    Mutant(
        _ARTIFACTS,
        "        opened = _open_file(row)\n        os.close",
        "        opened = open_in_root(Path('/'), f'{row.root}/{row.location}')\n        os.close",
        "a file artifact's real path is checked at registration",
        "tests/engine/store/test_artifacts.py::test_a_file_outside_its_root_is_refused_at_registration_and_never_shown",
    ),
    Mutant(
        _ARTIFACTS,
        "    opened = _open_file(row)\n    with",
        "    opened = open_in_root(Path('/'), f'{row.location}')\n    with",
        "a file artifact's real path is checked again at every read",
        "tests/engine/store/test_artifacts.py::test_a_file_swapped_for_a_link_after_registration_is_refused",
    ),
    Mutant(
        _ROOTED,
        "_RESOLVE: Final = 0x02 | 0x04 | 0x08",
        "_RESOLVE: Final = 0",
        "a folder that is swapped for a link during a read leads nowhere",
        _SWAPPED,
    ),
    Mutant(
        _ROOTED,
        "            folder = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)",
        "            folder = os.open(part, _FOLDER, dir_fd=folder)",
        "without openat2, too, a folder that is swapped for a link during a read leads nowhere",
        _SWAPPED,
    ),
    Mutant(
        _ARTIFACTS,
        "limit = min(limit, MAX_READ_BYTES)",
        "limit = max(limit, READ)",
        "one read has at most 10 MiB",
        "tests/engine/store/test_artifacts.py::test_a_read_returns_one_mebibyte_by_default_and_ten_at_most",
    ),
    Mutant(
        _ARTIFACTS,
        "self.expires_at is not None and self.expires_at <= now",
        "self.expires_at is not None and self.expires_at < now",
        "an expired artifact is not found",
        "tests/engine/store/test_artifacts.py::test_expired_artifact_is_not_found",
    ),
    Mutant(
        _ARTIFACTS,
        "row = replace(row, size_bytes=len(content), sha256=digest, blob_key=digest)",
        "row = replace(row, sha256=digest, blob_key=digest)",
        "size and digest of a blob are the host's own",
        "tests/engine/store/test_artifacts.py::test_size_and_digest_of_a_blob_are_computed_by_the_host",
    ),
    Mutant(
        _ARTIFACTS,
        "    AND NOT EXISTS (SELECT 1 FROM artifacts WHERE",
        "    AND EXISTS (SELECT 1 FROM artifacts WHERE",
        "a blob is deleted with its last artifact",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_expired_artifacts_with_their_own_blobs",
    ),
    # Sessions
    Mutant(
        "engine/store/sessions.py",
        "if SESSION_ID.fullmatch(session_id) is None:",
        "if SESSION_ID.match(session_id) is None:",
        "a session id has only allowed characters",
        "tests/engine/store/test_sessions.py::test_invalid_session_ids_are_refused",
    ),
    Mutant(
        "engine/store/sessions.py",
        "root_session_id=parent.root_session_id,",
        "root_session_id=parent.session_id,",
        "a child's root is its parent's root",
        "tests/engine/store/test_sessions.py::test_root_depth_and_user_of_a_child_follow_from_its_parent",
    ),
    Mutant(
        "engine/store/sessions.py",
        "depth=parent.depth + 1,",
        "depth=1,",
        "a child's depth follows from its parent",
        "tests/engine/store/test_sessions.py::test_root_depth_and_user_of_a_child_follow_from_its_parent",
    ),
    Mutant(
        "engine/store/transcript.py",
        "transcript.c.seq <= until",
        "transcript.c.seq < until",
        "a fork starts with the transcript up to the message",
        "tests/engine/store/test_sessions.py::test_a_fork_starts_with_the_transcript_up_to_a_line",
    ),
    Mutant(
        "engine/store/transcript.py",
        "query = select(transcript).where(transcript.c.conversation_id == conversation_id, shown)\n    if name",
        "query = select(transcript).where(shown)\n    if name",
        "a line of another conversation is not found",
        "tests/engine/store/test_forks.py::test_a_line_of_another_conversation_is_not_found",
    ),
    Mutant(
        "engine/store/state.py",
        "state_changes.c.at <= until",
        "state_changes.c.at < until",
        "a fork has the state at its line",
        "tests/engine/store/test_forks.py::test_state_is_copied_as_it_was_at_the_line",
    ),
    Mutant(
        "engine/store/state.py",
        "own, state.c.updated_at <= until",
        "own",
        "a fork has no state that was written after its line",
        "tests/engine/store/test_forks.py::test_state_is_copied_as_it_was_at_the_line",
    ),
    Mutant(
        "engine/store/state.py",
        "for table in (state, runs)",
        "for table in (state, state)",
        "a scope that was emptied since the line is copied",
        "tests/engine/store/test_forks.py::test_scope_that_is_empty_now_is_found_by_its_run",
    ),
    Mutant(
        "engine/store/sessions.py",
        "max(line.created_at, session.created_at)",
        "line.created_at",
        "a fork of a fork has state even if the first parent is deleted",
        "tests/engine/store/test_forks.py::test_fork_of_a_fork_without_its_parent_has_the_initial_state_of_the_first_fork",
    ),
    Mutant(
        "engine/store/sessions.py",
        "source, then = _of_then(conn, parent, last)",
        "source, then = parent, max(last.created_at, parent.created_at)",
        "the state at a copied line is that of the original line",
        "tests/engine/store/test_forks.py::test_a_fork_of_a_fork_at_a_copied_line_has_the_state_at_the_original_line",
    ),
    Mutant(
        "engine/store/sessions.py",
        "change=ChangeOrigin(editor=FORK, at=at)",
        'change=ChangeOrigin(editor="runner", at=at)',
        "values copied to a fork are recorded as written by the fork",
        "tests/engine/store/test_forks.py::test_copied_value_is_recorded_as_written_by_the_fork",
    ),
    Mutant(
        "engine/store/deletion.py",
        "        delete_where(conn, sessions, sessions.c.session_id == session_id)",
        "        delete_where(conn, sessions, sessions.c.root_session_id == session_id)",
        "children of a deleted session are kept",
        "tests/engine/store/test_deletion.py::test_deleting_a_session_deletes_its_data_and_keeps_its_children",
    ),
    # Retention
    Mutant(
        "engine/store/pruning.py",
        "run_id IS NULL OR run_id NOT IN (SELECT run_id FROM runs WHERE status IN ({_listed(LIVE_STATUSES)}))",
        "run_id IS NULL OR run_id NOT IN (SELECT run_id FROM runs WHERE status IN ('other'))",
        "retention deletes no data of a live run",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_old_data_and_keeps_runs_in_progress",
    ),
    Mutant(
        "engine/store/pruning.py",
        "WHERE status IN ({_listed(FINAL_STATUSES)}) AND finished_at < :older_than",
        "WHERE created_at < :older_than",
        "retention never deletes a live run",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_old_data_and_keeps_runs_in_progress",
    ),
    Mutant(
        "engine/store/pruning.py",
        "(SELECT event_id FROM queue WHERE fate NOT IN ({_listed(FINAL_FATES)}))",
        "(SELECT event_id FROM queue WHERE fate IN ('other'))",
        "the event of a queued message is kept",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_old_data_and_keeps_runs_in_progress",
    ),
    # The database
    Mutant(
        "engine/store/database.py",
        "if version > tables.SCHEMA_VERSION:",
        'if version > "9999":',
        "a newer database is left unchanged",
        "tests/engine/store/test_database.py::test_newer_database_is_refused_and_left_unchanged",
    ),
    Mutant(
        "engine/store/database.py",
        "if found is None and not write:",
        "if found is None and not path.parent.exists():",
        "a reader requires an existing database",
        "tests/engine/api/test_engine.py::test_reader_requires_existing_database",
    ),
    Mutant(
        "engine/store/database.py",
        "        if self._is_written:\n            # SQLite",
        "        if not self._is_written:\n            # SQLite",
        "a closed database is complete without its log",
        "tests/engine/store/test_private_files.py::test_a_closed_database_is_complete_without_its_log",
    ),
    Mutant(
        "engine/store/database.py",
        'closing(connect(self.path, "rw", 0)) as driver:\n            # The first',
        'closing(connect(self.path, "rw", 600)) as driver:\n            # The first',
        "closing a database never waits for other processes",
        "tests/engine/store/test_backup.py::test_the_last_close_folds_the_log_into_the_file_and_never_waits_for_readers",
    ),
    # Permissions
    Mutant(
        "engine/store/private_files.py",
        "        os.fchmod(descriptor, FILE_MODE)\n    finally:",
        "        os.fchmod(descriptor, 0o644)\n    finally:",
        "every file is private",
        "tests/engine/store/test_private_files.py::test_a_new_file_is_private_before_anything_is_in_it",
    ),
    Mutant(
        "engine/store/private_files.py",
        "            folder.chmod(FOLDER_MODE)",
        "            folder.chmod(0o755)",
        "the data folder is private",
        "tests/engine/store/test_private_files.py::test_a_new_database_and_its_folder_are_private",
    ),
    Mutant(
        "engine/store/database.py",
        "                tighten(sqlite_files(path))\n",
        "                tighten(())\n",
        "files of earlier versions are tightened",
        "tests/engine/store/test_private_files.py::test_an_existing_database_is_tightened_and_an_existing_folder_is_not",
    ),
    Mutant(
        "console/cli/doctor.py",
        "    yield from _check_permissions(health)\n",
        "    yield from ()\n",
        "doctor reports files that others can read",
        "tests/console/cli/test_backup.py::test_doctor_reports_files_that_others_can_read_with_the_command",
    ),
    # Backups
    Mutant(
        "engine/store/backup.py",
        '        source.execute("BEGIN")\n',
        '        source.execute("SELECT 1")\n',
        "a backup is complete while another process writes",
        "tests/engine/store/test_backup.py::test_a_backup_is_complete_while_another_process_writes",
    ),
    Mutant(
        "engine/store/backup.py",
        "    if overwrite:\n        copy.replace",
        "    if not os.path.islink(target):\n        copy.replace",
        "a backup overwrites only what it is told to",
        "tests/engine/store/test_backup.py::test_a_file_that_appears_during_the_backup_is_kept",
    ),
    Mutant(
        "engine/store/backup.py",
        "    if in_use:",
        "    if in_use and not overwrite:",
        "a backup does not replace a database in use",
        "tests/engine/store/test_backup.py::test_a_backup_does_not_replace_a_database_in_use",
    ),
)
