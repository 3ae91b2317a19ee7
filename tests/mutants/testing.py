"""Mutants of what authors use to test their runners: the driver of the console, the pytest plugin and `new`."""

from typing import Final

from tests.mutants.mutant import Mutant

_CONSOLE: Final = "tests/console/testing/test_console_under_test.py"
_PLUGIN: Final = "tests/console/testing/test_plugin.py"
_NEW: Final = "tests/console/cli/test_new.py"
_TWICE: Final = f"{_CONSOLE}::test_clock_stands_still_and_ids_count"
_STEERED: Final = f"{_CONSOLE}::test_messages_are_delivered_at_the_pauses_where_they_were_sent"
_IMPOSSIBLE: Final = f"{_CONSOLE}::test_impossible_openings_fail_at_once_with_the_fix"

MUTANTS: Final = (
    Mutant(
        "engine/api/engine.py",
        "await self._core.host.writer.flush()",
        "pass",
        "flush waits until everything recorded so far is on disk",
        "tests/engine/api/test_engine.py::test_flush_waits_until_everything_recorded_so_far_is_on_disk",
    ),
    Mutant(
        "console/testing/driver.py",
        "clock=self.clock, ids=self.ids)",
        "ids=self.ids)",
        "the clock of a picture test stands still",
        _TWICE,
    ),
    Mutant(
        "console/testing/driver.py",
        "clock=self.clock, ids=self.ids)",
        "clock=self.clock)",
        "the ids of a picture test count",
        _TWICE,
    ),
    Mutant(
        "console/testing/driver.py",
        "await self.app.active_session.engine.runs.wait_until_idle()",
        "await asyncio.sleep(0)",
        "the end of a run is awaited also if another run starts after it",
        f"{_CONSOLE}::test_end_of_a_run_that_starts_after_the_first_is_awaited",
    ),
    Mutant(
        "console/testing/driver.py",
        "await runs.current_pause(view.run_id) is pause:",
        "False:",
        "a run that was continued has left its pause",
        _STEERED,
    ),
    Mutant(
        "console/data/active_session.py",
        "breakpoints=options.breakpoints, ",
        "",
        "the breakpoints of a test apply from the start of a run",
        _STEERED,
    ),
    Mutant(
        "console/testing/console_under_test.py",
        'db=home / "trackside.db"',
        'db=self.home / "trackside.db"',
        "every start of the console has an empty database",
        _TWICE,
    ),
    Mutant(
        "console/testing/console_under_test.py",
        "fixed_environment(home, self.working_folder)",
        "fixed_environment(home)",
        "the project of the working folder applies",
        f"{_CONSOLE}::test_project_of_the_working_folder_applies",
    ),
    Mutant(
        "console/testing/console_under_test.py",
        "if path is not None and not path.exists():",
        "if False:",
        "a missing runner file is refused before the console opens",
        _IMPOSSIBLE,
    ),
    Mutant(
        "console/testing/console_under_test.py",
        "BreakpointLocation.parse(location)",
        "str(location)",
        "a breakpoint that does not exist is refused before the console opens",
        _IMPOSSIBLE,
    ),
    Mutant(
        "console/testing/console_under_test.py",
        "if name not in os.environ]:",
        "if False]:",
        "a variable that is not set is refused before the console opens",
        _IMPOSSIBLE,
    ),
    Mutant(
        "console/testing/console_under_test.py",
        "if app.active_session.not_ready_reason is not None:",
        "if False:",
        "a runner that does not load fails the test at once",
        _IMPOSSIBLE,
    ),
    Mutant(
        "console/testing/console_under_test.py",
        "if asyncio._get_running_loop() is not None:",
        "if False:",
        "a test with an event loop of its own is refused",
        f"{_CONSOLE}::test_test_with_a_loop_of_its_own_is_refused",
    ),
    Mutant(
        "console/testing/pytest_trackside.py",
        "import pytest\n\nif TYPE_CHECKING:",
        "import pytest\n\nif True:",
        "the plugin imports nothing of Trackside until its fixture is used",
        f"{_PLUGIN}::test_plugin_imports_nothing_of_trackside_until_its_fixture_is_used",
    ),
    Mutant(
        "console/testing/pytest_trackside.py",
        "if any(Path(folder, file).is_file() for folder in folders):",
        "if folders:",
        "a package that hides one of Trackside's is named",
        f"{_PLUGIN}::test_package_of_the_project_that_hides_one_of_trackside_is_named",
    ),
    Mutant(
        "console/cli/new.py",
        "if part not in parts:",
        "if False:",
        "an unknown part of `new` is refused",
        f"{_NEW}::test_unknown_part_is_refused_and_nothing_is_written",
    ),
    Mutant(
        "console/cli/new.py",
        "existing = [str(path) for path in files if path.exists()]",
        "existing = []",
        "`new` writes nothing if a file of a part exists",
        f"{_NEW}::test_existing_file_of_a_part_is_kept_and_nothing_is_written",
    ),
)
