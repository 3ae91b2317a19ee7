"""Breakpoints with real children: a paused child is not read, deaths of child and host are noticed, nothing is lost."""

import json
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engine.api import Engine, Fate, PauseStage, RunOptions, message
from engine.runtimes.heartbeat import HeartbeatTimeouts
from engine.runtimes.pool import ChildPool
from tests.support.engines import FinishedRun, journal_of, lines_of, wait_for_run
from tests.support.faults.faults import (
    MARK_VARIABLE,
    alive,
    descendants,
    marked_processes,
    other_process,
    read_line,
    until,
    wait_until,
)
from tests.support.paused_runs import wait_for_pause

HERE = Path(__file__).resolve().parents[2] / "support" / "faults"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with the runner, and a tool that it may call."""
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(HERE / "paused_run.py", project)
    agent = {"id": "held", "runner": "paused_run", "resources": {"allowed_tool_names": ["weather"]}}
    tool = {"name": "weather", "kind": "scripted", "otherwise": {"result": "blue"}}
    (project / "trackside.yaml").write_text(json.dumps({"agents": [agent], "tools": [tool]}))
    return project


@pytest.fixture
def pool() -> ChildPool:
    """A pool that pings children fifty times a second and reports a silence of a tenth of a second."""
    return ChildPool(HeartbeatTimeouts(interval_seconds=0.02, blocked_seconds=0.1))


@pytest.fixture
async def engine(tmp_path: Path, folder: Path, pool: ChildPool, mark: str) -> AsyncIterator[Engine]:
    async with await Engine.open(folder, db=tmp_path / "facts.db", runtime=pool) as opened:
        yield opened


async def held_run(engine: Engine, text: str, *holds: str) -> tuple[str, int]:
    """A paused run: its id and its child's process."""
    event = message(engine.ids.new("evt"), text, conversation_id="s")
    run_id = await (
        await engine.runs.submit(event, RunOptions("held", breakpoints=holds, env=(MARK_VARIABLE,)))
    ).started
    await wait_for_pause(engine, run_id)
    (first,) = [one for one in await journal_of(engine, run_id) if one.type == "message.delta"]
    return run_id, int(first.data["chunk"]["content"])


def spoken(run: FinishedRun) -> list[Any]:
    return [one.data["message"]["content"] for one in run.all("message.completed")]


async def test_child_continues_with_the_edited_reply_of_its_tool(engine: Engine):
    run_id, _ = await held_run(engine, "ask", "tool")
    await engine.runs.step(run_id)
    held = await wait_for_pause(engine, run_id, 2)
    assert (held.stage, held.original) == (PauseStage.REPLY, {"result": "blue"})
    await engine.runs.edit_reply(run_id, {"result": "grey"})
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert (run.row.status, spoken(run)) == ("completed", ["grey"])
    assert run.one("pause.edited").data["original"] == {"result": "blue"}


async def test_a_child_paused_at_a_result_is_not_read_and_not_reported_as_silent(engine: Engine, pool: ChildPool):
    run_id, pid = await held_run(engine, "speak", "message.completed#1")
    (child,) = [child for child in pool._children if child.pid == pid]
    assert (child._is_throttled, child._wire_out._is_paused) == (True, True)
    for _ in range(12):  # ticks of the heartbeat: more than twice what is reported as a silence
        began = child._heartbeat._began
        await until(lambda began=began: child._heartbeat._began != began)
    assert [one.type for one in await journal_of(engine, run_id)][-1] == "pause.started", "no warning, and no result"
    await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert (run.row.status, spoken(run)) == ("completed", ["one", "two", "three"])


async def test_a_run_can_pause_at_each_result_of_a_child(engine: Engine):
    run_id, _ = await held_run(engine, "speak", "message.completed")
    for number in range(3):
        await wait_for_pause(engine, run_id, number + 1)
        assert [one.type for one in await journal_of(engine, run_id)].count("message.completed") == number
        await engine.runs.continue_run(run_id)

    run = await wait_for_run(engine, run_id)
    assert spoken(run) == ["one", "two", "three"]
    assert len(run.all("pause.started")) == 3


async def test_results_before_a_kill_at_a_held_result_are_recorded_in_order(engine: Engine):
    run_id, pid = await held_run(engine, "speak", "message.completed#1")
    os.kill(pid, signal.SIGKILL)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, run.row.status_reason) == ("failed", "runner.lost")
    assert spoken(run) == ["one", "two", "three"][: len(spoken(run))]
    assert spoken(run)[0] == "one", "it had said that"
    assert all(one.outcome is None for one in run.all("message.completed"))


async def test_killing_a_child_with_a_paused_call_ends_its_run_as_lost_without_making_the_call(engine: Engine):
    run_id, pid = await held_run(engine, "ask", "tool")
    os.kill(pid, signal.SIGKILL)
    run = await wait_for_run(engine, run_id)

    assert (run.row.status, run.row.status_reason) == ("failed", "runner.lost")
    assert run.one("call.replied").outcome == "failed"
    assert run.all("pause.ended") == []


@pytest.mark.parametrize(("text", "point"), [("ask", "tool"), ("speak", "message.completed"), ("pull", "steering")])
async def test_a_cancel_of_a_paused_child_closes_its_run(engine: Engine, text: str, point: str):
    run_id, _ = await held_run(engine, text, point)
    await engine.runs.cancel(run_id)
    run = await wait_for_run(engine, run_id)

    assert run.row.status == "cancelled"
    late = {(one.outcome, one.reason) for one in run.all("message.completed")}
    assert late <= {("ignored", "came after the run was stopped (cancelled)")}
    assert [one.position for one in run.journal] == [*range(1, len(run.journal) + 1)]


async def test_after_the_death_of_its_host_a_paused_run_is_closed_and_its_messages_are_dropped(
    tmp_path: Path, folder: Path, mark: str
):
    db = tmp_path / "facts.db"
    with other_process(HERE / "pause_host.py", db, folder) as host:
        run_id = read_line(host)
        family = descendants(host.pid)
        host.send_signal(signal.SIGKILL)
        wait_until(lambda: not alive({*family, host.pid}) and not marked_processes(mark))

    async with await Engine.open(folder, db=db) as engine:
        assert list(engine.recovered_runs) == [run_id]
        run = FinishedRun(await engine.runs.get(run_id), await journal_of(engine, run_id))
        assert (run.row.status, run.row.status_reason) == ("failed", "host_restarted")
        receipts = (await engine.queue.receipts(run_id)).receipts
        assert [(item.text, item.fate, item.reason) for item in receipts] == [
            ("in metres", Fate.DROPPED, "host_restarted"),
            ("in short", Fate.DROPPED, "host_restarted"),
        ]
        assert run.types[-3:] == ["steering.dropped", "steering.dropped", "run.finished"]
        assert await lines_of(engine) == [("user", "pull"), ("user", "in metres"), ("user", "in short")]
        assert await engine.runs.current_pause(run_id) is None
