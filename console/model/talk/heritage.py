"""The lines that a fork began with, as blocks: what was said in another session belongs to the talk, too."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from console.model.talk.blocks import Block, Note, Said, Standing, You
from console.model.talk.course import files_in
from console.model.talk.flow import Flow
from console.model.talk.loose import mapping, text_of, words
from console.model.talk.talk import Talk

if TYPE_CHECKING:
    from engine.api import Line

B = TypeVar("B", bound=Block)


def is_inherited(line: "Line") -> bool:
    """Whether a line was copied when its session was forked."""
    return "forked_from" in line.metadata


def inherited(lines: "Iterable[Line]", remark: str = "") -> Talk:
    """Lines of another session, oldest first, and what is to be said below them."""
    talk, last = Talk(), None
    for line in lines:
        talk.add(_block(line))
        last = line
    if remark and last is not None:
        talk.add(_made(Note, last, text=remark, is_warning=False))
    return talk


def words_of(line: "Line") -> str:
    """What a line says, whole."""
    whole = mapping(line.content_json)
    return words(whole.get("text")) or text_of(whole.get("content"), " ") or line.content or ""


def _block(line: "Line") -> Block:
    text = words_of(line)
    if line.role == "user":
        return _made(You, line, text=text, who="you", attachments=files_in(mapping(line.content_json)))
    return _made(Said, line, flow=Flow(text), standing=Standing.DONE, role=line.role)


def _made(make: type[B], line: "Line", **what: Any) -> B:
    """It has no turn: the run that it is from is another session's."""
    kind = make.__name__.lower()
    return make(
        run_id=f"{line.conversation_id} {kind}", position=line.seq, turn=0, at=line.created_at, since=None, **what
    )
