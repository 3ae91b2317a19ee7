"""Mutants of the upgrade of a database."""

from typing import Final

from tests.mutants.mutant import Mutant

_UPGRADE: Final = "engine/store/upgrade.py"
_DATABASE: Final = "engine/store/database.py"
_RECORD: Final = "engine/store/migrations/versions/v0013_record.py"
_SAFETY: Final = "tests/engine/store/test_upgrade_safety.py"
_DATA: Final = "tests/engine/store/test_upgrade.py"
_CLI: Final = "tests/console/cli/test_upgrade.py"
_CONSOLE: Final = "tests/console/main/test_upgrade.py"
_KILLED: Final = f"{_SAFETY}::test_killed_upgrade_has_changed_nothing_and_is_begun_again"
_FAILED: Final = f"{_SAFETY}::test_failed_upgrade_changes_nothing_and_names_its_copy"
_OTHERS: Final = f"{_SAFETY}::test_others_are_told_which_process_upgrades_the_database"
_COUNTED: Final = f"{_DATA}::test_journals_of_ended_runs_are_counted_in_slices"
_HOSTS: Final = f"{_CLI}::test_command_that_hosts_upgrades_and_prints_its_progress"

MUTANTS: Final = (
    # One transaction
    Mutant(
        _UPGRADE,
        "self._meter.add(count * LINE_WORK)",
        "self._driver.commit()",
        "an upgrade is committed as a whole",
        f"{_KILLED}[before the commit]",
    ),
    Mutant(
        _UPGRADE,
        "for count in search_index.index_backlog(self._connection):",
        "for count in ():",
        "an upgrade indexes the lines of the transcript",
        f"{_DATA}::test_older_database_is_upgraded_and_its_lines_are_found",
    ),
    Mutant(
        _UPGRADE,
        "return self.error is not None",
        "return False",
        "a long statement of an upgrade that nobody waits for is interrupted",
        f"{_SAFETY}::test_long_statement_is_interrupted",
    ),
    Mutant(
        "engine/api/engine.py",
        "        self._is_over = True",
        "        self._is_over = False",
        "a cancelled open ends its upgrade",
        "tests/engine/api/test_engine.py::test_cancelled_open_ends_its_upgrade_and_changes_nothing",
    ),
    # The copy
    Mutant(
        _UPGRADE,
        "            self._make_copy()",
        "            pass",
        "a copy is kept until the upgrade has succeeded",
        f"{_KILLED}[before the commit]",
    ),
    Mutant(
        _UPGRADE,
        "if isinstance(problem, DiskFull):",
        "if isinstance(problem, StoreError):",
        "the copy of a failed upgrade is kept and named",
        _FAILED,
    ),
    Mutant(
        _UPGRADE,
        "            self._remove_copies()\n            return DiskFull(",
        "            pass\n            return DiskFull(",
        "the copy makes room again if the disk is full",
        f"{_SAFETY}::test_database_that_can_be_written_no_longer_is_not_changed[full]",
    ),
    Mutant(
        _UPGRADE,
        "                self._remove_copies()\n                raise self._meter.error",
        "                pass\n                raise self._meter.error",
        "an interrupted upgrade leaves no files",
        f"{_SAFETY}::test_upgrade_that_nobody_waits_for_changes_nothing",
    ),
    Mutant(
        _UPGRADE,
        "if free < needed:",
        "if free < 0:",
        "missing room for the copy is reported before the upgrade begins",
        f"{_CLI}::test_missing_room_is_reported_with_the_bytes",
    ),
    Mutant(
        "engine/store/private_files.py",
        "return [*_with_suffixes(upgrade_copy(database)), *_with_suffixes(unfinished_copy(database))]",
        "return [*_with_suffixes(upgrade_copy(database))]",
        "a partial copy of a killed upgrade is removed",
        f"{_KILLED}[while copying]",
    ),
    Mutant(
        _UPGRADE,
        "        return bool(found)",
        "        return False",
        "the user is told of a killed upgrade",
        f"{_KILLED}[while indexing]",
    ),
    Mutant(
        _UPGRADE,
        "            each.unlink(missing_ok=True)",
        "            pass",
        "the copy of an upgrade that was killed after its commit is removed",
        f"{_SAFETY}::test_upgrade_that_is_killed_after_its_commit_has_succeeded",
    ),
    Mutant(
        _UPGRADE,
        "    if hosts.upgrading_process(path) is not None:",
        "    if False:",
        "a host leaves the copy of an upgrade in progress alone",
        f"{_SAFETY}::test_host_beside_the_end_of_an_upgrade_leaves_its_copy_alone",
    ),
    Mutant(
        _DATABASE,
        "        if copy.exists():",
        "        if False:",
        "no new database is made beside the copy of a lost one",
        f"{_SAFETY}::test_copy_of_a_killed_upgrade_is_not_lost_if_the_database_is_gone",
    ),
    # Refusals
    Mutant(
        _UPGRADE,
        'self._driver.execute("PRAGMA user_version = 0")',
        "pass",
        "a read-only database is refused before it is copied",
        f"{_SAFETY}::test_read_only_database_is_not_upgraded",
    ),
    Mutant(
        _UPGRADE,
        "        if found:",
        "        if False:",
        "a database that another host has open is not upgraded",
        f"{_SAFETY}::test_database_that_another_host_has_open_is_not_upgraded",
    ),
    Mutant(
        _DATABASE,
        "if isinstance(problem, DatabaseLocked) and (pid := hosts.upgrading_process(path)) is not None:",
        "if (pid := None) is not None:",
        "a second host is told which process upgrades the database",
        _OTHERS,
    ),
    Mutant(
        _DATABASE,
        "    if (pid := hosts.upgrading_process(path)) is not None:\n        return",
        "    if (pid := None) is not None:\n        return",
        "a reader is told which process upgrades the database",
        _OTHERS,
    ),
    Mutant(
        _DATABASE,
        "if found != tables.SCHEMA_VERSION and not write:",
        "if found is None and not write:",
        "a reader does not open an older database",
        f"{_SAFETY}::test_reader_names_the_command_that_upgrades",
    ),
    # The record
    Mutant(
        _RECORD,
        "+ {ROW_BYTES})",
        "+ 0)",
        "each entry of an old journal counts with its row",
        _COUNTED,
    ),
    Mutant(
        _RECORD,
        "length(CAST(data AS BLOB))",
        "length(data)",
        "an old journal is counted in bytes",
        _COUNTED,
    ),
    Mutant(
        _RECORD,
        "coalesce(journal_bytes, 0) + sizes.bytes",
        "sizes.bytes",
        "an old journal is counted over all its slices",
        _COUNTED,
    ),
    Mutant(
        _RECORD,
        "WHERE runs.run_id = sizes.run_id AND {_ENDED}",
        "WHERE runs.run_id = sizes.run_id",
        "the journal of a run that has not ended is not counted",
        _COUNTED,
    ),
    Mutant(
        _RECORD,
        "json_object('sum', json(usage))",
        "usage",
        "the usage of an old run is marked as a sum",
        _COUNTED,
    ),
    # Progress
    Mutant(
        "console/cli/progress.py",
        "is_logged=True",
        "is_logged=False",
        "a command prints the progress of an upgrade also if standard error is a file",
        _HOSTS,
    ),
    Mutant(
        "console/cli/progress.py",
        "    for remark in engine.remarks:",
        "    for remark in ():",
        "a command says that it has upgraded the database",
        _HOSTS,
    ),
    Mutant(
        "console/app.py",
        "is_upgrading=session.upgrade_percent is not None",
        "is_upgrading=False",
        "the console explains an upgrade in progress",
        f"{_CONSOLE}::test_console_shows_an_upgrade_and_sends_what_was_typed_during_it",
    ),
    Mutant(
        "console/app.py",
        "        for remark in session.engine.remarks:",
        "        for remark in ():",
        "the console says that the database was upgraded",
        f"{_CONSOLE}::test_console_shows_an_upgrade_and_sends_what_was_typed_during_it",
    ),
    Mutant(
        "console/data/active_session.py",
        "            if percent != shown:",
        "            if True:",
        "the console draws each percentage of an upgrade once",
        f"{_CONSOLE}::test_session_reports_each_percentage_once",
    ),
    Mutant(
        "console/data/active_session.py",
        "            self.has_tried_upgrade = shown >= 0",
        "            self.has_tried_upgrade = False",
        "an upgrade that failed is not tried again at once",
        f"{_CONSOLE}::test_failed_upgrade_is_not_tried_again_at_once",
    ),
)
