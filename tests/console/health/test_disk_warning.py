"""A large database: the console warns once per start."""

import pytest

from engine.store import sizes
from engine.store.errors import DatabaseLocked
from engine.store.sizes import DiskUsage
from tests.support.console.browser_data import browsing
from tests.support.console.pilot import at_both_sizes, at_the_screen, say, sees, until
from tests.support.console.recorded_toasts import RecordingConsole
from tests.support.engines import Engines

MIB = 1 << 20


@pytest.fixture
def usages(monkeypatch: pytest.MonkeyPatch) -> list[DiskUsage]:
    """The size of every database is the last item."""
    found = [DiskUsage(3 * MIB)]
    monkeypatch.setattr(sizes, "disk_usage", lambda *_: found[-1])
    return found


def warnings_of(app: RecordingConsole) -> list[str]:
    return [text for text in app.toasts if "makes room" in text]


async def use(app: RecordingConsole) -> list[str]:
    """Start the console, and send a message. Returns the warnings."""
    async with at_the_screen(app) as pilot:
        await until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.name == "carry_out"))
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await app._check_once_a_second()
        return warnings_of(app)


@at_both_sizes
async def test_warning_is_shown_once_per_start(open_engine: Engines, usages: list[DiskUsage], size: tuple[int, int]):
    app = browsing(open_engine, disk={"warn_above_mib": 2})
    async with at_the_screen(app, size) as pilot:
        await sees(
            pilot,
            "The database has 3.0 MiB; `trackside doctor` lists its largest sessions, "
            "`trackside prune --older-than 30d` makes room.",
        )
        await say(pilot, "hello")
        await sees(pilot, "You said: hello")
        await app._check_once_a_second()
        assert len(warnings_of(app)) == 1
    await open_engine.close_all()

    assert len(await use(browsing(open_engine, disk={"warn_above_mib": 2}))) == 1


@pytest.mark.parametrize(
    ("usage", "limit"),
    [(DiskUsage(2 * MIB), 2), (DiskUsage(9 * MIB, free_bytes=7 * MIB), 2), (DiskUsage(9 * MIB), 0)],
    ids=["at the limit", "mostly free", "no limit"],
)
async def test_no_warning_without_need(open_engine: Engines, usages: list[DiskUsage], usage: DiskUsage, limit: int):
    usages.append(usage)

    assert await use(browsing(open_engine, disk={"warn_above_mib": limit})) == []


async def test_locked_database_is_left_to_the_health_check(open_engine: Engines, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> DiskUsage:
        raise DatabaseLocked("locked")

    monkeypatch.setattr(sizes, "disk_usage", refuse)
    app = browsing(open_engine)

    assert await use(app) == []
    assert app.toasts == []
