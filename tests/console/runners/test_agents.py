"""Several agents of one runner: agents are shown by name, and a session continues with its last agent."""

from pathlib import Path
from typing import Any

import pytest

from console.launch import LaunchOptions
from console.ui.runners.screen import RunnersScreen
from tests.support.console.browser_data import begun, talked
from tests.support.console.pilot import at_both_sizes, at_the_screen, go_to, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.sessions_browser import resume_session
from tests.support.engines import Engines, declares, done, said

TONE = [{"name": "tone", "type": "string", "required": True}]


@declares(config=TONE)
async def guide(ctx: Any):
    yield said(f"{ctx.config['tone']}: {ctx.input.to_text()}")
    yield done()


def agent(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "runner": "guide", "config": {"tone": name}} | more


AGENTS = [agent("warm"), agent("cold")]


def console(open_engine: Engines, now: list[dict[str, Any]] = AGENTS, **options: Any) -> RecordingConsole:
    """A console over a session in which the agent `cold` answered; `now` are the agents since then."""

    async def open_with_session() -> Any:
        engine = await open_engine(guide, agents=AGENTS)
        await talked(engine, "kyoto", "the castle", runner="cold")
        open_engine.clock.advance(60)
        await open_engine.close(engine)
        return await open_engine(guide, agents=now)

    return RecordingConsole(LaunchOptions(**options), open_with_session)


async def send_next_message(pilot: Any, app: RecordingConsole) -> None:
    await say(pilot, "the gardens")
    await sees(pilot, "cold: the gardens")
    assert app.active_session.agent_id == "cold"


@pytest.mark.parametrize("options", [{"continue_last": True}, {"session": "kyoto"}], ids=["-c", "--session"])
async def test_session_continues_with_its_last_agent(open_engine: Engines, options: dict[str, Any]):
    app = console(open_engine, **options)
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        assert app.screen is app.main
        assert app.toasts == []
        await send_next_message(pilot, app)


async def test_resumed_session_chooses_its_last_agent_if_none_is_chosen(open_engine: Engines):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        await pilot.press("escape")
        await resume_session(pilot, app, "kyoto")
        await until(pilot, lambda: app.active_session.agent_id == "cold")
        await send_next_message(pilot, app)


async def test_opened_run_chooses_its_agent_if_none_is_chosen(open_engine: Engines):
    app = console(open_engine)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        await pilot.press("escape")
        (run,) = await app.active_session.engine.runs.list()
        rail = app.main.rail
        await until(pilot, lambda: rail.row_count >= 2)
        await go_to(pilot, app, "rail")
        rail.go_to(rail.source.place_of(f"run {run.run_id}") or 0)
        await pilot.press("enter")
        await until(pilot, lambda: app.active_session.agent_id == "cold")
        await send_next_message(pilot, app)


@pytest.mark.parametrize(
    "cold",
    [None, {"enabled": False}, {"config": {}}, {"runner": "nobody"}],
    ids=["gone", "off", "unfit", "without a runner"],
)
async def test_picker_opens_if_the_last_agent_cannot_run(open_engine: Engines, cold: dict[str, Any] | None):
    others = [agent("warm"), agent("mild")]
    app = console(open_engine, [*others, *([] if cold is None else [agent("cold", **cold)])], continue_last=True)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        assert (app.active_session.session_id, app.active_session.runner_choice, app.active_session.runner_id) == (
            "kyoto",
            None,
            "",
        )
        assert len(app.toasts) == 1


async def test_named_agent_replaces_the_last_one(open_engine: Engines):
    app = console(open_engine, continue_last=True, runner="warm")
    async with at_the_screen(app) as pilot:
        await begun(pilot, app)
        await say(pilot, "the gardens")
        await sees(pilot, "warm: the gardens")


@pytest.mark.parametrize("has_agents", [True, False])
async def test_notice_about_a_missing_choice_names_the_key(open_engine: Engines, tmp_path: Path, has_agents: bool):
    async def other(ctx: Any):
        yield done()

    app = RecordingConsole(LaunchOptions(), lambda: open_engine(guide, other, agents=AGENTS if has_agents else []))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await until(pilot, lambda: app.main.prompt.text == "hello")
        names = "warm (plugin:local/guide/default)" if has_agents else "plugin:local/guide/default"
        assert len([words for words in app.toasts if names in words]) == 2
        assert all(words.endswith("f3 chooses one.") and "--" not in words for words in app.toasts)


@at_both_sizes
async def test_agent_is_shown_with_its_runner_if_there_is_room(open_engine: Engines, size: tuple[int, int]):
    app = console(open_engine, runner="warm", session="kyoto")
    async with at_the_screen(app, size) as pilot:
        await begun(pilot, app)
        header = lambda: shown(app).splitlines()[0]  # noqa: E731
        await until(pilot, lambda: "cold (guide)" in header() or (size[0] < 100 and "cold" in header()))
        await sees(pilot, "send ▸ warm (guide)")  # the run that is shown is of cold; the next is of warm
        await say(pilot, "the gardens")
        await until(pilot, lambda: "warm" in header() and "cold" not in header())
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "warm" in header())
        await app.action_perform("app.compose")
        await sees(pilot, "to warm (guide)")
