"""One runner, opened in the console by a test: does the steps of a user, and compares the screen with a picture."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import pytest

from console.launch import LaunchOptions
from console.testing.driver import ConsoleDriver, Steps
from console.testing.environment import fixed_environment
from engine.api import BreakpointLocation

DEFAULT_SIZE: Final = (120, 35)
"""Columns and rows."""


@dataclass(frozen=True)
class OpenConsole:
    """The value of the fixture `trackside_console`: call it with the path of a runner."""

    request: pytest.FixtureRequest
    home: Path

    def __call__(
        self,
        target: str | Path | None = None,
        *,
        folder: Path | None = None,
        runner: str | None = None,
        breakpoints: Sequence[str] = (),
        env: Sequence[str] = (),
        size: tuple[int, int] = DEFAULT_SIZE,
    ) -> "ConsoleUnderTest":
        """Prepare a console on a runner file, a plugin folder or a project folder.

        `folder` is the working folder, by default that of the test: its `trackside.yaml` applies, and a relative
        target starts there. Every run pauses at the `breakpoints`. The runner sees the environment variables that
        `env` names.
        """
        working_folder = (folder or self.request.path.parent).resolve()
        path = None if target is None else working_folder / target
        if path is not None and not path.exists():
            raise FileNotFoundError(
                f"no such file or folder: {path}. Name a runner file (.py), a plugin folder or a project folder; "
                "a relative path starts at the folder of the test."
            )
        for location in breakpoints:
            BreakpointLocation.parse(location)
        if unset := [name for name in env if name not in os.environ]:
            raise ValueError(f"env: the variable {unset[0]} is not set. Set it, or leave it out.")
        options = LaunchOptions(target=path, runner=runner, env=tuple(env), breakpoints=tuple(breakpoints))
        return ConsoleUnderTest(options, working_folder, self.home, size, self._find_snap_compare)

    def _find_snap_compare(self) -> Callable[..., bool]:
        try:
            return self.request.getfixturevalue("snap_compare")
        except pytest.FixtureLookupError:
            pytest.fail(
                "pictures need pytest-textual-snapshot. Install it with: pip install 'trackside[testing]'",
                pytrace=False,
            )


@dataclass(frozen=True)
class ConsoleUnderTest:
    """A console that starts anew, on an empty database, each time that steps are done."""

    options: LaunchOptions
    working_folder: Path
    home: Path
    size: tuple[int, int]
    find_snap_compare: Callable[[], Callable[..., bool]]

    def matches_picture(self, steps: Steps) -> bool:
        """Do the steps, and compare the screen with the accepted picture of this test.

        `pytest --snapshot-update` accepts the current picture. If the pictures differ, the text of the screen is
        printed, and pytest-textual-snapshot writes a report with both.
        """
        snap_compare, shown = self.find_snap_compare(), list[str]()

        async def do_steps(driver: ConsoleDriver) -> None:
            await self._do(steps, driver)
            shown.append(driver.screen_text)

        def compare(driver: ConsoleDriver) -> bool:
            return snap_compare(driver.app, terminal_size=self.size, run_before=driver.run_before_picture(do_steps))

        is_same = self._with_driver(compare)
        if not is_same:
            print("This screen is not the accepted one. `pytest --snapshot-update` accepts it:", *shown, sep="\n")
        return is_same

    def run(self, steps: Steps) -> None:
        """Do the steps without a picture, for tests that read `screen_text` or ask the engine."""

        async def run_app(driver: ConsoleDriver) -> None:
            async with driver.app.run_test(size=self.size) as pilot:
                await driver.run_before_picture(lambda _: self._do(steps, driver))(pilot)

        self._with_driver(lambda driver: asyncio.run(run_app(driver)))

    def _with_driver(self, use: Callable[[ConsoleDriver], Any]) -> Any:
        if asyncio._get_running_loop() is not None:
            raise RuntimeError("the console has an event loop of its own. Write the test with `def`, not `async def`.")
        home = Path(mkdtemp(prefix="console-", dir=self.home))
        with fixed_environment(home, self.working_folder):
            return use(ConsoleDriver(replace(self.options, db=home / "trackside.db")))

    async def _do(self, steps: Steps, driver: ConsoleDriver) -> None:
        """Do the steps of the test. Fails at once, with the reason, if no run can start."""
        app = driver.app
        if app.health.problem is not None:
            raise AssertionError(app.health.problem.text)
        if app.active_session.not_ready_reason is not None:
            raise AssertionError(app.active_session.not_ready_reason)
        await steps(driver)
