"""How long tests wait: limits after which a test is stuck, and limits that grow with the load of the machine."""

import time

MAX_WAIT_SECONDS = 30.0
"""After this time a condition inside one process will never become true, however busy the machine is."""
MAX_PROCESS_SECONDS = 60.0
"""The same for conditions that need other processes to start."""
SAMPLE_SECONDS = 0.02


def slowness() -> float:
    """Return how many seconds pass per second of processor time that this thread gets; 1 on a free machine."""
    began, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < SAMPLE_SECONDS:
        pass
    return max(1.0, (time.monotonic() - began) / SAMPLE_SECONDS)


class Limit:
    """A limit that is extended if it passes while the machine is busy.

    Only the rules that are about seconds need one. All other tests wait for a condition.
    """

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self._slowness = 1.0

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed. Measures the load first if the seconds are over."""
        passed = time.monotonic() - self._began
        if passed <= self._seconds * self._slowness:
            return False
        self._slowness = max(self._slowness, slowness())
        return passed > self._seconds * self._slowness
