"""Mutants of the child process of a runner, and of its end."""

from typing import Final

from tests.mutants.mutant import Mutant

MUTANTS: Final = (
    Mutant(
        "engine/runtimes/environment.py",
        'if name in BASE or name.startswith("LC_")}',
        'if name in BASE or not name.startswith("PYTHON")}',
        "a child gets an explicit environment",
        "tests/engine/runtimes/test_runs.py::test_the_environment_is_explicit",
    ),
    Mutant(
        "engine/runtimes/worker/main.py",
        "    os.dup2(nothing, 0)",
        "    os.fstat(nothing)",
        "stdin of a runner is not the wire",
        "tests/engine/runtimes/test_runs.py::test_stdin_is_dev_null_and_the_wire_is_not_inherited",
    ),
    Mutant(
        "engine/runtimes/worker/main.py",
        "    engine.__path__ = []\n",
        "    engine.__path__ = engine.__path__\n",
        "a runner can import only the contract of the engine",
        "tests/engine/runtimes/test_runs.py::test_child_can_import_only_the_contract_and_the_wire",
    ),
    Mutant(
        "engine/runtimes/processes.py",
        'if group in of and pid != group and state not in "ZX"]',
        'if group == of[0] and pid != group and state not in "ZX"]',
        "killing a runner also kills processes that left its group",
        "tests/engine/runtimes/test_ends.py::test_kill_leaves_no_process_in_any_state[awaiting]",
    ),
    Mutant(
        "engine/runtimes/worker/server.py",
        "    os.killpg(0, signal.SIGKILL)",
        "    os.kill(os.getpid(), signal.SIGKILL)",
        "a child kills its whole group if its host is gone",
        "tests/engine/runtimes/test_host_killed.py::test_child_kills_its_own_group_if_host_and_guardian_are_gone",
    ),
    Mutant(
        "engine/runtimes/guardian.py",
        "trap '' INT TERM HUP",
        "trap '' INT HUP",
        "the guardian ignores catchable signals",
        "tests/engine/runtimes/test_host_killed.py::test_guardian_ignores_catchable_signals_and_is_replaced_after_a_kill",
    ),
    Mutant(
        "engine/runtimes/guardian.py",
        '-) groups="${groups%% $group *} ${groups#* $group }" ;;',
        "-) ;;",
        "the guardian kills no group that was forgotten",
        "tests/engine/runtimes/test_host_killed.py::test_guardian_kills_watched_groups_and_no_forgotten_ones",
    ),
    Mutant(
        "engine/runtimes/guardian.py",
        'self._send(b"+ %d\\n" % group)',
        "self._write(b'')",
        "the guardian kills every group that it watches",
        "tests/engine/runtimes/test_host_killed.py::test_guardian_kills_watched_groups_and_no_forgotten_ones",
    ),
    Mutant(
        "engine/runtimes/pool.py",
        "if child.state is State.IDLE and not await asyncio.to_thread(others, child.pid):",
        "if child.state is State.IDLE:",
        "a child with a leftover process is not reused",
        "tests/engine/runtimes/test_pool.py::test_child_with_a_leftover_process_is_not_reused",
    ),
    Mutant(
        "engine/runtimes/worker/file_stamps.py",
        "mark_of(Path(path)) == (mtime, size) for",
        "mark_of(Path(path))[1] == size for",
        "a child is replaced when its files change",
        "tests/engine/runtimes/test_pool.py::test_a_changed_file_means_a_new_child_with_the_new_code",
    ),
    Mutant(
        "engine/runtimes/child.py",
        'data.get("clean") is True and ending.how is EndKind.ENDED',
        "ending.how is EndKind.ENDED",
        "a child with a leftover thread or task is not reused",
        "tests/engine/runtimes/test_pool.py::test_child_with_a_leftover_thread_or_exception_is_not_reused",
    ),
    Mutant(
        "engine/runtimes/output.py",
        "MAX_LINE_BYTES: Final = 64 * 1024",
        "MAX_LINE_BYTES: Final = 128 * 1024",
        "a long line of output comes in pieces of 64 KiB",
        "tests/engine/runtimes/test_output.py::test_a_line_of_100_kb_comes_in_two_pieces",
    ),
    Mutant(
        "engine/runtimes/child.py",
        '_ending(data) if frame.get("code") != 0 else Ending(EndKind.ENDED)',
        "Ending(EndKind.ENDED)",
        "an exception is distinguished from a normal end",
        "tests/engine/runtimes/test_ends.py::test_exception_is_reported_with_the_traceback_of_the_runner",
    ),
)
