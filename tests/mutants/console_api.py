"""Mutants of what the user browses and changes: pages, state edits, composed events, attached files."""

from typing import Final

from tests.mutants.mutant import Mutant

_EDITS: Final = "engine/store/state_edits.py"
_PAGES: Final = "engine/store/state_pages.py"
_SESSIONS: Final = "engine/store/sessions.py"
_HITS: Final = "engine/store/search.py"
_ATTACHMENTS: Final = "engine/intake/attachments.py"
_COMPOSE: Final = "engine/intake/compose.py"
_PAST_EVENT: Final = "engine/api/past_event.py"
_UNREADABLE_FILE: Final = (
    "tests/engine/intake/test_attachments.py::test_a_file_that_cannot_be_read_gives_a_reason_and_never_hangs"
)

MUTANTS: Final = (
    # State in pages
    Mutant(
        _PAGES,
        "tuple_(*order) > tuple_(after.identity.key, after.key)",
        "tuple_(*order) >= tuple_(after.identity.key, after.key)",
        "pages of state return every key once",
        "tests/engine/store/test_state_pages.py::test_pages_return_every_key_once_grouped_by_scope",
    ),
    Mutant(
        _PAGES,
        "if identity is None or identity.key != scope_key:",
        "if identity is None:",
        "only scopes that were granted to a run are listed",
        "tests/engine/store/test_state_pages.py::test_scope_that_was_not_granted_to_the_run_is_not_listed",
    ),
    Mutant(
        _PAGES,
        "if len(found) > 1:",
        "if len(found) > 2:",
        "an ambiguous start of a scope key finds no scope",
        "tests/engine/store/test_state_pages.py::test_scope_is_found_by_the_start_of_its_key",
    ),
    # State edits
    Mutant(
        _EDITS,
        "return is_whole or state_pages",
        "return True or state_pages",
        "a value that a run changed meanwhile is not deleted",
        "tests/engine/store/test_state_edits.py::test_expected_long_value_is_compared_completely",
    ),
    Mutant(
        _EDITS,
        "if newest > last:\n                continue",
        "if newest > last + 99:\n                continue",
        "undoing an edit keeps values that were written since",
        "tests/engine/store/test_state_edits.py::test_undo_keeps_keys_that_a_runner_wrote_since",
    ),
    Mutant(
        _EDITS,
        "earlier.change < ?",
        "earlier.change <= ?",
        "undoing an edit restores the previous value",
        "tests/engine/store/test_state_edits.py::test_undone_edit_restores_the_previous_value",
    ),
    Mutant(
        _EDITS,
        "if noted is None or noted.event_type not in _KINDS:",
        "if noted is None:",
        "only edits of the user can be undone",
        "tests/engine/store/test_state_edits.py::test_only_edits_of_the_user_can_be_undone",
    ),
    Mutant(
        _EDITS,
        "source=Source.USER,",
        "source=Source.USER, conversation_id=identity.conversation_id,",
        "runners cannot read the edits of the user",
        "tests/engine/store/test_state_edits.py::test_no_runner_can_read_the_users_edits_of_state",
    ),
    Mutant(
        "engine/store/state.py",
        "SELECT scope_key, state_key, NULL, conversation_id, ?, ?, ?, ?, ? FROM state WHERE scope_key = ?",
        "SELECT scope_key, state_key, value, conversation_id, ?, ?, ?, ?, ? FROM state WHERE scope_key = ?",
        "a cleared key is recorded as deleted",
        "tests/engine/store/test_state.py::test_a_cleared_scope_is_empty_from_that_entry_on_and_not_before",
    ),
    # Sessions and hits
    Mutant(
        _SESSIONS,
        '"(last_active, session_id) < (:active, :id)"',
        '"last_active < :active AND session_id <> :id"',
        "pages of sessions return every session once",
        "tests/engine/store/test_session_pages.py::test_pages_return_every_session_once_last_active_first",
    ),
    Mutant(
        _SESSIONS,
        "SELECT max(rowid) FROM runs",
        "SELECT min(rowid) FROM runs",
        "the status of a session is that of its last run",
        "tests/engine/store/test_session_pages.py::test_a_row_has_the_status_and_the_size_of_its_session",
    ),
    Mutant(
        "engine/store/search.py",
        "_index.c.rowid < before",
        "_index.c.rowid <= before",
        "pages of hits return every line once",
        "tests/engine/store/test_hits.py::test_pages_return_every_hit_once_newest_first_with_its_session_title",
    ),
    Mutant(
        _HITS,
        "if found is not None and found < at:",
        "if found is not None and found <= at:",
        "a line has the journal entry that wrote it",
        "tests/engine/store/test_hits.py::test_a_line_is_found_at_the_entry_that_wrote_it",
    ),
    Mutant(
        _HITS,
        "coalesce(pulled_position, json_extract",
        "coalesce(NULL, json_extract",
        "the line of a pulled message has the entry of its pull",
        "tests/engine/store/test_hits.py::test_a_user_line_is_found_at_the_start_of_the_run_or_at_its_pull",
    ),
    # Files
    Mutant(
        _ATTACHMENTS,
        "os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC",
        "os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC",
        "a folder is refused as a folder",
        _UNREADABLE_FILE,
    ),
    Mutant(
        _ATTACHMENTS,
        "if not stat.S_ISREG(status.st_mode):",
        "if stat.S_ISLNK(status.st_mode):",
        "only regular files can be attached",
        _UNREADABLE_FILE,
    ),
    Mutant(
        _ATTACHMENTS,
        "_key_of(path.resolve(strict=True), size, roots)",
        "_key_of(path, size, roots)",
        "a link is resolved before its root is checked",
        "tests/engine/intake/test_attachments.py::test_link_is_resolved_before_the_root_is_checked",
    ),
    Mutant(
        _ATTACHMENTS,
        "if status.st_size > INLINE_LIMIT:",
        "if status.st_size >= INLINE_LIMIT:",
        "a file of exactly the limit is sent with the event",
        "tests/engine/intake/test_attachments.py::test_empty_file_and_file_of_exactly_the_limit_are_sent_with_the_event",
    ),
    Mutant(
        "engine/intake/attachments.py",
        'if is_file_in_root(root, attachment.id or "")',
        'if (root / (attachment.id or "")).is_file()',
        "a file outside the roots is refused",
        "tests/engine/intake/test_attachments.py::test_file_missing_or_outside_the_roots_is_refused_before_anything_is_recorded",
    ),
    Mutant(
        "engine/run/store_event.py",
        "except (NotFound, PathEscapes):",
        "except PathEscapes.__subclasses__():",
        "a file deleted while its event is queued does not fail the run",
        "tests/engine/intake/test_attachments.py::test_file_deleted_while_its_event_is_queued_is_left_out_with_a_warning",
    ),
    # Composed events
    Mutant(
        _COMPOSE,
        "metadata=base.metadata if base is not None and is_same else {},",
        "metadata=base.metadata if base is not None else {},",
        "a changed actor does not keep data of the previous actor",
        "tests/engine/intake/test_compose.py::test_changed_actor_does_not_keep_data_of_the_previous_actor",
    ),
    Mutant(
        _COMPOSE,
        '"delivery": draft.base.delivery if draft.base else CONSOLE_DELIVERY,',
        '"delivery": CONSOLE_DELIVERY,',
        "an edited event keeps data that the form does not show",
        "tests/engine/intake/test_compose.py::test_edited_event_keeps_data_that_the_form_does_not_show",
    ),
    Mutant(
        _PAST_EVENT,
        "row.metadata.get(EVENT_ID_KEY) != event_id",
        "row.metadata.get(EVENT_ID_KEY) is None",
        "bytes of another event with the same artifact id are not read",
        "tests/engine/api/test_state_and_events.py::test_bytes_of_another_event_with_the_same_artifact_id_are_not_read",
    ),
    Mutant(
        _PAST_EVENT,
        "if has_mark(envelope.model_dump_json()):",
        "if has_mark(envelope.event_id):",
        "a masked secret in a past event is reported",
        "tests/engine/api/test_state_and_events.py::test_secret_stays_masked_in_past_event_and_is_reported",
    ),
    Mutant(
        "engine/api/runs.py",
        'envelope.model_copy(update={"event_time": None})',
        "envelope",
        "an event that is run again has the current time",
        "tests/engine/api/test_state_and_events.py::test_run_again_has_its_own_copies_of_attached_files",
    ),
)
