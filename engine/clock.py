"""Clocks and ids. Both are injected into the engine, so that a test can control the time."""

import asyncio
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CROCKFORD: Final = "0123456789abcdefghjkmnpqrstvwxyz"


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time stamps and deadlines. The writer and the process watchdogs use real time instead."""

    def now(self) -> int:
        """Return microseconds since 1970, UTC. For time stamps only: the user may set this clock."""
        ...

    def monotonic(self) -> int:
        """Return microseconds since some moment. For durations: nobody can set this clock."""
        ...

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Schedule a call on the running loop."""
        ...


class Ids(Protocol):
    """Makes ids that sort by creation time."""

    def new(self, kind: str) -> str:
        """Return a new id such as `run_01k9…`."""
        ...


class SystemClock:
    """The machine's clock. Never goes back within a process, so that ids and time stamps keep their order."""

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> int:
        self._last = max(self._last, time.time_ns() // 1000)
        return self._last

    def monotonic(self) -> int:
        return time.monotonic_ns() // 1000

    def later(self, seconds: float, call: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, call)


class TimeIds:
    """Makes ids of 48 bits of milliseconds and 80 random bits in 26 letters: sortable and not predictable."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0

    def new(self, kind: str) -> str:
        # Ids of the same millisecond count up from the last one, which keeps their order.
        number = ((self._clock.now() // 1000) << 80) | secrets.randbits(80)
        if number <= self._last:
            number = self._last + 1 + secrets.randbits(32)
        self._last = number
        return f"{kind}_{''.join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))}"


def rfc3339(microseconds: int) -> str:
    """Return a time stamp as RFC 3339 text: `2026-11-16T01:02:03.000004Z`."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond:06d}Z"


def epoch_seconds(microseconds: int | None) -> int | None:
    """Return a time stamp in whole seconds since 1970, as runners get it. None stays None."""
    return None if microseconds is None else microseconds // 1_000_000


def exact_epoch_seconds(microseconds: int | None) -> float | None:
    """Return a time stamp in seconds since 1970 with their fraction, as runners get a deadline. None stays None."""
    return None if microseconds is None else microseconds / 1_000_000


def microseconds(text: str) -> int:
    """Return the time stamp of an RFC 3339 text. A text without a zone is UTC."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)
