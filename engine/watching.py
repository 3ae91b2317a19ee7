"""Tells of edits to runners and to trackside.yaml, soon after they are saved."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from engine.runners.errors import RunnersError
from engine.runners.files import SUFFIXES, changed, made_of
from engine.setting import Setting

QUIET: Final = 100
"""Milliseconds without another change until one is told: an editor writes, renames and touches as it saves."""
PATIENCE: Final = 400
"""Milliseconds after which a change is told though others keep coming."""
LOOK: Final = 5_000
"""Milliseconds between looks for what no event told of: one was lost, or the folder is on another machine."""


@dataclass(frozen=True, slots=True)
class CodeChange:
    """Files that were written, added or taken away together."""

    paths: tuple[Path, ...]
    runner_ids: tuple[str, ...]
    """The runners that are made of them; a file of no known runner may hold a new one."""
    is_project: bool
    """Whether trackside.yaml is among them, or a script that it names."""


class Watcher:
    """Watches what the setting in force is made of. Nothing is watched while nobody listens."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._listeners: set[asyncio.Event] = set()
        self._is_closed = False

    def turn(self, setting: Setting) -> None:
        """Another setting is in force."""
        self._setting = setting
        self._wake()

    def close(self) -> None:
        """End all that listens."""
        self._is_closed = True
        self._wake()

    async def changes(self) -> AsyncGenerator[CodeChange, None]:
        """Each edit that comes after the setting in force was read. Files decide, events only wake."""
        # Only a screen watches, and it should not stand still for the 20 ms that this takes.
        await asyncio.to_thread(import_module, "watchfiles")
        setting, seen, folders = self._setting, await asyncio.to_thread(self._setting.seen), set[Path]()
        while not self._is_closed:
            if setting is not self._setting:
                setting = self._setting
                seen = await asyncio.to_thread(setting.seen)
            async with self._listening(folders) as stirred:
                # After listening began, so that nothing falls between a look and the next.
                files = await asyncio.to_thread(setting.look)
                paths = changed(seen, files.marks)
                if not paths and files.folders == folders and setting is self._setting and not self._is_closed:
                    await stirred
            seen, folders = files.marks, files.folders
            if paths and not self._is_closed:
                yield await asyncio.to_thread(_change, setting, paths)

    def _wake(self) -> None:
        for stop in self._listeners:
            stop.set()

    @asynccontextmanager
    async def _listening(self, folders: Iterable[Path]) -> AsyncGenerator[asyncio.Future[Any], None]:
        """Done when something was written in one of these folders, or there is another setting."""
        from watchfiles import Change, awatch  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]

        def concerns(_: Change, path: str) -> bool:
            return path.endswith(SUFFIXES) or "." not in path.rpartition("/")[2]  # it may be a folder

        stop = asyncio.Event()
        wakes = awatch(
            *{_there(folder) for folder in folders},
            watch_filter=concerns,
            debounce=PATIENCE,
            step=QUIET,
            stop_event=stop,
            rust_timeout=LOOK,
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        )
        stirred: asyncio.Future[Any] = asyncio.ensure_future(anext(wakes, None))
        self._listeners.add(stop)
        try:
            await asyncio.sleep(0)  # its first step begins to listen
            yield stirred
        except OSError as error:
            raise RunnersError(f"edits cannot be noticed: {error.strerror or error}. Reload by hand.") from error
        finally:
            self._listeners.discard(stop)
            stop.set()
            await asyncio.gather(stirred, return_exceptions=True)
            await wakes.aclose()


def _change(setting: Setting, paths: tuple[Path, ...]) -> CodeChange:
    return CodeChange(
        paths, made_of(setting.registry.runners(), paths), not set(paths).isdisjoint(setting.project.files())
    )


def _there(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    return next((place for place in (folder, *folder.parents) if place.is_dir()), Path("/"))
