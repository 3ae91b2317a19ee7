"""One idle child per runner is kept warm; only a clean one is used again."""

import asyncio
import contextlib
import errno
import os

import pytest

from engine.runtimes import child as children
from engine.runtimes import pool, spawn
from engine.runtimes.runtime import EndKind
from tests.support.limits import MAX_WAIT_SECONDS

PID = """
    import os

    async def run(ctx):
        yield os.getpid()
"""


async def test_warm_child_is_reused_after_a_clean_end(harness):
    launch = harness.launch(PID)
    await harness.pool.warm(launch)
    pids = [(await harness.run(launch))[1].results[0] for _ in range(3)]
    assert len(set(pids)) == 1


async def test_child_whose_run_ended_with_a_full_sink_can_be_reused_at_once(harness):
    launch = harness.launch(PID)
    execution, held = await harness.begin(launch)
    # All output is read at once, after the marks of its end, so that nothing is left to read.
    child, came, is_whole = execution._child, bytearray(), asyncio.Event()

    def gather(data: bytes) -> None:
        came.extend(data)
        if b'"end"' in came:
            is_whole.set()

    child._wire_out.data_received = gather
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await asyncio.gather(is_whole.wait(), *(mark.wait() for mark in execution.marks.values()))
    child._wire_out.data_received = child._received
    held.full = True
    child._received(bytes(came))
    assert (await execution.ended()).how is EndKind.ENDED
    assert held.waiting_for_room, "nobody has made room for it"

    ending, sink = await harness.run(launch)
    assert (ending.how, sink.results) == (EndKind.ENDED, held.results)


async def test_warming_twice_starts_one_child(harness):
    launch = harness.launch(PID)
    await asyncio.gather(harness.pool.warm(launch), harness.pool.warm(launch))
    await harness.pool.warm(launch)
    assert len(harness.pool._children) == 1


async def test_a_changed_file_means_a_new_child_with_the_new_code(harness):
    source = "import os\nasync def run(ctx):\n    yield [os.getpid(), '{}']"
    launch = harness.launch(source.format("one"))
    first = (await harness.run(launch))[1].results[0]
    # Same size, same second: only the nanoseconds differ.
    harness.launch(source.format("two"))
    second = (await harness.run(launch))[1].results[0]
    assert (first[1], second[1]) == ("one", "two")
    assert first[0] != second[0]


async def test_a_changed_module_that_the_runner_imported_means_a_new_child(harness):
    harness.write("beside.py", "WORD = 'one'")
    launch = harness.launch(
        """
        async def run(ctx):
            import beside
            yield beside.WORD
        """
    )
    await harness.pool.warm(launch)
    assert (await harness.run(launch))[1].results == ["one"]
    harness.write("beside.py", "WORD = 'two'")
    assert (await harness.run(launch))[1].results == ["two"]


async def test_runner_that_could_not_be_loaded_is_loaded_again(harness):
    launch = harness.launch("import gone_for_now\n" + "async def run(ctx):\n    yield gone_for_now.WORD")
    await harness.pool.warm(launch)
    assert (await harness.run(launch))[0].how is EndKind.NOT_LOADED
    harness.write("gone_for_now.py", "WORD = 'here'")
    assert (await harness.run(launch))[1].results == ["here"]


async def test_parallel_runs_get_their_own_children(harness):
    launch = harness.launch(
        """
        import os

        async def run(ctx):
            yield os.getpid()
            await ctx.api.state_get("runner", "go")
        """
    )
    go = asyncio.Event()

    async def answer():
        await go.wait()
        return {"value": None}

    runs = [await harness.begin(launch) for _ in range(2)]
    for _, sink in runs:
        sink.answer = lambda action, data: answer()
    for _, sink in runs:
        await sink.until(lambda sink=sink: sink.calls)
    assert runs[0][1].results != runs[1][1].results
    go.set()
    endings = [await execution.ended() for execution, _ in runs]
    assert [ending.how for ending in endings] == [EndKind.ENDED, EndKind.ENDED]


async def test_child_with_a_leftover_process_is_not_reused(harness, processes):
    launch = harness.launch(
        """
        import os, subprocess

        async def run(ctx):
            yield [os.getpid(), subprocess.Popen(["sleep", "3600"]).pid]
        """
    )
    first = (await harness.run(launch))[1].results[0]
    second = (await harness.run(launch))[1].results[0]
    assert first[0] != second[0]
    await harness.pool.close()
    assert not any(map(processes.lives, first + second))


async def test_a_process_that_left_the_session_ends_with_its_run(harness, processes):
    launch = harness.launch(
        """
        import os, subprocess, sys

        DAEMON = "import os, time; os.fork() and os._exit(0); print(os.getpid(), flush=True); time.sleep(3600)"

        async def run(ctx):
            with subprocess.Popen([sys.executable, "-c", DAEMON], stdout=-1, start_new_session=True) as parent:
                yield [os.getpid(), int(parent.stdout.readline())]
        """
    )
    [first] = (await harness.run(launch))[1].results
    [second] = (await harness.run(launch))[1].results
    assert first[0] != second[0], "its child is not used again"
    assert processes.all_gone(first)
    await harness.pool.close()
    assert not any(map(processes.lives, second))


async def test_child_with_a_leftover_thread_or_exception_is_not_reused(harness):
    for leftover in ("threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()", "raise ValueError"):
        launch = harness.launch(
            f"""
            import os, threading, time

            async def run(ctx):
                yield os.getpid()
                {leftover}
            """
        )
        assert (await harness.run(launch))[1].results != (await harness.run(launch))[1].results


async def test_a_warm_child_that_died_is_replaced(harness, processes):
    launch = harness.launch(PID)
    await harness.pool.warm(launch)
    [child] = harness.pool._children
    os.kill(child.pid, 9)
    await asyncio.wait_for(child._watching, MAX_WAIT_SECONDS)
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.ENDED
    assert sink.results != [child.pid]


async def test_cancelled_start_leaves_no_process(harness):
    launch = harness.launch(PID)
    beginning = asyncio.create_task(harness.begin(launch))
    for _ in range(3):
        await asyncio.sleep(0)
    assert harness.pool._children
    beginning.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await beginning
    await harness.pool.close()
    assert not harness.pool._children


async def test_closing_while_a_module_hangs_in_its_import_ends_it(harness, processes):
    launch = harness.launch(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nprint('here')\ntime.sleep(3600)"
    )
    execution, sink = await harness.begin(launch)
    await sink.until(sink.texts)
    warming = asyncio.create_task(harness.pool.warm(launch))
    await asyncio.sleep(0)
    await harness.pool.close()
    await asyncio.gather(warming, return_exceptions=True)
    assert (await execution.ended()).how is EndKind.LOST
    assert not processes.lives(int((harness.folder / "pid").read_text()))


async def test_number_of_idle_children_is_limited_and_the_oldest_ends_first(harness, monkeypatch):
    monkeypatch.setattr(pool, "MAX_IDLE_CHILDREN", 2)
    launches = [harness.launch(PID, name=f"runner_{number}.py") for number in range(3)]
    for launch in launches:
        await harness.pool.warm(launch)
    assert list(harness.pool._idle) == launches[1:]


async def test_a_child_that_could_not_be_spawned_does_not_delay_closing(harness, monkeypatch):
    monkeypatch.setattr(children, "spawn", _no_descriptors)
    with pytest.raises(OSError, match="Too many open files"):
        await harness.begin(harness.launch(PID))

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await harness.pool.close()
    assert harness.pool._children == set()


def test_pipes_are_closed_if_not_all_can_be_created(monkeypatch):
    real, made = os.pipe, []

    def pipe():
        if len(made) == 3:
            _no_descriptors()
        made.append(real())
        return made[-1]

    monkeypatch.setattr(os, "pipe", pipe)
    with pytest.raises(OSError, match="Too many open files"):
        spawn._pipes(4)

    for end in (end for ends in made for end in ends):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(end)


def _no_descriptors(*_):
    raise OSError(errno.EMFILE, "Too many open files")
