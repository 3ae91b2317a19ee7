"""A scene: what is on the stage when the curtain rises, how it is played, and at which sizes it is pictured."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from console.opening import Opening
from tests.console.pictures.studio import OpenEngine, Posed, Prepare, Studio
from tests.support import Runner

WIDE, MEDIUM, NARROW, TINY = (160, 45), (120, 35), (80, 24), (60, 15)
BOTH = (WIDE, NARROW)

Play = Callable[[Studio], Awaitable[None]]
MakeRunner = Callable[[Studio], Runner]


@dataclass(frozen=True)
class Scene:
    """One state of the screen."""

    name: str
    play: Play
    runners: tuple[MakeRunner, ...]
    """The console is opened on the first."""
    sizes: tuple[tuple[int, int], ...]
    opening: Opening
    engine: OpenEngine | None
    """Opens another engine than the studio's own."""
    prepare: Prepare | None
    agent: dict[str, Any]
    project: dict[str, Any]

    def studio(self, folder: Path) -> Studio:
        """Everything ready, nothing opened yet."""
        studio = Studio(folder)
        studio.runners = tuple(make(studio) for make in self.runners)
        studio.engine, studio.prepare = self.engine, self.prepare
        studio.project = dict(self.project)
        if studio.runners:
            name = studio.runners[0].__name__
            studio.project["agents"] = [{"id": name, "runner": name} | self.agent]
        studio.app = Posed(studio, self.opening)
        return studio

    def before(self, studio: Studio) -> Callable[[Pilot[None]], Awaitable[None]]:
        """What happens until the picture is taken."""

        async def perform(pilot: Pilot[None]) -> None:
            studio.pilot = pilot
            await studio.opened()
            await self.play(studio)
            await studio.settled()

        return perform


@dataclass
class Scenes:
    """All of them, by name, in the order in which they are written."""

    all: dict[str, Scene] = field(default_factory=dict[str, Scene])

    def __call__(
        self,
        *runners: MakeRunner,
        sizes: tuple[tuple[int, int], ...] = BOTH,
        opening: Opening | None = None,
        engine: OpenEngine | None = None,
        prepare: Prepare | None = None,
        agent: dict[str, Any] | None = None,
        **project: Any,
    ) -> Callable[[Play], Play]:
        """Note a scene; it has the name of its function."""

        def note(play: Play) -> Play:
            name = play.__name__
            self.all[name] = Scene(
                name, play, runners, sizes, opening or Opening(), engine, prepare, agent or {}, project
            )
            return play

        return note

    def with_(self, *runners: MakeRunner, **given: Any) -> Callable[..., Callable[[Play], Play]]:
        """Scenes that have this in common."""
        return partial(self, *runners, **given)

    def pictures(self) -> list[tuple[Scene, tuple[int, int]]]:
        return [(scene, size) for scene in self.all.values() for size in scene.sizes]


scene = Scenes()
