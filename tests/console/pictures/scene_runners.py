"""The runners of the scenes. They advance the scene's clock and wait for the scene before each step."""

from collections.abc import AsyncIterator
from typing import Any

from tests.support.console.scene_driver import SceneDriver
from tests.support.engines import Runner, artifact_created, declares, delta, done, failed, said, state_updated

FIRST = (
    "A day in Kyoto, then. Before I promise you anything under an open sky, let me look at the weather and at what "
    "the light will do."
)
SECOND = (
    "Clear until four and 66 °F, so the **long walk** comes first:\n\n"
    "- Fushimi Inari, before the others come\n"
    "- Nishiki Market for lunch, 2.5 miles away\n\n"
    "Let me see when they open."
)
THIRD = "Here is your day. At seven: Fushimi Inari. At noon: Nishiki Market, hungry. From three, slowly: "
TOOLS = [
    {
        "name": "weather",
        "kind": "scripted",
        "description": "How warm it gets",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        "answers": [{"result": {"sky": "clear until four", "high_celsius": 19}}],
    }
]
PROJECT: dict[str, Any] = {
    "tools": TOOLS,
    "agents": [{"id": "guide", "runner": "guide", "resources": {"allowed_tool_names": ["weather"]}}],
}
"""Content of trackside.yaml."""
ALLOWED: dict[str, Any] = {
    "capabilities": {"steering": True, "tool_calling": True},
    "permissions": {"tools": ["call"]},
}


def started(call_id: str, tool: str, **parameters: Any) -> dict[str, Any]:
    data = {"tool_call_id": call_id, "tool_name": tool, "parameters": parameters}
    return {"type": "tool.call.started", "data": data}


def completed(call_id: str, tool: str, **result: Any) -> dict[str, Any]:
    return {"type": "tool.call.completed", "data": {"tool_call_id": call_id, "tool_name": tool, "result": result}}


def guide(driver: SceneDriver) -> Runner:
    """Plans a day in three turns; calls a tool and pulls steering messages between them."""
    clock, steps = driver.clock, driver.steps

    async def say(text: str) -> AsyncIterator[Any]:
        words = text.split(" ")
        for count in range(1, len(words) + 1):
            clock.advance(0.045)
            yield delta(words[count - 1] if count == 1 else f" {words[count - 1]}", all_content=" ".join(words[:count]))

    @declares(**ALLOWED)
    async def guide(ctx: Any) -> AsyncIterator[Any]:
        clock.advance(0.012)
        yield state_updated("trip", {"city": "Kyoto", "day": "tomorrow"})
        async for piece in say(FIRST):
            yield piece
        yield said(FIRST)
        yield started("c_01", "sun_times", city="Kyoto")
        yield started("c_02", "opening_hours", place="Nishiki Market")
        clock.advance(0.36)
        await steps.wait()
        clock.advance(0.14)
        yield completed("c_01", "sun_times", sunrise="06:22", sunset="17:04")
        found = await ctx.api.call_tool("weather", {"city": "Kyoto"})
        clock.advance(0.31)
        yield completed("c_02", "opening_hours", open="09:30", close="18:00")
        yield state_updated("trip", {"city": "Kyoto", "day": "tomorrow", "weather": found, "hours": ["09:30", "18:00"]})

        heard = [item.input.to_text() for item in (await ctx.api.steering_pull()).items]
        clock.advance(0.2)
        text = " ".join([*(f"Noted: {words}." for words in heard), SECOND])
        async for piece in say(text):
            yield piece
        yield said(text)
        yield started("c_03", "walk", **{"from": "Fushimi Inari", "to": "Nishiki Market"})
        clock.advance(0.9)
        await steps.wait()
        yield completed("c_03", "walk", kilometres=4, by_train_minutes=11)
        yield artifact_created("file", artifact_id="plan", name="plan.md", mime_type="text/markdown", size_bytes=312)

        await ctx.api.steering_pull()
        clock.advance(0.1)
        yield started("c_04", "price_check", ids=[3, 9], currency="EUR")
        clock.advance(0.7)
        async for piece in say(THIRD):
            yield piece
        await steps.wait()
        yield completed("c_04", "price_check", total=41.5)
        yield done(f"{THIRD}the Philosopher's Path, until the light goes at five.")

    return guide


def greeter(driver: SceneDriver) -> Runner:
    """Replies after a second and a half of the scene's clock."""

    async def greeter(ctx: Any) -> AsyncIterator[Any]:
        driver.clock.advance(1.5)
        yield done(f"Hello! You said: {ctx.input.to_text()}")

    return greeter


def breaker(driver: SceneDriver) -> Runner:
    """Raises during the run."""

    def price_of(hotel: dict[str, Any]) -> int:
        return hotel["prices"]["double"]

    @declares(capabilities={"steering": True})
    async def breaker(ctx: Any) -> AsyncIterator[Any]:
        driver.clock.advance(0.4)
        yield said("Three hostels have a kitchen. Let me see what they cost.")
        yield started("c_01", "price_check", ids=[3, 9], currency="EUR")
        driver.clock.advance(2.2)
        await driver.steps.wait()
        yield completed("c_01", "price_check", total=price_of({"prices": {}}))

    return breaker


def silent(driver: SceneDriver) -> Runner:
    """Ends without output."""

    async def silent(ctx: Any) -> AsyncIterator[Any]:
        driver.clock.advance(0.8)
        yield state_updated("visits", 1)
        driver.clock.advance(0.7)
        yield {"type": "run.completed", "data": {"finish_reason": "stop"}}

    return silent


def sleeper(driver: SceneDriver) -> Runner:
    """Streams half a sentence and waits to be stopped."""

    @declares(capabilities={"steering": True})
    async def sleeper(ctx: Any) -> AsyncIterator[Any]:
        driver.clock.advance(0.6)
        text = "I am still looking for a hotel with a kitchen near the"
        words = text.split(" ")
        for count in range(1, len(words) + 1):
            driver.clock.advance(0.08)
            yield delta(words[count - 1], all_content=" ".join(words[:count]))
        yield started("c_01", "search_hotels", city="Kyoto", kitchen=True)
        driver.clock.advance(1.9)
        await driver.steps.wait()

    return sleeper


DYING = """
import asyncio, os, sys
from pathlib import Path

HERE = Path(__file__).parent

async def told(name):
    while not (HERE / name).exists():
        await asyncio.sleep(0.002)

async def run(ctx):
    (HERE / "pid").write_text(str(os.getpid()))
    print("loading the map of Kyoto")
    await told("go_2")
    print("warning: the map is from 1998", file=sys.stderr)
    await told("go_3")
    yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "Let me fetch the map."}}}
    yield {"type": "tool.call.started", "data": {"tool_call_id": "c_01", "tool_name": "map", "parameters": {"zoom": 9}}}
    await asyncio.Event().wait()
"""
"""A runner for a child process. Its entries: run.started, two output lines, a message, a call; then it waits."""

HOSTILE = "\x1b[31mred\x1b[0m [/x] [bold]b[/bold] \u202ebackwards\u202c 日本語 e\u0301 👩\u200d👩 \x9b2J\x07"
"""Escapes, markup, a change of direction, wide, combining and joined characters."""
HALF = "\ud800"
"""Half a surrogate pair: valid in JSON, but no terminal can show it."""


def rogue(driver: SceneDriver) -> Runner:
    """Puts hostile text into every field."""

    @declares(capabilities={"steering": True})
    async def rogue(ctx: Any) -> AsyncIterator[Any]:
        driver.clock.advance(0.3)
        yield delta(f"# {HOSTILE}\n", all_content=f"# {HOSTILE}\n")
        text = f"# {HOSTILE}\n\n{HOSTILE}{HALF} and [a link](javascript:alert(1))\n\n```[/x]\n{HOSTILE}\n```"
        yield said(text)
        driver.clock.advance(0.3)
        yield started(f"c\x1b[2J{HOSTILE[5:8]}", f"rm {HOSTILE}", **{f"[/{HOSTILE}]": HOSTILE})
        yield state_updated(f"key {HOSTILE}"[:60], {HOSTILE: [HOSTILE, {"[/]": "\x1b]0;title\x07"}]})
        yield {"type": f"odd.{HOSTILE}"[:80], "data": {"x": HOSTILE + HALF}}
        driver.clock.advance(0.5)
        await driver.steps.wait()
        yield failed(f"[/x] {HOSTILE}{HALF}", code=f"[bold]{HOSTILE}"[:40])

    return rogue
