"""Going on from somewhere else: which line a fork ends with, and what is to be said in it."""

from typing import TYPE_CHECKING, NamedTuple

from console.model.safe import one_line
from console.model.talk.heritage import words_of

if TYPE_CHECKING:
    from engine.api import Engine, Line


class Forked(NamedTuple):
    """A new session, and what is put into the prompt there."""

    session_id: str
    text: str = ""


async def fork(engine: "Engine", session_id: str, line: "Line | None" = None, name: str = "") -> Forked:
    """A copy of a session: all of it, or up to a line.

    At a message of one's own it ends before that, and the message is in the prompt: who forks there wants to say
    something else.
    """
    title = f"{one_line(name, 60)} (fork)" if name else None
    if line is None or line.role != "user":
        child = await engine.fork_session(session_id, at=line.seq if line is not None else None, title=title)
        return Forked(child.session_id)
    earlier = await engine.transcript(session_id, before=line.seq, limit=1)
    if earlier:
        child = await engine.fork_session(session_id, at=earlier[0].seq, title=title)
    else:
        child = await engine.spawn_session(session_id, title=title)
    return Forked(child.session_id, words_of(line))
