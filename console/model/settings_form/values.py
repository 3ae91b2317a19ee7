"""Values as text, and text as values."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, cast

from console.model.settings_form.fields import FormField, Kind
from console.model.settings_form.prompt_text import read_script, script
from console.model.text.safe import one_line
from console.model.text.units import number

HIDDEN: Final = "••••••"


def is_nothing(value: object) -> bool:
    from engine.api import NOTHING_CHOSEN  # noqa: PLC0415  (whoever has a form has loaded it)

    return value in NOTHING_CHOSEN if isinstance(value, str) else value in (None, [], (), {})


def shown(slot: FormField, value: Any) -> str:
    """A value on one line, for the list."""
    if slot.kind is Kind.SWITCH and value is not None:
        return "yes" if value else "no"
    if is_nothing(value):
        return slot.when_none if value is None else slot.when_empty or slot.when_none
    if slot.is_secret:
        return HIDDEN
    if slot.kind is Kind.RANKED:
        first, *others = picked(slot, value)
        return slot.label_of(first) + (f", else {', '.join(map(slot.label_of, others))}" if others else "")
    if slot.kind in (Kind.MANY, Kind.LINES):
        return one_line(", ".join(map(slot.label_of, picked(slot, value))))
    if slot.kind is Kind.PROMPT and isinstance(value, list):
        messages = cast("list[Any]", value)
        return f"{_first_words(messages)}  ({number(len(messages), 'message')})"
    if slot.kind in (Kind.PAGE, Kind.PROMPT):
        first, _, rest = str(value).strip().partition("\n")
        return one_line(first) + (f"  ({number(rest.count(chr(10)) + 2, 'line')})" if rest else "")
    return slot.label_of(file_key(value))


def _first_words(messages: list[Any]) -> str:
    """How the first of several messages begins."""
    first: Any = messages[0]
    said: Any = cast("dict[str, Any]", first).get("content") if isinstance(first, dict) else first
    words = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return one_line(words.strip().partition("\n")[0])


def typed(slot: FormField, value: Any) -> str:
    """A value as the text that an editor begins with."""
    if value is None:
        return ""
    if slot.kind is Kind.PROMPT and isinstance(value, list) and (text := script(cast("list[Any]", value))) is not None:
        return text
    if slot.kind is Kind.LINES and isinstance(value, list):
        return "\n".join(map(str, cast("list[object]", value)))
    if isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return str(value)


def read(slot: FormField, text: str) -> Any:
    """The value that a text stands for; what is no number, or not a whole one, the form refuses by what it is."""
    if slot.kind is Kind.LINES:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if slot.kind in (Kind.WHOLE, Kind.NUMBER):
        return _number(text.strip())
    if slot.kind is Kind.PROMPT:
        return _prompt(text)
    return text


def _prompt(text: str) -> Any:
    """Messages, where it is written so; any other text is a prompt as it stands."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    messages = read_script(text)
    return text if messages is None else messages


def _number(text: str) -> Any:
    if not text:
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


# What is chosen from a list


def picked(slot: FormField, value: Any) -> list[Any]:
    """What is chosen, in order."""
    if slot.kind is Kind.RANKED and isinstance(value, dict):
        chosen = cast("dict[str, Any]", value)
        ids: list[Any] = [chosen.get("primary"), *cast("Sequence[Any]", chosen.get("fallbacks") or ())]
    elif isinstance(value, (list, tuple)):
        ids = list(cast("Sequence[Any]", value))
    else:
        ids = [value]
    return [file_key(one) for one in ids if not is_nothing(one)]


def toggled(slot: FormField, value: Any, option: Any) -> Any:
    """The value with this option chosen, or no longer."""
    if slot.kind is Kind.ONE:
        return option
    ids = picked(slot, value)
    now = [one for one in ids if one != option] if option in ids else [*ids, option]
    if slot.kind is Kind.RANKED:
        return {"primary": now[0], "fallbacks": now[1:]} if now else ""
    kept = (
        {file_key(one): one for one in cast("Sequence[Any]", value or ())} if isinstance(value, (list, tuple)) else {}
    )
    if slot.section == "config":
        return [kept.get(one, one) for one in now]
    return tuple(now) if now or slot.when_empty else None


def file_key(value: Any) -> Any:
    """Of a file with all that is known of it, the key."""
    return cast("dict[str, Any]", value).get("file_key", "") if isinstance(value, dict) else value


# Secrets

MARK: Final = "(secret, as it was)"
"""What YAML says instead of a secret that need not be seen."""
_MARKS: Final = re.compile(r"\(secret \d+, as it was\)")


def masked(value: Any) -> Any:
    """A secret with a mark in place of every text and number in it; several are numbered, to be told apart."""
    if _tells(value):
        return MARK
    numbers = count(1)
    return _each(value, lambda _: _mark(next(numbers)))


def unmasked(value: Any, former: Any) -> Any:
    """The secret that there was behind each mark; behind one that is new there is nothing."""
    if value == MARK:
        return former
    behind: dict[str, Any] = {MARK: ""}
    _each(former, lambda secret: behind.setdefault(_mark(len(behind)), secret))
    return _each(value, lambda said: behind.get(said, "" if _MARKS.fullmatch(str(said)) else said))


def _mark(number: int) -> str:
    return f"(secret {number}, as it was)"


def _tells(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _each(value: Any, turned: Callable[[Any], Any]) -> Any:
    """The value with every text and number in it turned into something else, in their order."""
    if _tells(value):
        return turned(value)
    if isinstance(value, list):
        return [_each(one, turned) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _each(one, turned) for name, one in cast("dict[str, Any]", value).items()}
    return value
