"""SPEC 5: the public names of the contract, and what importing them loads."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from engine.protocol import AgentAPIException, AgentRunContext, AgentRunner, AgentRunResult, Message, MessageChunk

ROOT = Path(__file__).parents[3]


class Host:
    """A host with a version and nothing else."""

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        return {"version": f"{action} for {data['run_id']}"}

    async def stream(self, action: str, data: dict[str, Any]) -> AsyncGenerator[Any, None]:
        yield {}


class Echo(AgentRunner):
    capabilities = {"streaming": True}  # noqa: RUF012 - as an author writes it
    permissions = {"history": ["page"]}  # noqa: RUF012

    async def run(self, ctx: AgentRunContext):
        yield AgentRunResult.message_delta(ctx.run_id, MessageChunk(role="assistant", content=ctx.input.to_text()))
        yield {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "plain"}}}
        try:
            await ctx.api.state_get("actor", "k")
        except AgentAPIException as refused:
            yield AgentRunResult.run_completed(ctx.run_id, Message(role="assistant", content=refused.error.code))


def context() -> AgentRunContext:
    return AgentRunContext.model_validate(
        {
            "run_id": "r",
            "trigger": {"type": "message.received", "source": "webui"},
            "event": {"event_id": "e", "event_type": "message.received", "source": "console"},
            "input": {"contents": [{"type": "text", "text": "hi"}]},
            "delivery": {"surface": "console"},
            "context": {},
        }
    )


def test_get_run_api_of_the_runner_is_the_api_of_its_context():
    ctx = context()
    ctx.connect(Host())

    assert Echo().get_run_api(ctx) is ctx.api


async def test_a_subclass_with_an_async_run_yields_results_and_may_yield_plain_dicts():
    ctx = context()
    ctx.connect(Host())

    delta, plain, ended = [result async for result in Echo().run(ctx)]

    assert isinstance(delta, AgentRunResult)
    assert delta.data == {"chunk": {"role": "assistant", "content": "hi"}}
    assert isinstance(plain, dict)
    assert isinstance(ended, AgentRunResult)
    assert ended.data["message"]["content"] == "runtime_error"


async def test_the_api_of_a_context_acts_for_its_run():
    ctx = context()
    ctx.connect(Host())

    assert await ctx.api.get_langbot_version() == "get_langbot_version for r"


def test_api_is_not_part_of_the_serialized_context():
    ctx = context()
    ctx.connect(Host())

    assert not {"api", "_api"} & set(ctx.model_dump())


def test_an_error_for_a_runner_without_run_names_the_fix():
    class Silent(AgentRunner):
        pass

    with pytest.raises(NotImplementedError, match="Silent needs an `async def run"):
        Silent().run(context())


def test_capabilities_and_permissions_are_off_by_default():
    assert (AgentRunner.capabilities, AgentRunner.permissions, AgentRunner.config) == ({}, {}, ())


IMPORTED = """
import sys
print(*sorted(name for name in sys.modules if name.split('.')[0] in {'engine', 'console', 'fixtures'}))
print(*sorted({name.split('.')[0] for name in sys.modules} - sys.stdlib_module_names))
"""


def imported_by(code: str) -> tuple[set[str], set[str]]:
    """Our modules, and the packages beyond the standard library, that the code brings into a fresh interpreter."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", code + IMPORTED], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    ours, others = done.stdout.splitlines()
    return set(ours.split()), set(others.split())


def test_importing_the_contract_loads_only_pydantic():
    ours, others = imported_by("import engine.protocol")
    _, pydantics = imported_by("from pydantic import BaseModel, Field\nclass A(BaseModel):\n    x: int = Field(gt=0)\n")

    assert {name for name in ours if name != "engine" and not name.startswith("engine.protocol")} == set()
    assert others - pydantics == {"engine"}


def test_every_module_of_the_contract_imports_only_the_contract():
    names = {
        f"engine.protocol.{path.stem}"
        for path in (ROOT / "engine" / "protocol").glob("*.py")
        if path.stem != "__init__"
    }

    ours, _ = imported_by(f"import {', '.join(names)}")

    assert ours == {"engine", "engine.protocol", *names}
