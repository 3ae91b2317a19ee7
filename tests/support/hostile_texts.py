"""Texts that a hostile runner may send: patterns known to be slow, and random ones from a seed."""

import json
import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Final

MAX_TEXT_CHARS: Final = 20_000
LARGE_TEXT_CHARS: Final = 900_000
"""Nearly as much as one result may have."""

UNITS: Final = (
    "[", "![", "[]", "]", "[a](", "[a](<b", '[a](b "', "[a][b] ", "[a](b) ", "[a]: b\n", "*", "**", "***a ", "*a ",
    "_a ", "*a_", "**a *", "a**b", "*_~~", "~~a", "`", "`a", "` `` ", "``` ", "&", "&a;", "&#1;", "&#8238;",
    "&#x1b;", "&amp;", "<", "<a:b", "<a@", "<http://a> ", "<!--", "> ", ">", ">\n\n", "- ", "- a\n", "-\n", "1) ",
    "1. a\n", "999999999. a\n", "* + - ", "- a\n\n", "\n", "\n\n", " ", "\t", "\\", "\\\n", "|", "|a", "|-", "|\n",
    "a|b\n-|-\n", "# a\n", "a\n=\n", "---\n", "    a\n", "```\n\n```\n", "~~~\n", "```a\n", "  \n", "a  \n", "x",
    "a ", "word ", "漢", "😀", "👨\u200d👩\u200d👧", "e\u0301", "\u0301", "\u200d", "\u200b", "\ufe0f", "\u202e",
    "\u2066", "\x1b[31m", "\x1b]52;c;YQ==\x07", "\x9b", "\x7f", "\0", "\r", "\r\n", "\x85", "\u2028", "\u3164",
    "\U000e0041", "\U000e0100", "\ud800", "\U0001f1e6", '"', "'", "(", "((", "{", "}", "/*", "//", "#{", "${", "$(",
    "{{", "{%", '"\\', "'\\", "0", "1e", "0x", "::", "a.", "a:", "a=", "é", "ß", "İ", "ﬁ", "\u0e33",
)  # fmt: skip
"""Pieces that are repeated."""
FENCE_HEADS: Final = (
    '"',
    "'",
    "/*",
    "(",
    "<a ",
    "`",
    "#",
    "\\",
    "$(",
    '"""',
    "0",
    "{",
    "<<A\n",
    "<script>",
    "<style>",
    "",
)


@cache
def languages() -> tuple[str, ...]:
    """The first name of every language that Pygments knows."""
    from pygments.lexers import get_all_lexers

    return tuple(sorted(aliases[0] for _, aliases, _, _ in get_all_lexers() if aliases))


def known_attacks() -> Iterator[str]:
    """Yield texts that were slow, or that raised."""
    for language in ("chapel", "cddl", "factor"):
        yield f'```{language}\n"' + "\\" * 60 + "\n```"
    yield "```" + "x" * 3_000 + "\n" + "y\n" * 1_000
    yield "*a **b " * 280 + "c** d*" * 280
    yield "*" * 1_999 + "a" + "*" * 1_999
    yield "".join(f"{'>' * (line % 60)} a\n" for line in range(125))
    yield "".join(f"{'  ' * (line % 40)}- a\n" for line in range(90))
    yield "> " * 300 + "hidden?"
    yield "- " * 300 + "hidden?"
    yield "|a" * 1_000 + "|\n" + "|-" * 1_000 + "|\n"
    yield "|" + "abcdef|" * 500 + "\n|" + "-|" * 500 + "\n"
    yield "\n".join(f"```{language}\nx = 1\n```" for language in languages()[:200])
    for unit in ("\n", "a\n", ">\n\n", "```\n", "- a\n", "漢", "\u200d", "\x1b", " ", "| a |\n", "[a]: b\n"):
        yield (unit * LARGE_TEXT_CHARS)[:LARGE_TEXT_CHARS]


def wide_and_deep_values() -> Iterator[object]:
    """Yield JSON values that are as wide or as deep as a result may be."""
    yield [[]] * 200_000
    yield [0] * 300_000
    yield {f"k{number}": number for number in range(40_000)}
    yield {f"k{number}": {"a": [number]} for number in range(20_000)}
    yield ["\n" * 100] * 2_000
    yield {"漢" * 200: "字" * 200_000}
    yield {"text": "a\n" * 200_000}
    yield {"\x1b]52;c;YQ==\x07": ["\u202e" * 1_000, "e\u0301" * 50_000]}
    for leaf in ("x" * 5_000, "\n" * 5_000, [0] * 5_000):
        value: object = leaf
        for level in range(90):
            value = [value] if level % 2 else {"a": value}
        yield value


class HostileTexts:
    """Makes random texts from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._makers: tuple[Callable[[], str], ...] = (
            self._repeated,
            self._mixed,
            self._fenced,
            self._nested,
            self._json,
        )

    def texts(self, count: int) -> Iterator[str]:
        """Yield the known attacks, then each unit, then random texts."""
        yield from islice(self._all(), count)

    def value(self) -> object:
        """Return a random JSON value."""
        left = [self._random.choice((10, 100, 1_000, 3_000))]

        def make(depth: int) -> object:
            left[0] -= 1
            kind = self._random.random()
            if depth > 90 or left[0] <= 0 or kind < 0.4:
                return self._random.choice(
                    (None, True, 1.5, -7, 2**63, "", self._unit() * self._random.randint(1, 400))
                )
            count = self._random.choice((0, 1, 1, 2, 5, 40))
            if kind < 0.7:
                return [make(depth + 1) for _ in range(count)]
            return {f"{self._unit()}{number}": make(depth + 1) for number in range(count)}

        return make(0)

    def _all(self) -> Iterator[str]:
        yield from known_attacks()
        for language in languages():
            yield f'```{language}\n"' + "\\" * 200 + "\n```"
        for unit in UNITS:
            yield (unit * 4_000)[:4_000]
        while True:
            yield self._random.choice(self._makers)()

    def _unit(self) -> str:
        return self._random.choice(UNITS)

    def _size(self) -> int:
        return self._random.choice((40, 400, 1_600, 4_000, 8_000, MAX_TEXT_CHARS))

    def _repeated(self) -> str:
        size, unit = self._size(), self._unit()
        return (self._unit() + unit * size)[:size] + self._unit()

    def _mixed(self) -> str:
        size = self._size()
        units = [self._unit() for _ in range(self._random.randint(2, 6))]
        return "".join(self._random.choices(units, k=size))[:size]

    def _fenced(self) -> str:
        mark = self._random.choice(("```", "~~~", "````"))
        code = self._random.choice(FENCE_HEADS) + self._repeated()
        return f"{mark}{self._random.choice(languages())}\n{code}\n{mark}\n{self._unit()}"

    def _nested(self) -> str:
        opening, closing = self._random.choice(
            (("*", "*"), ("**", "**"), ("[", "](a)"), ("> ", ""), ("- ", ""), ("`", "`"))
        )
        depth = self._random.choice((10, 100, 1_000))
        return opening * depth + self._unit() * self._random.randint(1, 50) + closing * depth

    def _json(self) -> str:
        return json.dumps(self.value(), ensure_ascii=self._random.random() < 0.5)
