"""How much one run may ask at once and in a second."""

import time
from typing import Final

IN_FLIGHT: Final = 128
A_SECOND: Final = 2_000


class Traffic:
    """A bucket that holds one second's calls and fills as time passes. Real time: it guards the host's own loop."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._left = float(A_SECOND)
        self._filled_at = time.monotonic()

    def problem(self) -> str | None:
        """Why the next call cannot be taken now; taking it uses up its share."""
        if self.in_flight >= IN_FLIGHT:
            return f"{IN_FLIGHT} calls are in flight already; await some of them first"
        now = time.monotonic()
        self._left = min(A_SECOND, self._left + (now - self._filled_at) * A_SECOND)
        self._filled_at = now
        if self._left < 1:
            return f"more than {A_SECOND} calls a second; slow down"
        self._left -= 1
        return None
