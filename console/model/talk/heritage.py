"""The lines that a fork began with, as blocks: what was said in another session belongs to the talk, too."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from console.model.talk.blocks import Block, Event, Note, Said, Standing, You
from console.model.talk.course import files_in
from console.model.talk.flow import Flow
from console.model.talk.loose import mapping, text_of, words
from console.model.talk.talk import Talk

if TYPE_CHECKING:
    from engine.api import Entry, Line

B = TypeVar("B", bound=Block)
_NOTHING: Final[Mapping[str, "Entry"]] = {}


def is_inherited(line: "Line") -> bool:
    """Whether a line was copied when its session was forked."""
    return "forked_from" in line.metadata


def untold(lines: "Sequence[Line]", before: "Line | None") -> list[str]:
    """The runs of lines, oldest first, whose first words no line tells: what began them may be no message.

    `before` is the line above, if there is one: the run that it is of has begun there.
    """
    messages = {line.event_id for line in lines if line.role == "user"}
    begun = {line.run_id: None for line in lines if line.role != "user" and line.event_id not in messages}
    return [run_id for run_id in begun if run_id is not None and (before is None or before.run_id != run_id)]


def inherited(lines: "Sequence[Line]", first: "Mapping[str, Entry]" = _NOTHING, remark: str = "") -> Talk:
    """Lines of another session, oldest first, with the first entry of runs that are untold; and what stands below."""
    talk, told = Talk(), set[str | None]()
    for line in lines:
        if line.run_id not in told and (entry := first.get(line.run_id or "")) is not None:
            for block in Talk.of([entry]).blocks:
                if isinstance(block, Event):
                    talk.add(replace(block, **_place(Event, line)))
        told.add(line.run_id)
        talk.add(_block(line))
    if remark and lines:
        talk.add(_made(Note, lines[-1], text=remark, is_warning=False, glyph="fork"))
    return talk


def words_of(line: "Line") -> str:
    """What a line says, whole."""
    whole = mapping(line.content_json)
    return words(whole.get("text")) or text_of(whole.get("content"), " ") or line.content or ""


def _block(line: "Line") -> Block:
    text = words_of(line)
    if line.role == "user":
        return _made(You, line, text=text, who="you", attachments=files_in(mapping(line.content_json)))
    flow = Flow(text)
    flow.settle()
    return _made(Said, line, flow=flow, standing=Standing.DONE, role=line.role)


def _made(make: type[B], line: "Line", **what: Any) -> B:
    return make(at=line.created_at, **_place(make, line), **what)


def _place(make: type[Block], line: "Line") -> dict[str, Any]:
    """It has no turn: the run that it is from is another session's."""
    kind = make.__name__.lower()
    return {"run_id": f"{line.conversation_id} {kind}", "position": line.seq, "turn": 0, "since": None}
