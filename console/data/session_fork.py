"""Going on from somewhere else: which line a fork ends with, and what is to be said in it."""

from typing import TYPE_CHECKING, Final, NamedTuple

from console.model.conversation.forked_lines import line_text
from console.model.conversation.run_blocks import attached_files
from console.model.journal.json_access import array
from console.model.text.safe import one_line
from engine.events import mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.api import Engine, TranscriptLine

_NAMES: Final = 120
"""Characters of the names of files in a sentence."""


class Forked(NamedTuple):
    """A new session, and what is put into the prompt there."""

    session_id: str
    text: str = ""
    lost: tuple[str, ...] = ()
    """In words, what of the message does not come along."""


async def fork(engine: "Engine", session_id: str, line: "TranscriptLine | None" = None, name: str = "") -> Forked:
    """A copy of a session: all of it, or up to a line.

    At a message of one's own it ends before that, and the message is in the prompt: who forks there wants to say
    something else.
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
    return Forked(child.session_id, line_text(line), tuple(_lost(line)))


def _lost(line: "TranscriptLine") -> "Iterator[str]":
    from engine.api import has_mark  # noqa: PLC0415

    if files := attached_files(array(mapping(line.content_json).get("attachments"))):
        names = one_line(", ".join(file.name for file in files), _NAMES)
        yield f"{names} did not come along; attach {'it' if len(files) == 1 else 'them'} again"
    if has_mark(line_text(line)):
        yield "a secret is masked in the database; enter it again"
