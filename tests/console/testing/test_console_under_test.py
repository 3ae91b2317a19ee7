"""A test of an author opens a runner in the console, does the steps of a user and waits for what they cause."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from console.testing.console_under_test import OpenConsole
from console.testing.driver import ConsoleDriver
from engine.api import BreakpointError
from engine.api.runs import RunsApi

RUNNER = """
import asyncio
from engine.protocol import AgentRunner, AgentRunResult, Message

class Planner(AgentRunner):
    capabilities = {"steering": True}
    config = [{"name": "word", "type": "string", "label": {"en_US": "Word"}, "default": "Plan"}]

    async def run(self, ctx):
        heard = [ctx.input.to_text()]
        pulls = 0
        while pulls < 2 or heard == ["wait for me"]:
            pulls += 1
            heard += [item.input.to_text() for item in (await ctx.api.steering_pull()).items]
            await asyncio.sleep(0.05)
        text = f"{ctx.config['word']}: " + " + ".join(heard)
        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
        yield AgentRunResult.run_completed(ctx.run_id)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "planner.py").write_text(RUNNER)
    return tmp_path


def test_messages_are_delivered_at_the_pauses_where_they_were_sent(
    trackside_console: OpenConsole, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    async def continue_late(self: RunsApi, name: str) -> None:
        await asyncio.sleep(0.1)  # as on a busy machine
        await continue_run(self, name)

    async def steer_twice(console: ConsoleDriver) -> None:
        await console.submit_text("Kyoto")
        for text in ("no buses", "no trains"):
            await console.wait_for_pause()
            await console.submit_text(text)
            await console.continue_run()
        await console.wait_for_run_end()
        receipts = await console.app.active_session.engine.queue.receipts("last")
        seen.append([(receipt.text, receipt.pulled_position) for receipt in receipts.receipts])
        assert "Plan: Kyoto + no buses + no trains" in console.screen_text

    seen: list[Any] = []
    continue_run = RunsApi.continue_run
    monkeypatch.setattr(RunsApi, "continue_run", continue_late)
    console = trackside_console("planner.py", folder=folder, breakpoints=["steering"])
    for _ in range(2):
        console.run(steer_twice)

    (first, second), again = seen
    assert first[0] == "no buses"
    assert second[0] == "no trains"
    assert first[1] < second[1], "the second message went to the second pull"
    assert again == [first, second]


def test_end_of_a_run_that_starts_after_the_first_is_awaited(trackside_console: OpenConsole, folder: Path):
    async def send_for_after_the_run(console: ConsoleDriver) -> None:
        await console.submit_text("wait for me")
        await console.wait_until(lambda: console.app.services.situation.is_running)
        await console.press("ctrl+t")
        await console.submit_text("Osaka")
        await console.press("ctrl+t")
        await console.submit_text("go")
        await console.wait_for_run_end()
        assert "Plan: wait for me + go" in console.screen_text
        assert "Plan: Osaka" in console.screen_text

    trackside_console("planner.py", folder=folder).run(send_for_after_the_run)


def test_clock_stands_still_and_ids_count(trackside_console: OpenConsole, folder: Path):
    async def send_twice(console: ConsoleDriver) -> None:
        await console.submit_text("Kyoto")
        await console.wait_for_run_end()
        console.advance_clock(90)
        await console.submit_text("Osaka")
        await console.wait_for_run_end()
        engine = console.app.active_session.engine
        assert "Plan: Osaka" in console.screen_text
        seen.append([(run.run_id, run.started_at, run.finished_at) for run in await engine.runs.list()])
        await console.wait_until_settled()
        seen.append(console.screen_text)

    seen: list[Any] = []
    console = trackside_console("planner.py", folder=folder, size=(80, 24))
    for _ in range(2):
        console.run(send_twice)

    runs, screen, *again = seen
    (second_id, second_start, second_end), (first_id, first_start, first_end) = runs
    assert (first_start, second_start) == (first_end, second_end)
    assert second_start - first_start == 90_000_000
    assert first_id < second_id
    assert [len(line) for line in screen.split("\n")] == [80] * 24
    assert again == [runs, screen]


def test_project_of_the_working_folder_applies(trackside_console: OpenConsole, folder: Path):
    (folder / "trackside.yaml").write_text(
        "runners: [planner.py]\n"
        "agents: [{id: guide, runner: planner, config: {word: Route}}, {id: other, runner: echo}]\n"
    )

    async def send(console: ConsoleDriver) -> None:
        await console.submit_text("Kyoto")
        await console.wait_for_run_end()
        assert "Route: Kyoto" in console.screen_text

    trackside_console(folder=folder, runner="guide").run(send)


def test_impossible_openings_fail_at_once_with_the_fix(
    trackside_console: OpenConsole, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    async def never_done(console: ConsoleDriver) -> None:
        raise RuntimeError("the console cannot run this")

    (folder / "broken.py").write_text("async def run(ctx):\n    yield [\n")
    monkeypatch.delenv("SHOP_KEY", raising=False)

    with pytest.raises(FileNotFoundError, match=r"no such file or folder: .*absent.py. Name a runner file"):
        trackside_console("absent.py")
    with pytest.raises(BreakpointError, match="Did you mean steering"):
        trackside_console("planner.py", folder=folder, breakpoints=["stering"])
    with pytest.raises(ValueError, match="SHOP_KEY is not set"):
        trackside_console("planner.py", folder=folder, env=["SHOP_KEY"])
    with pytest.raises(AssertionError, match=r"broken\.py"):
        trackside_console("broken.py", folder=folder).run(never_done)


async def test_test_with_a_loop_of_its_own_is_refused(trackside_console: OpenConsole, folder: Path):
    async def never_done(console: ConsoleDriver) -> None:
        raise RuntimeError("the loop is not free")

    with pytest.raises(RuntimeError, match="Write the test with `def`, not `async def`"):
        trackside_console("planner.py", folder=folder).run(never_done)


def test_failed_step_fails_the_test_with_the_screen(
    trackside_console: OpenConsole, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    async def wait_in_vain(console: ConsoleDriver) -> None:
        await console.submit_text("Kyoto")
        await console.wait_for_pause()
        monkeypatch.setattr("console.testing.driver.MAX_WAIT_SECONDS", 0.01)
        await console.wait_for_run_end()

    with pytest.raises(AssertionError, match=r"the run did not end; on the screen:\n(.|\n)*Kyoto"):
        trackside_console("planner.py", folder=folder, breakpoints=["steering"]).run(wait_in_vain)


def test_picture_without_its_plugin_names_the_extra(folder: Path, request: pytest.FixtureRequest):
    async def never_done(console: ConsoleDriver) -> None:
        raise RuntimeError("there is nothing to compare with")

    def find_nothing(name: str) -> Any:
        raise pytest.FixtureLookupError(name, request)

    open_console = OpenConsole(cast("Any", SimpleNamespace(getfixturevalue=find_nothing)), folder)

    with pytest.raises(pytest.fail.Exception, match=r"pip install 'trackside\[testing\]'"):
        open_console("planner.py", folder=folder).matches_picture(never_done)
