"""The texts that the stream's copy menu copies."""

import json
import shlex
from typing import TYPE_CHECKING

from engine.events import MessageCompleted, MessageDelta, content_text, parse_data, payload_of

if TYPE_CHECKING:
    from engine.api import Engine, Entry


async def copied_text(engine: "Engine", run_id: str, what: str, position: int) -> str:
    """Return the text to copy; `what` is `event`, `payload`, `text`, `id`, or `reproduce` for the command line."""
    if what == "id":
        return f"{run_id} {position}"
    if what == "reproduce":
        return shlex.join(["trackside", "show", run_id, "--db", str(engine.database_path)])
    entry = (await engine.runs.entries_at(run_id, [position]))[0]
    if what == "event":
        return entry.line()
    if what == "text":
        return _text(entry)
    return json.dumps(json.loads(entry.data), ensure_ascii=False, indent=2)


def _text(entry: "Entry") -> str:
    """Return the text of a message, an output line, a warning or an error; the payload if it has no text."""
    match payload_of(entry):
        case MessageDelta() as delta:
            return delta.content
        case MessageCompleted() as completed if completed.message:
            return content_text(completed.content)
        case payload:
            texts = (getattr(payload, name, None) for name in ("text", "message", "error"))
            found = next((text for text in texts if isinstance(text, str) and text), None)
            return json.dumps(parse_data(entry.data), ensure_ascii=False) if found is None else found
