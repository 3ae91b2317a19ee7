"""What the commands' options have in common."""

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from console.cli.exits import UsageError
from console.model.words import age

if TYPE_CHECKING:
    from console.cli.moments import Saying

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. `{self.prog} --help` shows how.")


def add_database(parser: argparse.ArgumentParser) -> None:
    """`--db`, which every command has."""
    parser.add_argument("--db", type=Path, metavar="PATH", help="the database (not said: the project's, else yours)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`: one JSON value."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_jsonl(parser: argparse.ArgumentParser, what: str) -> None:
    """`--jsonl`: one JSON object a line."""
    parser.add_argument("--jsonl", action="store_true", help=f"print each {what} as one line of JSON")


def seconds(text: str) -> int | float:
    """A number of seconds; whole ones as integers, for forms that want them so."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError("wants seconds, as in 30 or 2.5 (0 means no deadline)")
    return int(value) if value.is_integer() else value


def setting(text: str) -> tuple[str, str]:
    """`key=value`. What was typed is not repeated: it may hold a secret."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError("wants key=value, as in --set pace=0.5")
    return sound(key.strip()), sound(value)


def saying(text: str) -> "Saying":
    """`WHEN=TEXT`: something to say to a run, and when."""
    from console.cli.moments import read

    return read(text)


def words(text: str) -> str:
    """Something to say."""
    if not text.strip():
        raise argparse.ArgumentTypeError("wants something to say")
    return sound(text)


def sound(text: str) -> str:
    """An argument as text that JSON can hold: bytes that are no UTF-8 come as lone surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def variable(text: str) -> str:
    """The name of an environment variable. What was typed is not repeated: it may hold a secret."""
    if _NAME.fullmatch(text) is None:
        raise argparse.ArgumentTypeError("wants the name of a variable alone; its value is taken from the environment")
    return text


def how_old(text: str) -> int:
    """An age in microseconds."""
    try:
        return age(text)
    except ValueError:
        raise argparse.ArgumentTypeError("wants an age, as in 30d (also s, m, h, w)") from None


def count(text: str) -> int:
    """A number from 1 to 1,000."""
    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise argparse.ArgumentTypeError("wants a number from 1 to 1000")
    return int(text)
