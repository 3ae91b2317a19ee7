"""`python -m tests.mutants [WORD…]`: put in one fault after another and see whether its test fails.

A word picks the faults of a room, or those that have it in their file, rule or test.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from importlib import import_module
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.mutants.mutant import Mutant, Stale
from tests.mutants.trees import Tree

ROOMS: Final = (
    "protocol",
    "runners",
    "intake",
    "results",
    "transcript",
    "grants",
    "context",
    "conduct",
    "steering",
    "fates",
    "holding",
    "state",
    "facts",
    "writer",
    "hosts",
    "runtimes",
    "wire",
    "access",
    "gate",
    "reach",
    "keeping",
    "browsing",
    "cli",
    "choosing",
)
QUIT_AT_ONCE: Final = 2


class Verdict(StrEnum):
    """What became of a fault. Only the first is as it should be."""

    CAUGHT = "caught"
    SURVIVED = "SURVIVED"
    STALE = "stale"
    NO_TEST = "no such test"
    UNSOUND = "fails without the fault"
    BROKEN = "does not even start"
    STUCK = "stuck"


class Case(NamedTuple):
    """A fault in its room."""

    room: str
    mutant: Mutant

    def has(self, word: str) -> bool:
        mutant = self.mutant
        return word == self.room or any(word in text for text in (mutant.file, mutant.rule, mutant.test))


def cases(words: list[str]) -> list[Case]:
    """The faults that any of the words picks; all without a word."""
    every = [Case(room, mutant) for room in ROOMS for mutant in import_module(f"tests.mutants.{room}").MUTANTS]
    return [case for case in every if not words or any(case.has(word) for word in words)]


def main(words: list[str]) -> int:
    """Try them all; 0 only if every one was caught."""
    began = time.monotonic()
    chosen = cases(words)
    if not chosen:
        print(f"no fault has {' or '.join(words)} in it. The rooms: {', '.join(ROOMS)}.", file=sys.stderr)
        return 2
    verdicts: Counter[Verdict] = Counter()
    with TemporaryDirectory(prefix="trackside-mutants-") as folder:
        for case, verdict, words_of_it in _tried(chosen, Path(folder).resolve()):
            verdicts[verdict] += 1
            print(_line(case, verdict, words_of_it), flush=True)
    others = "".join(f", {verdicts[kind]} {kind}" for kind in list(Verdict)[2:] if verdicts[kind])
    seconds = time.monotonic() - began
    print(f"{verdicts[Verdict.CAUGHT]} caught, {verdicts[Verdict.SURVIVED]} survived{others} ({seconds:.0f} s)")
    return 0 if verdicts[Verdict.CAUGHT] == len(chosen) else 1


def _line(case: Case, verdict: Verdict, words: str) -> str:
    test = case.mutant.test.rpartition("::")[2]
    line = f"{verdict:9} {case.room:11} {case.mutant.rule}  [{test}]"
    return line if verdict is Verdict.CAUGHT else f"{line}\n{words}"


def _tried(chosen: list[Case], folder: Path) -> Iterator[tuple[Case, Verdict, str]]:
    first = Tree.copy(folder / "a")
    first.check()
    sound: list[Case] = []
    refused = _refused(chosen, first)
    for case in chosen:
        if case.mutant in refused:
            yield case, *refused[case.mutant]
        else:
            sound.append(case)
    trees = [first, *(Tree.copy(folder / f"b{number}", first.folder) for number in range(1, QUIT_AT_ONCE))]
    free: SimpleQueue[Tree] = SimpleQueue()
    for tree in trees:
        free.put(tree)
    numbers = count()

    def attempt(case: Case) -> tuple[Case, Verdict, str]:
        tree = free.get()
        try:
            return case, *_attempt(case.mutant, tree, next(numbers))
        finally:
            free.put(tree)

    with ThreadPoolExecutor(QUIT_AT_ONCE) as threads:
        yield from threads.map(attempt, sound)
    for tree in trees:
        tree.close()


def _refused(chosen: list[Case], tree: Tree) -> Mapping[Mutant, tuple[Verdict, str]]:
    """The faults that need not be tried, with the reason. Their tests are run here without any fault."""
    mutants = [case.mutant for case in chosen]
    refused: dict[Mutant, tuple[Verdict, str]] = {}
    for mutant in mutants:
        try:
            mutant.faulty(tree.folder)
        except Stale as error:
            refused[mutant] = Verdict.STALE, f"    {error}"
    known = tree.collected({mutant.test.partition("::")[0] for mutant in mutants})
    for mutant in mutants:
        if mutant.test not in known:
            refused[mutant] = Verdict.NO_TEST, f"    {mutant.test}"
    tests = sorted({mutant.test for mutant in mutants if mutant not in refused})
    failing = tree.failing(tests, QUIT_AT_ONCE) if tests else set[str]()
    for mutant in mutants:
        if mutant.test in failing:
            refused[mutant] = Verdict.UNSOUND, f"    see for yourself: python -m pytest '{mutant.test}'"
    return refused


def _attempt(mutant: Mutant, tree: Tree, number: int) -> tuple[Verdict, str]:
    with mutant.applied(tree.folder, number):
        code = tree.run(mutant.test)
    output = tree.output()
    shown = "\n".join(
        [f"    {mutant.file}: {mutant.before!r} -> {mutant.after!r}", *(f"    {line}" for line in output)]
    )
    if code is None:
        return Verdict.STUCK, shown
    if code == 0:
        return Verdict.SURVIVED, shown
    # A fault that keeps the test from running at all proves nothing about the test.
    has_failed = code == 1 and any(line.startswith("FAILED ") for line in output)
    return (Verdict.CAUGHT if has_failed else Verdict.BROKEN), shown


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
