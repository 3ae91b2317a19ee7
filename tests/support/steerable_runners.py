"""Runners for tests of commands that steer, pause or stop a run in progress."""

from tests.support.commands import Trackside

LISTENER = """
from engine.protocol import AgentRunner, AgentRunResult, Message

class Listener(AgentRunner):
    capabilities = {"steering": True}
    config = [{"name": "wants", "type": "integer", "label": {"en_US": "Messages"}, "default": 1}]

    async def run(self, ctx):
        yield AgentRunResult.tool_call_started(ctx.run_id, "1", "listen", {})
        yield AgentRunResult.tool_call_started(ctx.run_id, "2", "listen", {})
        received, wants = [], ctx.config["wants"] if ctx.input.to_text() == "listen" else 0
        while len(received) < wants:
            received += [item.input.to_text() for item in (await ctx.api.steering_pull()).items]
        said = "; ".join([ctx.input.to_text(), *received])
        yield AgentRunResult.run_completed(ctx.run_id, Message(role="assistant", content=said))
"""
"""Pulls until it has received `wants` messages if its input is `listen`, so that no message comes too late."""

DEAF = """
import asyncio
from pathlib import Path
from engine.protocol import AgentRunner, AgentRunResult, Message

class Deaf(AgentRunner):
    async def run(self, ctx):
        yield AgentRunResult.tool_call_started(ctx.run_id, "1", "wait", {})
        while not Path("go").exists():
            await asyncio.sleep(0.01)
        said = "answered " + ctx.input.to_text()
        yield AgentRunResult.run_completed(ctx.run_id, Message(role="assistant", content=said))
"""
"""Cannot be steered, and runs until a file called `go` exists."""

FORECAST = """
from engine.protocol import AgentRunner, AgentRunResult, Message

class Forecast(AgentRunner):
    capabilities = {"tool_calling": True, "steering": True}
    permissions = {"tools": ["call", "detail"]}

    async def run(self, ctx):
        found = await ctx.api.call_tool("weather", {"city": "Kyoto"})
        heard = [item.input.to_text() for item in (await ctx.api.steering_pull()).items]
        said = f"{found['high_celsius']} degrees; heard {heard}"
        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=said))
        yield AgentRunResult.run_completed(ctx.run_id)
"""
"""Calls a tool, pulls once, and sends one message."""

PROJECT = """
runners: [forecast.py]
tools:
  - name: weather
    kind: scripted
    description: How warm it gets
    parameters: {type: object}
    answers: [{result: {high_celsius: 19}}, {result: {high_celsius: 20}}]
agents:
  - id: demo
    runner: forecast
    resources: {allowed_tool_names: [weather]}
"""


def listener(trackside: Trackside) -> str:
    return str(trackside.write("listener.py", LISTENER))


def deaf(trackside: Trackside) -> str:
    return str(trackside.write("deaf.py", DEAF))


def forecast(trackside: Trackside) -> str:
    trackside.write("forecast.py", FORECAST)
    trackside.write("trackside.yaml", PROJECT)
    return str(trackside.folder)
