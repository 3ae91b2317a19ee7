"""Which of a script's answers is given: the first that fits."""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, Generic, TypeVar

from pydantic import Field

from engine.section import Section

_MOST_NAMED: Final = 20


class Rule(Section):
    """When an answer may be given."""

    times: Annotated[int, Field(ge=1)] | None = None
    """How often; not set: always where it has conditions, else once."""

    def conditions(self) -> list[str]:
        """What must hold, in the words of the script; none means that it is given in order."""
        return []


R = TypeVar("R", bound=Rule)


class Rules(Generic[R]):
    """Rules in the order of the script, and how often each may still be used."""

    def __init__(self, rules: Sequence[R]) -> None:
        self._rules = rules
        self._left = [rule.times or (None if rule.conditions() else 1) for rule in rules]

    def choose(self, fits: Callable[[R], bool]) -> R | None:
        """The first that fits and is not used up."""
        for place, rule in enumerate(self._rules):
            left = self._left[place]
            if left == 0 or not fits(rule):
                continue
            if left is not None:
                self._left[place] = left - 1
            return rule
        return None

    def last_in_order(self) -> R | None:
        """What is given again and again when nothing else is left to say."""
        in_order = [rule for rule in self._rules if not rule.conditions() and rule.times is None]
        return in_order[-1] if in_order else None

    def in_words(self) -> str:
        """All rules, for someone who wonders why none of them fits."""
        if not self._rules:
            return "there are none"
        told = [f"#{place} {_in_words(rule)}" for place, rule in enumerate(self._rules[:_MOST_NAMED], 1)]
        if len(self._rules) > _MOST_NAMED:
            told.append(f"and {len(self._rules) - _MOST_NAMED} more")
        return "; ".join(told)


def _in_words(rule: Rule) -> str:
    times = f" ({rule.times} times)" if rule.times else ""
    return (", ".join(rule.conditions()) or "in order") + times
