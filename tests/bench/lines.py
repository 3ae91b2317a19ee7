"""The lines that a measurement prints: value, baseline and limit."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import quantiles


@dataclass(frozen=True, slots=True)
class Line:
    """One figure. `aim` and `limit` apply to the ratio, or to the value if the figure was made with `within`."""

    bench: str
    value: float
    unit: str
    baseline: float
    """Measured in the same run, in the same unit."""
    ratio: float | None
    aim: float | None
    limit: float | None
    ok: bool | None
    """Whether the limit is kept, or the aim if there is no limit; None if there is neither."""
    is_more_better: bool = False
    """Whether a larger ratio is better, as for a rate."""


def at_least(bench: str, value: float, unit: str, baseline: float, *, aim: float, limit: float) -> Line:
    """A figure that is better if larger: a share of the baseline."""
    ratio = value / baseline
    return Line(
        bench, _short(value), unit, _short(baseline), _short(ratio), aim, limit, ratio >= limit, is_more_better=True
    )


def at_most(
    bench: str, value: float, unit: str, baseline: float, *, aim: float | None = None, limit: float | None = None
) -> Line:
    """A figure that is better if smaller: a multiple of the baseline."""
    ratio = value / baseline
    ok = _within(ratio, aim, limit)
    return Line(bench, _short(value), unit, _short(baseline), _short(ratio), aim, limit, ok)


def within(
    bench: str, value: float, unit: str, baseline: float, *, aim: float | None = None, limit: float | None = None
) -> Line:
    """A figure that is better if smaller, with its limit in its own unit; the baseline shows the machine's state."""
    ok = _within(value, aim, limit)
    ratio = _short(value / baseline) if baseline else None
    return Line(bench, _short(value), unit, _short(baseline), ratio, aim, limit, ok)


def print_lines(lines: Iterable[Line]) -> None:
    """Print each line as soon as it is measured."""
    for line in lines:
        print(json.dumps(asdict(line)), flush=True)


def percentile(numbers: list[float], percent: int) -> float:
    return quantiles(numbers, n=100)[percent - 1]


def _within(number: float, aim: float | None, limit: float | None) -> bool | None:
    bound = aim if limit is None else limit
    return None if bound is None else number <= bound


def _short(number: float) -> float:
    """The number with four significant digits."""
    return float(f"{number:.4g}")
