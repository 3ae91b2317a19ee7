"""Mutants for several processes on one database, and for one that died."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/store/hosts.py",
        "fcntl.LOCK_EX | fcntl.LOCK_NB",
        "fcntl.LOCK_SH | fcntl.LOCK_NB",
        "a hosting process holds an exclusive lock on its own file",
        "tests/engine/store/test_processes.py::test_a_host_is_dead_once_its_process_is_killed_and_not_before",
    ),
    Mutant(
        "engine/store/hosts.py",
        "    except OSError:\n        return False\n    finally:",
        "    except OSError:\n        return True\n    finally:",
        "only runs whose host's lock is free are recovered",
        "tests/engine/api/test_processes.py::test_second_host_does_not_close_runs_of_a_live_host",
    ),
    Mutant(
        "engine/store/hosts.py",
        '"lock_file": lock.path.name,',
        '"lock_file": str(lock.path),',
        "a copied database does not see the host of the original",
        "tests/engine/store/test_processes.py::test_copied_database_does_not_see_the_host_of_the_original",
    ),
    Mutant(
        "engine/store/runs.py",
        "query = select(runs).where(runs.c.host == host, runs.c.status.in_(LIVE_STATUSES))",
        "query = select(runs).where(runs.c.status.in_(LIVE_STATUSES))",
        "recovery closes only the dead host's runs",
        "tests/engine/api/test_processes.py::test_recovery_closes_only_runs_of_dead_hosts",
    ),
    Mutant(
        "engine/host.py",
        "HOST_RESTARTED: Final = FailureCode.HOST_RESTARTED.value",
        "HOST_RESTARTED: Final = FailureCode.LOST.value",
        "a dead host's run is closed as failed host_restarted",
        "tests/engine/api/test_processes.py::test_opening_as_host_closes_runs_of_a_dead_host",
    ),
    Mutant(
        "engine/host.py",
        "drop_pending(tx, host_id, HOST_RESTARTED, at=now)",
        "drop_pending(tx, host_id[:0], HOST_RESTARTED, at=now)",
        "queued messages of a dead host are dropped with the reason",
        "tests/engine/api/test_processes.py::test_queued_messages_of_a_dead_host_are_dropped_and_stay_in_the_transcript",
    ),
    Mutant(
        "engine/api/engine.py",
        'hosting = mode == "host"',
        "hosting = bool(mode)",
        "a reader never recovers anything",
        "tests/engine/api/test_processes.py::test_reader_does_not_recover_runs",
    ),
    Mutant(
        "engine/store/runs.py",
        "SELECT run_id FROM runs WHERE host = ? AND status",
        "SELECT run_id FROM runs WHERE host <> ? AND status",
        "a host carries out the cancels of its own runs",
        "tests/engine/store/test_runs.py::test_cancel_request_is_stored_once_and_found_by_the_host",
    ),
    Mutant(
        "engine/store/hosts.py",
        "self.path.unlink(missing_ok=True)\n",
        "self.path.exists()\n",
        "a host that closes leaves no lock file",
        "tests/engine/api/test_engine.py::test_closing_host_removes_its_lock_file",
    ),
)
