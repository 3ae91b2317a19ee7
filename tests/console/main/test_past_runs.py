"""Old runs, long lists, forks and runs of other processes, at the screen."""

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


async def prepared(open_engine: Engines, count: int, *, sessions: int = 1) -> ScriptRunner:
    """So many runs are over."""
    stage = await open_script_runner(open_engine)
    for n in range(count):
        session = f"trip-{n % sessions}"
        await stage(said(f"answer {n}."), done(), event=message(f"ask {n}.", session=session))
        open_engine.clock.advance(60)
    stage.script[:] = [said("fresh answer."), done()]
    return stage


def console(stage: ScriptRunner, **opening: Any) -> Trackside:
    async def given() -> Any:
        return stage.engine

    return Trackside(LaunchOptions(**opening), given)


async def read_back(app: Trackside, pilot: Pilot[None], words: str) -> None:
    """Go up as far as is read, again and again."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while words not in shown(app):
            await pilot.press("home")


@pytest.mark.parametrize("size", [(160, 45), (80, 24)], ids=["160x45", "80x24"])
async def test_a_session_of_twelve_runs_is_read_back_to_its_first_words(open_engine: Engines, size: tuple[int, int]):
    app = console(await prepared(open_engine, 12), session="trip-0")
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: "answer 11." in shown(app))
        app.main.conversation.focus()

        await read_back(app, pilot, "answer 0.")

        assert len(app.services.updater.conversation.run_ids) == 12
        await pilot.press("end")
        await until(pilot, lambda: "answer 11." in shown(app))


async def test_an_old_run_is_shown_where_it_was_said_and_what_came_later_is_below(open_engine: Engines):
    app = console(await prepared(open_engine, 12), session="trip-0")
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


async def test_what_is_said_anew_is_shown_wherever_one_had_looked(open_engine: Engines):
    app = console(await prepared(open_engine, 12), session="trip-0")
    async with at_the_screen(app) as pilot:
        runs = await app.active_session.engine.runs.list(limit=12)
        await app.services.updater.open_run(runs[-1].run_id)
        await until(pilot, lambda: "answer 0." in shown(app))
        assert app.services.updater.conversation.has_later

        app.main.prompt.focus()
        await say(pilot, "and now?")

        await until(pilot, lambda: "fresh answer." in shown(app) and not app.services.updater.conversation.has_later)
        assert app.services.updater.conversation.run_ids[-2] == runs[0].run_id


async def test_a_fork_shows_what_it_began_with(open_engine: Engines):
    stage = await prepared(open_engine, 2)
    fork = await stage.engine.sessions.fork("trip-0")
    app = console(stage, session=fork.session_id)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "answer 1." in shown(app) and "┣ forked here from “ask 0.”" in shown(app))

        await say(pilot, "go on")

        await until(pilot, lambda: "fresh answer." in shown(app))
        assert "answer 1." in shown(app)


async def test_a_fork_shows_events_that_are_no_messages_above_what_was_said_to_them(open_engine: Engines):
    stage = await prepared(open_engine, 0)
    for name in ("Ann", "Bob"):
        actor = {"actor_type": "user", "actor_id": name.lower(), "actor_name": name}
        stage.script[:] = [said(f"welcome, {name}."), done()]
        await run_event(stage.engine, event("group.member_joined", conversation_id="trip-0", actor=actor))
    fork = await stage.engine.sessions.fork("trip-0")
    app = console(stage, session=fork.session_id)
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "forked here from" in shown(app))

        words = ("by Ann", "welcome, Ann.", "by Bob", "welcome, Bob.")
        places = [shown(app).index(each) for each in words]
        assert places == sorted(places)
        assert shown(app).count("group.member_joined") >= 2


# The list of runs


async def test_the_end_of_the_list_leads_to_earlier_runs(open_engine: Engines):
    app = console(await prepared(open_engine, 70, sessions=7), session="trip-0")
    async with at_the_screen(app) as pilot:
        rail = app.main.rail
        await until(pilot, lambda: len(rail._shown.runs) == 30)
        rail.focus()

        for count in (60, 70):
            rail.highlighted = rail.get_option_index("more")
            await until(pilot, lambda count=count: len(rail._shown.runs) == count)

        assert not rail._shown.has_more
        assert rail._shown.runs[-1].title == "ask 0."
        assert rail.highlighted_option is not None
        assert rail.highlighted_option.id == f"run {rail._shown.runs[60].id}"


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_list_says_what_matters_in_the_room_that_it_has(open_engine: Engines, size: tuple[int, int]):
    app = console(await prepared(open_engine, 3), session="trip-0")
    async with at_the_screen(app, size) as pilot:
        if size[0] < 100:
            app.main.focus_pane("runs")
        await until(pilot, lambda: "ask 2." in shown(app) and "Sessions" in shown(app))

        lines = [line.strip("│╭╮ ") for line in shown(app).splitlines()]
        assert any(line.startswith("›✓ ask 2.") for line in lines)
        assert any(line.startswith("›◉ ask 0.") for line in lines)
        assert ("3 exchanges · 1 min ago" in shown(app)) == (size[0] < 100)
        assert "×" not in shown(app)


async def test_an_empty_list_says_so(open_engine: Engines):
    app = console(await open_script_runner(open_engine))
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: "new session" in shown(app))
        assert "No runs yet" in shown(app)


async def test_the_header_has_the_title_and_never_the_id(open_engine: Engines):
    app = console(await open_script_runner(open_engine))
    async with at_the_screen(app) as pilot:
        await say(pilot, "Plan a day in Kyoto")
        await until(pilot, lambda: "Plan a day in Kyoto" in shown(app).splitlines()[0])

        assert app.active_session.session_id.startswith("ses_")
        assert "ses_" not in shown(app)


# Another process


async def test_a_run_of_another_process_is_followed_and_said_to_be_elsewhere(open_engine: Engines):
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


# Where a past run opens


async def chosen(app: Trackside, pilot: Pilot[None], run_id: str) -> None:
    """Open a run from the list."""
    rail = app.main.rail
    app.main.focus_pane("runs")
    await until(pilot, lambda: any(run.id == run_id for run in rail._shown.runs))
    rail.focus()
    rail.highlighted = rail.get_option_index(f"run {run_id}")
    await pilot.press("enter")
    await until(pilot, lambda: app.services.updater.view is not None and app.services.updater.view.run_id == run_id)


def told(app: Trackside) -> list[str]:
    """What the conversation shows."""
    seen = app.main.conversation._viewport.seen
    numbers = {part.number for part in seen}
    return [
        words
        for block in app.services.updater.conversation.blocks
        if block.number in numbers and (words := block.markdown())
    ]


@pytest.mark.parametrize("size", [(160, 45), (80, 24), (60, 15)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("lines", [30, 500], ids=["long", "longer than a window"])
async def test_a_past_run_opens_where_it_begins(open_engine: Engines, size: tuple[int, int], lines: int):
    stage = await prepared(open_engine, 5)
    run = await stage(*(said(f"line {n}.") for n in range(lines)), done(), event=message("go", session="trip-0"))
    for n in range(5):
        await stage(said(f"later {n}."), done(), event=message(f"and {n}?", session="trip-0"))
        open_engine.clock.advance(60)
    app = console(stage, session="trip-0")
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: "later 4." in shown(app))

        await chosen(app, pilot, run.run_id)

        await until(pilot, lambda: told(app)[:2] == ["go", "line 0."])
        assert "line 29." not in told(app)
