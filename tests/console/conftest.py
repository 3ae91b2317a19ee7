"""Keys go in as fast as the screen takes them.

Textual's pilot waits after each key until the process has done next to nothing for 20 ms; a screen that looks for news
30 times a second hardly ever does, so that every key would take up to a second.
"""

import pytest
import textual._wait

MOMENT = 0.005


@pytest.fixture(autouse=True)
def _keys_wait_for_a_shorter_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual._wait, "SLEEP_GRANULARITY", MOMENT)
    monkeypatch.setattr(textual._wait, "SLEEP_IDLE", MOMENT / 5)
