"""Scenes of the event composer, of attachments and of artifacts."""

import base64
import struct
from typing import Any

from textual.widgets import TextArea

from engine.api import Engine
from tests.console.pictures.run_scenes import guided
from tests.console.pictures.scene import BOTH, NARROW, TINY, scene
from tests.support.console.scene_driver import SceneDriver
from tests.support.engines import artifact_created, done, said

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
FILES = {"notes.txt": b"Two days in Kyoto\n", "north.png": PNG}


async def laid_out(driver: SceneDriver, _: Engine) -> None:
    """Put a few files into the working folder."""
    for name, content in FILES.items():
        (driver.folder / name).write_bytes(content)


def cartographer(driver: SceneDriver) -> Any:
    """A runner that creates two artifacts."""

    async def cartographer(ctx: Any):
        yield said("Here is the plan, and a map.")
        plan = b'{"city": "Kyoto", "days": [{"see": "Fushimi Inari"}, {"see": "Nishiki Market"}]}'
        for name, kind, content in (("plan.json", "application/json", plan), ("map.png", "image/png", PNG)):
            yield artifact_created(name=name, mime_type=kind, content_base64=base64.b64encode(content).decode())
        yield done()

    return cartographer


TAKES = {"events": ["message.received", "group.member_joined"]}
with_files = scene.with_defaults(cartographer, prepare=laid_out, agent=TAKES)


@guided(sizes=(*BOTH, TINY))
async def composer(driver: SceneDriver) -> None:
    """A new event, still empty."""
    await driver.press("ctrl+n")
    await driver.wait_until("New event")


@guided()
async def composer_wrong(driver: SceneDriver) -> None:
    """A message without text, whose data is not an object."""
    await composer(driver)
    driver.app.screen.query_one("#data", TextArea).load_text("[1")
    await driver.press("f9")
    await driver.wait_until("needs text or a file")


@with_files()
async def composer_event(driver: SceneDriver) -> None:
    """An event of a user who joins a group, with a file."""
    await composer(driver)
    await driver.press("shift+tab", "right", "right", "ctrl+r")
    await driver.wait_until("travellers/ann")
    driver.app.screen.query_one("#path").focus()
    await driver.press(*"note")
    await driver.wait_until("tab uses the path")
    await driver.press("tab", "enter")
    await driver.wait_until("notes.txt  text/plain")


@guided()
async def composer_types(driver: SceneDriver) -> None:
    """The list of event types."""
    await composer(driver)
    await driver.press("shift+tab", "enter")
    await driver.wait_until("Event type")


@with_files()
async def event_in_conversation(driver: SceneDriver) -> None:
    """An event in the conversation that is not a message."""
    await composer_event(driver)
    await driver.press("f9")
    await driver.wait_for_run_end()


@with_files()
async def path_offered(driver: SceneDriver) -> None:
    """Path completion in the prompt, after one path was completed."""
    await driver.press(*"look at @nor")
    await driver.wait_until("tab uses the path")
    await driver.press("tab", *"and @no")
    await driver.wait_until("notes.txt")


@with_files()
async def path_missed(driver: SceneDriver) -> None:
    """Path completion without a match."""
    await driver.press(*"look at @nowhere")
    await driver.wait_until("No file or folder matches")


@guided(prepare=laid_out)
async def steered_with_a_file(driver: SceneDriver) -> None:
    """A steering message with a file was delivered."""
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_step()
    await driver.press(*"go by these @note")
    await driver.wait_until("tab uses the path")
    await driver.press("tab", "enter")
    await driver.wait_until(lambda: bool(driver.app.services.updater.queue_items))  # its file is read before it is sent
    driver.advance_clock(1.4)
    await driver.continue_runner()


@with_files(sizes=(*BOTH, TINY))
async def artifacts(driver: SceneDriver) -> None:
    await driver.submit_text("Plan a day in Kyoto")
    await driver.wait_for_run_end()
    await driver.app.action_perform("app.artifacts")
    await driver.wait_until("2 artifacts")
    await driver.press("end")
    await driver.wait_until_settled()


@with_files(sizes=(NARROW,))
async def artifact_content(driver: SceneDriver) -> None:
    await artifacts(driver)
    await driver.press("enter")
    await driver.wait_until("Fushimi")


@with_files()
async def artifact_saving(driver: SceneDriver) -> None:
    """Asked for the file to save an artifact to."""
    await artifacts(driver)
    await driver.press("s")
    await driver.wait_until("Save to which file?")


@with_files()
async def artifact_unsaved(driver: SceneDriver) -> None:
    """The artifact cannot be written there."""
    await artifact_saving(driver)
    await driver.press("home", *"no/", "enter")
    await driver.wait_until("cannot be written")


@with_files()
async def no_artifacts(driver: SceneDriver) -> None:
    await driver.app.action_perform("app.artifacts")
    await driver.wait_until("No artifacts")
