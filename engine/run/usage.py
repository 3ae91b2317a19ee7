"""Counts what a run uses."""

from itertools import islice
from typing import Any, Final, cast

MAX_AMOUNT: Final = 2**53
"""A larger number is no count of anything, and its sum could not be written as JSON."""
_MAX_NAMES: Final = 100
_MAX_NAME_LENGTH: Final = 255
_MAX_NAMES_READ: Final = 1_000
"""Names of one usage that are looked at."""


class UsageCounter:
    """Adds up the usage of one origin, by name, in bounded memory."""

    def __init__(self) -> None:
        self.amounts: dict[str, int | float] = {}

    def add(self, usage: object) -> None:
        """Add a usage. Values that are not numbers, and numbers that are too large, are left out."""
        if not isinstance(usage, dict):
            return
        for name, amount in islice(cast("dict[str, Any]", usage).items(), _MAX_NAMES_READ):
            if not isinstance(amount, int | float) or isinstance(amount, bool) or len(name) > _MAX_NAME_LENGTH:
                continue
            total = self.amounts.get(name, 0) + amount
            if abs(total) <= MAX_AMOUNT and (name in self.amounts or len(self.amounts) < _MAX_NAMES):
                self.amounts[name] = total
