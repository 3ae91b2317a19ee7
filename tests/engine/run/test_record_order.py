"""The journal has results and requests in the order of the wire, whatever happens at the same time."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.api import Engine, RunOptions
from tests.support.engines import FinishedRun, message, wait_for_run
from tests.support.paused_runs import wait_for_pause
from tests.support.profile import IS_LONG

PROJECT = Path(__file__).parents[2] / "support" / "record" / "busy"
RUNS = 300 if IS_LONG else 10


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WIRE_LOG", str(tmp_path / "wire.log"))
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    async with await Engine.open(folder, db=tmp_path / "facts.db") as opened:
        yield opened


def wire_order(log: Path) -> dict[str, list[str]]:
    """Return what the child wrote to the wire, in order, by run."""
    order: dict[str, list[str]] = {}
    for line in log.read_bytes().splitlines():
        frame: dict[str, Any] = json.loads(line)
        data = frame.get("data")
        run_id = data.get("run_id") if isinstance(data, dict) else None
        if run_id is None:
            continue
        name = frame["action"] if "action" in frame else result_name(data["type"], data["data"])
        order.setdefault(run_id, []).append(name)
    return order


def result_name(kind: str, data: Any) -> str:
    return f"{kind} {json.dumps(data, sort_keys=True)}"


def journal_order(run: FinishedRun) -> list[str]:
    return [
        entry.data["action"] if entry.type == "call.requested" else result_name(entry.type, entry.data)
        for entry in run.journal
        if entry.source == "runner"
    ]


async def run_once(engine: Engine, number: int, *, pauses: bool) -> FinishedRun:
    breakpoints = ("tool.call.started#2",) if pauses else ()
    ticket = await engine.runs.submit(message("go", session=f"s{number}"), RunOptions(breakpoints=breakpoints))
    run_id = await ticket.started
    if pauses:
        await wait_for_pause(engine, run_id)
        await engine.runs.continue_run(run_id)
    return await wait_for_run(engine, run_id)


async def test_journal_has_the_order_of_the_wire(engine: Engine, tmp_path: Path):
    runs = [await run_once(engine, number, pauses=number % 3 == 0) for number in range(RUNS)]

    order = wire_order(tmp_path / "wire.log")
    for run in runs:
        assert run.row.status == "completed"
        assert journal_order(run) == order[run.run_id]


async def test_frames_are_recorded_with_the_entry_before_them(engine: Engine):
    run = await run_once(engine, 0, pauses=False)

    streams = [entry.data["call_id"] for entry in run.all("call.requested") if "stream" in entry.data["action"]]
    echoes = {entry.data["chunk"]["content"].split()[0]: entry.position for entry in run.all("message.delta")}
    for call_id, name in zip(streams, "ab", strict=True):
        (replied,) = (one for one in run.all("call.replied") if one.data["call_id"] == call_id)
        groups = [one for one in run.all("call.streamed") if one.data["call_id"] == call_id]
        afters = [after for group in groups for after, _ in group.data["frames"]]
        assert replied.data["streamed"]["frames"] == len(afters) == len(run.frames(call_id))
        assert afters == sorted(afters)
        assert all(after < group.position for group in groups for after, _ in group.data["frames"])
        # The runner echoes each frame, so the echo stands behind the entry that was the newest when the frame was sent.
        for number, after in enumerate(afters, 1):
            assert echoes[f"{name}{number}"] > after
