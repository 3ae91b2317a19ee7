"""The time column of the stream."""

from datetime import datetime
from enum import StrEnum
from typing import Final

TIME_COLUMNS: Final = 9


class TimeMode(StrEnum):
    """How times are shown. The value is the heading of the column."""

    STEP = "+ms"
    """Since the row above."""
    RUN = "run"
    """Since the run began."""
    CLOCK = "clock"

    def heading(self, *, is_filtered: bool) -> str:
        """The heading of the column; with a filter, the row above need not be the previous entry."""
        return "+ms shown" if self is TimeMode.STEP and is_filtered else self.value

    @property
    def next(self) -> "TimeMode":
        modes = tuple(TimeMode)
        return modes[(modes.index(self) + 1) % len(modes)]


def format_time(mode: TimeMode, at: int, *, previous_at: int | None, began: int | None) -> str:
    """Return the text of the time column; empty if the other time is not known."""
    if mode is TimeMode.STEP:
        return "" if previous_at is None else format_step(at - previous_at)
    if mode is TimeMode.RUN:
        return "" if began is None else format_elapsed(at - began)
    local = datetime.fromtimestamp(at // 1_000_000).astimezone()
    return f"{local:%H:%M:%S}"


def format_step(microseconds: int) -> str:
    """`0.412`, `3.0`, `812.0` milliseconds; then `1.25s`, `2m05s`, `3h12m`."""
    if microseconds < 1_000:
        return f"{microseconds / 1_000:.3f}"
    if microseconds < 999_950:
        return f"{microseconds / 1_000:.1f}"
    seconds = microseconds / 1_000_000
    if seconds < 99.995:
        return f"{seconds:.2f}s"
    whole = round(seconds)
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3_600}h{whole % 3_600 // 60:02}m"


def format_elapsed(microseconds: int) -> str:
    """`00:14.203`, `1:02:07`."""
    seconds, rest = divmod(max(0, microseconds), 1_000_000)
    if seconds < 3_600:
        return f"{seconds // 60:02}:{seconds % 60:02}.{rest // 1_000:03}"
    return f"{seconds // 3_600}:{seconds % 3_600 // 60:02}:{seconds % 60:02}"
