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


async def test_a_warm_child_is_used_again_after_a_clean_end(stage):
    launch = stage.launch(PID)
    await stage.pool.warm(launch)
    pids = [(await stage.play(launch))[1].results[0] for _ in range(3)]
    assert len(set(pids)) == 1


async def test_a_child_whose_run_ended_with_a_full_sink_serves_the_next_one_at_once(stage):
    launch = stage.launch(PID)
    execution, held = await stage.begin(launch)
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

    ending, heard = await stage.play(launch)
    assert (ending.how, heard.results) == (EndKind.ENDED, held.results)


async def test_warming_twice_starts_one_child(stage):
    launch = stage.launch(PID)
    await asyncio.gather(stage.pool.warm(launch), stage.pool.warm(launch))
    await stage.pool.warm(launch)
    assert len(stage.pool._children) == 1


async def test_a_changed_file_means_a_new_child_with_the_new_code(stage):
    source = "import os\nasync def run(ctx):\n    yield [os.getpid(), '{}']"
    launch = stage.launch(source.format("one"))
    first = (await stage.play(launch))[1].results[0]
    # Same size, same second: only the nanoseconds differ.
    stage.launch(source.format("two"))
    second = (await stage.play(launch))[1].results[0]
    assert (first[1], second[1]) == ("one", "two")
    assert first[0] != second[0]


async def test_a_changed_module_that_the_runner_imported_means_a_new_child(stage):
    stage.write("beside.py", "WORD = 'one'")
    launch = stage.launch(
        """
        async def run(ctx):
            import beside
            yield beside.WORD
        """
    )
    await stage.pool.warm(launch)
    assert (await stage.play(launch))[1].results == ["one"]
    stage.write("beside.py", "WORD = 'two'")
    assert (await stage.play(launch))[1].results == ["two"]


async def test_a_runner_that_could_not_be_loaded_is_loaded_anew(stage):
    launch = stage.launch("import gone_for_now\n" + "async def run(ctx):\n    yield gone_for_now.WORD")
    await stage.pool.warm(launch)
    assert (await stage.play(launch))[0].how is EndKind.NOT_LOADED
    stage.write("gone_for_now.py", "WORD = 'here'")
    assert (await stage.play(launch))[1].results == ["here"]


async def test_parallel_runs_get_their_own_children(stage):
    launch = stage.launch(
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

    runs = [await stage.begin(launch) for _ in range(2)]
    for _, heard in runs:
        heard.answer = lambda action, data: answer()
    for _, heard in runs:
        await heard.until(lambda heard=heard: heard.calls)
    assert runs[0][1].results != runs[1][1].results
    go.set()
    endings = [await execution.ended() for execution, _ in runs]
    assert [ending.how for ending in endings] == [EndKind.ENDED, EndKind.ENDED]


async def test_a_child_that_left_a_process_in_its_group_is_not_used_again(stage, processes):
    launch = stage.launch(
        """
        import os, subprocess

        async def run(ctx):
            yield [os.getpid(), subprocess.Popen(["sleep", "3600"]).pid]
        """
    )
    first = (await stage.play(launch))[1].results[0]
    second = (await stage.play(launch))[1].results[0]
    assert first[0] != second[0]
    await stage.pool.close()
    assert not any(map(processes.lives, first + second))


async def test_a_process_that_left_the_session_ends_with_its_run(stage, processes):
    launch = stage.launch(
        """
        import os, subprocess, sys

        DAEMON = "import os, time; os.fork() and os._exit(0); print(os.getpid(), flush=True); time.sleep(3600)"

        async def run(ctx):
            with subprocess.Popen([sys.executable, "-c", DAEMON], stdout=-1, start_new_session=True) as parent:
                yield [os.getpid(), int(parent.stdout.readline())]
        """
    )
    [first] = (await stage.play(launch))[1].results
    [second] = (await stage.play(launch))[1].results
    assert first[0] != second[0], "its child is not used again"
    assert processes.all_gone(first)
    await stage.pool.close()
    assert not any(map(processes.lives, second))


async def test_a_child_with_a_thread_or_an_exception_behind_it_is_not_used_again(stage):
    for leftover in ("threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()", "raise ValueError"):
        launch = stage.launch(
            f"""
            import os, threading, time

            async def run(ctx):
                yield os.getpid()
                {leftover}
            """
        )
        assert (await stage.play(launch))[1].results != (await stage.play(launch))[1].results


async def test_a_warm_child_that_died_is_replaced(stage, processes):
    launch = stage.launch(PID)
    await stage.pool.warm(launch)
    [child] = stage.pool._children
    os.kill(child.pid, 9)
    await asyncio.wait_for(child._watching, MAX_WAIT_SECONDS)
    ending, heard = await stage.play(launch)
    assert ending.how is EndKind.ENDED
    assert heard.results != [child.pid]


async def test_a_caller_who_gives_up_leaves_no_process(stage):
    launch = stage.launch(PID)
    beginning = asyncio.create_task(stage.begin(launch))
    for _ in range(3):
        await asyncio.sleep(0)
    assert stage.pool._children
    beginning.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await beginning
    await stage.pool.close()
    assert not stage.pool._children


async def test_closing_while_a_module_hangs_in_its_import_ends_it(stage, processes):
    launch = stage.launch("import os, time\nopen('pid', 'w').write(str(os.getpid()))\nprint('here')\ntime.sleep(3600)")
    execution, heard = await stage.begin(launch)
    await heard.until(heard.texts)
    warming = asyncio.create_task(stage.pool.warm(launch))
    await asyncio.sleep(0)
    await stage.pool.close()
    await asyncio.gather(warming, return_exceptions=True)
    assert (await execution.ended()).how is EndKind.LOST
    assert not processes.lives(int((stage.folder / "pid").read_text()))


async def test_only_so_many_children_wait_and_the_oldest_leaves_first(stage, monkeypatch):
    monkeypatch.setattr(pool, "MAX_IDLE_CHILDREN", 2)
    launches = [stage.launch(PID, name=f"runner_{number}.py") for number in range(3)]
    for launch in launches:
        await stage.pool.warm(launch)
    assert list(stage.pool._idle) == launches[1:]


async def test_a_child_that_could_not_be_spawned_does_not_delay_closing(stage, monkeypatch):
    monkeypatch.setattr(children, "spawn", _no_descriptors)
    with pytest.raises(OSError, match="Too many open files"):
        await stage.begin(stage.launch(PID))

    async with asyncio.timeout(MAX_WAIT_SECONDS):
        await stage.pool.close()
    assert stage.pool._children == set()


def test_pipes_that_cannot_all_be_had_are_given_back(monkeypatch):
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
