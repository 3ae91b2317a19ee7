"""Encodes Python values as compact JSON text for the database, and decodes them."""

import json
from typing import Any

import orjson


def encode(value: object) -> str:
    """Return compact JSON. Falls back to the slower json for integers over 64 bits and lone surrogates."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)


def decode(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)
