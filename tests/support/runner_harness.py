"""Runs a bundled runner without a host."""

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
    """Import a bundled runner. It can import the modules beside it, as in a run."""
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


async def run_bundled(runner: Any, text: str, caller: Caller | None = None, **config: Any) -> list[dict[str, Any]]:
    """Return the results of one run. Steering is available if a caller is given."""
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
