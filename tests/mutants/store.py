"""Mutants of artifacts, sessions, retention and the database."""

from typing import Final

from tests.mutants.mutant import Mutant

_ARTIFACTS: Final = "engine/store/artifacts.py"

MUTANTS: Final = (
    # Artifacts
    Mutant(
        _ARTIFACTS,
        "if not real.is_relative_to(root) or",
        "if not str(real).startswith(str(root)) or",
        "a file artifact must be under its root",
        "tests/engine/store/test_artifacts.py::test_folder_whose_name_starts_with_the_root_is_outside_it",
    ),
    Mutant(
        _ARTIFACTS,
        "_check(row, os.fstat(descriptor))",
        "row.blob_key is None and row.sha256 is not None and _check(row, os.fstat(descriptor))",
        "a file artifact's real path is checked at registration",
        "tests/engine/store/test_artifacts.py::test_a_file_outside_its_root_is_refused_at_registration_and_never_shown",
    ),
    Mutant(
        _ARTIFACTS,
        "def _read_file(row: ArtifactRow, offset: int, limit: int) -> bytes:\n    descriptor = _open_file(row)",
        "def _read_file(row: ArtifactRow, offset: int, limit: int) -> bytes:\n    descriptor = os.open(_path(row), 0)",
        "a file artifact's real path is checked again at every read",
        "tests/engine/store/test_artifacts.py::test_a_file_swapped_for_a_link_after_registration_is_refused",
    ),
    Mutant(
        _ARTIFACTS,
        "limit = min(limit, MAX_READ_BYTES)",
        "limit = max(limit, READ)",
        "a read returns at most 10 MiB",
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
        "artifact_blobs.c.blob_key.not_in(named)",
        "artifact_blobs.c.blob_key.in_(named)",
        "a blob is deleted with its last artifact",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_expired_artifacts_with_their_own_blobs",
    ),
    # Sessions
    Mutant(
        "engine/store/sessions.py",
        "if ID.fullmatch(session_id) is None:",
        "if ID.match(session_id) is None:",
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
        "query = select(transcript).where(transcript.c.conversation_id == conversation_id)\n    if name",
        "query = select(transcript)\n    if name",
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
        "    delete_where(conn, sessions, sessions.c.session_id == session_id)",
        "    delete_where(conn, sessions, sessions.c.root_session_id == session_id)",
        "children of a deleted session are kept",
        "tests/engine/store/test_deletion.py::test_deleting_a_session_deletes_its_data_and_keeps_its_children",
    ),
    # Retention
    Mutant(
        "engine/store/deletion.py",
        "delete_where(conn, transcript, old_line, not_live)",
        "delete_where(conn, transcript, old_line)",
        "retention deletes no data of a live run",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_old_data_and_keeps_runs_in_progress",
    ),
    Mutant(
        "engine/store/deletion.py",
        "runs.c.status.in_(FINAL_STATUSES), runs.c.finished_at < older_than",
        "runs.c.created_at < older_than",
        "retention never deletes a live run",
        "tests/engine/store/test_deletion.py::test_pruning_deletes_old_data_and_keeps_runs_in_progress",
    ),
    Mutant(
        "engine/store/deletion.py",
        "events.c.event_id.not_in(worked_on), events.c.event_id.not_in(waiting)",
        "events.c.event_id.not_in(worked_on)",
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
)
