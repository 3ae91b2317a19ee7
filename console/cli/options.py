"""Argument parser and option types that the commands share."""

import argparse
import math
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from console.cli.exit_codes import UsageError
from console.model.text.units import age

if TYPE_CHECKING:
    from console.cli.scheduled_messages import ScheduledMessage

_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of printing the usage and exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")

    def add_log(self) -> None:
        """Add `--log`, which every command has, to this parser and to those of its verbs."""
        self.add_argument(
            "--log", type=Path, metavar="FILE", help="append a log of Trackside itself to FILE, with secrets masked"
        )
        for action in self._actions:
            for verb in action.choices.values() if isinstance(action.choices, dict) else ():
                if isinstance(verb, Parser):
                    verb.add_log()


def add_database(parser: "argparse.ArgumentParser | argparse._MutuallyExclusiveGroup") -> None:
    """Add `--db`, which every command has."""
    parser.add_argument(
        "--db",
        type=Path,
        metavar="PATH",
        help="the database (default: the project's, else the one in your data folder)",
    )


def add_own_database(parser: argparse.ArgumentParser) -> None:
    """Add `--db` and `--ephemeral`, for commands that host runs."""
    group = parser.add_mutually_exclusive_group()
    add_database(group)
    group.add_argument(
        "--ephemeral",
        action="store_true",
        help="use a new database in a temporary folder, and remove it at the end",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`: print one JSON value."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_jsonl(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--jsonl`: print one JSON object per line."""
    parser.add_argument("--jsonl", action="store_true", help=f"print each {what} as one line of JSON")


def seconds(text: str) -> int | float:
    """Parse a number of seconds. Whole numbers become integers, because some forms require them."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError("must be a number of seconds, such as 30 or 2.5 (0 means no deadline)")
    return int(value) if value.is_integer() else value


def key_value(text: str) -> tuple[str, str]:
    """Parse `key=value`. Errors do not repeat the text: it may contain a secret."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError("must be key=value, such as --set pace=0.5")
    return replace_invalid_utf8(key.strip()), replace_invalid_utf8(value)


def parameter(text: str) -> tuple[str, object]:
    """Parse `key=value` of a parameter: the value is JSON, or else text. Errors do not repeat the value."""
    import orjson

    from engine.api import reason_not_passed

    key, equals, value = text.partition("=")
    name = replace_invalid_utf8(key.strip())
    if not equals or not name:
        raise argparse.ArgumentTypeError("must be key=value, such as --param city=Kyoto")
    if (reason := reason_not_passed(name)) is not None:
        raise argparse.ArgumentTypeError(f"{name!r:.80} cannot be a parameter: {reason}; use another name")
    try:
        return name, orjson.loads(value)
    except ValueError:
        return name, replace_invalid_utf8(value)


def scheduled_message(text: str) -> "ScheduledMessage":
    """Parse `WHEN=TEXT`."""
    from console.cli.scheduled_messages import parse

    return parse(text)


def message_text(text: str) -> str:
    """Parse the text of a message, which must not be empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    return replace_invalid_utf8(text)


def replace_invalid_utf8(text: str) -> str:
    """Return the argument as text that JSON can hold: bytes that are not UTF-8 arrive as lone surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def variable_name(text: str) -> str:
    """Parse the name of an environment variable. Errors do not repeat the text: it may contain a secret."""
    if _VARIABLE_NAME.fullmatch(text) is None:
        raise argparse.ArgumentTypeError("must be the name of a variable; its value is taken from the environment")
    return text


def age_in_microseconds(text: str) -> int:
    """Parse an age such as `30d`."""
    try:
        return age(text)
    except ValueError:
        raise argparse.ArgumentTypeError("must be an age, such as 30d (also s, m, h, w)") from None


def add_session(parser: argparse.ArgumentParser, metavar: str = "ID") -> None:
    """Add the argument that names an existing session."""
    parser.add_argument(
        "session",
        metavar=metavar,
        help="a session's id, a unique beginning of it, or `last` for the most recently active one",
    )


def session_option(session_id: str) -> str:
    """Return `--session ID` as a shell accepts it, also for an id that starts with a dash."""
    return f"--session{'=' if session_id.startswith('-') else ' '}{shlex.quote(session_id)}"


def session_argument(session_id: str) -> str:
    """Return the id of a session as the last argument of a command, also for an id that starts with a dash."""
    return f"{'-- ' if session_id.startswith('-') else ''}{shlex.quote(session_id)}"


def count(text: str) -> int:
    """Parse a number from 1 to 1,000."""
    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise argparse.ArgumentTypeError("must be a number from 1 to 1000")
    return int(text)
