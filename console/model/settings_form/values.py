"""Converts values of a form to text and back: for the list, for editors, and for YAML without secrets."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, cast

from console.model.settings_form.fields import FieldKind, FormField
from console.model.text.safe import one_line
from console.model.text.units import number
from engine.events import NOTHING_CHOSEN

HIDDEN: Final = "••••••"


def is_empty(value: object) -> bool:
    return value in NOTHING_CHOSEN if isinstance(value, str) else value in (None, [], (), {})


def display_text(field: FormField, value: Any) -> str:
    """A value on one line, for the list."""
    if field.kind is FieldKind.SWITCH and value is not None:
        return "yes" if value else "no"
    if is_empty(value):
        return field.none_text if value is None else field.empty_text or field.none_text
    if field.is_secret:
        return HIDDEN
    if field.kind is FieldKind.RANKED:
        first, *others = selected_values(field, value)
        return field.label_of(first) + (f", else {', '.join(map(field.label_of, others))}" if others else "")
    if field.kind in (FieldKind.MANY, FieldKind.LINES):
        return one_line(", ".join(map(field.label_of, selected_values(field, value))))
    if field.kind is FieldKind.PROMPT and isinstance(value, list):
        messages = cast("list[Any]", value)
        return f"{_first_line(messages)}  ({number(len(messages), 'message')})"
    if field.kind in (FieldKind.TEXT, FieldKind.PROMPT):
        first, _, rest = str(value).strip().partition("\n")
        return one_line(first) + (f"  ({number(rest.count(chr(10)) + 2, 'line')})" if rest else "")
    return field.label_of(file_key(value))


def _first_line(messages: list[Any]) -> str:
    """The first line of the first message."""
    first: Any = messages[0]
    content: Any = cast("dict[str, Any]", first).get("content") if isinstance(first, dict) else first
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return one_line(text.strip().partition("\n")[0])


def edit_text(field: FormField, value: Any) -> str:
    """The text that an editor starts with."""
    if value is None:
        return ""
    if field.kind is FieldKind.PROMPT and isinstance(value, list):
        text = messages_to_text(cast("list[Any]", value))
        if text is not None:
            return text
    if field.kind is FieldKind.LINES and isinstance(value, list):
        return "\n".join(map(str, cast("list[object]", value)))
    if isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, indent=2)
    return str(value)


def parse_text(field: FormField, text: str) -> Any:
    """The value of a text. A number that cannot be parsed stays text: the form's rules refuse it."""
    if field.kind is FieldKind.LINES:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        return _parse_number(text.strip())
    if field.kind is FieldKind.PROMPT:
        return _parse_prompt(text)
    return text


def _parse_prompt(text: str) -> Any:
    """Messages as JSON or under roles; any other text is the prompt itself."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    messages = parse_messages(text)
    return text if messages is None else messages


def _parse_number(text: str) -> Any:
    if not text:
        return None
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


# Prompts of several messages: each role on its own line, its content indented below

ROLES: Final = ("system", "user", "assistant", "tool")
INDENT: Final = "  "
_ROLE_LINE: Final = re.compile(rf"({'|'.join(ROLES)}):[ \t]*")


def messages_to_text(messages: list[Any]) -> str | None:
    """A text that `parse_messages` converts back; None if a message is more than a role and a text."""
    lines: list[str] = []
    for message in messages:
        if not isinstance(message, dict):
            return None
        parts = cast("Mapping[str, Any]", message)
        role, content = parts.get("role"), parts.get("content")
        if set(parts) != {"role", "content"} or role not in ROLES or not isinstance(content, str):
            return None
        lines.append(f"{role}:")
        lines += [f"{INDENT}{line}" if line else "" for line in content.split("\n")]
    return "\n".join(lines)


def parse_messages(text: str) -> list[dict[str, str]] | None:
    """The messages of a text; None if it does not start with a role."""
    roles: list[str] = []
    contents: list[list[str]] = []
    for line in text.split("\n"):
        if (role := _ROLE_LINE.fullmatch(line)) is not None:
            roles.append(role[1])
            contents.append([])
        elif contents:
            contents[-1].append(line.removeprefix(INDENT))
        elif line.strip():
            return None
    if not roles:
        return None
    return [{"role": role, "content": "\n".join(lines)} for role, lines in zip(roles, contents, strict=True)]


# Selections


def selected_values(field: FormField, value: Any) -> list[Any]:
    """The selected options in order."""
    if field.kind is FieldKind.RANKED and isinstance(value, dict):
        ranked = cast("dict[str, Any]", value)
        values: list[Any] = [ranked.get("primary"), *cast("Sequence[Any]", ranked.get("fallbacks") or ())]
    elif isinstance(value, (list, tuple)):
        values = list(cast("Sequence[Any]", value))
    else:
        values = [value]
    return [file_key(each) for each in values if not is_empty(each)]


def toggle_option(field: FormField, value: Any, option: Any) -> Any:
    """The value with an option selected, or no longer selected."""
    if field.kind is FieldKind.ONE:
        return option
    before = selected_values(field, value)
    after = [each for each in before if each != option] if option in before else [*before, option]
    if field.kind is FieldKind.RANKED:
        return {"primary": after[0], "fallbacks": after[1:]} if after else ""
    if field.section == "config":
        listed = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else ()
        files = {file_key(each): each for each in listed}
        return [files.get(each, each) for each in after]
    return tuple(after) if after or field.empty_text else None


def file_key(value: Any) -> Any:
    """The key of a file that is stored with its metadata; any other value as it is."""
    return cast("dict[str, Any]", value).get("file_key", "") if isinstance(value, dict) else value


# Secrets

MASK: Final = "(unchanged secret)"
"""What YAML contains in place of a secret."""
_NUMBERED_MASK: Final = re.compile(r"\(unchanged secret \d+\)")


def mask_secret(value: Any) -> Any:
    """Replace every text and number of a secret value with a mask. Several masks are numbered."""
    if _is_secret_part(value):
        return MASK
    numbers = count(1)
    return _map_parts(value, lambda _: _numbered_mask(next(numbers)))


def unmask_secret(value: Any, former: Any) -> Any:
    """Replace masks with the secrets of the former value; a mask without a secret becomes empty."""
    if value == MASK:
        return former
    secrets: dict[str, Any] = {MASK: ""}
    _map_parts(former, lambda secret: secrets.setdefault(_numbered_mask(len(secrets)), secret))
    return _map_parts(value, lambda part: secrets.get(part, "" if _NUMBERED_MASK.fullmatch(str(part)) else part))


def _numbered_mask(number: int) -> str:
    return f"(unchanged secret {number})"


def _is_secret_part(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _map_parts(value: Any, replace: Callable[[Any], Any]) -> Any:
    """The value with every text and number in it replaced, in order."""
    if _is_secret_part(value):
        return replace(value)
    if isinstance(value, list):
        return [_map_parts(each, replace) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _map_parts(each, replace) for name, each in cast("dict[str, Any]", value).items()}
    return value
