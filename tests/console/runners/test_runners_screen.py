"""Choosing who runs, the way a person does: by the list, by typing and by a path."""

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
from tests.support.console.recorded_toasts import Telling
from tests.support.engines import Engines, declares, done, said

SPEAKS = "async def run(ctx):\n    yield {{'type': 'run.completed', 'data': {{'finish_reason': 'stop', 'message': {{'role': 'assistant', 'content': '{}'}}}}}}\n"  # noqa: E501


@declares(capabilities={"streaming": True}, permissions={"history": ["page"]})
async def first(ctx: Any) -> AsyncIterator[Any]:
    yield said("I am the first")
    yield done()


async def second(ctx: Any) -> AsyncIterator[Any]:
    yield said("I am the second")
    yield done()


def opened(open_engine: Engines, *, runner: str | None = "first", **project: Any) -> Telling:
    return Telling(LaunchOptions(runner=runner), lambda: open_engine(first, second, **project))


def unwrapped(app: Trackside) -> str:
    """What stands beside the list, however it was broken."""
    assert isinstance(app.screen, RunnersScreen)
    return " ".join("".join(piece.text for piece in line) for line in app.screen.leaf.lines)


async def places(app: Trackside) -> list[str]:
    """What was opened, as it is on disk."""
    return [place.path for place in await app.stage.engine._core.read(opened_places.every)]


async def to_the_list(pilot: Any, app: Trackside) -> RunnersScreen:
    await pilot.press("f3")
    await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
    assert isinstance(app.screen, RunnersScreen)
    return app.screen


@at_both_sizes
async def test_another_runner_is_found_by_typing_and_runs_from_then_on(open_engine: Engines, size: tuple[int, int]):
    app = opened(open_engine)
    async with at_the_screen(app, size) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "first", "second", "in use")
        await pilot.press(*"second")
        await until(pilot, lambda: "first" not in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "I am the second")


async def test_what_a_runner_can_do_and_may_ask_for_stands_beside_it(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "streaming", "history: page", "plugin:local/first/default", "first.py")


@pytest.mark.parametrize(
    ("typed", "taken"),
    [("full", "plugin:local/full/default"), ("ful", "plugin:local/full/default"), ("demo", "demo"), ("on", "demo")],
)
async def test_enter_takes_the_one_that_is_called_so_whatever_its_kind(open_engine: Engines, typed: str, taken: str):
    (open_engine.folder / "full.py").write_text(SPEAKS.format("x"))
    app = opened(open_engine, runners=["."], agents=[{"id": "demo", "runner": "full"}])
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        await sees(pilot, "demo", "in use", "1 agent · 7 runners")
        await pilot.press(*typed)
        await until(pilot, lambda: screen.search.value == typed)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert (app.stage.agent_id or app.stage.runner_id) == taken


async def test_the_cursor_begins_on_the_one_in_use(open_engine: Engines):
    app = opened(open_engine, runner="second")
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        await until(pilot, lambda: screen.offer is not None and screen.offer.name == "second")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.stage.runner_id == "plugin:local/second/default"


async def test_esc_clears_the_search_and_then_goes_back_to_where_one_was(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await pilot.press(*"half a thought")
        screen = await to_the_list(pilot, app)
        await pilot.press(*"zzz")
        await sees(pilot, "Nothing is called “zzz”")
        await pilot.press("escape")
        await until(pilot, lambda: screen.search.value == "")
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert app.main.prompt.text == "half a thought"
        assert app.stage.runner_id == "plugin:local/first/default"


async def test_a_broken_file_is_listed_with_its_line_and_reason(open_engine: Engines):
    (open_engine.folder / "broken.py").write_text("async def run(ctx):\n    yield [\n")
    app = opened(open_engine, runners=["."])
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "Left out", "broken.py:2", "1 left out")
        await pilot.press(*"closed")
        await sees(pilot, "Mend the file")
        await pilot.press("enter")
        await until(pilot, lambda: any("is left out" in words for words in app.told))


async def test_a_runner_is_opened_by_a_path_that_tab_completes(open_engine: Engines, tmp_path: Path):
    far = tmp_path / "far" / "away"
    far.mkdir(parents=True)
    (far / "stranger.py").write_text(SPEAKS.format("from afar"))
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
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
        assert app.stage.runner_id == "plugin:local/stranger/default"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("notes.py", "It needs `async def run(ctx)`"),
        ("torn.py", "torn.py:2: SyntaxError: '[' was never closed"),
        ("empty/", "no runner in this folder: no manifest.yaml"),
        ("gone.py", "Name a runner file (.py), a plugin folder (with manifest.yaml)"),
        ("first.py", "Rename one of them"),
    ],
)
async def test_a_path_that_cannot_be_opened_says_why_and_what_to_do(
    open_engine: Engines, tmp_path: Path, typed: str, said: str
):
    (tmp_path / "notes.py").write_text("x = 1\n")
    (tmp_path / "torn.py").write_text("async def run(ctx):\n    yield [\n")
    (tmp_path / "first.py").write_text(SPEAKS.format("x"))
    (tmp_path / "empty").mkdir()
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        await sees(pilot, "in use")
        screen.search.value = f"{tmp_path}/{typed}"
        await until(pilot, lambda: screen._folder.typed == str(Path(f"{tmp_path}/{typed}x").parent) + "/")
        await pilot.press("enter")
        await until(pilot, lambda: said in unwrapped(app))
        assert "it cannot be opened" in shown(app)
        assert app.screen is screen
        assert app.stage.runner_id == "plugin:local/first/default"
        await pilot.press("backspace")
        await until(pilot, lambda: "it cannot be opened" not in shown(app))


async def test_a_place_that_was_opened_is_among_those_to_choose_from_the_next_time(
    open_engine: Engines, tmp_path: Path
):
    far = tmp_path / "stranger.py"
    far.write_text(SPEAKS.format("from afar"))
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        screen.search.value = str(far)
        await sees(pilot, "stranger.py")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await becomes(pilot, lambda: places(app), [str(far)])
        await to_the_list(pilot, app)
        await sees(pilot, "stranger", "in use")
        assert "Opened before" not in shown(app), "as long as it is among the runners"

    again = opened(open_engine)
    async with at_the_screen(again) as pilot:
        await to_the_list(pilot, again)
        await sees(pilot, "Opened before", "stranger.py", "just now")
        await pilot.press(*"strang")
        await pilot.press("f12")
        await until(pilot, lambda: "enter opens it; then it has settings" in again.told)
        await pilot.press("enter")
        await until(pilot, lambda: again.screen is again.main)
        assert again.stage.runner_id == "plugin:local/stranger/default"


async def test_a_place_whose_file_is_gone_says_so_when_it_is_chosen_and_is_forgotten(
    open_engine: Engines, tmp_path: Path
):
    far = tmp_path / "stranger.py"
    engine = await open_engine(first)
    await engine.runners.add_recent_place(far)
    await open_engine.close(engine)
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "Opened before", "stranger.py")
        assert app.told == []
        await pilot.press(*"strang", "enter")
        await until(pilot, lambda: f"{far} is no longer there; it is forgotten" in app.told)
        await pilot.press("escape")
        await until(pilot, lambda: "in use" in shown(app) and "Opened before" not in shown(app))
        await becomes(pilot, lambda: places(app), [])


async def test_a_home_and_a_name_with_spaces_are_completed(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "my runners").mkdir()
    (tmp_path / "my runners" / "a stranger.py").write_text(SPEAKS.format("x"))
    monkeypatch.setenv("HOME", str(tmp_path))
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        await pilot.press(*"~/my")
        await sees(pilot, "my runners/")
        await pilot.press("tab")
        await until(pilot, lambda: screen.search.value == "~/my runners/")
        await sees(pilot, "this folder", "a stranger.py")
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.stage.runner_id == "plugin:local/a stranger/default"


async def test_a_name_is_found_in_a_folder_of_any_size_and_where_there_are_too_many_it_is_said(
    open_engine: Engines, tmp_path: Path
):
    huge = tmp_path / "huge"
    huge.mkdir()
    for number in range(7_000):
        (huge / f"f{number:05}.py").touch()
    (huge / "f06999.py").write_text(SPEAKS.format("the last"))
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        screen.search.value = f"{huge}/"
        await sees(pilot, "f00000.py", "the first 300 of more; type on")
        await pilot.press("tab")
        await until(pilot, lambda: screen.search.value == f"{huge}/f0")
        await pilot.press(*"699")
        await sees(pilot, "f06990.py", "f06999.py")
        assert "of more" not in shown(app)
        await pilot.press("9", "enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.stage.runner_id == "plugin:local/f06999/default"


async def test_where_not_all_names_can_be_looked_at_what_is_typed_can_be_opened(
    open_engine: Engines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("console.model.text.paths.MAX_SCANNED_NAMES", 0)
    (tmp_path / "stranger.py").write_text(SPEAKS.format("x"))
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        screen.search.value = f"{tmp_path}/stranger.py"
        await sees(pilot, "too many names here", "enter opens what is typed")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        assert app.stage.runner_id == "plugin:local/stranger/default"


async def test_a_folder_that_is_not_there_is_told_while_it_is_typed(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        screen.search.value = "./nowhere/x"
        await sees(pilot, "nowhere/: no such folder")
        screen.search.value = "~nobody-of-that-name/"
        await sees(pilot, "unknown user")


async def test_enter_takes_the_row_of_the_cursor_and_a_folder_with_several_runners_fills_the_list(
    open_engine: Engines, tmp_path: Path
):
    (tmp_path / "both").mkdir()
    for name in ("one", "two"):
        (tmp_path / "both" / f"{name}.py").write_text(SPEAKS.format(name))
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        screen.search.value = f"{tmp_path}/bo"
        await sees(pilot, "both/")
        await pilot.press("enter")
        await until(pilot, lambda: screen.search.value == f"{tmp_path}/both/")
        await sees(pilot, "this folder", "one.py", "two.py")
        await pilot.press("enter")
        await until(pilot, lambda: "2 runners are there: choose one" in app.told)
        await sees(pilot, "first", "one", "two")
        assert screen.search.value == ""


async def test_a_file_that_raises_when_it_is_loaded_fails_its_run_with_the_line(open_engine: Engines, tmp_path: Path):
    path = tmp_path / "raises.py"
    path.write_text(f"raise RuntimeError('no key in the drawer')\n{SPEAKS.format('x')}")
    app = Telling(LaunchOptions(runner="first"), lambda: open_engine(first, runtime=lambda _: ChildPool()))
    async with at_the_screen(app) as pilot:
        screen = await to_the_list(pilot, app)
        screen.search.value = str(path)
        await sees(pilot, "raises.py")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "the runner could not be loaded", "RuntimeError: no key in the drawer")
        path.write_text(SPEAKS.format("found it"))
        await until(pilot, lambda: "code changed · next run uses it · f5 runs again" in app.told)
        await pilot.press("f5")
        await sees(pilot, "found it")


async def test_a_broken_manifest_is_listed_with_its_folder_line_and_reason(open_engine: Engines):
    (open_engine.folder / "plug").mkdir()
    (open_engine.folder / "plug" / "manifest.yaml").write_text("author: me\nname: [\n")
    app = opened(open_engine, runners=["first.py", "plug"])
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "1 left out", "plug/manifest.yaml:3", "not YAML")


async def test_a_component_that_is_left_out_has_the_folder_of_its_plugin_in_its_name(open_engine: Engines):
    (open_engine.folder / "plug").mkdir()
    (open_engine.folder / "plug" / "manifest.yaml").write_text(
        "metadata: {author: me, name: plug}\nspec: {components: {Runner: {fromFiles: [runner.yaml]}}}\n"
    )
    (open_engine.folder / "plug" / "runner.yaml").write_text("kind: [\n")
    app = opened(open_engine, runners=["first.py", "plug"])
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "1 left out", "plug/runner.yaml:2", "not YAML")


@at_both_sizes
async def test_an_agent_that_does_not_fit_is_listed_with_its_reason_and_another_can_run(
    open_engine: Engines, size: tuple[int, int]
):
    agents = [{"id": "good", "runner": "second"}, {"id": "poor", "runner": "nobody"}]
    app = opened(open_engine, runner=None, agents=agents)
    async with at_the_screen(app, size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, RunnersScreen))
        await sees(pilot, "trackside.yaml:1", "agent poor: runner: no runner called 'nobody'", "1 left out")
        await pilot.press(*"poor", "enter")
        await until(pilot, lambda: any("trackside.yaml is left out: agent poor" in words for words in app.told))
        await pilot.press("escape", *"good", "enter")
        await until(pilot, lambda: app.screen is app.main)
        await say(pilot, "hello")
        await sees(pilot, "I am the second")


async def test_what_is_odd_about_a_runner_stands_beside_it_and_not_among_those_left_out(open_engine: Engines):
    (open_engine.folder / "odd.py").write_text(f"config = make()\n{SPEAKS.format('x')}")
    app = opened(open_engine, runners=["first.py", "odd.py"])
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await pilot.press(*"odd")
        await sees(pilot, "config is not a literal")
        assert "left out" not in shown(app).lower()


async def test_reading_that_takes_long_says_so_and_what_was_typed_meanwhile_is_done(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        go = asyncio.Event()
        read = app.stage.engine.runners.summaries

        async def slowly(locale: str | None = None) -> Any:
            await go.wait()
            return await read(locale)

        app.stage.engine.runners.summaries = slowly
        await to_the_list(pilot, app)
        await sees(pilot, "Reading…")
        assert "No runner was found" not in shown(app)
        await pilot.press(*"second", "enter")
        go.set()
        await until(pilot, lambda: app.screen is app.main)
        assert app.stage.runner_id == "plugin:local/second/default"


async def test_a_form_that_takes_long_says_so(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        go = asyncio.Event()
        read = app.stage.engine.settings.form

        async def slowly(name: str | None = None) -> Any:
            await go.wait()
            return await read(name)

        app.stage.engine.settings.form = slowly  # type: ignore[method-assign]
        await pilot.press("f12")
        await until(pilot, lambda: "reading the settings of first…" in app.told)
        go.set()
        await sees(pilot, "Settings of first")


async def test_no_key_is_dead_where_the_list_or_the_form_is_open_already(open_engine: Engines):
    app = opened(open_engine)
    async with at_the_screen(app) as pilot:
        await to_the_list(pilot, app)
        await sees(pilot, "in use")
        await pilot.press("f12")
        await sees(pilot, "Settings of first")
        await pilot.press("f12")
        await until(pilot, lambda: "this is it; esc leads back" in app.told)
        await pilot.press("f3")
        await until(pilot, lambda: "it lies underneath; esc leads to it" in app.told)


async def test_where_nobody_is_chosen_the_list_opens_by_itself(open_engine: Engines):
    app = opened(open_engine, runner=None, runners=["first.py", "second.py"])
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


async def through(pilot: Any, app: Telling, screen: RunnersScreen) -> str:
    """All that is seen on the way to the end of what is told."""
    await sees(pilot, "alt+down more")
    seen = shown(app)
    while screen.leaf.can_page(1):
        top = screen.leaf.top
        await pilot.press("alt+down")
        await until(pilot, lambda top=top: screen.leaf.top > top)
        seen += shown(app)
    await until(pilot, lambda: "alt+down more" not in shown(app) and "alt+up back up" in shown(app))
    return seen


@pytest.mark.parametrize("size", [(80, 24), (60, 15)])
async def test_all_that_is_told_of_a_runner_is_reached_where_there_is_little_room(
    open_engine: Engines, size: tuple[int, int]
):
    app = Telling(LaunchOptions(runner="able"), lambda: open_engine(able, second))
    async with at_the_screen(app, size) as pilot:
        screen = await to_the_list(pilot, app)
        await sees(pilot, "in use")
        seen = await through(pilot, app, screen)
        for words in ("may ask for", "workspace", "source", "plugin:local/able/default", "last used"):
            assert words in seen
        await pilot.press("alt+down")
        await until(pilot, lambda: any("that is all that is told" in words for words in app.told))
        await pilot.press("down")
        await until(pilot, lambda: screen.leaf.top == 0)


async def test_the_file_of_a_broken_manifest_is_reached_where_there_is_little_room(open_engine: Engines):
    (open_engine.folder / "plug").mkdir()
    (open_engine.folder / "plug" / "manifest.yaml").write_text("author: me\nname: [\n")
    app = opened(open_engine, runners=["first.py", "plug"])
    async with at_the_screen(app, (60, 15)) as pilot:
        screen = await to_the_list(pilot, app)
        await pilot.press(*"not yaml")
        await sees(pilot, "left out")
        assert "Mend the file" in await through(pilot, app, screen)
