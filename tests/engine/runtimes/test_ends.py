"""Every way in which a runner can end: the run gets the reason, and no process is left."""

import signal

import pytest

from engine.runtimes.runtime import EndKind

FOREVER = {
    "awaiting": "await asyncio.sleep(3600)",
    "busy in Python": "while True: pass",
    "busy in C": "re.match(r'(a+)+$', 'a' * 60 + 'b')",
    "blocked": "time.sleep(3600)",
    "with a grandchild": "subprocess.run(['sleep', '3600'])",
}
STUCK = """
    import asyncio, os, re, subprocess, sys, time

    async def run(ctx):
        helpers = [subprocess.Popen(["sleep", "3600"], process_group=group) for group in (None, 0)]
        helpers.append(subprocess.Popen(["sleep", "3600"], start_new_session=True))
        helpers.append(subprocess.Popen(["sleep", "3600"], process_group=0, env={{}}))  # without the mark
        # Printed, not yielded: a cancel that comes after this line cannot arrive before the next one.
        print(os.getpid(), *(helper.pid for helper in helpers), flush=True)
        {}
        yield "never"
"""


async def pids_of(sink) -> list[int]:
    """Wait until the runner is stuck. Returns its process id and those of its children."""
    [line] = await sink.until(sink.texts)
    return [int(pid) for pid in line.split()]


async def test_cancel_interrupts_the_await_of_the_runner(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            try:
                yield {"type": "started"}
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                yield {"type": "noticed"}
                raise
        """
    )
    execution, sink = await harness.begin(launch)
    await sink.until(lambda: sink.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED
    assert [result["type"] for result in sink.results] == ["started", "noticed"]


async def test_cancel_reaches_a_runner_that_never_awaits(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            try:
                while True:
                    yield {"type": "x"}
            except asyncio.CancelledError:
                print("noticed at the yield")
                raise
        """
    )
    execution, sink = await harness.begin(launch)
    await sink.until(lambda: sink.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED
    assert sink.texts() == ["noticed at the yield"]


async def test_cancelled_runner_may_send_its_own_terminal_result(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            try:
                yield {"type": "started"}
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                yield {"type": "run.completed", "data": {"finish_reason": "stopped"}}
        """
    )
    execution, sink = await harness.begin(launch)
    await sink.until(lambda: sink.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.ENDED
    assert sink.results[-1]["type"] == "run.completed"


async def test_a_cancel_right_after_the_start_ends_the_run(harness):
    launch = harness.launch("import asyncio\nasync def run(ctx):\n    await asyncio.sleep(3600)\n    yield 1")
    execution, _ = await harness.begin(launch)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED


@pytest.mark.parametrize("state", FOREVER)
async def test_kill_leaves_no_process_in_any_state(harness, processes, state):
    execution, sink = await harness.begin(harness.launch(STUCK.format(FOREVER[state])))
    pids = await pids_of(sink)
    assert all(map(processes.lives, pids))
    if state != "awaiting":  # the others do not receive it
        execution.cancel()
    await execution.kill()
    assert not any(map(processes.lives, pids))
    ending = await execution.ended()
    assert (ending.how, ending.exit_code) == (EndKind.LOST, -signal.SIGKILL)
    await execution.kill()


@pytest.mark.parametrize("state", FOREVER)
async def test_close_leaves_no_process_in_any_state(harness, processes, state):
    execution, sink = await harness.begin(harness.launch(STUCK.format(FOREVER[state])))
    pids = await pids_of(sink)
    await harness.pool.close()
    assert not any(map(processes.lives, pids))
    assert (await execution.ended()).how is EndKind.LOST


async def test_results_before_a_block_are_received(harness):
    source = "import time\nasync def run(ctx):\n    for n in range(3):\n        yield n\n    time.sleep(3600)"
    execution, sink = await harness.begin(harness.launch(source))
    await sink.until(lambda: sink.results == [0, 1, 2])
    await execution.kill()


async def test_exception_is_reported_with_the_traceback_of_the_runner(harness):
    launch = harness.launch(
        """
        async def run(ctx):
            yield {"type": "x"}
            deeper()

        def deeper():
            raise ValueError("no such model")
        """
    )
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.RAISED
    assert ending.message == "ValueError: no such model"
    assert f'File "{launch.path}", line 4, in run' in ending.traceback
    assert f'File "{launch.path}", line 7, in deeper' in ending.traceback
    assert "engine/runtimes" not in ending.traceback
    assert sink.results == [{"type": "x"}]


async def test_an_exception_that_cannot_be_formatted_is_still_reported(harness):
    launch = harness.launch(
        """
        class Rude(Exception):
            def __str__(self):
                raise OSError("no")

        async def run(ctx):
            yield 1
            raise Rude
        """
    )
    ending, _ = await harness.run(launch)
    assert ending.how is EndKind.RAISED
    assert ending.message == "Rude: (its text cannot be shown: OSError)"


async def test_cancelled_error_without_a_cancel_counts_as_an_exception(harness):
    ending, _ = await harness.run(
        harness.launch("import asyncio\nasync def run(ctx):\n    yield 1\n    raise asyncio.CancelledError('own')")
    )
    assert (ending.how, ending.message) == (EndKind.RAISED, "CancelledError: own")


@pytest.mark.parametrize(
    ("way", "code", "message"),
    [
        ("raise SystemExit(3)", 3, "the runner exited with code 3"),
        ("sys.exit('because')", 1, "the runner exited with code 1"),
        ("sys.exit()", 0, "the runner exited with code 0"),
        ("os._exit(5)", 5, "the runner exited with code 5"),
        ("os.kill(os.getpid(), signal.SIGKILL)", -9, "the runner was killed by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -11, "the runner was killed by SIGSEGV"),
        ("raise KeyboardInterrupt", 130, "the runner exited with code 130"),
        ("os.closerange(3, 64)\n        time.sleep(3600)", -9, "the runner closed its wire, so it was killed"),
    ],
)
async def test_runner_that_exits_is_lost_with_its_exit_code(harness, processes, way, code, message):
    launch = harness.launch(
        f"""
    import os, signal, subprocess, sys, time

    async def run(ctx):
        helper = subprocess.Popen(["sleep", "3600"])
        print("last words")
        yield [os.getpid(), helper.pid]
        await ctx.api.state_get("runner", "heard")
        {way}
    """
    )
    execution, sink = await harness.begin(launch)
    sink.answer = lambda action, data: {"value": None}
    ending = await execution.ended()
    assert (ending.how, ending.exit_code, ending.message) == (EndKind.LOST, code, message)
    assert "last words" in sink.texts()
    assert not any(map(processes.lives, sink.results[0]))
    if "because" in way:
        assert "because" in sink.texts("stderr")


async def test_an_import_error_is_not_loaded_with_its_traceback(harness):
    ending, _ = await harness.run(harness.launch("import os\nimport no_such_module_at_all\n"))
    assert ending.how is EndKind.NOT_LOADED
    assert ending.message == "ModuleNotFoundError: No module named 'no_such_module_at_all'"
    assert f'File "{harness.folder / "runner.py"}", line 2' in ending.traceback
    assert "importlib" not in ending.traceback


async def test_a_syntax_error_is_not_loaded_with_its_line(harness):
    ending, _ = await harness.run(harness.launch("x = 1\ndef broken(:\n"))
    assert ending.how is EndKind.NOT_LOADED
    assert "SyntaxError" in ending.message
    assert f'File "{harness.folder / "runner.py"}", line 2' in ending.traceback


async def test_a_missing_name_is_not_loaded(harness):
    ending, _ = await harness.run(harness.launch("x = 1\n", "Nobody"))
    assert (ending.how, ending.message) == (
        EndKind.NOT_LOADED,
        f"ImportError: {harness.folder / 'runner.py'} has no `Nobody`",
    )


async def test_tasks_that_the_runner_left_are_cancelled(harness):
    launch = harness.launch(
        """
        import asyncio

        async def beside():
            try:
                await asyncio.sleep(3600)
            finally:
                print("task cancelled")

        async def run(ctx):
            run.task = asyncio.create_task(beside())
            await asyncio.sleep(0)
            yield 1
        """
    )
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.ENDED
    assert sink.texts() == ["task cancelled"]
