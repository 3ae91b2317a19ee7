"""An awaitable that may never be awaited, because the app can end first."""

from collections.abc import Awaitable, Generator
from typing import Any


class ClosingAwaitable:
    """Wraps an awaitable and closes it if it is never awaited, so that Python does not warn."""

    def __init__(self, act: Awaitable[Any]) -> None:
        self._act = act

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from self._act.__await__())  # a generator, so that self lives as long as it is awaited

    def __del__(self) -> None:
        close = getattr(self._act, "close", None)
        if close is not None:
            close()
