"""`trackside keys`: the console's commands with the keys that hold for this person."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Trackside

Keys = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def keys(trackside: Trackside, tmp_path: Path) -> Keys:
    """The command, for someone whose file says this."""

    def run(*typed: str, file: str = "") -> "subprocess.CompletedProcess[str]":
        path = tmp_path / "config" / "trackside" / "console.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
        env = trackside.environment | {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        line = [sys.executable, "-m", "console", "keys", *typed]
        return subprocess.run(line, env=env, capture_output=True, encoding="utf-8", check=False, timeout=60)

    return run


def test_keys_of_ones_own_are_told_and_named_in_sentences(keys: Keys):
    file = "keys:\n  states.undo: z\n  app.zoom: null\n"
    table = keys(file=file)
    rows = {one["id"]: one for one in json.loads(keys("--json", file=file).stdout)["commands"]}

    assert table.returncode == 0
    assert "none  (yours)" in next(line for line in table.stdout.splitlines() if line.startswith("app.zoom "))
    assert rows["states.undo"]["keys"] == ["z"]
    assert rows["states.delete"]["does"] == "Delete the key; z brings it back."
    assert rows["app.zoom"]["keys"] == []


def test_what_is_wrong_in_the_file_is_told_by_line(keys: Keys):
    done = keys(file="keys:\n  app.hodl: f5\n")
    assert done.returncode == 2
    assert "console.yaml: line 2: there is no command 'app.hodl'; did you mean app.hold?" in done.stderr


def test_the_example_is_a_file_to_begin_with(keys: Keys):
    assert keys(file=keys("--example").stdout).returncode == 0


def test_a_place_that_is_not_there_is_told_with_the_nearest(keys: Keys):
    done = keys("strem")
    assert done.returncode == 2
    assert "there is no place called 'strem'; did you mean stream?" in done.stderr


def test_a_command_is_told_by_the_name_that_the_list_has_for_it(keys: Keys):
    done = keys("app.zoom")
    mistyped = keys("app.zom")

    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.split("\n\n")[0].splitlines()] == ["app.zoom"]
    assert mistyped.returncode == 2
    assert "there is no command 'app.zom'; did you mean app.zoom?" in mistyped.stderr
