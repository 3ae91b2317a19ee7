"""JSON as the database holds it: compact text in, Python values out."""

import json
from typing import Any

import orjson


def encode(value: object) -> str:
    """Compact JSON. What orjson refuses (numbers over 64 bits, half surrogates) the slower one may still take."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)


def decode(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)
