"""How many tokens a request has, about."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.protocol.content import text_of
from engine.resources.interfaces import ModelRequest
from engine.resources.scripted.words import CJK

_CJK: Final = re.compile(f"[{CJK}]")
_CHARACTERS: Final = 4
"""Of a Latin text in one token: the rule of thumb that OpenAI gives."""
_FRAME: Final = 4
"""Tokens around each message: the role and its marks."""


def estimate(request: ModelRequest) -> int:
    """One for a CJK character, one for four other characters, and four for each message.

    Text, tool calls and funcs count; images do not. No tokenizer: a runner asks this many times before each call.
    """
    spoken = sum(_FRAME + _of_text(text_of(message.get("content"))) for message in request.messages)
    calls = (message["tool_calls"] for message in request.messages if message.get("tool_calls"))
    return spoken + sum(_of_json(value) for value in calls) + _of_json(request.funcs)


def _of_text(text: str) -> int:
    cjk = len(_CJK.findall(text))
    return cjk + -(-(len(text) - cjk) // _CHARACTERS)


def _of_json(value: Sequence[Any] | Mapping[str, Any]) -> int:
    return _of_text(json.dumps(value, ensure_ascii=False)) if value else 0
