"""What an outline of a run leaves out, and its talk needs. An outline has no deltas, no output and no calls."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from console.model.talk.course import WITHOUT_EFFECT
from engine.events import Entry

_TOLD: Final = frozenset({
    "tool.call.started", "tool.call.completed", "artifact.created", "action.requested", "warning", "steering.pulled",
    "steering.injected", "steering.dropped",
})  # fmt: skip
"""What has a block of its own, and is no message."""


class Cut(NamedTuple):
    """A message in the middle of which something else was told. The positions themselves are not of it."""

    after: int
    last: int
    """The last thing that was told in its middle. A message of which no piece came before that is not cut."""
    before: int
    is_whole: bool
    """It begins here, and not in the window above."""


def missing(outline: Sequence[Entry]) -> tuple[int, int] | None:
    """Between which positions an outline leaves out what its talk needs; nothing where it leaves out nothing.

    Deltas and output are wanted where a run has not ended well: half a message, and the traceback, are told by
    nothing else. The positions themselves are not wanted.
    """
    if not outline:
        return None
    last = outline[-1]
    is_over = last.type == "run.finished"
    if is_over and '"status":"completed"' in last.data and not any(_is_assembled(entry) for entry in outline[-5:]):
        return None
    after = next((entry.position for entry in reversed(outline) if _is_message(entry)), outline[0].position)
    before = last.position if is_over else last.position + 2**31
    return (after, before) if before - after > 1 else None


def cuts(outline: Sequence[Entry], *, after: int = 0, before: int | None = None) -> list[Cut]:
    """The messages of an outline of which only their deltas tell what stood above something else, and what below.

    Where an outline is a window in a longer run, it comes after an entry, or before one: then it may begin or end in
    the middle of a message.
    """
    found: list[Cut] = []
    last = None
    is_begun = after > 0
    for entry in outline:
        if _is_message(entry):
            if is_begun or last is not None:
                here = entry.position
                found.append(Cut(after, here if last is None or is_begun else last, here, not is_begun))
            after, last, is_begun = entry.position, None, False
        elif entry.type in _TOLD or entry.outcome in WITHOUT_EFFECT:
            last = entry.position
    if before is not None:
        found.append(Cut(after, before, before, not is_begun))
    return [cut for cut in found if cut.last - cut.after > 1]


def _is_message(entry: Entry) -> bool:
    if entry.outcome in WITHOUT_EFFECT:
        return False
    return entry.type == "message.completed" or (entry.type == "run.completed" and '"message":' in entry.data)


def _is_assembled(entry: Entry) -> bool:
    """Whether the host remarks that the last message was never completed."""
    return entry.type == "warning" and "put together from deltas" in entry.data
