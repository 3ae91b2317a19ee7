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
        "a runner's stdin is not the wire",
        "tests/engine/runtimes/test_runs.py::test_stdin_is_dev_null_and_the_wire_is_not_inherited",
    ),
    Mutant(
        "engine/runtimes/worker/main.py",
        "    engine.__path__ = []\n",
        "    engine.__path__ = engine.__path__\n",
        "a runner sees the contract and no other part of the engine",
        "tests/engine/runtimes/test_runs.py::test_only_the_contract_and_the_wire_come_along",
    ),
    Mutant(
        "engine/runtimes/processes.py",
        "group in (process.group, process.session)",
        "group == process.group",
        "a killed runner takes along what left its group",
        "tests/engine/runtimes/test_ends.py::test_kill_leaves_no_process_in_any_state[awaiting]",
    ),
    Mutant(
        "engine/runtimes/worker/server.py",
        "    os.killpg(0, signal.SIGKILL)",
        "    os.kill(os.getpid(), signal.SIGKILL)",
        "a child whose host is gone ends its whole group",
        "tests/engine/runtimes/test_host_killed.py::test_a_child_ends_its_group_by_itself_when_nobody_else_is_left_to",
    ),
    Mutant(
        "engine/runtimes/guardian.py",
        "trap '' INT TERM HUP",
        "trap '' INT HUP",
        "the guardian ignores polite signals",
        "tests/engine/runtimes/test_host_killed.py::test_a_guardian_ignores_polite_signals_and_is_replaced_when_it_is_killed",
    ),
    Mutant(
        "engine/runtimes/guardian.py",
        '-) groups="${groups%% $group *} ${groups#* $group }" ;;',
        "-) ;;",
        "the guardian ends nothing that was forgotten",
        "tests/engine/runtimes/test_host_killed.py::test_the_guardian_ends_what_it_watches_and_nothing_that_was_forgotten",
    ),
    Mutant(
        "engine/runtimes/guardian.py",
        'self._send(b"+ %d\\n" % group)',
        "self._write(b'')",
        "the guardian ends every group that it watches",
        "tests/engine/runtimes/test_host_killed.py::test_the_guardian_ends_what_it_watches_and_nothing_that_was_forgotten",
    ),
    Mutant(
        "engine/runtimes/pool.py",
        "is_alone = child.state is State.IDLE and not await asyncio.to_thread(others, child.pid, child.mark)",
        "is_alone = child.state is State.IDLE",
        "a child that left a process behind is not used again",
        "tests/engine/runtimes/test_pool.py::test_a_child_that_left_a_process_in_its_group_is_not_used_again",
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
        "a child with something of its run still alive is not used again",
        "tests/engine/runtimes/test_pool.py::test_a_child_with_a_thread_or_an_exception_behind_it_is_not_used_again",
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
        "a runner that raises is told from one that ends",
        "tests/engine/runtimes/test_ends.py::test_an_exception_comes_with_the_runners_own_traceback",
    ),
)
