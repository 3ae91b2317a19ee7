"""Draw hostile texts on every surface, and measure the longest draw. Also measure quitting while such texts arrive.

python -m tests.text_budget [--texts 20000] [--seed 1] [--surface NAME] [--quits 100] [--lexers [NAME …]]

Prints one line of JSON per surface and exits 1 if a draw or an end took longer than its limit. Times of draws are those
of the processor, so that other programs do not count. With `--lexers` it measures every lexer of Pygments instead, and
lists those that are linear: `LEXERS` in console/ui/conversation/code_highlight.py names only such ones.
"""

import argparse
import gc
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from console.app import GC_THRESHOLDS
from console.model.text.safe import safe
from console.ui.conversation.code_highlight import MAX_HIGHLIGHTED_CHARS, is_highlightable
from tests.support.hostile_surfaces import SURFACES, Draw
from tests.support.hostile_texts import FENCE_HEADS, UNITS, HostileTexts, languages, wide_and_deep_values

MAX_DRAW_MS: Final = 100.0
MAX_QUIT_MS: Final = 1_000.0
MAX_LEXER_MS: Final = 25.0
"""For the longest code that is highlighted. A screen has up to three such parts."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.text_budget", description="Measure the drawing of hostile texts.")
    parser.add_argument("--texts", type=int, default=20_000, help="texts for each surface (default: 20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--surface", action="append", choices=list(SURFACES), help="only this one (default: all)")
    parser.add_argument("--quits", type=int, default=100, help="times that the console is quit (default: 100)")
    parser.add_argument("--lexers", nargs="*", metavar="NAME", help="measure lexers instead (default: all)")
    options = parser.parse_args()
    if options.lexers is not None:
        measure_lexers(options.lexers or languages())
        return 0
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)  # as the console does
    is_over = False
    for name in () if options.texts == 0 else options.surface or SURFACES:
        worst, text = longest_draw(SURFACES[name], options.texts, options.seed)
        is_over |= worst > MAX_DRAW_MS
        print(
            json.dumps({"surface": name, "texts": options.texts, "longest_ms": round(worst, 1), "text": text}),
            flush=True,
        )
    is_over |= measure_quits(options.quits, options.seed) > MAX_QUIT_MS
    return 1 if is_over else 0


def longest_draw(surface: Callable[[object], Draw], count: int, seed: int) -> tuple[float, str]:
    """Return the milliseconds of the longest draw, and the beginning of its text."""
    made = HostileTexts(seed)
    worst, worst_text = 0.0, ""
    for value in _values(made, count):
        draw = surface(value)
        before = time.thread_time()
        draw()
        took = 1_000 * (time.thread_time() - before)
        if took > worst:
            worst, worst_text = took, ascii(value)[:80] if isinstance(value, str) else json.dumps(value)[:80]
    return worst, worst_text


def _values(made: HostileTexts, count: int) -> Iterator[object]:
    yield from wide_and_deep_values()
    for number, text in enumerate(made.texts(count)):
        yield text
        if number % 10 == 0:
            yield made.value()


def measure_quits(count: int, seed: int) -> float:
    """Quit at random moments while a runner sends hostile texts. Prints and returns the longest time in ms."""
    from tests.support.console.hostile_session import quit_milliseconds

    if not count:
        return 0.0
    random = Random(seed)
    made = HostileTexts(seed)
    texts = [*_QUIT_TEXTS, *(text.encode("utf-8", "replace").decode() for text in made.texts(200))]
    times: list[float] = []
    with TemporaryDirectory(prefix="trackside-text-") as folder:
        for number in range(count):
            shown = random.sample(texts, 20)
            times.append(quit_milliseconds(Path(folder, str(number)), shown, random))
    line = {"quits": count, "median_ms": round(median(times), 1), "longest_ms": round(max(times), 1)}
    print(json.dumps(line), flush=True)
    return max(times)


_QUIT_TEXTS: Final = (
    '```chapel\n"' + "\\" * 60 + "\n```",
    "![" * 100_000,
    "- a\n\n" * 50_000,
    '{"a": [' + "[]," * 50_000 + "0]}",
)


# Lexers


class _TimeUp(BaseException):
    """Not an Exception: a lexer may catch those."""


def measure_lexers(names: tuple[str, ...] | list[str]) -> None:
    """Print the time to load each lexer, and its longest time for one text."""

    def ring(*_: object) -> None:
        raise _TimeUp

    signal.signal(signal.SIGVTALRM, ring)
    for name in names:
        loading, worst, text = _measure_lexer(name)
        line = {"lexer": name, "load_ms": round(loading, 1), "longest_ms": round(worst, 1), "text": text}
        print(json.dumps({**line, "is_linear": worst <= MAX_LEXER_MS}), flush=True)


def _measure_lexer(name: str) -> tuple[float, float, str]:
    from pygments.lexers import get_lexer_by_name

    before = time.thread_time()
    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=True)
    list(lexer.get_tokens("a\n"))
    loading = 1_000 * (time.thread_time() - before)
    worst, worst_text = 0.0, ""
    for head in FENCE_HEADS:
        for unit in UNITS:
            text = safe((head + unit * MAX_HIGHLIGHTED_CHARS)[:MAX_HIGHLIGHTED_CHARS])[:MAX_HIGHLIGHTED_CHARS]
            if not is_highlightable(text):
                continue
            before = time.thread_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, 1.0)
            try:
                for _ in lexer.get_tokens(text):
                    pass
            except _TimeUp:
                return loading, 1_000.0, head + unit
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            took = 1_000 * (time.thread_time() - before)
            if took > worst:
                worst, worst_text = took, head + unit
    return loading, worst, worst_text


if __name__ == "__main__":
    sys.exit(main())
