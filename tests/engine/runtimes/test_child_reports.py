"""What a child reports is checked: a runner that forges it harms neither the pool nor a later run."""

import asyncio
from pathlib import Path

import pytest

from engine.runtimes import pool
from engine.runtimes.child_reports import MAX_FILES, MAX_MESSAGE_CHARS, read_files, read_size, read_text
from engine.runtimes.runtime import EndKind, Launch
from engine.runtimes.worker.file_stamps import are_unchanged, have_changed

FORGER = """
    import json, os
    from pathlib import Path

    WIRE = int(Path("/proc/self/cmdline").read_bytes().split(b"\\0")[2])
    runs = 0

    async def run(ctx):
        global runs
        runs += 1
        yield os.getpid()
        end = {"seq_id": runs, "message": "success", "chunk_status": "end", "code": 0, **ctx.config["end"]}
        os.set_blocking(WIRE, True)
        os.write(WIRE, json.dumps(end).encode() + b"\\n")
"""
PID = """
    import os

    async def run(ctx):
        yield os.getpid()
"""


async def settled(harness) -> None:
    """Wait until the pool has decided about every child."""
    while harness.pool._tasks:
        await asyncio.wait(set(harness.pool._tasks))


@pytest.mark.parametrize("path", ["{folder}/a\0b", "/etc/passwd", "{folder}/../elsewhere.py"])
async def test_forged_list_of_files_harms_no_later_run(harness, path):
    launch = harness.launch(FORGER)
    own = str(launch.path)
    status = launch.path.stat()
    files = [[own, status.st_mtime_ns, status.st_size], [path.format(folder=harness.folder), 0, 0]]
    pids = []
    for _ in range(3):
        ending, sink = await harness.run(launch, end={"data": {"files": files, "clean": True}})
        assert ending.how is EndKind.ENDED
        pids += sink.results
    await settled(harness)
    assert len(set(pids)) == 3
    assert not harness.pool._children


async def test_forged_error_is_cut(harness):
    failure = {"code": "runner.exception", "message": "m" * 100_000, "traceback": {"not": "text"}}
    ending, _ = await harness.run(harness.launch(FORGER), end={"code": 1, "data": failure})
    assert (ending.how, len(ending.message), ending.traceback) == (EndKind.RAISED, MAX_MESSAGE_CHARS, "")


@pytest.mark.parametrize("check", ["are_unchanged", "find_leftovers"])
async def test_fault_in_the_check_of_a_child_costs_that_child_only(harness, monkeypatch, check):
    launch = harness.launch(PID)
    await harness.pool.warm(launch)
    [child] = harness.pool._children
    monkeypatch.setattr(pool, check, _fail)
    results = [(await harness.run(launch))[1].results[0] for _ in range(2)]
    await settled(harness)
    assert results[0] != results[1]
    assert not harness.pool._children - set(harness.pool._idle.values()) - {child}
    monkeypatch.undo()
    assert (await harness.run(launch))[0].how is EndKind.ENDED


async def test_caller_who_gives_up_during_the_check_leaves_no_child(harness, monkeypatch):
    launch = harness.launch(PID)
    await harness.pool.warm(launch)
    is_checked = asyncio.Event()

    async def never(child):
        is_checked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(harness.pool, "_is_usable", never)
    beginning = asyncio.create_task(harness.begin(launch))
    await is_checked.wait()
    beginning.cancel()
    await asyncio.gather(beginning, return_exceptions=True)
    await settled(harness)
    assert not harness.pool._children


LAUNCH = Launch(Path("/home/me/plugin/runner.py"), None, Path("/home/me/plugin"), Path("/home/me/plugin"))
OWN = ["/home/me/plugin/runner.py", 1, 2]


@pytest.mark.parametrize(
    "file",
    [
        ["/home/me/plugin/part/other.py", -5, -1],
        ["/home/me/plugin/part/../other.py", 1, 2],
        ["/home/me/plugin/..other.py", 1, 2],
    ],
)
def test_files_of_the_runners_folder_are_accepted(file):
    assert read_files({"files": [OWN, file]}, LAUNCH) == [tuple(OWN), tuple(file)]


@pytest.mark.parametrize(
    "files",
    [
        None,
        "text",
        {},
        [],
        [["/home/me/plugin/other.py", 1, 2]],
        [OWN, ["/home/me/plugin/a\0b.py", 1, 2]],
        [OWN, ["other.py", 1, 2]],
        [OWN, ["", 1, 2]],
        [OWN, ["/home/me/plugins/other.py", 1, 2]],
        [OWN, ["/home/me/plugin/../other.py", 1, 2]],
        [OWN, ["/home/me/plugin/" + "x" * 5_000, 1, 2]],
        [OWN, ["/home/me/plugin/other.py", 1]],
        [OWN, ["/home/me/plugin/other.py", 1, 2, 3]],
        [OWN, ["/home/me/plugin/other.py", "1", 2]],
        [OWN, ["/home/me/plugin/other.py", 1.5, 2]],
        [OWN, ["/home/me/plugin/other.py", True, 2]],
        [OWN, ["/home/me/plugin/other.py", 2**63, 2]],
        [OWN, ["/home/me/plugin/other.py", 1, -2]],
        [OWN, "text"],
        [OWN] * (MAX_FILES + 1),
    ],
)
def test_list_of_files_that_cannot_be_true_is_refused(files):
    assert read_files({"files": files}, LAUNCH) is None


@pytest.mark.parametrize("value", [True, -1, 2**63, 1.0, "7", None, [7]])
def test_size_that_cannot_be_true_is_replaced(value):
    assert (read_size(value, 9), read_size(7, 9)) == (9, 7)


def test_text_that_is_none_is_empty_and_a_long_one_is_cut():
    assert (read_text({"a": 1}, 5), read_text("abcdefgh", 5)) == ("", "abcde")


def test_path_that_no_file_can_have_counts_as_changed():
    assert not are_unchanged([("a\0b", 0, 0)])
    assert have_changed([("a\0b", 0, 0)])


def _fail(*_):
    raise ValueError("embedded null byte")
