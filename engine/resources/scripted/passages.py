"""Splits text and Markdown into passages, and matches queries against them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese, Japanese and Korean characters, for use inside a character class."""
_RUN: Final = re.compile(rf"([{CJK}]+)|[^\W{CJK}]+")


def terms(text: str) -> frozenset[str]:
    """Return the searchable terms of a text: words, and CJK pairs and characters."""
    return frozenset(term for run, is_cjk in _runs(text) for term in ((*_pairs(run), *run) if is_cjk else (run,)))


def query_terms(query: str) -> frozenset[str]:
    """Return the terms of a query: words and CJK pairs; a single CJK character only if it stands alone."""
    return frozenset(term for run, is_cjk in _runs(query) for term in (_pairs(run) or (run,) if is_cjk else (run,)))


def matched_share(wanted: frozenset[str], found: frozenset[str]) -> float:
    """Return the share of wanted terms that were found, from 0 to 1."""
    return round(len(wanted & found) / len(wanted), 4) if wanted else 0.0


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        yield run[0], run[1] is not None


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


MAX_PASSAGE_CHARS: Final = 1_000
MAX_DOCUMENT_BYTES: Final = 4 << 20
_MARKDOWN: Final = frozenset({".md", ".markdown"})
SUFFIXES: Final = (".txt", *sorted(_MARKDOWN))

_HEADING: Final = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
_FENCE: Final = re.compile(r"\s{0,3}(```|~~~)")
_BLANK: Final = re.compile(r"\n[ \t]*\n\s*")
_BREAKS: Final = ("\n", " ", "。", "!", "?", ";", ",", "、")


class UnusableFile(Exception):
    """A file that cannot be split into passages. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    terms: frozenset[str]


def passages_of(path: Path, name: str) -> list[Passage]:
    """Split a file into passages with ids such as `faq.md#1`; metadata has the file and the heading."""
    if path.suffix.lower() not in SUFFIXES:
        raise UnusableFile(f"must be a text or Markdown file ({', '.join(SUFFIXES)})")
    split = list(_split(_read(path), markdown=path.suffix.lower() in _MARKDOWN))
    return [
        Passage(
            f"{name}#{number}",
            text,
            {"source": name} | ({"heading": heading} if heading else {}),
            terms(f"{heading} {text}"),
        )
        for number, (heading, text) in enumerate(split, 1)
    ]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise UnusableFile(f"cannot be read: {error.strerror or error}") from error
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise UnusableFile(f"is larger than {MAX_DOCUMENT_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"is not UTF-8: {error.reason}") from error


def _split(text: str, *, markdown: bool) -> Iterator[tuple[str, str]]:
    """Yield each passage with its heading. A passage never spans two headings."""
    for heading, body in _sections(text) if markdown else [("", text)]:
        gathered = ""
        for part in _parts(body):
            if gathered and len(gathered) + len(part) + 2 > MAX_PASSAGE_CHARS:
                yield heading, gathered
                gathered = part
            else:
                gathered = f"{gathered}\n\n{part}" if gathered else part
        if gathered:
            yield heading, gathered


def _sections(text: str) -> Iterator[tuple[str, str]]:
    heading, lines, fence = "", list[str](), ""
    for line in text.split("\n"):
        if found := _FENCE.match(line):
            # A line that looks like a heading inside a code block is a comment.
            fence = "" if fence == found[1] else fence or found[1]
        elif not fence and (title := _HEADING.match(line)):
            yield heading, "\n".join(lines)
            heading, lines = title[1], []
        lines.append(line)
    yield heading, "\n".join(lines)


def _parts(body: str) -> Iterator[str]:
    """Yield paragraphs; a long one is cut at a line break, a space or punctuation."""
    for paragraph in _BLANK.split(body.strip()):
        rest = paragraph
        while len(rest) > MAX_PASSAGE_CHARS:
            cut = max(rest.rfind(mark, 0, MAX_PASSAGE_CHARS) for mark in _BREAKS) + 1 or MAX_PASSAGE_CHARS
            yield rest[:cut].strip()
            rest = rest[cut:].strip()
        if rest:
            yield rest
