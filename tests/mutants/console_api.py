"""Mutants of what the user browses and changes: pages, state edits, composed events, attached files."""

from typing import Final

from tests.mutants.mutant import Mutant

_EDITS: Final = "engine/store/state_edits.py"
_PAGES: Final = "engine/store/state_pages.py"
_SESSIONS: Final = "engine/store/sessions.py"
_HITS: Final = "engine/store/search.py"
_ATTACHING: Final = "engine/intake/attachments.py"
_COMPOSING: Final = "engine/intake/compose.py"
_PAST: Final = "engine/api/past_event.py"
_HANGS: Final = (
    "tests/engine/intake/test_attachments.py::test_a_file_that_cannot_be_read_gives_a_reason_and_never_hangs"
)

MUTANTS: Final = (
    # State in pages
    Mutant(
        _PAGES,
        "tuple_(*order) > tuple_(after.identity.key, after.key)",
        "tuple_(*order) >= tuple_(after.identity.key, after.key)",
        "pages of state meet every key once",
        "tests/engine/store/test_state_pages.py::test_pages_meet_every_key_once_and_those_of_one_scope_side_by_side",
    ),
    Mutant(
        _PAGES,
        "if identity is None or identity.key != scope_key:",
        "if identity is None:",
        "what a run was given has the last word on its scopes",
        "tests/engine/store/test_state_pages.py::test_a_scope_that_the_run_was_not_given_is_none_of_its_scopes",
    ),
    Mutant(
        _PAGES,
        "if len(found) > 1:",
        "if len(found) > 2:",
        "a beginning that matches several scopes is none of them",
        "tests/engine/store/test_state_pages.py::test_a_scope_is_found_by_the_beginning_of_its_key",
    ),
    # State by hand
    Mutant(
        _EDITS,
        "return is_whole or state_pages",
        "return True or state_pages",
        "what a run wrote meanwhile is not deleted as if it were what was seen",
        "tests/engine/store/test_state_edits.py::test_of_a_long_value_also_what_no_list_shows_is_as_it_was",
    ),
    Mutant(
        _EDITS,
        "if newest > last:\n                continue",
        "if newest > last + 99:\n                continue",
        "what was written since an edit stays when it is taken back",
        "tests/engine/store/test_state_edits.py::test_a_restore_leaves_keys_that_a_runner_wrote_since",
    ),
    Mutant(
        _EDITS,
        "former.change < ?",
        "former.change <= ?",
        "an edit that is taken back leaves what was before it",
        "tests/engine/store/test_state_edits.py::test_an_edit_that_is_taken_back_leaves_what_was_before",
    ),
    Mutant(
        _EDITS,
        "if noted is None or noted.event_type not in _KINDS:",
        "if noted is None:",
        "only a person's edit of state can be taken back",
        "tests/engine/store/test_state_edits.py::test_only_the_users_edit_of_state_can_be_taken_back",
    ),
    Mutant(
        _EDITS,
        "source=EDITOR,",
        "source=EDITOR, conversation_id=identity.conversation_id,",
        "no runner reads of a person's edits",
        "tests/engine/store/test_state_edits.py::test_no_runner_can_read_the_users_edits_of_state",
    ),
    Mutant(
        "engine/store/state.py",
        "SELECT scope_key, state_key, NULL, conversation_id, ?, ?, ?, ?, ? FROM state WHERE scope_key = ?",
        "SELECT scope_key, state_key, value, conversation_id, ?, ?, ?, ?, ? FROM state WHERE scope_key = ?",
        "a cleared key is known as deleted",
        "tests/engine/store/test_state.py::test_a_cleared_scope_is_empty_from_that_entry_on_and_not_before",
    ),
    # Sessions and hits
    Mutant(
        _SESSIONS,
        '"(last_active, session_id) < (:active, :id)"',
        '"last_active < :active AND session_id <> :id"',
        "pages of sessions meet every session once",
        "tests/engine/store/test_session_pages.py::test_pages_meet_every_session_once_the_last_active_first",
    ),
    Mutant(
        _SESSIONS,
        "SELECT max(rowid) FROM runs",
        "SELECT min(rowid) FROM runs",
        "a session stands where its last run does",
        "tests/engine/store/test_session_pages.py::test_a_row_has_the_status_and_the_size_of_its_session",
    ),
    Mutant(
        "engine/store/search.py",
        "_index.c.rowid < before",
        "_index.c.rowid <= before",
        "pages of hits meet every line once",
        "tests/engine/store/test_hits.py::test_pages_meet_every_hit_once_newest_first_with_the_title_of_its_session",
    ),
    Mutant(
        _HITS,
        "if found is not None and found < at:",
        "if found is not None and found <= at:",
        "a line leads to the entry that said it",
        "tests/engine/store/test_hits.py::test_a_line_is_found_at_the_entry_that_wrote_it",
    ),
    Mutant(
        _HITS,
        "coalesce(pulled_position, json_extract",
        "coalesce(NULL, json_extract",
        "a message that was pulled leads to its pull",
        "tests/engine/store/test_hits.py::test_a_user_line_is_found_at_the_start_of_the_run_or_at_its_pull",
    ),
    # Files
    Mutant(
        _ATTACHING,
        "os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC",
        "os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC",
        "a folder is said to be one",
        _HANGS,
    ),
    Mutant(
        _ATTACHING,
        "if not stat.S_ISREG(status.st_mode):",
        "if stat.S_ISLNK(status.st_mode):",
        "what is no regular file is not attached",
        _HANGS,
    ),
    Mutant(
        _ATTACHING,
        "_key_of(path.resolve(strict=True), size, roots)",
        "_key_of(path, size, roots)",
        "a link is where it leads",
        "tests/engine/intake/test_attachments.py::test_a_link_into_a_root_is_where_it_leads",
    ),
    Mutant(
        _ATTACHING,
        "if status.st_size > INLINE_LIMIT:",
        "if status.st_size >= INLINE_LIMIT:",
        "a file of exactly the limit travels",
        "tests/engine/intake/test_attachments.py::test_an_empty_file_and_one_of_exactly_the_limit_travel",
    ),
    Mutant(
        "engine/intake/attachments.py",
        'if is_file_in_root(root, attachment.id or "")',
        'if (root / (attachment.id or "")).is_file()',
        "what leads out of a root is not there",
        "tests/engine/intake/test_attachments.py::test_a_file_that_left_its_root_is_refused_before_anything_is_recorded",
    ),
    Mutant(
        "engine/run/store_event.py",
        "except (NotFound, PathEscapes):",
        "except PathEscapes.__subclasses__():",
        "a file that goes while its event waits fails no run",
        "tests/engine/intake/test_attachments.py::test_a_file_that_goes_while_its_event_waits_is_left_out_with_a_warning",
    ),
    # Events by hand
    Mutant(
        _COMPOSING,
        "metadata=base.metadata if base is not None and is_same else {},",
        "metadata=base.metadata if base is not None else {},",
        "another actor does not inherit what was known of the first",
        "tests/engine/intake/test_compose.py::test_another_actor_does_not_inherit_what_was_known_of_the_first",
    ),
    Mutant(
        _COMPOSING,
        '"delivery": draft.base.delivery if draft.base else CONSOLE_DELIVERY,',
        '"delivery": CONSOLE_DELIVERY,',
        "an event that is edited keeps what no field shows",
        "tests/engine/intake/test_compose.py::test_an_event_that_is_edited_keeps_what_no_field_shows",
    ),
    Mutant(
        _PAST,
        "row.metadata.get(EVENT_ID_KEY) != event_id",
        "row.metadata.get(EVENT_ID_KEY) is None",
        "another event's artifact of the same id is not brought back",
        "tests/engine/api/test_state_and_events.py::test_bytes_of_another_event_with_the_same_artifact_id_are_not_read",
    ),
    Mutant(
        _PAST,
        "if has_mark(envelope.model_dump_json()):",
        "if has_mark(envelope.event_id):",
        "a secret that comes back as a mark is said",
        "tests/engine/api/test_state_and_events.py::test_secret_stays_masked_in_past_event_and_is_reported",
    ),
    Mutant(
        "engine/api/runs.py",
        'envelope.model_copy(update={"event_time": None})',
        "envelope",
        "a run again is an event of now",
        "tests/engine/api/test_state_and_events.py::test_run_again_has_its_own_copies_of_attached_files",
    ),
)
