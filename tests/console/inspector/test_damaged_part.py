"""A run whose stored content is damaged stays readable, and the damaged content is named."""

import json
import sqlite3
from contextlib import closing

from console.data.inspector_loader import InspectorLoader
from console.model.inspector.data import CallData, CallsData
from engine.api import Engine
from tests.support.commands import Trackside

RUNNER = """
from engine.protocol import AgentRunResult, Message

async def run(ctx):
    await ctx.api.state_set("conversation", "large", "y" * 40_000)
    await ctx.api.state_set("conversation", "small", "intact")
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content="done"))
    yield AgentRunResult.run_completed(ctx.run_id)
"""


async def test_damaged_content_is_named_and_the_rest_is_shown(trackside: Trackside):
    trackside.write("keeps.py", RUNNER)
    trackside("run", "keeps.py", "-m", "hi")
    with closing(sqlite3.connect(trackside.database)) as driver, driver:
        assert driver.execute("UPDATE parts SET content = x'00'").rowcount

    shown, recording = trackside("show", "last"), trackside("show", "last", "--jsonl")
    assert (shown.returncode, recording.returncode) == (0, 0)
    assert "done" in shown.stdout
    entries = [json.loads(line) for line in recording.stdout.splitlines()[1:]]
    assert entries[-1]["type"] == "run.finished"
    async with await Engine.open(db=trackside.database, mode="read") as engine:
        loader, run = InspectorLoader(engine), await engine.runs.get("last")
        tab = await loader.load_tab("calls", run.run_id, None)
        assert isinstance(tab, CallsData)
        large, small = [await loader.load_call(run.run_id, call) for call in tab.calls]
    assert isinstance(large, CallData)
    assert isinstance(small, CallData)
    assert large.request["arguments"] == "content damaged"
    assert large.request["action"] == "state_set"
    assert small.request["arguments"]["value"] == "intact"
