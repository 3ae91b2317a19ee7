"""Runners that can be steered and held, for commands that speak to a run while it works."""

from tests.support.commands import Trackside

LISTENER = """
from engine.protocol import AgentRunner, AgentRunResult, Message

class Listener(AgentRunner):
    capabilities = {"steering": True}
    config = [{"name": "wants", "type": "integer", "label": {"en_US": "Messages"}, "default": 1}]

    async def run(self, ctx):
        yield AgentRunResult.tool_call_started(ctx.run_id, "1", "listen", {})
        yield AgentRunResult.tool_call_started(ctx.run_id, "2", "listen", {})
        heard, wants = [], ctx.config["wants"] if ctx.input.to_text() == "listen" else 0
        while len(heard) < wants:
            heard += [item.input.to_text() for item in (await ctx.api.steering_pull()).items]
        said = "; ".join([ctx.input.to_text(), *heard])
        yield AgentRunResult.run_completed(ctx.run_id, Message(role="assistant", content=said))
"""
"""Told to listen, it asks until it has heard as much as it wants: a message cannot come too late."""

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
"""Cannot be steered, and works until there is a file called `go`."""

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
"""One tool, one pull, one message."""

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
