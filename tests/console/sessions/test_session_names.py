"""Option --session: an existing session, the last one, or a new one, which is announced."""

from typing import Any

import pytest

from console.app import Trackside
from console.cli import open as opening
from console.cli.exit_codes import UsageError
from console.data.session_names import new_session_words
from console.launch import LaunchOptions
from tests.support.console.pilot import at_both_sizes, at_the_screen, say, sees, shown, until
from tests.support.console.sample_runs import echoes, engine_with_two_sessions
from tests.support.engines import Engines

Size = tuple[int, int]


@at_both_sizes
async def test_unknown_name_is_announced_as_new_with_the_nearest_name(open_engine: Engines, size: Size):
    app = Trackside(LaunchOptions(session="odl"), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app, size) as pilot:
        await sees(pilot, "Session odl is new. Did you mean old?", "lists all sessions.")

        await say(pilot, "and yet")
        await sees(pilot, "You said: and yet")
        await until(pilot, lambda: "Did you mean" not in shown(app))
        assert (await app.active_session.engine.runs.list(limit=1))[0].conversation_id == "odl"


async def test_existing_session_opens_without_a_notice(open_engine: Engines):
    app = Trackside(LaunchOptions(session="old"), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: beta")
        assert "is new" not in shown(app)


async def test_last_opens_the_last_session(open_engine: Engines):
    app = Trackside(LaunchOptions(session="last"), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: gamma")
        assert app.active_session.session_id == "new"


async def test_last_session_is_continued_also_if_another_is_called_last(open_engine: Engines):
    async def opened() -> Any:
        await (await open_engine(echoes)).sessions.create("last")
        open_engine.clock.advance(60)
        return await engine_with_two_sessions(open_engine)

    app = Trackside(LaunchOptions(continue_last=True), opened)
    async with at_the_screen(app) as pilot:
        await sees(pilot, "You said: gamma")
        assert app.active_session.session_id == "new"


async def test_first_session_may_have_any_name(open_engine: Engines):
    app = Trackside(LaunchOptions(session="demo"), lambda: open_engine(echoes))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "No messages yet.")
        assert app.active_session.session_id == "demo"


async def test_notice_disappears_with_another_session(open_engine: Engines):
    app = Trackside(LaunchOptions(session="odl"), lambda: engine_with_two_sessions(open_engine))
    async with at_the_screen(app) as pilot:
        await sees(pilot, "Session odl is new.")
        app.controllers.sessions.action_new_session()
        await sees(pilot, "No messages yet.")
        await until(pilot, lambda: "odl" not in shown(app))


def test_invalid_name_is_refused(monkeypatch: pytest.MonkeyPatch):
    class Somebody:
        def isatty(self) -> bool:
            return True

    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}", Somebody())
    typed: Any = opening.parser().parse_args(["--session", "a\nb"])
    with pytest.raises(UsageError, match="without line breaks or other control characters"):
        opening.perform(typed)


def test_control_characters_of_a_name_are_shown_safely():
    said = new_session_words("a\nb", ["a\x1bb"])

    assert said.startswith("Session a")
    assert said.isprintable()
