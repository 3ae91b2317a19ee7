"""The bundled runners, run without a host."""

import pytest

from engine.protocol import AgentRunContext
from tests.support.runner_harness import CONTEXT, load, run_bundled, types


@pytest.mark.parametrize("text", ["hello there,  world", " padded\n", "one"])
async def test_echo_streams_the_message_and_completes_it_once(text: str):
    results = await run_bundled(load("echo").EchoRunner(), text)

    deltas = [result["data"]["chunk"] for result in results if result["type"] == "message.delta"]
    assert "".join(chunk["content"] for chunk in deltas) == text == deltas[-1]["all_content"]
    assert types(results)[-2:] == ["message.completed", "run.completed"]
    assert results[-2]["data"]["message"]["content"] == text


NEVER_PLAYED_HERE = {
    "hang", "ignore cancel", "block", "spin", "block in c", "exit", "sys exit", "kill", "grandchild", "flood forever",
    "raise", "raise after text",
}  # fmt: skip


def test_every_misbehaviour_has_one_line_that_says_what_it_does():
    for name, misbehave in load("chaos").MISBEHAVIOURS.items():
        assert misbehave.__doc__, name
        assert "\n" not in misbehave.__doc__


@pytest.mark.parametrize("text", ["help", "", "dance"])
async def test_chaos_lists_its_misbehaviours_for_an_unknown_name(text: str):
    chaos = load("chaos")

    results = await run_bundled(chaos.ChaosRunner(), text)

    listed = results[0]["data"]["message"]["content"]
    assert all(f"- {name}: " in listed for name in chaos.MISBEHAVIOURS)
    assert types(results) == ["message.completed", "run.completed"]


async def test_misbehaviours_that_only_yield_can_be_run_and_names_are_matched_leniently():
    chaos = load("chaos")
    assert set(chaos.MISBEHAVIOURS) >= NEVER_PLAYED_HERE

    for name in set(chaos.MISBEHAVIOURS) - NEVER_PLAYED_HERE - {"no output"}:
        assert await run_bundled(chaos.ChaosRunner(), name.upper().replace(" ", "-"), count=3), name
    assert await run_bundled(chaos.ChaosRunner(), "no_output") == []


@pytest.mark.parametrize(("name", "before"), [("raise", 0), ("raise after text", 1)])
async def test_chaos_raises(name: str, before: int):
    ctx = AgentRunContext.model_validate(CONTEXT | {"input": {"text": name}})
    results = load("chaos").ChaosRunner().run(ctx)

    for _ in range(before):
        await anext(results)

    with pytest.raises(RuntimeError, match="chaos was asked to raise"):
        await anext(results)
