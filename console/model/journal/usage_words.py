"""The usage of a run or a result in words: the figures of the host and of the runner, side by side."""

from typing import Final

from console.model.journal.json_access import words
from console.model.text.safe import one_line
from console.model.text.units import number
from engine.events import Data, Usage

_TOTALS: Final = ("total_tokens", "tokens")
"""Names of the amount that stands for the others."""
_MAX_CHARACTERS: Final = 40


def usage_words(usage: Usage) -> str:
    """`seen 14 tokens, claimed 9 tokens`; empty if nothing was used."""
    figures = (("seen", usage.seen), ("claimed", usage.claimed), ("seen and claimed together", usage.combined))
    return ", ".join(f"{origin} {_amounts(amounts)}" for origin, amounts in figures if amounts)


def _amounts(amounts: Data) -> str:
    """`110 tokens (prompt_tokens 96, completion_tokens 14)`, or `input 3 and output 4` without a total."""
    total = next((name for name in _TOTALS if name in amounts), None)
    others = [f"{one_line(name, _MAX_CHARACTERS)} {_amount(each)}" for name, each in amounts.items() if name != total]
    if total is None:
        return " and ".join(others)
    count = amounts[total]
    tokens = number(count, "token") if type(count) is int else f"{_amount(count)} tokens"
    return tokens + (f" ({', '.join(others)})" if others else "")


def _amount(value: object) -> str:
    return f"{value:,}" if type(value) in (int, float) else one_line(words(value), _MAX_CHARACTERS)
