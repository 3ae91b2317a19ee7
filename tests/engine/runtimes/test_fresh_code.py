"""The next run after an edit has the new code, whenever the edit came."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from engine.runtimes.runtime import EndKind
from engine.runtimes.worker import file_stamps

WAITS = """
    import os
    import beside

    async def run(ctx):
        yield [os.getpid(), "{}", beside.WORD]
        await ctx.api.state_get("runner", "go")
"""


class Gate:
    """Blocks a run in its call until the test continues it."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, action: str, data: object) -> dict[str, object]:
        await self.opened.wait()
        return {"value": None}


def edit(path: Path) -> None:
    """Write a file of the same size with an older time, as if it had not just been saved."""
    saved = time.time_ns() - 1_000_000_000
    os.utime(path, ns=(saved, saved))


@pytest.mark.parametrize("edited", ["runner.py", "beside.py"])
async def test_an_edit_during_a_run_means_a_new_child_for_the_next_run(harness, edited: str):
    harness.write("beside.py", "WORD = 'one'")
    launch = harness.launch(WAITS.format("one"))
    execution, sink = await harness.begin(launch)
    gate = sink.answer = Gate()
    await sink.until(lambda: sink.calls)

    source = {"runner.py": WAITS.format("two"), "beside.py": "WORD = 'two'"}[edited]
    edit(harness.write(edited, source))
    gate.opened.set()
    assert (await execution.ended()).how is EndKind.ENDED

    _, after = await harness.run(launch)
    assert sink.results[0][1:] == ["one", "one"]
    assert "two" in after.results[0]
    assert after.results[0][0] != sink.results[0][0]


async def test_an_edit_while_the_runner_is_being_imported_means_a_new_child(harness):
    source = """
        import os, time
        WORD = "{}"
        print("reading")
        while os.path.exists("wait"):
            time.sleep(0.005)

        async def run(ctx):
            yield WORD
    """
    (harness.folder / "wait").touch()
    launch = harness.launch(source.format("one"))
    execution, sink = await harness.begin(launch)
    await sink.until(sink.texts)

    edit(harness.launch(source.format("two")).path)
    (harness.folder / "wait").unlink()
    await execution.ended()

    assert sink.results == ["one"]
    assert (await harness.run(launch))[1].results == ["two"]


async def test_after_renewal_no_earlier_child_is_reused(harness):
    harness.write("beside.py", "WORD = 'one'")
    launch = harness.launch(WAITS.format("one"))
    other = harness.launch("import os\nasync def run(ctx):\n    yield os.getpid()", name="other.py")
    idle = (await harness.run(other))[1].results
    execution, sink = await harness.begin(launch)
    gate = sink.answer = Gate()
    await sink.until(lambda: sink.calls)

    harness.pool.renew()
    assert (await harness.run(other))[1].results != idle
    gate.opened.set()
    assert (await execution.ended()).how is EndKind.ENDED, "a run at work goes on"
    assert (await harness.run(launch))[1].results[0][0] != sink.results[0][0]


async def test_run_has_the_stamps_of_its_source_files(harness):
    beside = harness.write("beside.py", "WORD = 'one'")
    launch = harness.launch(WAITS.format("one"))
    execution, sink = await harness.begin(launch)
    gate = sink.answer = Gate()
    await sink.until(lambda: sink.calls)

    assert sorted(path for path, _, _ in execution.code) == sorted([str(beside), str(launch.path)])
    assert not file_stamps.have_changed(execution.code)
    harness.write("beside.py", "WORD = 'two'")
    assert file_stamps.have_changed(execution.code)
    gate.opened.set()
    await execution.ended()


def test_file_that_was_just_written_does_not_count_as_unchanged(tmp_path: Path):
    path = tmp_path / "runner.py"
    path.write_text("one")
    os.utime(path, ns=(time.time_ns(), time.time_ns()))
    fresh = file_stamps.stamp_of(str(path))
    os.utime(path, ns=(1, 1))
    settled = file_stamps.stamp_of(str(path))

    assert file_stamps.are_unchanged([settled])
    assert not file_stamps.have_changed([settled])
    os.utime(path, ns=(fresh[1], fresh[1]))
    assert not file_stamps.are_unchanged([fresh]), "it could have been written once more in the same moment"
    assert not file_stamps.have_changed([fresh]), "but nobody saw that"
    path.unlink()
    assert file_stamps.have_changed([settled])
    assert not file_stamps.are_unchanged([settled])
    assert not file_stamps.are_unchanged([file_stamps.stamp_of(str(path))]), "of what is not there nothing is certain"
