"""Something that is to be done, and may never begin: the console can end before it does."""

from collections.abc import Awaitable, Generator
from typing import Any


class Act:
    """Awaited like what it is made of. Let go before that, it is gone without a word: Python would complain."""

    def __init__(self, act: Awaitable[Any]) -> None:
        self._act = act

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from self._act.__await__())  # a generator, so that it is there as long as it is awaited

    def __del__(self) -> None:
        close = getattr(self._act, "close", None)
        if close is not None:
            close()
