"""Compares the measurements of two revisions, run alternately on the same machine."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
ROUNDS: Final = 3
TOLERANCE: Final = 1.10
"""A figure is worse if its ratio grew by more than this factor, and noisy if its rounds differ by more."""
TIMEOUT_SECONDS: Final = 300
RENAMED: Final = {
    "the loop stands": "the loop is blocked",
    "opening it, ": "opening the session browser, ",
    "leaving it, ": "closing the session browser, ",
    ", until it is there": ", until it is read",
    ", a page deep": ", deep page",
    ", a title that is nowhere": ", title without a match",
    ", a key that is nowhere": ", key without a match",
    "the same with one granted resource": "the gate's decision with one granted resource",
    " and back p": " round trip p",
    "beside 2,000 results/s": "with 2,000 results/s of another run",
    "beside 500 results/s": "with 500 results/s of another run",
    "a message from sent to pulled": "message from sent to pulled",
    "cancel of a runner": "stop of a runner",
    "left of a runner": "left by a runner",
    "all its panes are there, ": "all panes of `trackside`, ",
    "its engine is open, ": "open engine of `trackside`, ",
    "nothing left after SIGKILL": "no process left after SIGKILL",
    "beside a scan": "against a scan",
    "beside without": "against one without",
    "beside writing them": "against writing them",
    "an entry told and painted": "an entry received and painted",
    "its end after its beginning, ": "jump from the first to the last of 1,000,000 entries, ",
    "first result told, ": "first result announced, ",
}
"""Parts of the names of figures in older revisions, and their replacements."""

Figures = Mapping[str, "Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one run: its ratio to the baseline of that run, or its value if it has no baseline."""

    ratio: float
    is_more_better: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure before and after, as the medians of several runs."""

    figure: str
    before: float | None
    after: float | None
    change: float | None
    """The factor by which the figure got worse; below 1 it got better."""
    spread: float | None
    """The largest round divided by the smallest, before or after, whichever is larger."""
    verdict: str
    """`ok`, `better`, `worse`, `noisy`, `new` or `gone`."""


def compare(revision: str, names: Sequence[str]) -> int:
    """Print one line per figure and a summary. Returns 1 if a figure is worse, else 0."""
    with checked_out(revision) as old:
        worse = 0
        for name in names:
            before, after = alternate(name, old, ROOT)
            for comparison in comparisons(before, after):
                print(json.dumps(asdict(comparison)), flush=True)
                worse += comparison.verdict == "worse"
    print(json.dumps({"bench": "comparison", "against": revision, "worse": worse}))
    return 1 if worse else 0


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Check out a revision into a temporary work tree."""
    with TemporaryDirectory(prefix="trackside-bench-") as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        added = subprocess.run(
            [*git, "add", "--detach", str(tree), revision], capture_output=True, text=True, check=False
        )
        if added.returncode:
            sys.exit(f"Cannot check out {revision!r}: {added.stderr.strip()}")
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], capture_output=True, check=False)


def alternate(name: str, old: Path, new: Path) -> tuple[list[Figures], list[Figures]]:
    """Run one measurement in both trees in turn, so that other load on the machine falls on both."""
    before: list[Figures] = []
    after: list[Figures] = []
    for number in range(ROUNDS):
        print(f"{name}: round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
        before.append(measure(name, old))
        after.append(measure(name, new))
    return before, after


def measure(name: str, tree: Path) -> Figures:
    """Return the figures of one measurement in a tree; none if it does not exist there or fails."""
    command = [sys.executable, "-m", f"tests.bench.{name}"]
    try:
        done = subprocess.run(
            command, cwd=tree, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name} took over {TIMEOUT_SECONDS} s in {tree}", file=sys.stderr)
        return {}
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {
        current_name(line["bench"]): Figure(line["ratio"] or line["value"], is_more_better(line))
        for line in lines
        if line.get("value") is not None
    }


def current_name(name: str) -> str:
    """Return the present name of a figure of an older revision."""
    for old, new in RENAMED.items():
        name = name.replace(old, new)
    return name


def is_more_better(line: Mapping[str, Any]) -> bool:
    """Return whether a line reports a rate. Older revisions have no field for it; their limit is below the aim."""
    if "is_more_better" in line:
        return bool(line["is_more_better"])
    aim, limit = line.get("aim"), line.get("limit")
    return aim is not None and limit is not None and aim > limit


def comparisons(before: Sequence[Figures], after: Sequence[Figures]) -> Iterator[Comparison]:
    names = dict.fromkeys(name for run in (*before, *after) for name in run)
    for name in names:
        old = [run[name] for run in before if name in run]
        new = [run[name] for run in after if name in run]
        yield compared(name, old, new)


def compared(name: str, old: Sequence[Figure], new: Sequence[Figure]) -> Comparison:
    was = median(figure.ratio for figure in old) if old else None
    now = median(figure.ratio for figure in new) if new else None
    if not was or not now:
        return Comparison(name, was, now, None, None, "new" if was is None else "gone")
    change = was / now if new[0].is_more_better else now / was
    spread = max(_spread(old), _spread(new))
    if spread > TOLERANCE:
        verdict = "noisy"
    elif change > TOLERANCE:
        verdict = "worse"
    else:
        verdict = "better" if change < 1 / TOLERANCE else "ok"
    return Comparison(name, was, now, round(change, 3), round(spread, 3), verdict)


def _spread(figures: Sequence[Figure]) -> float:
    ratios = [figure.ratio for figure in figures]
    return max(ratios) / min(ratios) if min(ratios) > 0 else float("inf")
