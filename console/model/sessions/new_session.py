"""The fields of a session that is about to be created, as the user typed them."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from console.model.state.json_text import InvalidJson, parse_json


class SessionFields(NamedTuple):
    """What a new session starts with. None means that the engine chooses the value."""

    session_id: str | None
    title: str | None
    user_id: str | None
    metadata: Mapping[str, Any]


def parse_fields(session_id: str, title: str, user: str, metadata: str) -> SessionFields:
    """Return the fields; empty text is no value. Raises InvalidJson if the metadata is not a JSON object."""
    return SessionFields(
        session_id.strip() or None,
        title.strip() or None,
        user.strip() or None,
        metadata_object(parse_json(metadata or "{}")),
    )


def metadata_object(value: Any) -> Mapping[str, Any]:
    """Return metadata that was typed as JSON. Raises InvalidJson if it is not an object."""
    if not isinstance(value, dict):
        raise InvalidJson('metadata must be an object, such as {"city": "Kyoto"}')
    return cast("dict[str, Any]", value)
