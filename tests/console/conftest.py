import pytest
from textual._compositor import Compositor

from console.testing import quick_textual
from engine.store.database import Database
from engine.store.writer import Writer
from tests.support.limits import MAX_WAIT_SECONDS

render_update = Compositor.render_update


@pytest.fixture(autouse=True)
def _quick_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_textual.apply(monkeypatch)


@pytest.fixture
def every_frame(_quick_textual: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw every frame, as on a terminal, for tests about the drawing itself: stale lines, failures while drawing."""
    monkeypatch.setattr(Compositor, "render_update", render_update)


@pytest.fixture
def long_lock_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers retry a locked database often, and for longer than a test waits."""
    monkeypatch.setattr("engine.store.database.BUSY_SECONDS", 0.1)
    defaults = Database.open.__func__.__kwdefaults__
    monkeypatch.setattr(Database.open.__func__, "__kwdefaults__", {**defaults, "busy": 0.1})
    monkeypatch.setattr(
        Writer.__init__, "__kwdefaults__", {"window_seconds": 0.004, "busy_seconds": 2 * MAX_WAIT_SECONDS}
    )
