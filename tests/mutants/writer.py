"""Mutants of the writer."""

from typing import Final

from tests.mutants.mutant import Mutant

_TESTS: Final = "tests/engine/store/test_writer.py"

MUTANTS: Final = (
    Mutant(
        "engine/store/writer.py",
        "items = [queue.popleft() for _ in",
        "items = [queue.pop() for _ in",
        "entries are stored in the order of the queue",
        f"{_TESTS}::test_order_in_the_database_is_that_of_the_queue",
    ),
    Mutant(
        "engine/store/batch.py",
        'driver.execute("ROLLBACK TO operation")',
        'driver.execute("SELECT 1")',
        "an operation that raises is rolled back",
        f"{_TESTS}::test_operation_that_raises_is_rolled_back_alone",
    ),
    Mutant(
        "engine/store/batch.py",
        "self.results.append((operation.future, None, error))",
        "raise",
        "an operation that raises does not affect others",
        f"{_TESTS}::test_operation_that_raises_is_rolled_back_alone",
    ),
    Mutant(
        "engine/store/writer.py",
        'self._execute_when_free(driver, "COMMIT")',
        'self._call_on_loop(self._on_committed, 1, batch.entries) and time.sleep(0.02) or driver.execute("COMMIT")',
        "entries are announced only after their commit",
        f"{_TESTS}::test_entries_are_announced_after_their_commit",
    ),
    Mutant(
        "engine/store/batch.py",
        "self.first_row = last - len(self.entries) + 1",
        "self.first_row = last - len(self.entries)",
        "entries are announced with their rows",
        f"{_TESTS}::test_on_committed_gets_the_first_row_and_rows_follow_without_gap",
    ),
    Mutant(
        "engine/store/writer.py",
        "self._on_committed(batch.first_row, batch.entries)",
        "self._loop.call_later(0.02, self._on_committed, batch.first_row, batch.entries)",
        "entries are announced before the future of their operation resolves",
        f"{_TESTS}::test_future_resolves_after_its_entries_are_announced",
    ),
    Mutant(
        "engine/store/writer.py",
        "        self._queue.clear()\n        self._taken = self._done",
        "        self._queue.copy()\n        self._taken = self._done",
        "after a failure no entry is written after a gap",
        f"{_TESTS}::test_after_a_failure_no_entry_is_written_after_a_gap",
    ),
    Mutant(
        "engine/store/batch.py",
        "_UNSTORABLE: Final = (sqlite3.Error, UnicodeError, OverflowError)",
        "_UNSTORABLE: Final = (UnicodeError, OverflowError)",
        "an entry that cannot be stored does not affect others",
        f"{_TESTS}::test_entry_that_cannot_be_stored_does_not_affect_others",
    ),
    Mutant(
        "engine/store/writer.py",
        "            self._on_failure(error)",
        "            self._make_room()",
        "a full disk is reported",
        f"{_TESTS}::test_full_disk_fails_the_batch_and_all_queued_work_and_loses_no_announced_entry",
    ),
    Mutant(
        "engine/store/writer.py",
        "        self._disconnect()\n        self.current_error = error",
        "        self._driver.execute('COMMIT')\n        self.current_error = error",
        "a batch that failed leaves nothing half written",
        f"{_TESTS}::test_full_disk_fails_the_batch_and_all_queued_work_and_loses_no_announced_entry",
    ),
    Mutant(
        "engine/store/writer.py",
        "if sqlite_code(error) not in _BUSY or time.monotonic() >= until:",
        "if sqlite_code(error) in _BUSY or time.monotonic() >= until:",
        "the writer waits for a lock of another process",
        f"{_TESTS}::test_writer_waits_for_a_lock_of_another_process_and_loses_nothing",
    ),
    Mutant(
        "engine/store/batch.py",
        "            del self._entries[before:]",
        "            self._entries[before:]",
        "rolled back entries are not announced",
        "tests/engine/store/test_writer.py::test_failed_attempt_is_rolled_back_and_its_operation_continues",
    ),
)
