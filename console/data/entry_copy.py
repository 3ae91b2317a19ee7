"""What is copied of an entry."""

import json
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.api import Engine


async def yanked(engine: "Engine", run_id: str, what: str, position: int) -> str:
    """The event as JSON, its payload, its text, its id, or the command line that shows it again."""
    if what == "id":
        return f"{run_id} {position}"
    if what == "reproduce":
        return shlex.join(["trackside", "show", run_id, "--db", str(engine.database_path)])
    entry = (await engine.runs.entries_at(run_id, [position]))[0]
    if what == "event":
        return entry.line()
    data: Any = json.loads(entry.data)
    if what == "text":
        return _text(data)
    return json.dumps(data, ensure_ascii=False, indent=2)


def _text(data: Any) -> str:
    """What was said in it: a message's content, a chunk's, a text; else all of it."""
    from engine.api import text_of  # noqa: PLC0415

    for part in (data.get("message"), data.get("chunk")):
        if isinstance(part, dict):
            return text_of(part.get("content"))
    for name in ("text", "message", "error"):
        if isinstance(data.get(name), str):
            return data[name]
    return json.dumps(data, ensure_ascii=False)
