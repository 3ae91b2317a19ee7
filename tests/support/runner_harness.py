"""Plays a bundled runner without a host around it."""

import importlib.util
import sys
from typing import Any

from engine.protocol import AgentRunContext, AgentRunResult
from engine.protocol.api import Caller
from engine.runners.discovery import bundled_folder

CONTEXT: dict[str, Any] = {
    "run_id": "run_1",
    "trigger": {"type": "message.received", "source": "webui", "timestamp": 0},
    "event": {"event_id": "event_1", "event_type": "message.received", "source": "webui"},
    "delivery": {"surface": "console"},
    "context": {},
}


def load(name: str):
    """A bundled runner's module; it can import what lies beside it, as in a run."""
    folder = bundled_folder() / name
    spec = importlib.util.spec_from_file_location(f"bundled_{name}", folder / "runner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


async def play(runner: Any, text: str, caller: Caller | None = None, **config: Any) -> list[dict[str, Any]]:
    """The results of one run; with a caller, the host behind it has steering on."""
    apis = {"context": {"available_apis": {"steering_pull": caller is not None}}}
    ctx = AgentRunContext.model_validate(CONTEXT | apis | {"input": {"text": text}, "config": config})
    if caller is not None:
        ctx.connect(caller)
    return [
        result.model_dump(exclude_none=True) if isinstance(result, AgentRunResult) else result
        async for result in runner.run(ctx)
    ]


def types(results: list[dict[str, Any]]) -> list[str]:
    return [result["type"] for result in results]
