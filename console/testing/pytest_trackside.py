"""The pytest plugin of Trackside: the fixture `trackside_console`, which opens a runner in the console.

pytest imports this module in every project that has Trackside installed. It therefore imports nothing of Trackside
until the fixture is used. In the wheel it is a module of its own, beside the packages `console` and `engine`.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from console.testing.console_under_test import OpenConsole

FILES_OF_TRACKSIDE = {"console": "testing/console_under_test.py", "engine": "protocol/api.py"}
"""For each package of Trackside, a file by which it is recognised."""


@pytest.fixture
def trackside_console(request: pytest.FixtureRequest, tmp_path: Path) -> "OpenConsole":
    """Opens a runner in the console: `trackside_console("my_runner.py").matches_picture(steps)`."""
    if (hidden := find_hidden_package()) is not None:
        pytest.fail(hidden, pytrace=False)
    from console.testing.console_under_test import OpenConsole

    return OpenConsole(request, tmp_path)


def find_hidden_package() -> str | None:
    """Return what to do if the project has a package or module with the name of one of Trackside's; else None."""
    for name, file in FILES_OF_TRACKSIDE.items():
        spec = find_spec(name)
        folders = [] if spec is None else [*(spec.submodule_search_locations or ())]
        if any(Path(folder, file).is_file() for folder in folders):
            continue
        place = folders[0] if folders else spec and spec.origin
        return (
            f"trackside_console: {place or name} hides the package `{name}` of Trackside. Rename it, or run this test "
            "with `trackside test`, which uses an environment of its own (not in this version yet)."
        )
    return None
