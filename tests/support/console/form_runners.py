"""Runners with settings, and a console on one of them."""

from collections.abc import AsyncIterator
from typing import Any

from console.launch import LaunchOptions
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said

MODELS = [{"id": name, "kind": "scripted", "replies": [{"text": "x"}]} for name in ("small", "large")]
TOOLS = [{"name": "weather", "kind": "scripted", "answers": [{"result": 1}]}]
FIELDS: list[dict[str, Any]] = [
    {"name": "greeting", "type": "string", "label": "Greeting", "default": "hello", "description": "How it begins"},
    {"name": "count", "type": "integer", "label": "Count", "default": 3},
    {"name": "warm", "type": "float", "label": "Warmth", "default": 0.5},
    {"name": "loud", "type": "boolean", "label": "Loud", "default": False},
    {"name": "tone", "type": "select", "label": "Tone", "default": "warm", "options": ["warm", "cold"]},
    {"name": "notes", "type": "text", "label": "Notes"},
    {"name": "prompt", "type": "prompt-editor", "label": "Prompt"},
    {"name": "model", "type": "llm-model-selector", "label": "Model"},
    {"name": "models", "type": "model-fallback-selector", "label": "Models"},
    {"name": "bases", "type": "knowledge-base-multi-selector", "label": "Bases"},
    {"name": "words", "type": "array[string]", "label": "Words"},
    {"name": "api_key", "type": "string", "label": "Key", "default": ""},
]


@declares(capabilities={"tool_calling": True}, permissions={"models": ["invoke"], "tools": ["call"]}, config=FIELDS)
async def asks(ctx: Any) -> AsyncIterator[Any]:
    """A runner with a setting of each type."""
    yield said(f"{ctx.config['greeting']} x{ctx.config['count']} loud={ctx.config['loud']}")
    yield done()


@declares(config=[{"name": "model", "type": "llm-model-selector", "label": "Model", "required": True}])
async def needs(ctx: Any) -> AsyncIterator[Any]:
    """A runner with one required setting, which has no default."""
    yield said(f"with {ctx.config['model']}")
    yield done()


def console_with_form(open_engine: Engines, runner: Any = asks) -> RecordingConsole:
    """Make a console on a runner with settings."""
    return RecordingConsole(LaunchOptions(), lambda: open_engine(runner, models=MODELS, tools=TOOLS))
