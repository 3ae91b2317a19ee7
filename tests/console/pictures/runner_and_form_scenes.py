"""Scenes of the runner list and of the settings form."""

from collections.abc import AsyncIterator
from typing import Any

from tests.console.pictures.run_scenes import earlier
from tests.console.pictures.scene import BOTH, MEDIUM, TINY, scene
from tests.console.pictures.scene_runners import TOOLS, greeter, silent
from tests.support.console.scene_driver import SceneDriver
from tests.support.engines import Runner, declares, done

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


def planner(driver: SceneDriver) -> Runner:
    @declares(
        capabilities={"streaming": True, "steering": True, "tool_calling": True},
        permissions={"models": ["invoke", "stream"], "tools": ["call"], "history": ["page"]},
        config=FORM,
    )
    async def planner(ctx: Any) -> AsyncIterator[Any]:
        yield done("x")

    return planner


def broken(driver: SceneDriver) -> Runner:
    """The planner, beside a runner file with a syntax error."""
    (driver.engines.folder / "torn.py").write_text("async def run(ctx):\n    yield [\n")
    return planner(driver)


chosen = scene.with_defaults(planner, greeter, silent, prepare=earlier, tools=TOOLS, models=MODELS)
with_a_torn_file = scene.with_defaults(broken, greeter, silent, prepare=earlier, tools=TOOLS, models=MODELS)


@with_a_torn_file(sizes=(*BOTH, MEDIUM, TINY))
async def runners(driver: SceneDriver) -> None:
    """All runners, and the file that was left out."""
    await driver.press("f3")
    await driver.wait_until("1 left out")


@chosen()
async def runners_none(driver: SceneDriver) -> None:
    """A search without a match."""
    await driver.press("f3")
    await driver.wait_until("Search, or type a path")
    await driver.press(*"zebra")
    await driver.wait_until("No runner matches")


@chosen(sizes=(*BOTH, TINY))
async def runners_path_wrong(driver: SceneDriver) -> None:
    """A path that does not exist."""
    await driver.press("f3")
    await driver.wait_until("Search, or type a path")
    await driver.press(*"/nowhere/at_all.py")
    await driver.wait_until("no such folder")
    await driver.press("enter")
    await driver.wait_until("Cannot be opened")


@chosen(sizes=(*BOTH, MEDIUM, TINY))
async def form(driver: SceneDriver) -> None:
    """The form as it opens."""
    await driver.press("f12")
    await driver.wait_until("Settings of planner")


@chosen()
async def form_changed(driver: SceneDriver) -> None:
    """A changed value, and an open list of choices."""
    await form(driver)
    await driver.press("down", "down", "end", "home", "down", "down", "enter", *" and Nara", "enter")
    await driver.wait_until("Kyoto and Nara")
    await driver.press("down", "down", "enter")


@chosen(sizes=(*BOTH, TINY))
async def form_wrong(driver: SceneDriver) -> None:
    """A value of the wrong type."""
    await form(driver)
    await driver.press("down", "down", "down", "enter", *" or so")
    await driver.wait_until("must be an integer")


@chosen(sizes=(*BOTH, TINY))
async def form_page(driver: SceneDriver) -> None:
    """Editing a prompt of several messages."""
    await form(driver)
    await driver.press(*["down"] * 6, "enter")
    await driver.wait_until("esc saves")


@chosen()
async def form_grants(driver: SceneDriver) -> None:
    """The grants of the next run."""
    await form(driver)
    await driver.press("g")


@chosen()
async def form_yaml(driver: SceneDriver) -> None:
    """The form as YAML, with its secret masked."""
    await form(driver)
    await driver.press("y")
    await driver.wait_until("as YAML")


@chosen()
async def form_yaml_wrong(driver: SceneDriver) -> None:
    """YAML with a wrong value."""
    await form_yaml(driver)
    screen: Any = driver.app.screen
    screen.area.load_text(screen.area.text.replace("hours: 9", "hours: all day"))
    screen._check()
