"""`python -m tests.mutants [--check] [WORD…]`: put in one fault after another and see whether its test fails.

A word selects the mutants of an area, or those that have it in their file, rule or test. With `--check` no test is run:
it only finds mutants whose line or test is gone, which takes a second.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final

from tests.mutants.catalog import AREAS, Case, find_problems, select_cases
from tests.mutants.mutant import Mutant, StaleMutant
from tests.mutants.project_copy import ProjectCopy

PARALLEL_COPIES: Final = 2


class Outcome(StrEnum):
    """The outcome of one mutant. Only the first is as it should be."""

    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    STALE = "stale"
    NO_TEST = "no such test"
    FAILS_WITHOUT_FAULT = "fails without the fault"
    DOES_NOT_START = "does not start"
    TIMED_OUT = "timed out"


def main(arguments: list[str]) -> int:
    """Returns 0 only if every selected mutant is caught, or with `--check` only if each fits the project."""
    parser = argparse.ArgumentParser(prog="tests.mutants", description="Check that the tests catch known faults.")
    parser.add_argument("words", nargs="*", metavar="WORD", help="only mutants of this area, file, rule or test")
    parser.add_argument("--check", action="store_true", help="only find mutants whose line or test is gone")
    options = parser.parse_args(arguments)
    cases = select_cases(options.words)
    if not cases:
        words = " or ".join(options.words)
        print(f"No mutant contains {words}. The areas are {', '.join(AREAS)}.", file=sys.stderr)
        return 2
    return check(cases) if options.check else try_all(cases)


def check(cases: list[Case]) -> int:
    problems = find_problems(cases)
    print("\n".join([*problems, f"{len(cases)} mutants, {len(problems)} problems"]))
    return 1 if problems else 0


def try_all(cases: list[Case]) -> int:
    began = time.monotonic()
    outcomes: Counter[Outcome] = Counter()
    with TemporaryDirectory(prefix="trackside-mutants-") as folder:
        for case, outcome, details in _tried(cases, Path(folder).resolve()):
            outcomes[outcome] += 1
            print(_line(case, outcome, details), flush=True)
    others = "".join(f", {outcomes[kind]} {kind}" for kind in list(Outcome)[2:] if outcomes[kind])
    seconds = time.monotonic() - began
    print(f"{outcomes[Outcome.CAUGHT]} caught, {outcomes[Outcome.SURVIVED]} survived{others} ({seconds:.0f} s)")
    return 0 if outcomes[Outcome.CAUGHT] == len(cases) else 1


def _line(case: Case, outcome: Outcome, details: str) -> str:
    test = case.mutant.test.rpartition("::")[2]
    line = f"{outcome:9} {case.area:19} {case.mutant.rule}  [{test}]"
    return line if outcome is Outcome.CAUGHT else f"{line}\n{details}"


def _tried(cases: list[Case], folder: Path) -> Iterator[tuple[Case, Outcome, str]]:
    first = ProjectCopy.create(folder / "a")
    first.check_imports()
    usable: list[Case] = []
    refused = _refused(cases, first)
    for case in cases:
        if case.mutant in refused:
            yield case, *refused[case.mutant]
        else:
            usable.append(case)
    others = (ProjectCopy.create(folder / f"b{number}", first.folder) for number in range(1, PARALLEL_COPIES))
    copies = [first, *others]
    free: SimpleQueue[ProjectCopy] = SimpleQueue()
    for copy in copies:
        free.put(copy)
    numbers = count()

    def attempt(case: Case) -> tuple[Case, Outcome, str]:
        copy = free.get()
        try:
            return case, *_attempt(case.mutant, copy, next(numbers))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(PARALLEL_COPIES) as threads:
        yield from threads.map(attempt, usable)
    for copy in copies:
        copy.close()


def _refused(cases: list[Case], copy: ProjectCopy) -> Mapping[Mutant, tuple[Outcome, str]]:
    """Return the mutants that need not be tried, with the reason. Runs their tests without any fault."""
    mutants = [case.mutant for case in cases]
    refused: dict[Mutant, tuple[Outcome, str]] = {}
    for mutant in mutants:
        try:
            mutant.faulty(copy.folder)
        except StaleMutant as error:
            refused[mutant] = Outcome.STALE, f"    {error}"
    known = copy.collect_tests({mutant.test.partition("::")[0] for mutant in mutants})
    for mutant in mutants:
        if mutant.test not in known:
            refused[mutant] = Outcome.NO_TEST, f"    {mutant.test}"
    tests = sorted({mutant.test for mutant in mutants if mutant not in refused})
    failing = copy.find_failing(tests, PARALLEL_COPIES) if tests else set[str]()
    for mutant in mutants:
        if mutant.test in failing:
            refused[mutant] = Outcome.FAILS_WITHOUT_FAULT, f"    Run it: python -m pytest '{mutant.test}'"
    return refused


def _attempt(mutant: Mutant, copy: ProjectCopy, number: int) -> tuple[Outcome, str]:
    with mutant.applied(copy.folder, number):
        code = copy.run(mutant.test)
    output = copy.output()
    shown = "\n".join(
        [f"    {mutant.file}: {mutant.before!r} -> {mutant.after!r}", *(f"    {line}" for line in output)]
    )
    if code is None:
        return Outcome.TIMED_OUT, shown
    if code == 0:
        return Outcome.SURVIVED, shown
    # A fault that keeps the test from running at all proves nothing about the test.
    has_failed = code == 1 and any(line.startswith("FAILED ") for line in output)
    return (Outcome.CAUGHT if has_failed else Outcome.DOES_NOT_START), shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
