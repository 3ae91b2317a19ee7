"""The bundled runners, played without a host around them."""

import base64
import importlib.util
import sys
from typing import Any

import pytest

from engine.protocol import AgentRunContext, AgentRunResult
from engine.protocol.payloads import validate_payload
from engine.run.turns import Turns
from engine.runners.discovery import bundled_folder

CONTEXT: dict[str, Any] = {
    "run_id": "run_1",
    "trigger": {"type": "message.received", "source": "webui", "timestamp": 0},
    "event": {"event_id": "event_1", "event_type": "message.received", "source": "webui"},
    "delivery": {"surface": "console"},
    "context": {},
}


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"bundled_{name}", bundled_folder() / name / "runner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


async def play(runner: Any, text: str, **config: Any) -> list[dict[str, Any]]:
    ctx = AgentRunContext.model_validate(CONTEXT | {"input": {"text": text}, "config": config})
    return [
        result.model_dump(exclude_none=True) if isinstance(result, AgentRunResult) else result
        async for result in runner.run(ctx)
    ]


def types(results: list[dict[str, Any]]) -> list[str]:
    return [result["type"] for result in results]


@pytest.mark.parametrize("text", ["hello there,  world", " padded\n", "one"])
async def test_echo_streams_what_it_is_told_and_says_it_once(text: str):
    results = await play(load("echo").EchoRunner(), text)

    deltas = [result["data"]["chunk"] for result in results if result["type"] == "message.delta"]
    assert "".join(chunk["content"] for chunk in deltas) == text == deltas[-1]["all_content"]
    assert types(results)[-2:] == ["message.completed", "run.completed"]
    assert results[-2]["data"]["message"]["content"] == text


async def test_rehearsal_plays_three_turns_with_tools_state_an_artifact_and_streamed_text():
    results = await play(load("rehearsal").RehearsalRunner(), "hi", pace=0)

    kinds = types(results)
    assert kinds.count("message.completed") == 3
    assert kinds.count("tool.call.started") == kinds.count("tool.call.completed") == 5
    assert kinds.count("artifact.created") == 1
    assert "state.updated" in kinds
    assert kinds[-1] == "run.completed"
    turns = Turns()
    assert [turns.note(result["type"], result["data"]) for result in results][-1] == 3
    assert all(validate_payload(result["type"], result["data"]) is None for result in results)
    artifact = next(result["data"] for result in results if result["type"] == "artifact.created")
    assert "Kyoto" in base64.b64decode(artifact["content_base64"]).decode()


async def test_rehearsal_is_the_same_every_time():
    runner = load("rehearsal").RehearsalRunner()

    assert await play(runner, "a day in Lisbon", pace=0) == await play(runner, "a day in Lisbon", pace=0)


@pytest.mark.parametrize(
    ("message", "city"),
    [
        ("hi", "Kyoto"),
        ("", "Kyoto"),
        ("oslo please", "Oslo"),
        ("a day in New York", "New York"),
        ("in a hurry", "Kyoto"),
    ],
)
def test_rehearsal_goes_where_the_message_says(message: str, city: str):
    assert load("rehearsal").city_of(message) == city


NEVER_PLAYED_HERE = {
    "hang", "ignore cancel", "block", "spin", "block in c", "exit", "sys exit", "kill", "grandchild", "flood forever",
    "raise", "raise after text",
}  # fmt: skip


def test_every_misbehaviour_has_one_line_that_says_what_it_does():
    for name, misbehave in load("chaos").MISBEHAVIOURS.items():
        assert misbehave.__doc__, name
        assert "\n" not in misbehave.__doc__


@pytest.mark.parametrize("text", ["help", "", "dance"])
async def test_chaos_lists_its_misbehaviours_when_it_knows_no_such_name(text: str):
    chaos = load("chaos")

    results = await play(chaos.ChaosRunner(), text)

    listed = results[0]["data"]["message"]["content"]
    assert all(f"- {name}: " in listed for name in chaos.MISBEHAVIOURS)
    assert types(results) == ["message.completed", "run.completed"]


async def test_chaos_that_only_yields_can_be_played_and_names_are_forgiving():
    chaos = load("chaos")
    assert set(chaos.MISBEHAVIOURS) >= NEVER_PLAYED_HERE

    for name in set(chaos.MISBEHAVIOURS) - NEVER_PLAYED_HERE - {"no output"}:
        assert await play(chaos.ChaosRunner(), name.upper().replace(" ", "-"), count=3), name
    assert await play(chaos.ChaosRunner(), "no_output") == []


@pytest.mark.parametrize(("name", "before"), [("raise", 0), ("raise after text", 1)])
async def test_chaos_raises(name: str, before: int):
    ctx = AgentRunContext.model_validate(CONTEXT | {"input": {"text": name}})
    results = load("chaos").ChaosRunner().run(ctx)

    for _ in range(before):
        await anext(results)

    with pytest.raises(RuntimeError, match="chaos was asked to raise"):
        await anext(results)
