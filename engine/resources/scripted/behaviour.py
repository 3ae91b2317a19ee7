"""Delays, failures and reply rules that all scripted resources share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final, Generic, TypeVar, cast

from pydantic import Field

from engine.protocol.errors import ErrorCode
from engine.resources.interfaces import ResourceError
from engine.yaml_model import YamlModel

Sleep = Callable[[float], Awaitable[object]]
"""Waits for a time; tests pass one that returns at once."""
Seconds = Annotated[float, Field(ge=0, le=86_400)]

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
_RATE_LIMITED: Final = 429
_TIMED_OUT: Final = 408


class ScriptedBehaviour(YamlModel):
    """Keys that every scripted reply may have: a delay and a failure."""

    delay: Seconds = 0.0
    """Seconds before the reply or the failure."""
    error: str | None = None
    """Fail with this message."""
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    """Fail like a provider that returns this HTTP status."""
    retry_after: Seconds | None = None
    """Seconds that the provider asks the client to wait; only with a status."""

    def fails(self) -> bool:
        """Whether the script defines a failure."""
        return self.error is not None or self.status is not None

    def failure(self) -> ResourceError | None:
        """Return the scripted failure, or None."""
        if self.status is None:
            return None if self.error is None else ResourceError(self.error)
        message = f"{self.status} {_PHRASES.get(self.status, '')}".rstrip() if self.error is None else self.error
        details: dict[str, Any] = {"status": self.status}
        if self.retry_after is not None:
            details["retry_after"] = self.retry_after
        limited = self.status == _RATE_LIMITED
        return ResourceError(
            message,
            code=ErrorCode.RATE_LIMITED if limited else ErrorCode.RUNTIME_ERROR,
            retryable=limited or self.status == _TIMED_OUT or self.status >= 500,
            details=details,
        )

    def check_failure(self) -> None:
        """For validators: raise ValueError if keys contradict each other."""
        if self.retry_after is not None and self.status is None:
            raise ValueError("has a retry_after without a status")


async def wait(failing: ScriptedBehaviour, sleep: Sleep) -> None:
    """Wait for the scripted delay, then raise the scripted failure if there is one."""
    if failing.delay:
        await sleep(failing.delay)
    if (failure := failing.failure()) is not None:
        raise failure


def is_same_json(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: 1 equals 1.0 but not true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return left.keys() == right.keys() and contains_all(left, right)
    if isinstance(one, list) and isinstance(other, list):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(items) == len(others) and all(is_same_json(*pair) for pair in zip(items, others, strict=True))
    return one == other


def contains_all(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every expected key is present with the same value."""
    return all(key in values and is_same_json(values[key], value) for key, value in wanted.items())


_MAX_LISTED_RULES: Final = 20


class Rule(YamlModel):
    """Conditions under which a reply is used."""

    times: Annotated[int, Field(ge=1)] | None = None
    """How often the reply is used. Default: always if it has conditions, else once."""

    def conditions(self) -> list[str]:
        """Return the conditions in the words of the script; none means that replies are used in order."""
        return []


R = TypeVar("R", bound=Rule)


class Rules(Generic[R]):
    """The rules of a script in order, and how often each may still be used."""

    def __init__(self, rules: Sequence[R]) -> None:
        self._rules = rules
        self._left = [rule.times or (None if rule.conditions() else 1) for rule in rules]

    def choose(self, fits: Callable[[R], bool]) -> R | None:
        """Return the first rule that fits and is not used up."""
        for place, rule in enumerate(self._rules):
            left = self._left[place]
            if left == 0 or not fits(rule):
                continue
            if left is not None:
                self._left[place] = left - 1
            return rule
        return None

    def last_in_order(self) -> R | None:
        """Return the last rule without conditions, which repeats when all others are used up."""
        in_order = [rule for rule in self._rules if not rule.conditions() and rule.times is None]
        return in_order[-1] if in_order else None

    def describe(self) -> str:
        """Describe all rules, for the error if none fits."""
        if not self._rules:
            return "there are none"
        listed = [f"#{place} {_describe(rule)}" for place, rule in enumerate(self._rules[:_MAX_LISTED_RULES], 1)]
        if len(self._rules) > _MAX_LISTED_RULES:
            listed.append(f"and {len(self._rules) - _MAX_LISTED_RULES} more")
        return "; ".join(listed)


def _describe(rule: Rule) -> str:
    times = f" ({rule.times} times)" if rule.times else ""
    return (", ".join(rule.conditions()) or "in order") + times
