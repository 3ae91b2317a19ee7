"""Scenes of choosing a runner and of filling in its form."""

from collections.abc import AsyncIterator
from typing import Any

from tests.console.pictures.course import earlier
from tests.console.pictures.runners import TOOLS, greeter, silent
from tests.console.pictures.scene import BOTH, MEDIUM, TINY, scene
from tests.console.pictures.studio import Studio
from tests.support import Runner, declares, done

FORM: list[dict[str, Any]] = [
    {"name": "model", "type": "llm-model-selector", "label": "Model", "required": True, "default": "small",
     "description": "Who writes the plan."},
    {"name": "models", "type": "model-fallback-selector", "label": "Instead of it",
     "default": {"primary": "small", "fallbacks": ["large"]}},
    {"name": "city", "type": "string", "label": "City", "default": "Kyoto", "description": "Where the day is spent."},
    {"name": "hours", "type": "integer", "label": "Hours", "default": 9},
    {"name": "pace", "type": "select", "label": "Pace", "default": "slow", "options": ["slow", "brisk", "hurried"]},
    {"name": "rain", "type": "boolean", "label": "Also in the rain", "default": True},
    {"name": "prompt", "type": "prompt-editor", "label": "Prompt",
     "default": [{"role": "system", "content": "You plan days.\nBe brief."}, {"role": "user", "content": "Kyoto?"}]},
    {"name": "sights", "type": "array[string]", "label": "Sights", "default": ["Fushimi Inari", "Nishiki Market"]},
    {"name": "api_key", "type": "string", "label": "Key", "default": "hush"},
]  # fmt: skip
MODELS = [{"id": name, "kind": "scripted", "replies": [{"text": "x"}]} for name in ("small", "large", "slow")]


def planner(studio: Studio) -> Runner:
    @declares(
        capabilities={"streaming": True, "steering": True, "tool_calling": True},
        permissions={"models": ["invoke", "stream"], "tools": ["call"], "history": ["page"]},
        config=FORM,
    )
    async def planner(ctx: Any) -> AsyncIterator[Any]:
        yield done("x")

    return planner


def broken(studio: Studio) -> Runner:
    """It stands beside a file that cannot be read."""
    (studio.engines.folder / "torn.py").write_text("async def run(ctx):\n    yield [\n")
    return planner(studio)


chosen = scene.with_(planner, greeter, silent, prepare=earlier, tools=TOOLS, models=MODELS)
with_a_torn_file = scene.with_(broken, greeter, silent, prepare=earlier, tools=TOOLS, models=MODELS)


@with_a_torn_file(sizes=(*BOTH, MEDIUM, TINY))
async def runners(studio: Studio) -> None:
    """All that can run, and what was left out."""
    await studio.press("f3")
    await studio.until("1 left out")


@chosen()
async def runners_none(studio: Studio) -> None:
    """Nothing is called so."""
    await studio.press("f3")
    await studio.until("search, or a path")
    await studio.press(*"zebra")
    await studio.until("Nothing is called")


@chosen(sizes=(*BOTH, TINY))
async def runners_path_wrong(studio: Studio) -> None:
    """A path that nothing lies at was to be opened."""
    await studio.press("f3")
    await studio.until("search, or a path")
    await studio.press(*"/nowhere/at_all.py")
    await studio.until("there is no such folder")
    await studio.press("enter")
    await studio.until("it cannot be opened")


@chosen(sizes=(*BOTH, MEDIUM, TINY))
async def form(studio: Studio) -> None:
    """As it is opened."""
    await studio.press("f12")
    await studio.until("Settings of planner")


@chosen()
async def form_changed(studio: Studio) -> None:
    """Two values are someone's own, and a list is open."""
    await form(studio)
    await studio.press("down", "down", "end", "home", "down", "down", "enter", *" and Nara", "enter")
    await studio.until("Kyoto and Nara")
    await studio.press("down", "down", "enter")


@chosen(sizes=(*BOTH, TINY))
async def form_wrong(studio: Studio) -> None:
    """What is typed does not fit."""
    await form(studio)
    await studio.press("down", "down", "down", "enter", *" or so")
    await studio.until("must be an integer")


@chosen(sizes=(*BOTH, TINY))
async def form_page(studio: Studio) -> None:
    """A prompt of several messages is being written."""
    await form(studio)
    await studio.press(*["down"] * 6, "enter")
    await studio.until("esc keeps it")


@chosen()
async def form_grants(studio: Studio) -> None:
    """What a run would be granted."""
    await form(studio)
    await studio.press("g")


@chosen()
async def form_yaml(studio: Studio) -> None:
    """All of it as YAML, its secret as a mark."""
    await form(studio)
    await studio.press("y")
    await studio.until("as YAML")


@chosen()
async def form_yaml_wrong(studio: Studio) -> None:
    """A line of it does not fit."""
    await form_yaml(studio)
    screen: Any = studio.app.screen
    screen.page.load_text(screen.page.text.replace("hours: 9", "hours: all day"))
    screen._look()
