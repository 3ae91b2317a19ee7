"""The context of a run as it is recorded: bytes inside it are stored as parts, and it refers to them."""

import base64
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Connection

from engine.journal.kinds import RunStarted
from engine.journal.secret_mask import SecretMask
from engine.store import parts
from engine.store.errors import NotFound
from engine.store.parts import PartDamaged, PartKind, digest_of
from engine.store.redact import Replacement, inline_bytes, redact

PREFIX: Final = "part:"
"""In front of the digest of a part, in place of a text that contains bytes."""


class StoredContext(NamedTuple):
    """Data that refers to parts, and the parts."""

    data: Mapping[str, Any]
    parts: list[bytes]


class RestoredContext(NamedTuple):
    """A context with its bytes in their places."""

    context: Mapping[str, Any]
    lost: int
    """The number of parts that are not stored any more or are damaged."""


def has_bytes(data: Mapping[str, Any]) -> bool:
    """Return whether the data contains inline base64."""
    return redact(data) is not data


def store_bytes(data: Mapping[str, Any], mask: SecretMask) -> StoredContext:
    """Replace inline base64 by references. Takes about 10 ms for each MB, so it runs in a thread."""
    contents: list[bytes] = []
    stored: list[str] = []

    def replace(text: str) -> Replacement:
        content = _masked(text, mask).encode()
        digest = digest_of(PartKind.DATA, content)
        contents.append(content)
        stored.append(digest)
        return Replacement(PREFIX + digest, {})

    changed = redact(data, replace)
    return StoredContext({**changed, "stored": stored}, contents)


def restore_context(conn: Connection, run_id: str, started: RunStarted) -> RestoredContext:
    """Return the context of a run as it was sent, but for masked secrets."""
    contents: dict[str, str] = {}
    for digest in started.stored:
        try:
            if parts.is_used_by(conn, run_id, digest):
                contents[PREFIX + digest] = parts.read(conn, digest).decode()
        except (NotFound, PartDamaged):
            continue
    lost = len(set(started.stored)) - len(contents)
    return RestoredContext(_put_back(started.context, contents) if contents else started.context, lost)


def _put_back(value: Any, contents: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return contents.get(value, value)
    if isinstance(value, dict):
        return {name: _put_back(inner, contents) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_put_back(inner, contents) for inner in cast("list[Any]", value)]
    return value


def _masked(text: str, mask: SecretMask) -> str:
    """Return base64 text with the secrets in its bytes masked; the same text if there are none."""
    if not mask.secrets:
        return text
    content = inline_bytes(text)
    covered = mask.cover_bytes(content)
    if covered is content:
        return mask.cover_words(text)
    head = text.partition(";base64,")[0] + ";base64," if text.startswith("data:") else ""
    return head + base64.b64encode(covered).decode()
