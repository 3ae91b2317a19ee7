"""Tells the user that an operation is slow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from textual.message_pump import MessagePump

SLOW_SECONDS: Final = 0.5


@contextmanager
def slow_notice(owner: MessagePump, show: Callable[[], object], *, repeat: bool = False) -> Iterator[None]:
    """Call `show` if the body takes longer than SLOW_SECONDS; with `repeat`, again after each SLOW_SECONDS."""
    timer = owner.set_interval(SLOW_SECONDS, show) if repeat else owner.set_timer(SLOW_SECONDS, show)
    try:
        yield
    finally:
        timer.stop()
