"""Past runs, the runs list, forks, and runs of another process."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import Trackside
from console.launch import LaunchOptions
from tests.support.console.pilot import at_the_screen, say, shown, until
from tests.support.engines import (
    Engines,
    ScriptRunner,
    done,
    event,
    message,
    open_script_runner,
    run_event,
    said,
    send,
    wait_forever,
    waits,
)
from tests.support.engines import wait_for_entry as until_entry
from tests.support.limits import MAX_WAIT_SECONDS


async def engine_with_runs(open_engine: Engines, count: int, *, sessions: int = 1) -> ScriptRunner:
    """Open an engine with this many completed runs, a minute apart."""
    stage = await open_script_runner(open_engine)
    for n in range(count):
        session = f"trip-{n % sessions}"
        await stage(said(f"answer {n}."), done(), event=message(f"ask {n}.", session=session))
        open_engine.clock.advance(60)
    stage.script[:] = [said("fresh answer."), done()]
    return stage


def console(stage: ScriptRunner, **options: Any) -> Trackside:
    """Make a console on the engine of a stage."""

    async def open_engine_of_stage() -> Any:
        return stage.engine

    return Trackside(LaunchOptions(**options), open_engine_of_stage)


async def scroll_up_to(app: Trackside, pilot: Pilot[None], text: str) -> None:
    """Press home until the text is shown; each press loads earlier messages."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while text not in shown(app):
            await pilot.press("home")


@pytest.mark.parametrize("size", [(160, 45), (80, 24)], ids=["160x45", "80x24"])
async def test_long_session_can_be_scrolled_back_to_its_first_message(open_engine: Engines, size: tuple[int, int]):
    app = console(await engine_with_runs(open_engine, 12), session="trip-0")
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: "answer 11." in shown(app))
        app.main.conversation.focus()

        await scroll_up_to(app, pilot, "answer 0.")

        assert len(app.services.updater.conversation.run_ids) == 12
        await pilot.press("end")
        await until(pilot, lambda: "answer 11." in shown(app))


async def test_past_run_is_shown_at_its_place_with_later_runs_below(open_engine: Engines):
    app = console(await engine_with_runs(open_engine, 12), session="trip-0")
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "answer 11." in shown(app))
        run_id = (await app.active_session.engine.runs.list(limit=12))[7].run_id

        await app.services.updater.open_run(run_id)
        await until(pilot, lambda: "answer 4." in shown(app))
        app.main.conversation.focus()
        await pilot.press(*["pagedown"] * 20)
        await until(pilot, lambda: not app.services.updater.conversation.has_later)
        await until(pilot, lambda: "answer 11." in shown(app))

        assert app.services.updater.view is not None
        assert app.services.updater.view.run_id == run_id


async def test_new_run_is_shown_even_if_a_past_run_was_open(open_engine: Engines):
    app = console(await engine_with_runs(open_engine, 12), session="trip-0")
    async with at_the_screen(app) as pilot:
        runs = await app.active_session.engine.runs.list(limit=12)
        await app.services.updater.open_run(runs[-1].run_id)
        await until(pilot, lambda: "answer 0." in shown(app))
        assert app.services.updater.conversation.has_later

        app.main.prompt.focus()
        await say(pilot, "and now?")

        await until(pilot, lambda: "fresh answer." in shown(app) and not app.services.updater.conversation.has_later)
        assert app.services.updater.conversation.run_ids[-2] == runs[0].run_id


async def test_fork_shows_the_messages_it_inherited(open_engine: Engines):
    stage = await engine_with_runs(open_engine, 2)
    fork = await stage.engine.sessions.fork("trip-0")
    app = console(stage, session=fork.session_id)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "answer 1." in shown(app) and "┣ forked here from “ask 0.”" in shown(app))

        await say(pilot, "go on")

        await until(pilot, lambda: "fresh answer." in shown(app))
        assert "answer 1." in shown(app)


async def test_fork_shows_each_inherited_event_above_its_reply(open_engine: Engines):
    stage = await engine_with_runs(open_engine, 0)
    for name in ("Ann", "Bob"):
        actor = {"actor_type": "user", "actor_id": name.lower(), "actor_name": name}
        stage.script[:] = [said(f"welcome, {name}."), done()]
        await run_event(stage.engine, event("group.member_joined", conversation_id="trip-0", actor=actor))
    fork = await stage.engine.sessions.fork("trip-0")
    app = console(stage, session=fork.session_id)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "forked here from" in shown(app))

        texts = ("by Ann", "welcome, Ann.", "by Bob", "welcome, Bob.")
        offsets = [shown(app).index(text) for text in texts]
        assert offsets == sorted(offsets)
        assert shown(app).count("group.member_joined") >= 2


# The list of runs


async def test_end_of_the_runs_list_loads_earlier_runs(open_engine: Engines):
    app = console(await engine_with_runs(open_engine, 70, sessions=7), session="trip-0")
    async with at_the_screen(app) as pilot:
        rail = app.main.rail
        await until(pilot, lambda: len(rail._shown.runs) == 30)
        rail.focus()

        for count in (60, 70):
            rail.go_to(rail.source.place_of("more") or 0)
            await until(pilot, lambda count=count: len(rail._shown.runs) == count)

        assert not rail._shown.has_more
        assert rail._shown.runs[-1].title == "ask 0."
        assert rail.current_id == f"run {rail._shown.runs[60].id}"


async def test_cursor_of_the_runs_list_starts_at_the_newest_run_and_wraps_around(open_engine: Engines):
    app = console(await engine_with_runs(open_engine, 3), session="trip-0")
    async with at_the_screen(app) as pilot:
        rail = app.main.rail
        await until(pilot, lambda: len(rail._shown.runs) == 3)
        await say(pilot, "one more")
        await until(pilot, lambda: len(rail._shown.runs) == 4)
        rail.focus()
        assert rail.current_id == f"run {rail._shown.runs[0].id}"

        await pilot.press("up")
        assert rail.current_id == f"session {rail._shown.sessions[-1].id}"
        await pilot.press("down")
        assert rail.current_id == f"run {rail._shown.runs[0].id}"


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_runs_list_shows_session_details_if_there_is_room(open_engine: Engines, size: tuple[int, int]):
    app = console(await engine_with_runs(open_engine, 3), session="trip-0")
    async with at_the_screen(app, size) as pilot:
        if size[0] < 100:
            app.main.focus_pane("runs")
        await until(pilot, lambda: "ask 2." in shown(app) and "Sessions" in shown(app))

        lines = [line.strip("│╭╮ ") for line in shown(app).splitlines()]
        assert any(line.lstrip("›").startswith("▌✓ ask 2.") for line in lines)
        assert any(line.startswith("▌◉ ask 0.") for line in lines)
        assert ("3 events · 1 min ago" in shown(app)) == (size[0] < 100)
        assert "×" not in shown(app)


async def test_empty_runs_list_says_so(open_engine: Engines):
    app = console(await open_script_runner(open_engine))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "new session" in shown(app))
        assert "No runs yet" in shown(app)


async def test_header_shows_the_title_of_the_session_and_never_its_id(open_engine: Engines):
    app = console(await open_script_runner(open_engine))
    async with at_the_screen(app) as pilot:
        await say(pilot, "Plan a day in Kyoto")
        await until(pilot, lambda: "Plan a day in Kyoto" in shown(app).splitlines()[0])

        assert app.active_session.session_id.startswith("ses_")
        assert "ses_" not in shown(app)


# Another process


async def test_run_of_another_process_is_followed_and_marked(open_engine: Engines):
    async def talks(ctx: Any):
        yield said("from over there.")
        await wait_forever()

    other = await open_engine(talks)
    run_id = await send(other, message("go", session="trip"), runner="talks")
    await until_entry(other, run_id, "message.completed")
    app = Trackside(LaunchOptions(session="trip", runner="talks"), lambda: open_engine(waits))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "from over there." in shown(app))
        assert "in another process" in shown(app).splitlines()[0]
        await until(pilot, lambda: "elsewhere" in shown(app))

        await other.runs.stop(run_id)

        await until(pilot, lambda: "stopped" in shown(app).splitlines()[0])
        assert "in another process" not in shown(app).splitlines()[0]
        await until(pilot, lambda: "■" in shown(app))


# The place at which a past run opens


async def open_from_runs_list(app: Trackside, pilot: Pilot[None], run_id: str) -> None:
    """Open a run from the runs list."""
    rail = app.main.rail
    app.main.focus_pane("runs")
    await until(pilot, lambda: any(run.id == run_id for run in rail._shown.runs))
    rail.focus()
    rail.go_to(rail.source.place_of(f"run {run_id}") or 0)
    await pilot.press("enter")
    await until(pilot, lambda: app.services.updater.view is not None and app.services.updater.view.run_id == run_id)


def visible_texts(app: Trackside) -> list[str]:
    """Return the texts of the blocks that the conversation shows."""
    seen = app.main.conversation._viewport.seen
    numbers = {part.number for part in seen}
    return [
        text
        for block in app.services.updater.conversation.blocks
        if block.number in numbers and (text := block.markdown())
    ]


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("lines", [30, 500], ids=["long", "longer than a window"])
async def test_past_run_opens_at_its_first_message(open_engine: Engines, size: tuple[int, int], lines: int):
    stage = await engine_with_runs(open_engine, 5)
    run = await stage(*(said(f"line {n}.") for n in range(lines)), done(), event=message("go", session="trip-0"))
    for n in range(5):
        await stage(said(f"later {n}."), done(), event=message(f"and {n}?", session="trip-0"))
        open_engine.clock.advance(60)
    app = console(stage, session="trip-0")
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: "later 4." in shown(app))

        await open_from_runs_list(app, pilot, run.run_id)

        await until(pilot, lambda: visible_texts(app)[:2] == ["go", "line 0."])
        assert "line 29." not in visible_texts(app)
