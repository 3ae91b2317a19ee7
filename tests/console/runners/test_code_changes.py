"""Files of runners are edited while the console is open: notices, and which code runs."""

import json
from pathlib import Path

from console.launch import LaunchOptions
from engine.runtimes.pool import ChildPool
from tests.support.console.pilot import at_the_screen, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.console.regions import text_in
from tests.support.engines import Engines

SPEAKS = """async def run(ctx):
    yield {{"type": "run.completed", "data": {{"message": {{"role": "assistant", "content": "{}"}}}}}}
"""
WAITS = """import asyncio
from pathlib import Path
async def run(ctx):
    yield {{"type": "message.completed", "data": {{"message": {{"role": "assistant", "content": "working"}}}}}}
    while not Path({go!r}).exists():
        await asyncio.sleep(0.02)
    yield {{"type": "run.completed", "data": {{"message": {{"role": "assistant", "content": "{words}"}}}}}}
"""
BROKEN = "async def run(ctx):\n    yield [\n"


def console_on_file(open_engine: Engines, text: str, **project: object) -> tuple[RecordingConsole, Path]:
    """A console on a runner in a file, which runs in its own process."""
    path = open_engine.folder / "speaker.py"
    path.write_text(text)
    said = {"runners": ["speaker.py"], **project}
    runner = None if "agents" in project else "speaker"
    app = RecordingConsole(LaunchOptions(runner=runner), lambda: open_engine(runtime=lambda _: ChildPool(), **said))
    return app, path


def was_told(app: RecordingConsole, *words: str) -> bool:
    return any(all(word in told for word in words) for told in app.toasts)


async def test_next_run_uses_the_edited_code(open_engine: Engines):
    app, path = console_on_file(open_engine, SPEAKS.format("the old words"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "the old words")
        await until(pilot, lambda: app.services.situation.can_run_again)
        path.write_text(SPEAKS.format("the new words, which are longer"))
        await until(pilot, lambda: "Code changed · the next run uses it · f5 runs again" in app.toasts)
        await sees(pilot, "code changed")
        await pilot.press("f5")
        await sees(pilot, "the new words")
        await until(pilot, lambda: app.controllers.code_watch.header_text is None)


async def test_run_in_progress_keeps_the_old_code(open_engine: Engines, tmp_path: Path):
    go = tmp_path / "go"
    app, path = console_on_file(open_engine, WAITS.format(go=str(go), words="said by the old"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "working")
        path.write_text(WAITS.format(go=str(go), words="and this by the new"))
        await until(
            pilot, lambda: was_told(app, "the run in progress still uses the old code; f8 stops it, then f5 runs")
        )
        await sees(pilot, "old code")
        go.touch()
        await sees(pilot, "said by the old")
        await until(pilot, lambda: app.controllers.code_watch.header_text == "code changed")
        await pilot.press("f5")
        await sees(pilot, "and this by the new")


async def test_header_says_that_the_new_code_is_broken_during_a_run(open_engine: Engines, tmp_path: Path):
    go = tmp_path / "go"
    app, path = console_on_file(open_engine, WAITS.format(go=str(go), words="said by the old"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "working")
        path.write_text(WAITS.format(go=str(go), words="said by the new"))
        await until(pilot, lambda: app.controllers.code_watch.header_text == "old code")
        path.write_text(BROKEN)
        await sees(pilot, "old code · new code broken")
        go.touch()
        await until(pilot, lambda: app.controllers.code_watch.header_text == "code broken")


async def test_broken_file_cannot_run_until_it_is_fixed(open_engine: Engines):
    app, path = console_on_file(open_engine, SPEAKS.format("the old words"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "the old words")
        await until(pilot, lambda: app.services.situation.can_run_again)
        path.write_text(BROKEN)
        await until(pilot, lambda: was_told(app, "speaker.py:2 is left out", "never closed", "fix it to run again"))
        await sees(pilot, "code broken")
        await say(pilot, "once more")
        await until(pilot, lambda: was_told(app, "is left out:", "speaker.py:2", "Fix that file"))
        await until(pilot, lambda: app.main.prompt.text == "once more")
        path.write_text(SPEAKS.format("mended words"))
        await until(pilot, lambda: "Code fixed · the next run uses it · f5 runs again" in app.toasts)
        await pilot.press("enter")
        await sees(pilot, "mended words")
        assert "code broken" not in shown(app)


async def test_broken_file_does_not_affect_the_run_in_progress(open_engine: Engines, tmp_path: Path):
    go = tmp_path / "go"
    app, path = console_on_file(open_engine, WAITS.format(go=str(go), words="said by the old"))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "working")
        path.write_text(BROKEN)
        await until(
            pilot, lambda: was_told(app, "speaker.py:2", "never closed", "run in progress still uses the old code")
        )
        go.touch()
        await sees(pilot, "said by the old")
        await sees(pilot, "code broken")


async def test_agent_with_a_broken_runner_runs_when_the_file_is_fixed(open_engine: Engines):
    app, path = console_on_file(open_engine, SPEAKS.format("the old words"), agents=[{"id": "me", "runner": "speaker"}])
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "the old words")
        path.write_text(BROKEN)
        await until(pilot, lambda: was_told(app, "speaker.py:2 is left out", "never closed", "fix it to run again"))
        await sees(pilot, "code broken")
        assert app.active_session.agent_id == "me"
        path.write_text(SPEAKS.format("mended words"))
        await until(pilot, lambda: was_told(app, "the next run uses it · f5 runs again"))
        await pilot.press("f5")
        await sees(pilot, "mended words")


async def test_broken_project_file_leaves_the_last_version_in_use(open_engine: Engines):
    agent = {"id": "me", "runner": "speaker"}
    app, _ = console_on_file(open_engine, SPEAKS.format("my words"), agents=[agent])
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "my words")
        await until(pilot, lambda: app.services.situation.can_run_again)
        file = open_engine.folder / "trackside.yaml"
        good = file.read_text()
        file.write_text("agents: [")
        await until(pilot, lambda: was_told(app, "trackside.yaml:", "not YAML", "The previous version stays in use."))
        await say(pilot, "again")
        await until(pilot, lambda: text_in(app, app.main.conversation).count("my words") == 2)
        await until(pilot, lambda: app.services.situation.can_run_again)
        file.write_text(good)
        await until(pilot, lambda: "Code fixed · the next run uses it · f5 runs again" in app.toasts)
        await until(pilot, lambda: app.controllers.code_watch.header_text is None)


async def test_notice_about_another_broken_runner_names_the_line(open_engine: Engines):
    app, _ = console_on_file(open_engine, SPEAKS.format("x"), runners=["speaker.py", "other.py"])
    other = open_engine.folder / "other.py"
    other.write_text(SPEAKS.format("y"))
    async with at_the_screen(app) as pilot:
        other.write_text(BROKEN)
        await until(pilot, lambda: was_told(app, "other.py:2 is left out", "f3 shows it"))
        other.write_text(SPEAKS.format("z"))
        await until(pilot, lambda: was_told(app, "New: other"))
        await pilot.press("f3")
        await sees(pilot, "in use")
        app.toasts.clear()
        other.write_text(BROKEN)
        await until(pilot, lambda: was_told(app, "other.py:2 is left out"))
        assert not was_told(app, "f3 shows it"), "the list shows it"


async def test_broken_file_does_not_block_other_agents(open_engine: Engines):
    tone = "config = [{'name': 'tone', 'type': 'string', 'required': True}]\n"
    speaks = tone + SPEAKS.format("x").replace('"x"', "ctx.config['tone']")
    me, other = {"id": "me", "runner": "speaker"}, {"id": "other", "runner": "other"}
    project = {"runners": ["speaker.py", "other.py"], "agents": [me | {"config": {"tone": "warm"}}, other]}
    (open_engine.folder / "speaker.py").write_text(speaks)
    (open_engine.folder / "other.py").write_text(SPEAKS.format("y"))
    app = RecordingConsole(LaunchOptions(runner="me"), lambda: open_engine(runtime=lambda _: ChildPool(), **project))
    async with at_the_screen(app) as pilot:
        await say(pilot, "hello")
        await sees(pilot, "warm")
        await until(pilot, lambda: app.services.situation.can_run_again)
        (open_engine.folder / "other.py").write_text(BROKEN)
        await until(pilot, lambda: was_told(app, "other.py:2 is left out", "f3 shows it"))
        assert app.controllers.code_watch.header_text is None
        project["agents"][0] = me | {"config": {"tone": "really cold"}}
        (open_engine.folder / "trackside.yaml").write_text(json.dumps(project))
        await until(pilot, lambda: was_told(app, "trackside.yaml changed · the next run uses it"))
        assert app.controllers.code_watch.header_text is None
        await say(pilot, "again")
        await sees(pilot, "really cold")
        await until(pilot, lambda: app.services.situation.can_run_again)
        project["agents"][0] = me
        (open_engine.folder / "trackside.yaml").write_text(json.dumps(project))
        await until(pilot, lambda: was_told(app, "Agent me is left out: config.tone", "fix it to run again"))
        await sees(pilot, "invalid settings")


async def test_unreadable_project_file_is_named_in_notice_and_header(open_engine: Engines):
    app, _ = console_on_file(open_engine, SPEAKS.format("my words"), agents=[{"id": "me", "runner": "speaker"}])
    async with at_the_screen(app) as pilot:
        (open_engine.folder / "trackside.yaml").write_text("agents:\n- runner: speaker\n")
        await until(pilot, lambda: was_told(app, "agents[0].id: is missing. The previous version stays in use."))
        await sees(pilot, "trackside.yaml broken")
        assert "code broken" not in shown(app)
