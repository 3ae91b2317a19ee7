"""Decides which entries of a run have to be read to show a part of it.

A run is read by its outline: the entries without deltas, output and calls. The outline has the whole text of each
completed message, so deltas are read only for messages that another block splits or that were never completed.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

from engine.events import (
    LAST_KIND,
    WITHOUT_EFFECT,
    Entry,
    EntryKind,
    RunCompleted,
    RunFinished,
    Status,
    Warned,
    payload_as,
)

_BLOCK_KINDS: Final = frozenset({
    EntryKind.TOOL_CALL_STARTED, EntryKind.TOOL_CALL_COMPLETED, EntryKind.ARTIFACT_CREATED, EntryKind.ACTION_REQUESTED,
    EntryKind.WARNING, EntryKind.STEERING_PULLED, EntryKind.STEERING_INJECTED, EntryKind.STEERING_DROPPED,
})  # fmt: skip
"""Kinds of entries, other than messages, that have a block."""


class SplitMessage(NamedTuple):
    """A message that may have another block in its middle. `after` and `before` are exclusive positions."""

    after: int
    last_block: int
    """The position of the last block that may be in its middle. The message is not split if no delta came before."""
    before: int


def find_message_start(outline: Sequence[Entry], *, min_entries: int = 1) -> int | None:
    """The first index at which a message begins and at least `min_entries` follow, or None.

    The message of `run.completed` may only repeat the one before it, and stays together with that one.
    """
    ends = [index for index, entry in enumerate(outline) if completes_message(entry)]
    for end, next_end in zip_longest(ends, ends[1:]):
        if end + 1 > len(outline) - min_entries:
            return None
        if next_end is None or outline[next_end].type != EntryKind.RUN_COMPLETED:
            return end + 1
    return None


def has_final_message(outline: Sequence[Entry]) -> bool:
    """Whether `run.completed` has a message, which may only repeat an earlier one."""
    return any(entry.type == EntryKind.RUN_COMPLETED and completes_message(entry) for entry in outline)


def find_unfinished_range(outline: Sequence[Entry], *, after: int) -> tuple[int, int] | None:
    """The range of positions (exclusive) that has to be read in addition to the end of an outline, or None.

    The text of an incomplete message and the traceback of a failure are only in deltas and output. A completed run may
    end with an incomplete message too; the host warns of it then. `after` is the position before the outline.
    """
    if not outline:
        return None
    last = outline[-1]
    is_over = last.type == LAST_KIND
    needs_end = not is_over or payload_as(RunFinished, last).status != Status.COMPLETED
    for entry in reversed(outline):
        if completes_message(entry):
            after = entry.position
            break
        needs_end = needs_end or (entry.type == EntryKind.WARNING and payload_as(Warned, entry).is_assembled)
    before = last.position if is_over else last.position + 2**31
    return (after, before) if needs_end and before - after > 1 else None


def find_split_messages(
    outline: Sequence[Entry], *, after: int, before: int | None = None, is_inside: bool = False
) -> list[SplitMessage]:
    """The messages of a part of an outline that may be split: only deltas show where.

    `after` is the position before the part, and `is_inside` says that a message may have begun there. `before` is the
    position behind the part if the run goes on there.
    """
    found: list[SplitMessage] = []
    last_block = after
    for entry in outline:
        if completes_message(entry):
            found.append(SplitMessage(after, entry.position if is_inside else last_block, entry.position))
            after = last_block = entry.position
            is_inside = False
        elif entry.type in _BLOCK_KINDS or entry.outcome in WITHOUT_EFFECT:
            last_block = entry.position
    if before is not None:
        found.append(SplitMessage(after, before, before))
    return [message for message in found if message.last_block - message.after > 1]


def completes_message(entry: Entry) -> bool:
    """Whether an entry has the whole text of a message."""
    if entry.outcome in WITHOUT_EFFECT:
        return False
    if entry.type == EntryKind.RUN_COMPLETED:
        return bool(payload_as(RunCompleted, entry).message)
    return entry.type == EntryKind.MESSAGE_COMPLETED
