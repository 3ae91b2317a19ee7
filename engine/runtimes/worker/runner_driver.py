"""Drives one runner from its context to its last result."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, cast

from engine.protocol import AgentRunContext


def opened(runner: Any, ctx: AgentRunContext) -> AsyncIterator[Any]:
    """Return the stream of results of a class or function for this context."""
    run: Callable[..., Any] = cast("Any", runner)().run if inspect.isclass(runner) else runner
    stream = run(ctx)
    if hasattr(stream, "__aiter__"):
        return aiter(stream)
    raise TypeError(_why_not(run, stream))


def _why_not(run: Callable[..., object], stream: object) -> str:
    code = getattr(run, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""
    need = "a runner is an `async def` that yields its results"
    if inspect.iscoroutine(stream):
        stream.close()
        return f"{place}{need}; this one has no `yield`"
    if inspect.isgenerator(stream):
        stream.close()
        return f"{place}{need}; this one is a plain `def`"
    return f"{place}{need}; this one returned {type(stream).__name__}"


async def drive(
    stream: AsyncIterator[Any], emit: Callable[[Any], bool], yield_to_loop: Callable[[], Awaitable[None]]
) -> None:
    """Emit every result; `emit` returns whether to yield to the loop. A cancel is thrown at the runner's position."""
    step: Awaitable[Any] = anext(stream)
    try:
        while True:
            try:
                result = await step
            except StopAsyncIteration:
                return
            try:
                if emit(result):
                    await yield_to_loop()
            except asyncio.CancelledError as cancelled:
                # It came while the runner stood at its `yield`, not in an `await` of its own.
                if not hasattr(stream, "athrow"):
                    raise
                step = cast("AsyncGenerator[Any, None]", stream).athrow(cancelled)
                continue
            step = anext(stream)
    finally:
        if hasattr(stream, "aclose"):
            await cast("AsyncGenerator[Any, None]", stream).aclose()
