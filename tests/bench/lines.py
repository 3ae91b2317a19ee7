"""What a measurement says: its value, what it stands beside, and how good it should be."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement. `aim` and `limit` speak of the ratio, or of the value where the unit is what matters."""

    bench: str
    value: float
    unit: str
    baseline: float
    """Measured in the same run, in the same unit."""
    ratio: float | None
    aim: float | None
    limit: float | None
    ok: bool | None
    """Whether the limit is kept, or the aim where there is no limit; nothing where there is neither."""


def at_least(bench: str, value: float, unit: str, baseline: float, *, aim: float, limit: float) -> Line:
    """More is better: a share of the baseline."""
    ratio = value / baseline
    return Line(bench, _short(value), unit, _short(baseline), _short(ratio), aim, limit, ratio >= limit)


def at_most(
    bench: str, value: float, unit: str, baseline: float, *, aim: float | None = None, limit: float | None = None
) -> Line:
    """Less is better: a multiple of the baseline."""
    ratio = value / baseline
    ok = _within(ratio, aim, limit)
    return Line(bench, _short(value), unit, _short(baseline), _short(ratio), aim, limit, ok)


def within(
    bench: str, value: float, unit: str, baseline: float, *, aim: float | None = None, limit: float | None = None
) -> Line:
    """Less is better, in the unit itself; the baseline tells what the machine was like."""
    ok = _within(value, aim, limit)
    ratio = _short(value / baseline) if baseline else None
    return Line(bench, _short(value), unit, _short(baseline), ratio, aim, limit, ok)


def say(lines: Iterable[Line]) -> None:
    """Print each as soon as it is known."""
    for line in lines:
        print(json.dumps(asdict(line)), flush=True)


def _within(number: float, aim: float | None, limit: float | None) -> bool | None:
    bound = aim if limit is None else limit
    return None if bound is None else number <= bound


def _short(number: float) -> float:
    """Four digits that mean something."""
    return float(f"{number:.4g}")
