"""The runner picker: choose from the list, by search, or by a path."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.ui.runners.screen import RunnersScreen
from engine.runtimes.pool import ChildPool
from engine.store import recent_places as opened_places
from tests.support.console.pilot import at_both_sizes, at_the_screen, becomes, say, sees, shown, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines, declares, done, said

SPEAKS = "async def run(ctx):\n    yield {{'type': 'run.completed', 'data': {{'finish_reason': 'stop', 'message': {{'role': 'assistant', 'content': '{}'}}}}}}\n"  # noqa: E501


@declares(capabilities={"streaming": True}, permissions={"history": ["page"]})
async def first(ctx: Any) -> AsyncIterator[Any]:
    yield said("I am the first")
    yield done()


async def second(ctx: Any) -> AsyncIterator[Any]:
    yield said("I am the second")
    yield done()


def make_console(open_engine: Engines, *, runner: str | None = "first", **project: Any) -> RecordingConsole:
    return RecordingConsole(LaunchOptions(runner=runner), lambda: open_engine(first, second, **project))


def unwrapped(app: Trackside) -> str:
    """The text of the details, without line breaks."""
    assert isinstance(app.screen, RunnersScreen)
    return " ".join("".join(piece.text for piece in line) for line in app.screen.details.lines)


async def recent_paths(app: Trackside) -> list[str]:
    """The recently opened paths in the database."""
    return [place.path for place in await app.active_session.engine._core.read(opened_places.every)]


async def open_picker(pilot: Any, app: Trackside) -> RunnersScreen:
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
    assert isinstance(app.screen, RunnersScreen)
    return app.screen


@at_both_sizes
async def test_runner_found_by_search_is_used_from_then_on(open_engine: Engines, size: tuple[int, int]):
    app = make_console(open_engine)
    async with at_the_screen(app, size) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "first", "second", "in use")
        await pilot.press(*"second")
        await until(pilot, lambda: "first" not in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "I am the second")


async def test_details_show_capabilities_and_permissions(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "streaming", "history: page", "plugin:local/first/default", "first.py")


@pytest.mark.parametrize(
    ("typed", "taken"),
    [("full", "plugin:local/full/default"), ("ful", "plugin:local/full/default"), ("demo", "demo"), ("on", "demo")],
)
async def test_enter_chooses_the_best_match_of_any_kind(open_engine: Engines, typed: str, taken: str):
    (open_engine.folder / "full.py").write_text(SPEAKS.format("x"))
    app = make_console(open_engine, runners=["."], agents=[{"id": "demo", "runner": "full"}])
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        await sees(pilot, "demo", "in use", "1 agent · 7 runners")
        await pilot.press(*typed)
        await until(pilot, lambda: screen.search.value == typed)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert (app.active_session.agent_id or app.active_session.runner_id) == taken


async def test_cursor_starts_on_the_runner_in_use(open_engine: Engines):
    app = make_console(open_engine, runner="second")
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        await until(pilot, lambda: screen.choice is not None and screen.choice.name == "second")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.active_session.runner_id == "plugin:local/second/default"


async def test_esc_clears_the_search_and_then_closes_the_picker(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press(*"half a thought")
        screen = await open_picker(pilot, app)
        await pilot.press(*"zzz")
        await sees(pilot, "No runner matches “zzz”")
        await pilot.press("escape")
        await until(pilot, lambda: screen.search.value == "")
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.prompt.text == "half a thought"
        assert app.active_session.runner_id == "plugin:local/first/default"


async def test_broken_file_is_listed_with_line_and_reason(open_engine: Engines):
    (open_engine.folder / "broken.py").write_text("async def run(ctx):\n    yield [\n")
    app = make_console(open_engine, runners=["."])
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "Left out", "broken.py:2", "1 left out")
        await pilot.press(*"closed")
        await sees(pilot, "Fix the file")
        await pilot.press("enter")
        await until(pilot, lambda: any("is left out" in words for words in app.toasts))


async def test_runner_is_opened_by_a_completed_path(open_engine: Engines, tmp_path: Path):
    far = tmp_path / "far" / "away"
    far.mkdir(parents=True)
    (far / "stranger.py").write_text(SPEAKS.format("from afar"))
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = f"{tmp_path}/f"
        await sees(pilot, "far/")
        await pilot.press("tab")
        await until(pilot, lambda: screen.search.value == f"{tmp_path}/far/")
        await sees(pilot, "away/")
        await pilot.press("tab")
        await sees(pilot, "stranger.py")
        await pilot.press("tab")
        await until(pilot, lambda: screen.search.value == f"{far}/stranger.py")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.active_session.runner_id == "plugin:local/stranger/default"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("notes.py", "Add `async def run(ctx)`"),
        ("torn.py", "torn.py:2: SyntaxError: '[' was never closed"),
        ("empty/", "no runner in this folder: no manifest.yaml"),
        ("gone.py", "Name a runner file (.py), a plugin folder (with manifest.yaml)"),
        ("first.py", "Rename one of them"),
    ],
)
async def test_path_that_cannot_be_opened_says_why(open_engine: Engines, tmp_path: Path, typed: str, said: str):
    (tmp_path / "notes.py").write_text("x = 1\n")
    (tmp_path / "torn.py").write_text("async def run(ctx):\n    yield [\n")
    (tmp_path / "first.py").write_text(SPEAKS.format("x"))
    (tmp_path / "empty").mkdir()
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        await sees(pilot, "in use")
        screen.search.value = f"{tmp_path}/{typed}"
        await until(pilot, lambda: screen._folder.typed == str(Path(f"{tmp_path}/{typed}x").parent) + "/")
        await pilot.press("enter")
        await until(pilot, lambda: said in unwrapped(app))
        assert "Cannot be opened" in shown(app)
        assert app.screen is screen
        assert app.active_session.runner_id == "plugin:local/first/default"
        await pilot.press("backspace")
        await until(pilot, lambda: "Cannot be opened" not in shown(app))


async def test_opened_path_is_listed_the_next_time(open_engine: Engines, tmp_path: Path):
    far = tmp_path / "stranger.py"
    far.write_text(SPEAKS.format("from afar"))
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = str(far)
        await sees(pilot, "stranger.py")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await becomes(pilot, lambda: recent_paths(app), [str(far)])
        await open_picker(pilot, app)
        await sees(pilot, "stranger", "in use")
        assert "Recently opened" not in shown(app), "while it is among the runners"

    again = make_console(open_engine)
    async with at_the_screen(again) as pilot:
        await open_picker(pilot, again)
        await sees(pilot, "Recently opened", "stranger.py", "just now")
        await pilot.press(*"strang")
        await pilot.press("f12")
        await until(
            pilot, lambda: "Press enter to open this path first. Then its settings can be edited." in again.toasts
        )
        await pilot.press("enter")
        await until(pilot, lambda: again.screen is again.main)
        assert again.active_session.runner_id == "plugin:local/stranger/default"


async def test_recent_path_without_its_file_is_removed_when_chosen(open_engine: Engines, tmp_path: Path):
    far = tmp_path / "stranger.py"
    engine = await open_engine(first)
    await engine.runners.add_recent_place(far)
    await open_engine.close(engine)
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "Recently opened", "stranger.py")
        assert app.toasts == []
        await pilot.press(*"strang", "enter")
        await until(pilot, lambda: f"{far} no longer exists and is removed from the list." in app.toasts)
        await pilot.press("escape")
        await until(pilot, lambda: "in use" in shown(app) and "Recently opened" not in shown(app))
        await becomes(pilot, lambda: recent_paths(app), [])


async def test_home_folder_and_names_with_spaces_are_completed(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "my runners").mkdir()
    (tmp_path / "my runners" / "a stranger.py").write_text(SPEAKS.format("x"))
    monkeypatch.setenv("HOME", str(tmp_path))
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        await pilot.press(*"~/my")
        await sees(pilot, "my runners/")
        await pilot.press("tab")
        await until(pilot, lambda: screen.search.value == "~/my runners/")
        await sees(pilot, "this folder", "a stranger.py")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.active_session.runner_id == "plugin:local/a stranger/default"


async def test_names_of_a_huge_folder_are_found_and_limited(open_engine: Engines, tmp_path: Path):
    huge = tmp_path / "huge"
    huge.mkdir()
    for number in range(7_000):
        (huge / f"f{number:05}.py").touch()
    (huge / "f06999.py").write_text(SPEAKS.format("the last"))
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = f"{huge}/"
        await sees(pilot, "f00000.py", "First 300 names; type more")
        await pilot.press("tab")
        await until(pilot, lambda: screen.search.value == f"{huge}/f0")
        await pilot.press(*"699")
        await sees(pilot, "f06990.py", "f06999.py")
        assert "type more" not in shown(app)
        await pilot.press("9", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.active_session.runner_id == "plugin:local/f06999/default"


async def test_typed_path_can_be_opened_if_the_folder_is_too_large_to_search(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("console.model.text.paths.MAX_SCANNED_NAMES", 0)
    (tmp_path / "stranger.py").write_text(SPEAKS.format("x"))
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = f"{tmp_path}/stranger.py"
        await sees(pilot, "too many names to search", "enter opens ")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.active_session.runner_id == "plugin:local/stranger/default"


async def test_missing_folder_is_reported_while_typing(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = "./nowhere/x"
        await sees(pilot, "nowhere/: no such folder")
        screen.search.value = "~nobody-of-that-name/"
        await sees(pilot, "unknown user")


async def test_folder_with_several_runners_fills_the_list(open_engine: Engines, tmp_path: Path):
    (tmp_path / "both").mkdir()
    for name in ("one", "two"):
        (tmp_path / "both" / f"{name}.py").write_text(SPEAKS.format(name))
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = f"{tmp_path}/bo"
        await sees(pilot, "both/")
        await pilot.press("enter")
        await until(pilot, lambda: screen.search.value == f"{tmp_path}/both/")
        await sees(pilot, "this folder", "one.py", "two.py")
        await pilot.press("enter")
        await until(pilot, lambda: "Found 2 runners there: choose one." in app.toasts)
        await sees(pilot, "first", "one", "two")
        assert screen.search.value == ""


async def test_file_that_raises_at_import_fails_its_run(open_engine: Engines, tmp_path: Path):
    path = tmp_path / "raises.py"
    path.write_text(f"raise RuntimeError('no key in the drawer')\n{SPEAKS.format('x')}")
    app = RecordingConsole(LaunchOptions(runner="first"), lambda: open_engine(first, runtime=lambda _: ChildPool()))
    async with at_the_screen(app) as pilot:
        screen = await open_picker(pilot, app)
        screen.search.value = str(path)
        await sees(pilot, "raises.py")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "the runner could not be loaded", "RuntimeError: no key in the drawer")
        path.write_text(SPEAKS.format("found it"))
        await until(pilot, lambda: "Code changed · the next run uses it · f5 runs again" in app.toasts)
        await pilot.press("f5")
        await sees(pilot, "found it")


async def test_broken_manifest_is_listed_with_folder_line_and_reason(open_engine: Engines):
    (open_engine.folder / "plug").mkdir()
    (open_engine.folder / "plug" / "manifest.yaml").write_text("author: me\nname: [\n")
    app = make_console(open_engine, runners=["first.py", "plug"])
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "1 left out", "plug/manifest.yaml:3", "not YAML")


async def test_broken_component_is_listed_with_the_folder_of_its_plugin(open_engine: Engines):
    (open_engine.folder / "plug").mkdir()
    (open_engine.folder / "plug" / "manifest.yaml").write_text(
        "metadata: {author: me, name: plug}\nspec: {components: {Runner: {fromFiles: [runner.yaml]}}}\n"
    )
    (open_engine.folder / "plug" / "runner.yaml").write_text("kind: [\n")
    app = make_console(open_engine, runners=["first.py", "plug"])
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "1 left out", "plug/runner.yaml:2", "not YAML")


@at_both_sizes
async def test_invalid_agent_is_listed_with_its_reason_and_another_can_run(open_engine: Engines, size: tuple[int, int]):
    agents = [{"id": "good", "runner": "second"}, {"id": "poor", "runner": "nobody"}]
    app = make_console(open_engine, runner=None, agents=agents)
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        await sees(pilot, "trackside.yaml:1", "agent poor: runner: no runner called 'nobody'", "1 left out")
        await pilot.press(*"poor", "enter")
        await until(pilot, lambda: any("trackside.yaml is left out: agent poor" in words for words in app.toasts))
        await pilot.press("escape", *"good", "enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "I am the second")


async def test_warning_about_a_runner_is_shown_in_its_details(open_engine: Engines):
    (open_engine.folder / "odd.py").write_text(f"config = make()\n{SPEAKS.format('x')}")
    app = make_console(open_engine, runners=["first.py", "odd.py"])
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await pilot.press(*"odd")
        await until(pilot, lambda: "config is not a literal" in unwrapped(app))
        assert "left out" not in shown(app).lower()


async def test_slow_list_shows_a_notice_and_applies_keys_typed_meanwhile(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        go = asyncio.Event()
        read = app.active_session.engine.runners.summaries

        async def slowly(locale: str | None = None) -> Any:
            await go.wait()
            return await read(locale)

        app.active_session.engine.runners.summaries = slowly
        await open_picker(pilot, app)
        await sees(pilot, "Reading…")
        assert "No runners found" not in shown(app)
        await pilot.press(*"second", "enter")
        go.set()
        await until(pilot, lambda: app.screen is app.main)
        assert app.active_session.runner_id == "plugin:local/second/default"


async def test_slow_settings_form_shows_a_notice(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        go = asyncio.Event()
        read = app.active_session.engine.settings.form

        async def slowly(name: str | None = None) -> Any:
            await go.wait()
            return await read(name)

        app.active_session.engine.settings.form = slowly  # type: ignore[method-assign]
        await pilot.press("f12")
        await until(pilot, lambda: "Reading the settings of first…" in app.toasts)
        go.set()
        await sees(pilot, "Settings of first")


async def test_keys_of_open_screens_say_so(open_engine: Engines):
    app = make_console(open_engine)
    async with at_the_screen(app) as pilot:
        await open_picker(pilot, app)
        await sees(pilot, "in use")
        await pilot.press("f12")
        await sees(pilot, "Settings of first")
        await pilot.press("f12")
        await until(pilot, lambda: "This screen is open already." in app.toasts)
        await pilot.press("f3")
        await until(pilot, lambda: "This screen is open below this one. Press esc to go back to it." in app.toasts)


async def test_picker_opens_by_itself_if_no_runner_is_chosen(open_engine: Engines):
    app = make_console(open_engine, runner=None, runners=["first.py", "second.py"])
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        await pilot.press(*"second", "enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "I am the second")


CAN = (
    "streaming",
    "tool_calling",
    "knowledge_retrieval",
    "multimodal_input",
    "skill_authoring",
    "interrupt",
    "steering",
)
MAY = {"models": ["invoke", "stream", "rerank"], "tools": ["call"], "storage": ["plugin", "workspace"]}


@declares(capabilities=dict.fromkeys(CAN, True), permissions={**MAY, "history": ["page", "search"]})
async def able(ctx: Any) -> AsyncIterator[Any]:
    yield done()


async def scroll_through_details(pilot: Any, app: RecordingConsole, screen: RunnersScreen) -> str:
    """Everything that is visible while the details are scrolled to their end."""
    await sees(pilot, "alt+down more")
    seen = shown(app)
    while screen.details.can_page(1):
        top = screen.details.top
        await pilot.press("alt+down")
        await until(pilot, lambda top=top: screen.details.top > top)
        seen += shown(app)
    await until(pilot, lambda: "alt+down more" not in shown(app) and "alt+up back up" in shown(app))
    return seen


@pytest.mark.parametrize("size", [(80, 24), (60, 15)])
async def test_details_can_be_scrolled_in_a_small_terminal(open_engine: Engines, size: tuple[int, int]):
    app = RecordingConsole(LaunchOptions(runner="able"), lambda: open_engine(able, second))
    async with at_the_screen(app, size) as pilot:
        screen = await open_picker(pilot, app)
        await sees(pilot, "in use")
        seen = await scroll_through_details(pilot, app, screen)
        for words in ("permissions", "workspace", "source", "plugin:local/able/default", "last used"):
            assert words in seen
        await pilot.press("alt+down")
        await until(pilot, lambda: any("This is the end of the details" in words for words in app.toasts))
        await pilot.press("down")
        await until(pilot, lambda: screen.details.top == 0)


async def test_details_of_a_broken_manifest_can_be_scrolled_in_a_small_terminal(open_engine: Engines):
    (open_engine.folder / "plug").mkdir()
    (open_engine.folder / "plug" / "manifest.yaml").write_text("author: me\nname: [\n")
    app = make_console(open_engine, runners=["first.py", "plug"])
    async with at_the_screen(app, (60, 15)) as pilot:
        screen = await open_picker(pilot, app)
        await pilot.press(*"not yaml")
        await sees(pilot, "left out")
        assert "Fix the file" in await scroll_through_details(pilot, app, screen)
