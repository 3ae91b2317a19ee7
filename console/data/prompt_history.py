"""Reads the messages that were sent before, for the history of the prompt."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.api import Engine

MAX_RUNS: Final = 200
"""Runs whose inputs the prompt knows after the start."""
MAX_LINES: Final = 200
"""Lines of a session that are searched for messages of the user."""


async def load_sent_messages(engine: "Engine") -> list[str]:
    """The inputs of the last runs of all sessions, oldest first."""
    from engine.api import INPUT_GLIMPSE  # noqa: PLC0415  (loads the engine)

    texts: list[str] = []
    for run in reversed(await engine.runs.list(limit=MAX_RUNS)):
        text = str(run.metadata.get("input") or "")
        if len(text) >= INPUT_GLIMPSE:  # the row holds only its beginning
            text = (await engine.runs.event(run.run_id)).envelope.input.to_text()
        if text.strip():
            texts.append(text)
    return texts


async def load_session_messages(engine: "Engine", session_id: str) -> list[str]:
    """The last messages of the user in a session, oldest first; none if nothing was sent in it yet."""
    from engine.api import StoreError  # noqa: PLC0415  (loads the engine)

    try:
        lines = await engine.sessions.transcript(session_id, limit=MAX_LINES)
    except StoreError:  # a session is stored with its first message
        return []
    return [line.content for line in reversed(lines) if line.role == "user" and line.content]
