"""`trackside keys`: the console's commands with their keys and those of console.yaml."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import Trackside

Keys = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def keys(trackside: Trackside, tmp_path: Path) -> Keys:
    """Runs the command with this text as console.yaml."""

    def run(*typed: str, file: str = "") -> "subprocess.CompletedProcess[str]":
        path = tmp_path / "config" / "trackside" / "console.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
        env = trackside.environment | {"XDG_CONFIG_HOME": str(tmp_path / "config")}
        return trackside.server.run(["keys", *typed], cwd=trackside.folder, env=env)

    return run


def test_changed_keys_are_listed_and_used_in_help_texts(keys: Keys):
    file = "keys:\n  states.undo: z\n  app.zoom: null\n"
    table = keys(file=file)
    rows = {one["id"]: one for one in json.loads(keys("--json", file=file).stdout)["commands"]}

    assert table.returncode == 0
    assert "none  (yours)" in next(line for line in table.stdout.splitlines() if line.startswith("app.zoom "))
    assert rows["states.undo"]["keys"] == ["z"]
    assert rows["states.delete"]["does"] == "Delete the key; z restores it."
    assert rows["app.zoom"]["keys"] == []


def test_error_in_console_yaml_names_its_line(keys: Keys):
    done = keys(file="keys:\n  app.puase: f5\n")
    assert done.returncode == 2
    assert "console.yaml: line 2: Unknown command 'app.puase'; did you mean app.pause?" in done.stderr


def test_example_of_console_yaml_has_no_errors(keys: Keys):
    assert keys(file=keys("--example").stdout).returncode == 0


def test_unknown_pane_suggests_the_nearest(keys: Keys):
    done = keys("strem")
    assert done.returncode == 2
    assert "There is no pane called 'strem'; did you mean stream?" in done.stderr


def test_command_is_found_by_its_id(keys: Keys):
    done = keys("app.zoom")
    mistyped = keys("app.zom")

    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.split("\n\n")[0].splitlines()] == ["app.zoom"]
    assert mistyped.returncode == 2
    assert "There is no command 'app.zom'; did you mean app.zoom?" in mistyped.stderr
