"""Words of a text, and how many of a query's a text holds; works for Chinese, Japanese and Korean too."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese, Japanese and Korean characters, as the inside of a character class."""
_RUN: Final = re.compile(rf"([{CJK}]+)|[^\W{CJK}]+")


def terms(text: str) -> frozenset[str]:
    """All that a query can find in a text: words, and pairs and single characters of CJK."""
    return frozenset(term for run, is_cjk in _runs(text) for term in ((*_pairs(run), *run) if is_cjk else (run,)))


def asked(query: str) -> frozenset[str]:
    """What a query looks for: words, and pairs of CJK; a single character only where it stands alone."""
    return frozenset(term for run, is_cjk in _runs(query) for term in (_pairs(run) or (run,) if is_cjk else (run,)))


def share(wanted: frozenset[str], found: frozenset[str]) -> float:
    """How much of what is wanted was found, from 0 to 1."""
    return round(len(wanted & found) / len(wanted), 4) if wanted else 0.0


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        yield run[0], run[1] is not None


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]
