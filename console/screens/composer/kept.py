"""Events that were begun, as a file keeps them from one console to the next."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

from console.model.composer.fields import NAMES
from console.screens.composer.desk import TYPES, Writing, usual_values
from engine.api import Attachment, EventEnvelope

MOST: Final = 4 << 20
"""Characters of the file. It is written while one types: this much takes 10 ms."""


class Kept(NamedTuple):
    """What the file says, and in words what it has no room for."""

    text: str
    lost: tuple[str, ...]


def written(writings: Sequence[Writing]) -> Kept:
    """Those that were begun; the one at hand has the first claim on the room."""
    room, events, losses = MOST, list[str](), list[str]()
    for writing in reversed(writings):
        if not writing.is_begun:
            continue
        event, lost = _event(writing, room)
        losses += lost
        if event:
            room -= len(event)
            events.insert(0, event)
    return Kept(f"[{','.join(events)}]" if events else "", tuple(losses))


def _event(writing: Writing, room: int) -> tuple[str, Sequence[str]]:
    """One of them, as much of it as has room."""
    values = json.dumps(writing.values)
    room -= len(values)
    if room < 0:
        return "", ["an event is too large to be kept"]
    lost, files = list[str](), list[str]()
    base = "null" if writing.base is None else writing.base.model_dump_json()
    if len(base) > room:
        base = "null"
        lost.append("the event that was edited is too large to be kept: this is a new one with its fields")
    room -= len(base)
    for attachment in writing.attachments:
        file = attachment.model_dump_json()
        if len(file) > room:
            lost.append(f"{attachment.name or 'a file'} is too large to be kept: attach it again")
        else:
            room -= len(file)
            files.append(file)
    losses = json.dumps([*writing.lost, *lost])
    return f'{{"values":{values},"base":{base},"files":[{",".join(files)}],"lost":{losses}}}', lost


def read(text: str) -> list[Writing]:
    """What a file has; whatever else stands in it is left alone."""
    try:
        found: Any = json.JSONDecoder().raw_decode(text)[0]  # behind it there may be the rest of a longer one
    except (ValueError, RecursionError):
        return []
    return [*_writings(cast("list[Any]", found))] if isinstance(found, list) else []


def _writings(found: Iterable[Any]) -> Iterable[Writing]:
    for each in found:
        try:
            said = cast("dict[str, Any]", each["values"])
            usual = usual_values(said["event_type"] if said["event_type"] in TYPES else TYPES[0])
            yield Writing(
                {name: str(said.get(name, usual[name])) for name in NAMES} | {"event_type": usual["event_type"]},
                [Attachment.model_validate(file) for file in each["files"]],
                None if each["base"] is None else EventEnvelope.model_validate(each["base"]),
                tuple(str(words) for words in each["lost"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError):  # not of this version, or of nobody
            continue
