"""Faults where several processes share a database, or one of them died."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/facts/hosts.py",
        "fcntl.LOCK_EX | fcntl.LOCK_NB",
        "fcntl.LOCK_SH | fcntl.LOCK_NB",
        "a hosting process holds an exclusive lock on its own file",
        "tests/facts/test_processes.py::test_a_host_is_dead_once_its_process_is_killed_and_not_before",
    ),
    Mutant(
        "engine/facts/hosts.py",
        "    except OSError:\n        return False\n    finally:",
        "    except OSError:\n        return True\n    finally:",
        "only runs whose host's lock is free are recovered",
        "tests/engine/test_processes.py::test_a_second_host_closes_none_of_a_live_ones_runs",
    ),
    Mutant(
        "engine/facts/hosts.py",
        '"lock_file": lock.path.name,',
        '"lock_file": str(lock.path),',
        "a copied database does not take the first one's host for its own",
        "tests/facts/test_processes.py::test_a_copied_database_does_not_take_the_first_ones_host_for_its_own",
    ),
    Mutant(
        "engine/facts/runs.py",
        "query = select(runs).where(runs.c.host == host, runs.c.status.in_(LIVE))",
        "query = select(runs).where(runs.c.status.in_(LIVE))",
        "recovery closes only the dead host's runs",
        "tests/engine/test_processes.py::test_recovery_closes_only_the_dead_hosts_runs",
    ),
    Mutant(
        "engine/run/recovery.py",
        "REASON: Final = FailureCode.HOST_RESTARTED.value",
        "REASON: Final = FailureCode.LOST.value",
        "a dead host's run is closed as failed host_restarted",
        "tests/engine/test_processes.py::test_opening_to_host_closes_the_runs_of_a_dead_host",
    ),
    Mutant(
        "engine/run/recovery.py",
        "drop_waiting(tx, host_id, REASON, at=now)",
        "drop_waiting(tx, host_id[:0], REASON, at=now)",
        "what waited for a dead host is dropped with the reason",
        "tests/engine/test_processes.py::test_what_waited_for_a_dead_host_is_dropped_with_the_reason_and_stays_said",
    ),
    Mutant(
        "engine/api.py",
        'hosting = mode == "host"',
        "hosting = bool(mode)",
        "a reader never recovers anything",
        "tests/engine/test_processes.py::test_a_reader_never_recovers_anything",
    ),
    Mutant(
        "engine/facts/runs.py",
        "runs.c.host == host, runs.c.status.in_(LIVE), runs.c.cancel_requested_at.is_not(None)",
        "runs.c.status.in_(LIVE), runs.c.cancel_requested_at.is_not(None)",
        "a host carries out the cancels of its own runs",
        "tests/facts/test_runs.py::test_cancelling_writes_the_intent_once_and_its_host_finds_it",
    ),
    Mutant(
        "engine/facts/hosts.py",
        "self.path.unlink(missing_ok=True)\n",
        "self.path.exists()\n",
        "a host that closes leaves no lock file",
        "tests/engine/test_facade.py::test_no_lock_file_is_left_when_a_host_closes",
    ),
)
