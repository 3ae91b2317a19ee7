"""Forks a session at a line, and returns the text that belongs into the prompt of the fork."""

from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.conversation.forked_lines import line_text
from console.model.conversation.run_blocks import attached_files
from console.model.journal.json_access import array
from console.model.text.safe import one_line
from engine.events import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.api import Engine, TranscriptLine

_MAX_NAMES_CHARS: Final = 120
"""Characters of the names of files in a sentence."""


class Forked(NamedTuple):
    """A new session, and the text for its prompt."""

    session_id: str
    text: str = ""
    lost: tuple[str, ...] = ()
    """A sentence for each part of the message that was not copied."""


async def fork(engine: "Engine", session_id: str, line: "TranscriptLine | None" = None, name: str = "") -> Forked:
    """Copy a session up to a line, or all of it.

    A fork at a message of the user ends before it, and the message goes to the prompt: the user wants to change it.
    """
    title = f"{one_line(name, 60)} (fork)" if name else None
    if line is None or line.role != "user":
        child = await engine.sessions.fork(session_id, at=line.seq if line is not None else None, title=title)
        return Forked(child.session_id)
    earlier = await engine.sessions.transcript(session_id, before=line.seq, limit=1)
    if earlier:
        child = await engine.sessions.fork(session_id, at=earlier[0].seq, title=title)
    else:
        child = await engine.sessions.spawn(session_id, title=title)
    return Forked(child.session_id, line_text(line), tuple(_lost_parts(line)))


def _lost_parts(line: "TranscriptLine") -> "Iterator[str]":
    from engine.api import has_mark  # noqa: PLC0415

    if files := attached_files(array(mapping(line.content_json).get("attachments"))):
        names = one_line(", ".join(file.name for file in files), _MAX_NAMES_CHARS)
        verb, them = ("was", "it") if len(files) == 1 else ("were", "them")
        yield f"{names} {verb} not copied. Attach {them} again."
    if has_mark(line_text(line)):
        yield "A secret is masked in the database. Enter it again."
