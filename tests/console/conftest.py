import pytest
from textual._compositor import Compositor

from tests.support.console import quick_textual

render_update = Compositor.render_update


@pytest.fixture(autouse=True)
def _quick_textual(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_textual.apply(monkeypatch)


@pytest.fixture
def every_frame(_quick_textual: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw every frame, as on a terminal, for tests about the drawing itself: stale lines, failures while drawing."""
    monkeypatch.setattr(Compositor, "render_update", render_update)
