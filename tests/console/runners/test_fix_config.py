"""An agent or runner with an invalid config is fixed in its settings form."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.model.runners.choices import list_choices
from console.ui.runners.screen import RunnersScreen
from console.ui.settings_form.screen import FormScreen
from engine.api import ConfigError, FormError, KeptSettings, RunOptions, message
from tests.support.console.form_app import to_the_form
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said

FIELDS: list[dict[str, Any]] = [
    *({"name": f"extra{number}", "type": "string", "label": f"Extra {number}"} for number in range(20)),
    {"name": "city", "type": "string", "label": "City", "required": True, "description": "Where it asks for"},
    {"name": "tone", "type": "select", "label": "Tone", "default": "warm", "options": ["warm", "cold"]},
]
AGENTS = [{"id": "poor", "runner": "asks", "config": {"extra1": "as written"}}, {"id": "good", "runner": "plain"}]


@declares(config=FIELDS)
async def asks(ctx: Any) -> AsyncIterator[Any]:
    yield said(f"in {ctx.config['city']}, {ctx.config['extra1']}")
    yield done()


async def plain(ctx: Any) -> AsyncIterator[Any]:
    yield said("I am good")
    yield done()


def make_console(open_engine: Engines, *, runner: str | None = "good", agents: Any = AGENTS) -> RecordingConsole:
    return RecordingConsole(LaunchOptions(runner=runner), lambda: open_engine(asks, plain, agents=agents))


async def kept(app: RecordingConsole) -> dict[str, Any]:
    settings = await app.active_session.engine.settings.get("poor")
    return {} if settings is None else settings.to_json()


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)])
async def test_invalid_agent_is_fixed_from_the_list_and_then_chosen(open_engine: Engines, size: tuple[int, int]):
    app = make_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await pilot.press("f3")
        await sees(pilot, "poor", "config.city is required", "2 to fix", "f12 fixes it")
        assert "left out" not in shown(app)
        await pilot.press(*"poor")
        await sees(pilot, "f12 opens its settings")
        form = await to_the_form(pilot, app)
        await sees(pilot, "Settings of poor", "✗ City", "is required", "1 problem found")
        assert form.field is not None
        assert form.field.name == "city"
        await pilot.press("enter", *"Rome", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"city": "Rome"}})
        await until(pilot, lambda: "All settings are valid now." in app.toasts)
        assert app.active_session.agent_id == "good", "only its form was changed"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen) and "is required" not in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main and app.active_session.agent_id == "poor")
        await say(pilot, "go")
        await sees(pilot, "in Rome, as written")


@at_both_sizes
async def test_runner_with_missing_settings_is_marked_in_the_list(open_engine: Engines, size: tuple[int, int]):
    app = make_console(open_engine, agents=AGENTS[1:])
    async with at_the_screen(app, size) as pilot:
        await pilot.press("f3")
        await sees(pilot, "✗ asks", "city is required", "f12 fixes it", "1 to fix")
        await pilot.press(*"asks")
        await to_the_form(pilot, app)
        await sees(pilot, "Settings of asks", "1 problem found")
        await pilot.press("enter", *"Rome", "enter")
        await until(pilot, lambda: "All settings are valid now." in app.toasts)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen) and "is required" not in shown(app))
        assert "to fix" not in shown(app)


@at_both_sizes
async def test_chosen_agent_says_which_setting_is_missing(open_engine: Engines, size: tuple[int, int]):
    app = make_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await pilot.press("f3")
        await sees(pilot, "poor")
        await pilot.press(*"poor", "enter")
        await until(pilot, lambda: any("city is required" in words and "f12" in words for words in app.toasts))
        await sees(pilot, "invalid settings · f12")
        form = await to_the_form(pilot, app)
        assert form.field is not None
        assert form.field.name == "city"
        await pilot.press("enter", *"Rome", "enter")
        await until(pilot, lambda: app.active_session.not_ready_reason is None)
        await pilot.press("escape")
        await say(pilot, "go")
        await sees(pilot, "in Rome, as written")


async def test_only_agent_is_chosen_although_a_setting_is_missing(
    open_engine: Engines,
):
    app = make_console(open_engine, runner=None, agents=AGENTS[:1])
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: any("city is required" in words for words in app.toasts))
        form = await to_the_form(pilot, app)
        await pilot.press("enter", *"Rome", "enter")
        await until(pilot, lambda: app.active_session.not_ready_reason is None)
        await pilot.press("r")
        await until(
            pilot, lambda: app.active_session.has_invalid_settings and app.active_session.not_ready_reason is not None
        )
        assert len(form.draft.problems()) == 1


async def test_invalid_value_of_the_file_is_replaced_in_the_form(open_engine: Engines):
    agents = [{"id": "poor", "runner": "asks", "config": {"city": "Rome", "extra1": "x", "tone": "hot"}}]
    app = make_console(open_engine, runner=None, agents=agents)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: any("tone must be one of warm, cold" in words for words in app.toasts))
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, FormScreen) and app.screen.list.size.height > 0)
        await sees(pilot, "✗ Tone", "must be one of")
        await pilot.press("enter", *"cold", "enter")
        await becomes(pilot, lambda: kept(app), {"config": {"tone": "cold"}})
        await pilot.press("escape")
        await say(pilot, "go")
        await sees(pilot, "in Rome, x")


async def test_saved_settings_make_an_invalid_agent_valid(open_engine: Engines):
    engine = await open_engine(asks, plain, agents=AGENTS)
    assert [agent.agent_id for agent in engine.runners.agents()] == ["good"]
    assert [agent.agent_id for agent in engine.runners.invalid_agents()] == ["poor"]
    with pytest.raises(FormError, match="city is required"):
        engine.runs.prepare(message("evt_1", "x", conversation_id="s"), RunOptions(runner="poor", kept=True))

    await engine.settings.save("poor", KeptSettings(config={"city": "Rome"}))

    assert [agent.agent_id for agent in engine.runners.agents()] == ["good", "poor"]
    assert engine.runners.invalid_agents() == ()
    assert (
        engine.runs.prepare(message("evt_2", "x", conversation_id="s"), RunOptions(runner="poor", kept=True)).config[
            "city"
        ]
        == "Rome"
    )
    with pytest.raises(ConfigError, match=r"agents\[0\]\.config\.city: is required"):
        engine.runs.prepare(
            message("evt_3", "x", conversation_id="s"), RunOptions(runner="poor")
        )  # without saved settings the config of the file counts


async def test_agent_without_its_runner_is_left_out(open_engine: Engines):
    engine = await open_engine(plain, agents=[{"id": "ghost", "runner": "nobody"}])
    found = list_choices(
        engine.runners.agents(),
        await engine.runners.summaries(),
        engine.runners.problems(),
        engine.runners.invalid_agents(),
    )
    assert [(one.kind, one.config_problem) for one in found if "ghost" in one.label] == [("problem", "")]
