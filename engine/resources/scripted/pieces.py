"""A reply as the pieces in which models stream it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from engine.resources.scripted.model_script import Reply, ScriptedCall
from engine.resources.scripted.words import CJK

_WORD: Final = re.compile(rf"^\s+|[{CJK}]\s*|[^\s{CJK}]+\s*")
_BIT: Final = 8
"""Characters of arguments in one piece: few enough that a runner must join them."""


def words_of(text: str) -> list[str]:
    """The text in words with the space behind them; Chinese and its like in characters. Joined, it is the text."""
    return _WORD.findall(text)


def whole_calls(calls: Sequence[ScriptedCall], ids: Iterator[str]) -> list[dict[str, Any]]:
    """The tool calls as a whole message has them."""
    return [
        {
            "id": call.id or next(ids),
            "type": "function",
            "function": {"name": call.name, "arguments": _as_written(call.arguments)},
        }
        for call in calls
    ]


def chunks_of(reply: Reply, calls: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The text first, then each tool call: its id and name, then its arguments in bits."""
    pieces = reply.pieces if reply.pieces is not None else words_of(reply.text or "")
    chunks: list[dict[str, Any]] = [{"role": "assistant", "content": piece} for piece in pieces]
    for index, call in enumerate(calls):
        function = call["function"]
        opening = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        chunks.append({"role": "assistant", "tool_calls": [opening]})
        text = function["arguments"]
        chunks.extend(
            {"role": "assistant", "tool_calls": [{"index": index, "function": {"arguments": text[at : at + _BIT]}}]}
            for at in range(0, len(text), _BIT)
        )
    return chunks


def _as_written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
