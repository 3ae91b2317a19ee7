"""A runner that sends ten thousand results of every kind, right and wrong. A test also records them from outside."""

import math
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

RESULTS = 10_000
SECRET = "s3cret-walnut"

config = [{"name": "api_key", "type": "string"}]


async def run(ctx: Any) -> AsyncIterator[Any]:
    for result in results(ctx.run_id):
        yield result


def results(run_id: str) -> Iterator[dict[str, Any]]:
    """Yield the results of a run; some carry its id."""
    for number in range(RESULTS - 2):
        result = LARGE[number]() if number in LARGE else KINDS[number % len(KINDS)](number)
        yield {"run_id": run_id, **result} if number % 3 == 0 else result
    yield _result("run.completed", finish_reason="stop") | {"usage": {"total_tokens": 7}}
    yield _result("message.completed", message={"role": "assistant", "content": "too late"})


def _result(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def _delta(text: Any) -> dict[str, Any]:
    return _result("message.delta", chunk={"role": "assistant", "content": text})


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _message(number: int) -> dict[str, Any]:
    text = f"The key is {SECRET}." if number % 3 == 0 else f"line {number} é 雪"
    return _result("message.completed", message={"role": "assistant", "content": text})


def _state(number: int) -> dict[str, Any]:
    return _result("state.updated", scope="conversation", key=f"k{number % 7}", value={"n": number, "key": SECRET})


KINDS: tuple[Callable[[int], dict[str, Any]], ...] = (
    lambda n: _result("tool.call.started", tool_call_id=f"t{n}", tool_name="look", parameters={"n": n}),
    lambda n: (
        _result("tool.call.completed", tool_call_id=f"t{n - 1}", tool_name="look", result=n)
        | {"usage": {"total_tokens": 1}}
    ),
    _message,
    _state,
    lambda _: _result("state.updated", scope="nowhere", key="k", value=1),
    lambda n: _result("artifact.created", artifact_type="file", name=f"{n}.txt", content_base64="aGVsbG8="),
    lambda _: _result("artifact.created", artifact_type="file", content_base64="not base64"),
    lambda n: _result("weather.changed", sky="blue", n=n),
    _delta,  # its content is a number, which is wrong
    lambda n: _result("action.requested", action="pay", payload={"n": n}),
    lambda _: _result("call.decided", call_id="c1", allowed=True),  # a type of the host
    lambda _: _result("state.updated", scope="actor", key="k", value=math.nan),
    lambda _: _delta(SECRET[:5]),  # a secret that is split over two deltas
    lambda _: _delta(f"{SECRET[5:]} and more"),
    lambda n: _delta("numbered") | {"sequence": n // 40},  # gaps, and each number twice
    lambda _: _delta("half \ud800 a pair"),
    *[lambda n: _delta(f"word {n} ")] * 4,
)
LARGE: dict[int, Callable[[], dict[str, Any]]] = {
    50: lambda: _result("weather.changed", large="x" * 200_000) | {"usage": {"key": SECRET}},
    60: lambda: _result("weather.changed", too_large="x" * 1_200_000),
    70: lambda: _result("weather.changed", larger_than_a_frame="x" * 2_200_000),
    80: lambda: _result("weather.changed", deep=_nested(90)),
    90: lambda: _result("weather.changed", too_deep=_nested(120)),
    100: lambda: _result("weather.changed", wide=[[]] * 100_001),
}
"""By their number, results that are checked in a thread or refused for their size or form."""
