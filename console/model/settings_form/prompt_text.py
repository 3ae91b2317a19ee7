"""A prompt of several messages as a text that people can write: each role on a line of its own, what it says below."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

ROLES: Final = ("system", "user", "assistant", "tool")
INDENT: Final = "  "
_ROLE: Final = re.compile(rf"({'|'.join(ROLES)}):[ \t]*")


def script(messages: list[Any]) -> str | None:
    """Such a text, which `read_script` turns back into the same; nothing where one holds more than a text can say."""
    lines: list[str] = []
    for message in messages:
        if not isinstance(message, dict):
            return None
        said = cast("Mapping[str, Any]", message)
        role, content = said.get("role"), said.get("content")
        if set(said) != {"role", "content"} or role not in ROLES or not isinstance(content, str):
            return None
        lines.append(f"{role}:")
        lines += [f"{INDENT}{line}" if line else "" for line in content.split("\n")]
    return "\n".join(lines)


def read_script(text: str) -> list[dict[str, str]] | None:
    """The messages of a text that begins with a role; nothing where it is not written so."""
    roles: list[str] = []
    said: list[list[str]] = []
    for line in text.split("\n"):
        if (begins := _ROLE.fullmatch(line)) is not None:
            roles.append(begins[1])
            said.append([])
        elif said:
            said[-1].append(line.removeprefix(INDENT))
        elif line.strip():
            return None
    if not roles:
        return None
    return [{"role": role, "content": "\n".join(lines)} for role, lines in zip(roles, said, strict=True)]
