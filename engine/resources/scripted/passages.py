"""Text and Markdown, cut into passages that can be found on their own."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.resources.scripted.words import terms

LONGEST: Final = 1_000
"""Characters of a passage."""
LARGEST: Final = 4 << 20
"""Bytes of a file."""
_MARKDOWN: Final = frozenset({".md", ".markdown"})
SUFFIXES: Final = (".txt", *sorted(_MARKDOWN))

_HEADING: Final = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
_FENCE: Final = re.compile(r"\s{0,3}(```|~~~)")
_BLANK: Final = re.compile(r"\n[ \t]*\n\s*")
_BREAKS: Final = ("\n", " ", "。", "!", "?", ";", ",", "、")


class UnusableFile(Exception):
    """A file that cannot become passages; says why."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What a knowledge base finds."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    terms: frozenset[str]


def passages_of(path: Path, name: str) -> list[Passage]:
    """The passages of a file, numbered from 1: `faq.md#1`; metadata tells the file and the heading above."""
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
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise UnusableFile(f"cannot be read: {error.strerror or error}") from error
    if len(raw) > LARGEST:
        raise UnusableFile(f"is larger than {LARGEST:,} bytes")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"is not UTF-8: {error.reason}") from error


def _split(text: str, *, markdown: bool) -> Iterator[tuple[str, str]]:
    """Each passage with its heading; a passage never spans two."""
    for heading, body in _sections(text) if markdown else [("", text)]:
        gathered = ""
        for part in _parts(body):
            if gathered and len(gathered) + len(part) + 2 > LONGEST:
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
            # What looks like a heading in a block of code is a comment.
            fence = "" if fence == found[1] else fence or found[1]
        elif not fence and (title := _HEADING.match(line)):
            yield heading, "\n".join(lines)
            heading, lines = title[1], []
        lines.append(line)
    yield heading, "\n".join(lines)


def _parts(body: str) -> Iterator[str]:
    """Paragraphs; one that is too long is cut where it hurts least."""
    for paragraph in _BLANK.split(body.strip()):
        rest = paragraph
        while len(rest) > LONGEST:
            cut = max(rest.rfind(mark, 0, LONGEST) for mark in _BREAKS) + 1 or LONGEST
            yield rest[:cut].strip()
            rest = rest[cut:].strip()
        if rest:
            yield rest
