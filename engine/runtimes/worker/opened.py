"""Reports the first connection and the first process that a runner opens itself in each run.

An audit hook sees every event of the interpreter. An event that is not watched, or whose kind was reported already,
costs one lookup in a dict. `multiprocessing` with the start methods `spawn` and `forkserver` has no event.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, Final, cast

CONNECTION: Final = "connection"
PROCESS: Final = "process"
MAX_TARGET_CHARS: Final = 4_000
_MAX_NAMES: Final = 100
_MAX_ARGUMENTS: Final = 100

Report = Callable[[str, str], None]
_Describe = Callable[[tuple[Any, ...]], str]


class OpenedReporter:
    """Calls `report` with what was opened and its target: once per kind, until the next `start_run`.

    `report` is called in any thread, also inside a finaliser, so it must not wait for a lock.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._process_id = os.getpid()
        self._names: dict[object, str] = {}
        """The last host name that was looked up, by port."""
        self._events: dict[str, tuple[str, _Describe]] = {
            "socket.connect": (CONNECTION, self._address),
            "socket.sendto": (CONNECTION, self._address),
            "socket.sendmsg": (CONNECTION, self._address),
            "subprocess.Popen": (PROCESS, lambda found: _command(found[1])),
            "os.posix_spawn": (PROCESS, lambda found: _command(found[1])),
            "os.exec": (PROCESS, lambda found: _command(found[1])),
            "os.system": (PROCESS, lambda found: _text(found[0])),
            "os.spawn": (PROCESS, lambda found: _command(found[2])),
            "pty.spawn": (PROCESS, lambda found: _command(found[0])),
            "os.fork": (PROCESS, lambda _: "a copy of the runner (fork)"),
            "os.forkpty": (PROCESS, lambda _: "a copy of the runner (fork)"),
        }
        self._watched: dict[str, Callable[[tuple[Any, ...]], None]] = {}
        self.start_run()

    def install(self) -> None:
        """Watch the events of this interpreter; that cannot be ended."""
        watched = self._watched

        def hook(event: str, found: tuple[Any, ...]) -> None:
            note = watched.get(event)
            if note is not None:
                note(found)

        sys.addaudithook(hook)

    def start_run(self) -> None:
        """Report every kind once more."""
        self._watched["socket.getaddrinfo"] = self._note_name
        for event in self._events:
            self._watched[event] = self._watcher(event)

    def _watcher(self, event: str) -> Callable[[tuple[Any, ...]], None]:
        kind, describe = self._events[event]

        def note(found: tuple[Any, ...]) -> None:
            # A copy of this process has the same hook, and must not write to our wire.
            if os.getpid() != self._process_id:
                return
            try:
                target = describe(found)[:MAX_TARGET_CHARS]
                if target:
                    self._end_watch(kind)
                    self._report(kind, target)
            except Exception:  # noqa: BLE001 - an error here would refuse the runner what it asked for
                self._end_watch(kind)

        return note

    def _end_watch(self, kind: str) -> None:
        for event, (other, _) in self._events.items():
            if other == kind:
                self._watched.pop(event, None)

    def _note_name(self, found: tuple[Any, ...]) -> None:
        host, port = found[0], found[1]
        if type(host) is str and isinstance(port, int | str) and len(self._names) < _MAX_NAMES:
            self._names[str(port)] = host[:255]

    def _address(self, found: tuple[Any, ...]) -> str:
        address: object = found[1]
        if isinstance(address, str | bytes):
            return f"unix:{_text(address)}"
        if not isinstance(address, tuple) or len(cast("tuple[Any, ...]", address)) < 2:
            return ""  # a message on a connected socket has no address
        host, port = (_text(part) for part in cast("tuple[Any, ...]", address)[:2])
        name = self._names.get(port)
        return f"{host}:{port}" if name in (None, host) else f"{name}:{port} ({host})"


def _command(arguments: object) -> str:
    if isinstance(arguments, str | bytes | PurePath):
        return _text(arguments)
    if not isinstance(arguments, list | tuple):
        return type(arguments).__name__
    return " ".join(map(_text, cast("Sequence[object]", arguments)[:_MAX_ARGUMENTS]))


def _text(value: object) -> str:
    """Return text of at most 4000 characters. Never calls code of the runner."""
    if type(value) is str:
        return value[:MAX_TARGET_CHARS]
    if type(value) is bytes:
        return value[:MAX_TARGET_CHARS].decode(errors="replace")
    if type(value) is int or isinstance(value, PurePath):
        return str(value)[:MAX_TARGET_CHARS]
    return type(value).__name__
