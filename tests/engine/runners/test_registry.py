import os
import time
from pathlib import Path

import pytest

from engine.runners.descriptor import Origin, Problem
from engine.runners.discovery import Source, bundled_folder, discover
from engine.runners.errors import AmbiguousRunner, RunnerNotAllowed, RunnerNotFound
from engine.runners.registry import Registry
from engine.runtimes.worker import file_stamps

HELLO = "async def run(ctx):\n    yield {}\n"
BUNDLED = ", ".join(f"plugin:trackside/{name}/default" for name in ("chaos", "echo", "prober", "rehearsal"))


def ids(runners) -> list[str]:
    return [str(runner.id) for runner in runners]


def test_bundled_runners_are_found_without_problems():
    found = discover([Source(bundled_folder(), Origin.BUNDLED)], Path.cwd())

    assert found.problems == ()
    assert ", ".join(sorted(ids(found.runners))) == BUNDLED
    assert {runner.origin for runner in found.runners} == {Origin.BUNDLED}


def test_a_folder_holds_plugins_and_runner_files(plugins, write, tmp_path: Path):
    plugins.component(plugins.plugin())
    write("hello.py", HELLO)
    write("tools.py", "x = 1\n")
    write("test_hello.py", HELLO)
    write("torn.py", "async def run(ctx:\n")

    found = discover([Source(tmp_path)], tmp_path)

    assert ids(found.runners) == ["plugin:acme/demo/main", "plugin:local/hello/default"]
    assert [problem.path.name for problem in found.problems] == ["torn.py"]


def test_a_named_place_without_a_runner_is_a_problem(tmp_path: Path, write):
    text = write("notes.txt", "")
    empty = tmp_path / "empty"
    empty.mkdir()

    found = discover([Source(tmp_path / "gone", named_by="runners[0]"), Source(text), Source(empty)], tmp_path)

    assert found.runners == ()
    assert found.problems == (
        Problem(tmp_path / "gone", "no such file or folder (named by runners[0])"),
        Problem(text, "not a Python file"),
        Problem(empty, "no runner in this folder: no manifest.yaml, and no .py file with one"),
    )


def test_two_files_with_one_id_are_a_problem_and_the_first_stays(write, tmp_path: Path):
    one, two = write("a/hello.py", HELLO), write("b/hello.py", HELLO)

    found = discover([Source(one), Source(two), Source(one)], tmp_path)

    assert [runner.path for runner in found.runners] == [one]
    assert found.problems == (Problem(two, f"plugin:local/hello/default is already taken by {one}"),)


def test_runner_is_found_by_id_or_unique_short_name(plugins, tmp_path: Path):
    folder = plugins.plugin()
    plugins.component(folder, "one")
    plugins.component(folder, "two")
    registry = Registry([Source(folder)], cwd=tmp_path)

    for name in ("plugin:acme/demo/one", "one", "demo/one"):
        assert str(registry.get(name).id) == "plugin:acme/demo/one"
    assert str(registry.get("echo").id) == "plugin:trackside/echo/default"


def test_an_ambiguous_name_names_the_candidates(plugins, tmp_path: Path):
    folder = plugins.plugin()
    plugins.component(folder, "one")
    plugins.component(folder, "two")
    registry = Registry([Source(folder)], cwd=tmp_path)

    with pytest.raises(AmbiguousRunner) as caught:
        registry.get("demo")
    assert str(caught.value) == (
        "'demo' could be any of plugin:acme/demo/one, plugin:acme/demo/two. Name one by its whole id."
    )

    with pytest.raises(AmbiguousRunner) as caught:
        registry.choose()
    assert str(caught.value) == (
        "there are 2 runners: plugin:acme/demo/one, plugin:acme/demo/two. Name one with --runner."
    )


@pytest.mark.parametrize("name", ["nope", "plugin:acme/demo/nope"])
def test_an_unknown_name_lists_what_was_found(write, tmp_path: Path, name: str):
    registry = Registry([Source(write("hello.py", HELLO))], cwd=tmp_path)

    with pytest.raises(RunnerNotFound) as caught:
        registry.get(name)

    assert str(caught.value) == f"no runner called {name!r}. Found: plugin:local/hello/default, {BUNDLED}."


def test_an_unknown_name_says_that_some_were_left_out(write, tmp_path: Path):
    registry = Registry([Source(write("torn.py", "async def run(\n"))], cwd=tmp_path)

    with pytest.raises(RunnerNotFound) as caught:
        registry.get("whole")

    assert str(caught.value) == f"no runner called 'whole'. Found: {BUNDLED}. 1 left out: `trackside doctor` says why."


@pytest.mark.parametrize("name", ["torn", "plugin:local/torn/default"])
def test_the_name_of_a_file_that_was_left_out_says_what_is_wrong_with_it(write, tmp_path: Path, name: str):
    path = write("torn.py", "async def run(\n")
    registry = Registry([Source(path)], cwd=tmp_path)

    with pytest.raises(RunnerNotFound) as caught:
        registry.get(name)

    assert str(caught.value).startswith(f"the runner {name!r} is left out: {path}:1: SyntaxError")


@pytest.mark.parametrize("is_there", [True, False])
def test_the_advice_depends_on_whether_the_file_is_broken_or_missing(write, tmp_path: Path, is_there: bool):
    path = write("torn.py", "async def run(\n")
    if not is_there:
        path.unlink()

    with pytest.raises(RunnerNotFound) as caught:
        Registry([Source(path)], cwd=tmp_path).get("torn")

    assert str(caught.value).endswith(". Fix that file." if is_there else ". Put it back, or choose another.")


def test_not_allowed_and_not_found_are_different_errors(write, tmp_path: Path):
    registry = Registry([Source(write("hello.py", HELLO))], cwd=tmp_path, allowed=["trackside/echo"])

    assert ids(registry.runners()) == ["plugin:trackside/echo/default"]
    for name in ("hello", "plugin:local/hello/default"):
        with pytest.raises(RunnerNotAllowed) as caught:
            registry.get(name)
        assert str(caught.value) == f"the runner {name!r} is not allowed. Add local/hello to `allowed_plugins`."
    with pytest.raises(RunnerNotAllowed):
        registry.choose()
    with pytest.raises(RunnerNotFound):
        registry.get("plugin:local/gone/default")


def test_default_is_the_only_runner_or_rehearsal(write, tmp_path: Path):
    hello = write("hello.py", HELLO)

    assert str(Registry([Source(hello)], cwd=tmp_path).choose().id) == "plugin:local/hello/default"
    assert str(Registry(cwd=tmp_path).choose().id) == "plugin:trackside/rehearsal/default"


def test_a_target_without_a_usable_runner_says_what_is_wrong_with_it(write, tmp_path: Path):
    torn = write("torn.py", "x = 1\nasync def run(\n")

    with pytest.raises(RunnerNotFound) as caught:
        Registry([Source(torn)], cwd=tmp_path).choose()

    assert str(caught.value) == f"{torn}:2: SyntaxError: '(' was never closed"


def test_file_with_a_syntax_error_is_reported_and_helper_modules_are_not(write, tmp_path: Path):
    write("hello.py", "async def run(ctx):\n    yield {}\n")
    write("beside.py", "WORD = 1\n")
    half = write("half.py", "class Half\n    pass\n")
    nul = write("nul.py", "x = 1\0\n")
    write("test_half.py", "class Half\n")

    found = discover([Source(tmp_path)], tmp_path)

    assert [str(runner.id) for runner in found.runners] == ["plugin:local/hello/default"]
    assert [(problem.path, problem.line) for problem in found.problems] == [(half, 1), (nul, None)]
    assert found.problems[0].reason == "SyntaxError: expected ':'"


def test_module_is_read_again_only_after_it_was_written(write, tmp_path: Path):
    module = write("module.py", "WORD = 1\n")
    os.utime(module, (1_000_000_000, 1_000_000_000))
    assert discover([Source(tmp_path)], tmp_path).problems[0].path == tmp_path, "there is no runner in it"

    module.write_text("WORD = (\n")
    os.utime(module, (1_000_000_000, 1_000_000_000))
    assert discover([Source(tmp_path)], tmp_path).problems[0].path == tmp_path, "nothing tells that it is another"
    os.utime(module)
    assert discover([Source(tmp_path)], tmp_path).problems[0].path == module


def test_a_module_that_was_just_written_is_read_again(write, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(file_stamps, "_SETTLED_NANOSECONDS", 60_000_000_000)  # longer than the test takes
    now = time.time_ns()
    for text, path in (("WORD = 1\n", tmp_path), ("WORD = (\n", tmp_path / "module.py")):
        os.utime(write("module.py", text), ns=(now, now))
        assert discover([Source(tmp_path)], tmp_path).problems[0].path == path


def test_discovery_is_cached_until_refreshed(write, tmp_path: Path):
    hello = write("hello.py", HELLO)
    registry = Registry([Source(hello)], cwd=tmp_path)
    before = registry.runners()

    hello.write_text(f"label = 'Changed'\n{HELLO}")
    assert registry.runners() == before
    registry.refresh()

    assert registry.get("hello").manifest.label == {"en_US": "Changed"}
