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
        # Printed, not yielded: a cancel that comes after this line cannot arrive before the next one.
        print(os.getpid(), *(helper.pid for helper in helpers), flush=True)
        {}
        yield "never"
"""


async def pids_of(heard) -> list[int]:
    """Wait until the runner is stuck. Returns its process id and those of its children."""
    [line] = await heard.until(heard.texts)
    return [int(pid) for pid in line.split()]


async def test_cancel_is_seen_by_the_runner_where_it_waits(stage):
    launch = stage.launch(
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
    execution, heard = await stage.begin(launch)
    await heard.until(lambda: heard.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED
    assert [result["type"] for result in heard.results] == ["started", "noticed"]


async def test_cancel_reaches_a_runner_that_never_awaits(stage):
    launch = stage.launch(
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
    execution, heard = await stage.begin(launch)
    await heard.until(lambda: heard.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED
    assert heard.texts() == ["noticed at the yield"]


async def test_a_runner_may_finish_in_its_own_way_when_cancelled(stage):
    launch = stage.launch(
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
    execution, heard = await stage.begin(launch)
    await heard.until(lambda: heard.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.ENDED
    assert heard.results[-1]["type"] == "run.completed"


async def test_a_cancel_right_after_the_start_ends_the_run(stage):
    launch = stage.launch("import asyncio\nasync def run(ctx):\n    await asyncio.sleep(3600)\n    yield 1")
    execution, _ = await stage.begin(launch)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED


@pytest.mark.parametrize("state", FOREVER)
async def test_kill_leaves_no_process_in_any_state(stage, processes, state):
    execution, heard = await stage.begin(stage.launch(STUCK.format(FOREVER[state])))
    pids = await pids_of(heard)
    assert all(map(processes.lives, pids))
    if state != "awaiting":  # the others do not receive it
        execution.cancel()
    await execution.kill()
    assert not any(map(processes.lives, pids))
    ending = await execution.ended()
    assert (ending.how, ending.exit_code) == (EndKind.LOST, -signal.SIGKILL)
    await execution.kill()


@pytest.mark.parametrize("state", FOREVER)
async def test_close_leaves_no_process_in_any_state(stage, processes, state):
    execution, heard = await stage.begin(stage.launch(STUCK.format(FOREVER[state])))
    pids = await pids_of(heard)
    await stage.pool.close()
    assert not any(map(processes.lives, pids))
    assert (await execution.ended()).how is EndKind.LOST


async def test_results_before_a_block_are_received(stage):
    source = "import time\nasync def run(ctx):\n    for n in range(3):\n        yield n\n    time.sleep(3600)"
    execution, heard = await stage.begin(stage.launch(source))
    await heard.until(lambda: heard.results == [0, 1, 2])
    await execution.kill()


async def test_an_exception_comes_with_the_runners_own_traceback(stage):
    launch = stage.launch(
        """
        async def run(ctx):
            yield {"type": "x"}
            deeper()

        def deeper():
            raise ValueError("no such model")
        """
    )
    ending, heard = await stage.play(launch)
    assert ending.how is EndKind.RAISED
    assert ending.message == "ValueError: no such model"
    assert f'File "{launch.path}", line 4, in run' in ending.traceback
    assert f'File "{launch.path}", line 7, in deeper' in ending.traceback
    assert "engine/runtimes" not in ending.traceback
    assert heard.results == [{"type": "x"}]


async def test_an_exception_that_cannot_be_formatted_is_still_reported(stage):
    launch = stage.launch(
        """
        class Rude(Exception):
            def __str__(self):
                raise OSError("no")

        async def run(ctx):
            yield 1
            raise Rude
        """
    )
    ending, _ = await stage.play(launch)
    assert ending.how is EndKind.RAISED
    assert ending.message == "Rude: (its text cannot be shown: OSError)"


async def test_a_cancel_that_nobody_asked_for_is_an_exception(stage):
    ending, _ = await stage.play(
        stage.launch("import asyncio\nasync def run(ctx):\n    yield 1\n    raise asyncio.CancelledError('own')")
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
async def test_a_runner_that_leaves_is_lost_with_its_code(stage, processes, way, code, message):
    launch = stage.launch(
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
    execution, heard = await stage.begin(launch)
    heard.answer = lambda action, data: {"value": None}
    ending = await execution.ended()
    assert (ending.how, ending.exit_code, ending.message) == (EndKind.LOST, code, message)
    assert "last words" in heard.texts()
    assert not any(map(processes.lives, heard.results[0]))
    if "because" in way:
        assert "because" in heard.texts("stderr")


async def test_an_import_error_is_not_loaded_with_its_traceback(stage):
    ending, _ = await stage.play(stage.launch("import os\nimport no_such_module_at_all\n"))
    assert ending.how is EndKind.NOT_LOADED
    assert ending.message == "ModuleNotFoundError: No module named 'no_such_module_at_all'"
    assert f'File "{stage.folder / "runner.py"}", line 2' in ending.traceback
    assert "importlib" not in ending.traceback


async def test_a_syntax_error_is_not_loaded_with_its_line(stage):
    ending, _ = await stage.play(stage.launch("x = 1\ndef broken(:\n"))
    assert ending.how is EndKind.NOT_LOADED
    assert "SyntaxError" in ending.message
    assert f'File "{stage.folder / "runner.py"}", line 2' in ending.traceback


async def test_a_missing_name_is_not_loaded(stage):
    ending, _ = await stage.play(stage.launch("x = 1\n", "Nobody"))
    assert (ending.how, ending.message) == (
        EndKind.NOT_LOADED,
        f"ImportError: {stage.folder / 'runner.py'} has no `Nobody`",
    )


async def test_tasks_that_the_runner_left_are_cancelled(stage):
    launch = stage.launch(
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
    ending, heard = await stage.play(launch)
    assert ending.how is EndKind.ENDED
    assert heard.texts() == ["task cancelled"]
