"""Reports edits to runners and to trackside.yaml soon after they are saved."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from engine.project.workspace import Workspace
from engine.runners.errors import RunnersError
from engine.runners.source_files import SUFFIXES, changed, made_of

DEBOUNCE_STEP_MS: Final = 100
"""A change is reported after this time without another one: an editor writes, renames and touches as it saves."""
MAX_DEBOUNCE_MS: Final = 400
"""A change is reported after this time even if others follow."""
POLL_MS: Final = 5_000
"""How often files are compared without an event: an event may be lost, and a network folder may send none."""


@dataclass(frozen=True, slots=True)
class CodeChange:
    """Files that were written, added or removed together."""

    paths: tuple[Path, ...]
    runner_ids: tuple[str, ...]
    """The runners that use these files. A file of no known runner may hold a new one."""
    is_project: bool
    """Whether trackside.yaml is among the files, or a script that it names."""


class Watcher:
    """Watches the files of the current workspace while at least one caller iterates over `changes`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._stop_events: set[asyncio.Event] = set()
        self._is_closed = False

    def use(self, workspace: Workspace) -> None:
        """Watch the files of another workspace from now on."""
        self._workspace = workspace
        self._wake()

    def close(self) -> None:
        """End every iteration over `changes`."""
        self._is_closed = True
        self._wake()

    async def changes(self) -> AsyncGenerator[CodeChange, None]:
        """Each edit since the workspace was read. File stamps decide; file system events only wake this up."""
        # Only a screen watches, and it must not freeze for the 20 ms that this import takes.
        await asyncio.to_thread(import_module, "watchfiles")
        workspace = self._workspace
        seen, folders = await asyncio.to_thread(workspace.file_stamps), set[Path]()
        while not self._is_closed:
            if workspace is not self._workspace:
                workspace = self._workspace
                seen = await asyncio.to_thread(workspace.file_stamps)
            async with self._folder_events(folders) as event:
                # Scan after the watch has begun, so that no edit falls between the two.
                files = await asyncio.to_thread(workspace.scan_files)
                paths = changed(seen, files.marks)
                is_current = workspace is self._workspace
                if not paths and files.folders == folders and is_current and not self._is_closed:
                    await event
            seen, folders = files.marks, files.folders
            if paths and not self._is_closed:
                yield await asyncio.to_thread(_code_change, workspace, paths)

    def _wake(self) -> None:
        for stop in self._stop_events:
            stop.set()

    @asynccontextmanager
    async def _folder_events(self, folders: Iterable[Path]) -> AsyncGenerator[asyncio.Future[Any], None]:
        """A future that is done after a write in one of these folders, or if the watcher is woken."""
        from watchfiles import Change, awatch  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType]

        def is_relevant(_: Change, path: str) -> bool:
            return path.endswith(SUFFIXES) or "." not in path.rpartition("/")[2]  # it may be a folder

        stop = asyncio.Event()
        events = awatch(
            *{_nearest_folder(folder) for folder in folders},
            watch_filter=is_relevant,
            debounce=MAX_DEBOUNCE_MS,
            step=DEBOUNCE_STEP_MS,
            stop_event=stop,
            rust_timeout=POLL_MS,
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        )
        next_event: asyncio.Future[Any] = asyncio.ensure_future(anext(events, None))
        self._stop_events.add(stop)
        try:
            await asyncio.sleep(0)  # the first step of `awatch` starts the watch
            yield next_event
        except OSError as error:
            raise RunnersError(f"files cannot be watched: {error.strerror or error}. Reload by hand.") from error
        finally:
            self._stop_events.discard(stop)
            stop.set()
            await asyncio.gather(next_event, return_exceptions=True)
            await events.aclose()


def _code_change(workspace: Workspace, paths: tuple[Path, ...]) -> CodeChange:
    is_project = not set(paths).isdisjoint(workspace.project.files())
    return CodeChange(paths, made_of(workspace.registry.runners(), paths), is_project)


def _nearest_folder(folder: Path) -> Path:
    """The folder, or its nearest parent that exists."""
    return next((place for place in (folder, *folder.parents) if place.is_dir()), Path("/"))
