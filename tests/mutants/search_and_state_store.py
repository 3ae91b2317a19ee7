"""Mutants of the search index, of state in memory and of temporary databases."""

from typing import Final

from tests.mutants.mutant import Mutant

_SEARCH: Final = "engine/store/search.py"
_TOKENIZER: Final = "engine/store/tokenizer.py"
_TESTS: Final = "tests/engine/store/test_search.py"
_FINDS: Final = f"{_TESTS}::test_the_query_finds_the_line"
_STATE: Final = "tests/engine/store/test_state.py"
_ONLY_HOST: Final = "tests/engine/api/test_state_and_events.py::test_engine_with_state_in_memory_must_be_the_only_host"
_EPHEMERAL: Final = "tests/console/cli/test_ephemeral.py"

MUTANTS: Final = (
    # The index
    Mutant(
        _SEARCH,
        "instr(word, ?)",
        "word LIKE ? || '%'",
        "a search finds parts within words",
        _FINDS,
    ),
    Mutant(
        _SEARCH,
        "if len(words) <= max_words:",
        "if words:",
        "a part of many words finds all of them",
        f"{_TESTS}::test_part_finds_every_word_that_contains_it",
    ),
    Mutant(
        _TOKENIZER,
        "found.append(BREAK)",
        "pass",
        "the parts of two words do not match as one word",
        f"{_TESTS}::test_three_letters_or_more_find_exactly_the_lines_that_contain_them",
    ),
    Mutant(
        _TOKENIZER,
        '_ACCENTS.sub("", unicodedata',
        'str("") or (unicodedata',
        "a search ignores accents",
        _FINDS,
    ),
    Mutant(
        _TOKENIZER,
        "found += _parts_of_run(piece) if is_run(piece) else (piece,)",
        "found += (piece,)",
        "two Chinese characters are found anywhere",
        _FINDS,
    ),
    Mutant(
        "engine/store/tables.py",
        "SELECT 'delete', old.seq, terms",
        "SELECT 'delete', old.seq, ''",
        "a deleted line leaves the index",
        f"{_TESTS}::test_deleted_lines_are_not_found",
    ),
    Mutant(
        "engine/store/search_index.py",
        "DELETE FROM search_words WHERE word_id = ?",
        "UPDATE search_words SET is_unchecked = 0 WHERE word_id = ?",
        "a word that no line has any more is forgotten",
        f"{_TESTS}::test_words_that_no_line_has_any_more_are_forgotten",
    ),
    # State
    Mutant(
        "engine/store/state.py",
        "SET value = excluded.value, masked = excluded.masked, updated_at",
        "SET value = excluded.value, created_at = excluded.created_at, masked = excluded.masked, updated_at",
        "a key keeps the time of its creation",
        f"{_STATE}::test_key_keeps_the_time_of_its_creation_until_it_is_deleted",
    ),
    Mutant(
        "engine/store/migrations/versions/v0011_state_created.py",
        "AND deleted.value IS NULL",
        "AND deleted.value = ''",
        "the creation of a key in an older database is after its last deletion",
        "tests/engine/store/test_upgrade.py::test_creation_of_state_is_read_from_the_changes_of_an_older_database",
    ),
    Mutant(
        "engine/store/database.py",
        'if state == "memory":',
        'if state == "other":',
        "state in memory leaves the database as it is",
        f"{_STATE}::test_state_in_memory_leaves_the_file_as_it_is",
    ),
    Mutant(
        "engine/store/hosts.py",
        "        if name.endswith(_ONLY + _SUFFIX):",
        "        if False:",
        "an engine with state in memory refuses a second host",
        _ONLY_HOST,
    ),
    Mutant(
        "engine/store/hosts.py",
        "    if others and any(",
        "    if not others and any(",
        "an engine with state in memory does not open beside a host",
        _ONLY_HOST,
    ),
    # Temporary databases
    Mutant(
        "console/cli/ephemeral.py",
        "shutil.rmtree(folder, ignore_errors=True)",
        "pass",
        "a temporary database is removed at the end",
        f"{_EPHEMERAL}::test_run_uses_a_private_folder_that_is_removed_at_the_end",
    ),
    Mutant(
        "console/cli/ephemeral.py",
        "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        "the temporary database of a live process is kept",
        f"{_EPHEMERAL}::test_only_abandoned_folders_of_this_program_are_removed",
    ),
    Mutant(
        "console/cli/ephemeral.py",
        "cleaning.start()",
        "pass",
        "the next start removes the temporary database of a killed process",
        f"{_EPHEMERAL}::test_folder_of_a_killed_process_is_removed_by_the_next_start_and_that_of_a_live_one_is_not",
    ),
)
