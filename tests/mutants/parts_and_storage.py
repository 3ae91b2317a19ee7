"""Mutants of what deleting and pruning remove: parts, artifacts of forks, and the log of storage."""

from typing import Final

from tests.mutants.mutant import Mutant

_PARTS: Final = "engine/store/parts.py"
_DELETION: Final = "engine/store/deletion.py"
_PRUNING: Final = "engine/store/pruning.py"
_LOG: Final = "engine/store/storage_log.py"
_STORAGE: Final = "engine/store/storage.py"
_PARTS_TEST: Final = "tests/engine/store/test_parts.py"
_PRUNING_TEST: Final = "tests/engine/store/test_pruning.py"
_LOG_TEST: Final = "tests/engine/store/test_storage_log.py"
_CALLS: Final = "tests/engine/access/test_state_and_storage.py"
_COMMANDS: Final = "tests/console/cli/test_commands.py"

MUTANTS: Final = (
    # Parts
    Mutant(
        _DELETION,
        "            self._release_parts(conn, run_id)\n",
        "            pass\n",
        "parts are deleted with the last session that uses them",
        f"{_PRUNING_TEST}::test_parts_that_a_kept_run_uses_stay",
    ),
    Mutant(
        _PARTS,
        "        if cost >= max_cost:\n",
        "        if cost < 0:\n",
        "the parts of a run are deleted in slices",
        f"{_PARTS_TEST}::test_parts_of_a_run_are_released_in_slices",
    ),
    Mutant(
        _PARTS,
        "        except BaseException:\n            self._known.clear()\n",
        "        except BaseException:\n            self._known.copy()\n",
        "a part whose storing was undone is stored again",
        f"{_PARTS_TEST}::test_part_is_stored_again_after_an_error_has_undone_it",
    ),
    Mutant(
        _PRUNING,
        "(SELECT count(*) FROM part_uses AS uses WHERE uses.digest = parts.digest)",
        "count(*)",
        "prune keeps parts that a kept run uses",
        f"{_PRUNING_TEST}::test_parts_that_a_kept_run_uses_stay",
    ),
    Mutant(
        _PRUNING,
        "DELETE FROM part_uses WHERE run_id IN {_chosen(DataKind.RUNS)}",
        "DELETE FROM part_uses WHERE run_id IN {_chosen(DataKind.PARTS)}",
        "prune deletes the uses of its runs",
        f"{_PRUNING_TEST}::test_parts_that_a_kept_run_uses_stay",
    ),
    # Artifacts of forks
    Mutant(
        _DELETION,
        "            _hand_over_artifacts(conn, session_id)\n",
        "            pass\n",
        "artifacts that a fork refers to stay when the original is deleted",
        f"{_PRUNING_TEST}::test_artifacts_of_a_deleted_session_stay_as_long_as_a_fork_refers_to_them",
    ),
    Mutant(
        _DELETION,
        "sessions.c.root_session_id == root, sessions.c.session_id != session_id, is_staying",
        "sessions.c.parent_session_id == session_id, is_staying",
        "a fork of a deleted fork keeps the artifacts",
        f"{_PRUNING_TEST}::test_artifacts_of_a_deleted_session_stay_as_long_as_a_fork_refers_to_them",
    ),
    Mutant(
        _DELETION,
        "self._delete_artifacts(conn, and_(artifacts.c.run_id == run_id, own))",
        "self._delete_artifacts(conn, artifacts.c.run_id == run_id)",
        "an artifact that was handed over does not go with its run",
        f"{_PRUNING_TEST}::test_artifacts_of_a_deleted_session_stay_as_long_as_a_fork_refers_to_them",
    ),
    # Prune
    Mutant(
        _PRUNING,
        "(SELECT count(*) FROM artifacts AS others WHERE others.blob_key = artifact_blobs.blob_key)",
        "count(*)",
        "prune keeps content that a kept artifact has too",
        f"{_PRUNING_TEST}::test_list_names_exactly_what_prune_deletes[0]",
    ),
    Mutant(
        _PRUNING,
        "        storage_log.remove_changes(conn, run_id, limit=-1)\n",
        "        pass\n",
        "prune removes the logged values of its runs",
        f"{_LOG_TEST}::test_values_of_a_deleted_or_pruned_run_are_not_in_the_file",
    ),
    Mutant(
        _PRUNING,
        "return PrunedData(selected.rows, max(0, before - used_bytes(conn)))",
        "return PrunedData(selected.rows, selected.total_bytes)",
        "the bytes that became free are those of the file",
        f"{_PRUNING_TEST}::test_prune_returns_the_bytes_that_became_free",
    ),
    Mutant(
        "engine/store/data_sizes.py",
        "coalesce(length(CAST({table.name}.",
        "coalesce(length(({table.name}.",
        "texts are counted in bytes",
        f"{_PRUNING_TEST}::test_texts_are_counted_in_bytes",
    ),
    Mutant(
        "console/cli/prune.py",
        "        if options.dry_run:\n",
        "        if options.dry_run and options.json:\n",
        "a dry run deletes nothing",
        f"{_COMMANDS}::test_dry_run_lists_by_session_what_prune_then_deletes",
    ),
    Mutant(
        "console/cli/prune.py",
        "    if options.older_than is None:\n",
        "    if options.older_than == 0:\n",
        "prune without an age says what it needs",
        f"{_COMMANDS}::test_prune_without_an_age_says_what_it_needs",
    ),
    # The log of storage
    Mutant(
        _STORAGE,
        "    if gone.rowcount:\n",
        "    if gone.rowcount < 0:\n",
        "a deletion is logged",
        f"{_LOG_TEST}::test_storage_is_as_it_was_when_a_run_started",
    ),
    Mutant(
        _STORAGE,
        "    storage_log.note(conn, owner, key, value, change, run_parts)\n",
        "    pass\n",
        "a put is logged",
        f"{_LOG_TEST}::test_storage_is_as_it_was_when_a_run_started",
    ),
    Mutant(
        "engine/access/services.py",
        "run_id=run.order.run_id, position=run.recorder.position",
        "run_id=run.order.run_id, position=run.recorder.position + 1",
        "a change has the entry of its call",
        f"{_CALLS}::test_storage_change_has_the_run_and_entry_of_its_call",
    ),
    Mutant(
        _LOG,
        "        digest, value = run_parts.add(conn, value), None\n",
        "        digest = None\n",
        "equal large values are stored once",
        f"{_LOG_TEST}::test_equal_large_values_are_stored_once_and_count_to_the_limit_of_the_journal",
    ),
    Mutant(
        _LOG,
        "and is_large and not run_parts.has_secret(value):",
        "and is_large:",
        "a value with a secret is in no part",
        f"{_LOG_TEST}::test_large_value_with_a_secret_is_in_the_log_and_in_no_part",
    ),
    Mutant(
        "engine/journal/recorder.py",
        "lambda content: bool(marks.ranges_in(content))",
        "lambda content: False",
        "a stored value with a secret of its run is in no part",
        f"{_CALLS}::test_stored_secret_is_in_no_part",
    ),
    Mutant(
        _LOG,
        "        run_parts.stored_bytes += size\n",
        "        pass\n",
        "the log counts to the limit of the journal",
        f"{_LOG_TEST}::test_equal_large_values_are_stored_once_and_count_to_the_limit_of_the_journal",
    ),
    Mutant(
        _LOG,
        "    if is_removed or (digest",
        "    if (digest",
        "a removed value is not known",
        f"{_LOG_TEST}::test_removed_value_is_not_known_and_no_other_value_is_taken_for_it",
    ),
    Mutant(
        _LOG,
        "    if change == newest:\n",
        "    if change == newest and not is_removed:\n",
        "a value that is still stored is known",
        f"{_LOG_TEST}::test_value_that_is_still_stored_is_known_without_its_run",
    ),
    Mutant(
        _LOG,
        "        if newest is None or not is_complete:\n",
        "        if newest is None:\n",
        "a key whose earlier changes are lost is not known",
        f"{_LOG_TEST}::test_key_that_only_deleted_runs_have_used_is_not_in_the_log",
    ),
    Mutant(
        _LOG,
        "            _forget_key(conn, owner, key)\n",
        "            pass\n",
        "the log has no key that only deleted runs have used",
        f"{_LOG_TEST}::test_key_that_only_deleted_runs_have_used_is_not_in_the_log",
    ),
    Mutant(
        _LOG,
        "max(row for (row,) in forgotten)",
        "min(0 for _ in forgotten)",
        "storage is not complete if the log has lost a key",
        f"{_LOG_TEST}::test_key_that_only_deleted_runs_have_used_is_not_in_the_log",
    ),
    Mutant(
        _LOG,
        "        for each in (before, change, after):\n",
        "        for each in ():\n",
        "the log does not grow with runs that are gone",
        f"{_LOG_TEST}::test_log_without_runs_has_two_changes_for_each_key[False]",
    ),
    Mutant(
        _LOG,
        "    AND EXISTS (SELECT 1 FROM storage_changes",
        "    AND 1 OR 0 AND EXISTS (SELECT 1 FROM storage_changes",
        "the newest change stays: it says since when the stored value holds",
        f"{_LOG_TEST}::test_newest_change_stays_in_the_log",
    ),
    Mutant(
        _DELETION,
        "            self._remove_storage_log(conn, run_id)\n",
        "            pass\n",
        "logged values go with their session",
        f"{_LOG_TEST}::test_values_of_a_deleted_or_pruned_run_are_not_in_the_file",
    ),
    Mutant(
        "engine/store/migrations/versions/v0013_record.py",
        "    for statement in BEGIN_STORAGE_LOG:\n",
        "    for statement in ():\n",
        "the log of an upgraded database begins with the upgrade",
        f"{_LOG_TEST}::test_log_of_an_upgraded_database_begins_with_the_upgrade",
    ),
    # The record
    Mutant(
        "engine/journal/call_record.py",
        "except (PartDamaged, NotFound, orjson.JSONDecodeError):",
        "except (NotFound, orjson.JSONDecodeError):",
        "damaged content is named",
        "tests/console/inspector/test_damaged_part.py::test_damaged_content_is_named_and_the_rest_is_shown",
    ),
    Mutant(
        "engine/access/calls/model.py",
        '        return {"tokens": await run.order.resource_set',
        '        return {"tokens": await services.writer.flush() or await run.order.resource_set',
        "tokens are counted without waiting for a write",
        "tests/engine/access/test_guards.py::test_tokens_are_counted_without_waiting_for_a_write",
    ),
)
