"""Scenes of events put together by hand, of files that go along, and of artifacts."""

import base64
import struct
from typing import Any

from textual.widgets import TextArea

from engine.api import Engine
from tests.console.pictures.course import guided
from tests.console.pictures.scene import BOTH, NARROW, TINY, scene
from tests.console.pictures.studio import Studio
from tests.support import done, made, said

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
FILES = {"notes.txt": b"Two days in Kyoto\n", "north.png": PNG}


async def laid_out(studio: Studio, _: Engine) -> None:
    """A few files in the folder that the console is in."""
    for name, content in FILES.items():
        (studio.folder / name).write_bytes(content)


def cartographer(studio: Studio) -> Any:
    """A runner that makes things."""

    async def cartographer(ctx: Any):
        yield said("Here is the plan, and a map.")
        plan = b'{"city": "Kyoto", "days": [{"see": "Fushimi Inari"}, {"see": "Nishiki Market"}]}'
        for name, kind, content in (("plan.json", "application/json", plan), ("map.png", "image/png", PNG)):
            yield made(name=name, mime_type=kind, content_base64=base64.b64encode(content).decode())
        yield done()

    return cartographer


TAKES = {"events": ["message.received", "group.member_joined"]}
with_files = scene.with_(cartographer, prepare=laid_out, agent=TAKES)


@guided(sizes=(*BOTH, TINY))
async def composer(studio: Studio) -> None:
    """A new event, with nothing filled in."""
    await studio.press("ctrl+n")
    await studio.until("New event")


@guided()
async def composer_wrong(studio: Studio) -> None:
    """It says nothing, and its data is no object."""
    await composer(studio)
    studio.app.screen.query_one("#data", TextArea).load_text("[1")
    await studio.press("f9")
    await studio.until("says something")


@with_files()
async def composer_event(studio: Studio) -> None:
    """Someone joins a group, with a file."""
    await composer(studio)
    await studio.press("shift+tab", "right", "right", "ctrl+r")
    await studio.until("travellers/ann")
    studio.app.screen.query_one("#path").focus()
    await studio.press(*"note")
    await studio.until("tab takes it")
    await studio.press("tab", "enter")
    await studio.until("notes.txt  text/plain")


@guided()
async def composer_types(studio: Studio) -> None:
    """The six of them."""
    await composer(studio)
    await studio.press("shift+tab", "enter")
    await studio.until("Which event?")


@with_files()
async def event_in_conversation(studio: Studio) -> None:
    """It is no message, and is shown as what it is."""
    await composer_event(studio)
    await studio.press("f9")
    await studio.over()


@with_files()
async def path_offered(studio: Studio) -> None:
    """While one is typed, with one that was taken before it."""
    await studio.press(*"look at @nor")
    await studio.until("tab takes it")
    await studio.press("tab", *"and @no")
    await studio.until("notes.txt")


@with_files()
async def path_missed(studio: Studio) -> None:
    """There is no such file."""
    await studio.press(*"look at @nowhere")
    await studio.until("no file or folder matches")


@guided(prepare=laid_out)
async def steered_with_a_file(studio: Studio) -> None:
    """What was said to a run at work, with a file, has landed."""
    await studio.say("Plan a day in Kyoto")
    await studio.at_cue()
    await studio.press(*"go by these @note")
    await studio.until("tab takes it")
    await studio.press("tab", "enter")
    await studio.until(lambda: bool(studio.app.hearing.items))  # its file is read before it is sent
    studio.wait(1.4)
    await studio.go_on()


@with_files(sizes=(*BOTH, TINY))
async def artifacts(studio: Studio) -> None:
    await studio.say("Plan a day in Kyoto")
    await studio.over()
    await studio.app.action_perform("app.artifacts")
    await studio.until("2 artifacts")
    await studio.press("end")
    await studio.settled()


@with_files(sizes=(NARROW,))
async def artifact_content(studio: Studio) -> None:
    await artifacts(studio)
    await studio.press("enter")
    await studio.until("Fushimi")


@with_files()
async def artifact_saving(studio: Studio) -> None:
    """Asked where to."""
    await artifacts(studio)
    await studio.press("s")
    await studio.until("Save to which file?")


@with_files()
async def artifact_unsaved(studio: Studio) -> None:
    """It cannot be written there."""
    await artifact_saving(studio)
    await studio.press("home", *"no/", "enter")
    await studio.until("cannot be written")


@with_files()
async def no_artifacts(studio: Studio) -> None:
    await studio.app.action_perform("app.artifacts")
    await studio.until("No artifacts")
