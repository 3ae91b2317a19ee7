"""When a message is to be said to a run: at an entry of its journal, or so many seconds after its start."""

import argparse
import math
import re
from dataclasses import dataclass
from typing import Final

from console.cli.options import sound

RESULTS: Final = (
    "message.delta",
    "message.completed",
    "tool.call.started",
    "tool.call.completed",
    "artifact.created",
    "state.updated",
    "action.requested",
    "run.completed",
    "run.failed",
)
"""What a runner yields."""
HOSTS: Final = (
    "run.started",
    "call.requested",
    "call.decided",
    "call.replied",
    "steering.queued",
    "steering.pulled",
    "steering.injected",
    "steering.returned",
    "hold.reached",
    "hold.edited",
    "hold.released",
    "cancel.requested",
    "output",
    "warning",
    "run.finished",
)
"""What its host writes beside it."""
_PLACE: Final = re.compile(r"[1-9][0-9]{0,8}")
_HOW: Final = "wants WHEN=TEXT, as in 'tool.call.started#2=use metric' or '+1.5=hurry up'"


@dataclass(frozen=True, slots=True)
class Moment:
    """The nth entry of a type, or a time after the start."""

    kind: str | None = None
    number: int = 1
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Saying:
    """What is said, and when."""

    typed: str
    """As the command has it."""
    moment: Moment
    text: str


def read(typed: str) -> Saying:
    """`WHEN=TEXT`; the text may hold `=` too."""
    typed = sound(typed)
    when, equals, text = typed.partition("=")
    if not equals or not when.strip():
        raise argparse.ArgumentTypeError(_HOW)
    if not text.strip():
        raise argparse.ArgumentTypeError(f"there is nothing to say in {typed!r:.80}; it {_HOW}")
    return Saying(typed, _moment(when.strip()), text)


def _moment(when: str) -> Moment:
    if when.startswith("+"):
        return Moment(seconds=_seconds(when))
    kind, numbered, number = when.partition("#")
    if kind not in RESULTS and kind not in HOSTS:
        raise argparse.ArgumentTypeError(
            f"nothing called {kind!r:.80} comes in a run. Results: {', '.join(RESULTS)}; of the host: "
            f"{', '.join(HOSTS)}; each with an optional #n; or +seconds"
        )
    if numbered and _PLACE.fullmatch(number) is None:
        raise argparse.ArgumentTypeError(f"{when[:80]!r} names no entry: {kind}#1 is the first, {kind}#2 the second")
    return Moment(kind, int(number) if numbered else 1)


def _seconds(when: str) -> float:
    try:
        value = float(when[1:])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{when[:40]!r} is no time: +1.5 is one and a half seconds after the start")
    return value
