"""Mutants of sessions: their ids and names, creation, counts, and the threads and bots of their transcripts."""

from typing import Final

from tests.mutants.mutant import Mutant

_STORE: Final = "tests/engine/store/test_sessions.py"
_API: Final = "tests/engine/api/test_sessions.py"
_CLI: Final = "tests/console/cli/test_sessions.py"
_THREADS: Final = f"{_API}::test_transcript_has_all_threads_and_bots_and_can_be_filtered"
_PRINTED: Final = (
    "tests/console/cli/test_transcript.py::test_transcript_shows_all_threads_and_bots_with_labels_and_filters"
)
_TAB: Final = (
    "tests/console/inspector/test_transcript_tab.py::"
    "test_transcript_tab_shows_all_threads_and_bots_and_one_after_the_other"
)
_NAMES: Final = f"{_STORE}::test_exact_id_wins_over_last_and_over_a_beginning"
_METADATA: Final = f"{_STORE}::test_metadata_that_cannot_be_stored_is_refused"
_BROWSER: Final = "tests/console/sessions/test_new_session.py"

MUTANTS: Final = (
    # Ids and names
    Mutant(
        "engine/events.py",
        "]{1,255}",
        "]{1,256}",
        "a session id has at most 255 characters",
        f"{_STORE}::test_invalid_session_ids_are_refused",
    ),
    Mutant(
        "engine/events.py",
        r"\x7f-\x9f",
        r"\x7f",
        "a session id has no control characters",
        f"{_STORE}::test_invalid_session_ids_are_refused",
    ),
    Mutant(
        "engine/store/sessions.py",
        "if session is None and name == LAST:",
        "if name == LAST:",
        "an exact id wins over `last`",
        _NAMES,
    ),
    Mutant(
        "engine/store/sessions.py",
        "if len(found) > 1:",
        "if len(found) > 5:",
        "a beginning must be unique",
        _NAMES,
    ),
    Mutant(
        "engine/store/sessions.py",
        "if session is None and by_beginning:",
        "if session is None:",
        "a new session may have the beginning of another id as its name",
        _NAMES,
    ),
    Mutant(
        "console/data/session_names.py",
        "cells(name) >= SESSION_COLUMNS",
        "cells(name) >= 1",
        "`run --session` takes a short name as it is",
        f"{_CLI}::test_beginning_of_an_id_names_a_session_unless_a_new_one_may_be_meant",
    ),
    Mutant(
        "console/cli/transcript.py",
        "engine.sessions.find(options.session)",
        "engine.sessions.get(options.session)",
        "commands accept a unique beginning of an id",
        f"{_CLI}::test_beginning_of_an_id_names_a_session_unless_a_new_one_may_be_meant",
    ),
    Mutant(
        "console/model/text/units.py",
        "SESSION_COLUMNS: Final = 24",
        "SESSION_COLUMNS: Final = 25",
        "an id is shown by its first 24 columns",
        f"{_CLI}::test_commands_take_ids_of_real_platforms_and_never_use_them_as_a_path",
    ),
    Mutant(
        "console/model/text/units.py",
        "return fitting(one_line(session_id), SESSION_COLUMNS)",
        "return fitting(session_id, SESSION_COLUMNS)",
        "an id is shown safely for the terminal",
        f"{_CLI}::test_commands_take_ids_of_real_platforms_and_never_use_them_as_a_path",
    ),
    Mutant(
        "console/data/active_session.py",
        "await self.engine.sessions.list(limit=1)",
        'await self.engine.sessions.list(limit=1, user_id="last")',
        "the session that was active last is continued",
        "tests/console/sessions/test_session_names.py::test_last_session_is_continued_also_if_another_is_called_last",
    ),
    # Creating and changing
    Mutant(
        "engine/store/sessions.py",
        "_check_unused(conn, session_id)",
        "checked(session_id)",
        "a session is not created twice",
        f"{_STORE}::test_root_session_is_created_before_its_first_message",
    ),
    Mutant(
        "engine/store/sessions.py",
        "user_id=parent.user_id if user_id is None else user_id,",
        "user_id=parent.user_id,",
        "a child has the user that was given",
        f"{_STORE}::test_child_has_its_own_user_if_one_is_given",
    ),
    Mutant(
        "engine/store/sessions.py",
        "if above.parent_session_id == child_id:",
        "if above.session_id == child_id:",
        "the tree of sessions has no loop",
        f"{_STORE}::test_deleted_session_cannot_come_back_below_its_own_child",
    ),
    Mutant(
        "engine/store/sessions.py",
        "if key in keys:",
        "if key in keys and key not in (FORKED_FROM, FORKED_AT):",
        "a user cannot change where a session was forked",
        _METADATA,
    ),
    Mutant(
        "engine/store/sessions.py",
        "if size > MAX_METADATA_BYTES:",
        "if size > 2 * MAX_METADATA_BYTES:",
        "metadata has at most 65,536 bytes",
        _METADATA,
    ),
    Mutant(
        "console/ui/sessions/screen.py",
        "remove=before.keys() - metadata.keys()",
        "remove=()",
        "a key that the user deletes from the metadata is removed",
        f"{_BROWSER}::test_child_is_spawned_and_metadata_is_edited",
    ),
    Mutant(
        "console/ui/sessions/screen.py",
        "                fields.session_id,\n                user_id=fields.user_id,",
        "                fields.session_id,\n                user_id=None,",
        "the console spawns a child with its own user",
        f"{_BROWSER}::test_child_is_spawned_and_metadata_is_edited",
    ),
    # Counts and the last run
    Mutant(
        "engine/store/sessions.py",
        "SET message_count = message_count + 1, runner_id",
        "SET message_count = message_count + 0, runner_id",
        "an event that starts a run is counted",
        f"{_STORE}::test_session_remembers_its_last_run_and_counts_events",
    ),
    Mutant(
        "engine/queue/pulls.py",
        "sessions.add_message(tx.connection, item.conversation_id)",
        "pass",
        "a message that joins a run is counted",
        "tests/engine/queue/test_pulls.py::test_session_counts_messages_that_joined_the_run_when_they_are_delivered",
    ),
    Mutant(
        "engine/run/prepare.py",
        "project=str(project.folder.absolute()),",
        "project=None,",
        "a session has the project of its last run",
        f"{_API}::test_session_has_runner_agent_and_project_of_its_last_run",
    ),
    Mutant(
        "engine/store/migrations/versions/v0007_session_runs.py",
        "message_count = max(\n            message_count,",
        "message_count = max(\n            0,",
        "a migrated count does not lose pruned runs",
        "tests/engine/store/test_upgrade.py::"
        "test_sessions_of_an_older_database_get_their_last_run_and_count_its_events",
    ),
    # Threads and bots
    Mutant(
        "engine/store/transcript.py",
        "or_(wanted.is_(None), ",
        'or_(wanted == "", ',
        "a transcript has the lines of all threads and bots",
        _THREADS,
    ),
    Mutant(
        "engine/store/transcript.py",
        'func.coalesce(transcript.c[name], "") == wanted',
        "transcript.c[name] == wanted",
        "an empty filter selects the lines without a thread",
        _THREADS,
    ),
    Mutant(
        "console/cli/transcript.py",
        "thread_id=options.thread,",
        "thread_id=None,",
        "`transcript --thread` shows one thread",
        _PRINTED,
    ),
    Mutant(
        "console/cli/transcript.py",
        "label = place_of(line).label",
        'label = ""',
        "printed lines are labelled with thread and bot",
        _PRINTED,
    ),
    Mutant(
        "console/ui/inspector/tabs.py",
        "if line.place.label else ()",
        "if False else ()",
        "lines of the Transcript tab are labelled",
        _TAB,
    ),
    Mutant(
        "console/data/inspector_loader.py",
        "wanted = {} if only is None else only._asdict()",
        "wanted = dict[str, str]()",
        "the Transcript tab shows one thread if the user chose it",
        _TAB,
    ),
    Mutant(
        "console/data/inspector_loader.py",
        "chosen = only if only in places else None",
        "chosen = only",
        "the choice of a thread does not hide another session",
        _TAB,
    ),
)
