"""Puts a child into bubblewrap: the command line, the files that the child sees, and a check whether it works here."""

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.runtimes.environment import TEMPORARY
from engine.runtimes.processes import find_descendants, others
from engine.runtimes.runtime import Launch, RuntimeProblem, Sandbox

BWRAP: Final = "bwrap"
REMOVE_HINT: Final = "remove `sandbox:` from trackside.yaml"
INSTALL_HINT: Final = f"Install it (Debian package: bubblewrap), or {REMOVE_HINT}."
START_HINT: Final = f"`trackside doctor` checks it. Allow user namespaces on this system, or {REMOVE_HINT}."
CHECK_TIMEOUT_SECONDS: Final = 20.0

_OPTIONS: Final = (
    # Explicit, not --unshare-all: that one continues without a user namespace if there is none.
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    # The worker is process 1: it forks, and passes on how its fork ended. Bubblewrap's own process 1 reports a signal
    # as an exit code.
    "--as-pid-1",
    "--cap-drop",
    "ALL",
)
_FILE_SYSTEMS: Final = (
    # Read-only: a root user without any capability may still write to /proc/sys of the host.
    *("--proc", "/proc", "--remount-ro", "/proc"),
    *("--dev", "/dev", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108 - of the sandbox
    *("--tmpfs", TEMPORARY),
)
_SYSTEM: Final = Path("/usr")
_SYSTEM_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders at the root that are links into /usr, or folders of their own on older systems."""
_ETC: Final = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone")
_ETC_NETWORK: Final = (
    *("ca-certificates", "gai.conf", "host.conf", "hosts", "nsswitch.conf", "pki", "protocols", "resolv.conf"),
    *("services", "ssl"),
)
_PREFIX_ENTRIES: Final = ("bin", "include", "lib", "lib64", "libexec", "pyvenv.cfg", "share", "ssl")
"""What belongs to an interpreter. Other entries of its folder are not shown: a .venv may be in a project's root."""
_ROOT: Final = Path(__file__).resolve().parents[2]
_WORKER_NEEDS: Final = (_ROOT / "engine" / "protocol", _ROOT / "engine" / "runtimes")
_OWN_PROCESSES: Final = frozenset({"1", "2"})
"""In the sandbox: process 1, and the worker, which is its first fork."""
_HOME_LINE: Final = re.compile(r"^home\s*=\s*(.+?)\s*$", re.MULTILINE)
_MAX_LINKS: Final = 40


@dataclass(frozen=True, slots=True)
class SandboxCheck:
    """Whether bubblewrap is installed and usable."""

    path: str | None
    version: str = ""
    problem: str = ""
    """Why it cannot be used, with the fix; empty if it can."""


def sandbox_options(launch: Launch, python: str) -> list[str]:
    """Return the start of the command line, up to the interpreter; empty if the launch has no sandbox.

    Blocks for some file reads, and runs nothing: the interpreter may be in the folder that the runner can change.
    Raises RuntimeProblem if there is no bubblewrap, and OSError if there is no such interpreter.
    """
    if launch.sandbox is None:
        return []
    bwrap = find_bwrap(launch.folder)
    if bwrap is None:
        raise RuntimeProblem(f"The sandbox needs bubblewrap, but there is no {BWRAP} on the PATH. {INSTALL_HINT}")
    folder = launch.folder.absolute()
    network = launch.sandbox.network
    view = _View()
    view.add_interpreter(_find_interpreter(python), folder)
    view.add_read_only(*_WORKER_NEEDS)
    view.add_writable(folder)
    view.add_read_only(*_protected(folder))
    cwd = launch.cwd.absolute()
    return [
        bwrap,
        *_OPTIONS,
        *(() if network else ("--unshare-net",)),
        *_system(network),
        *_FILE_SYSTEMS,
        *view.options(),
        *("--remount-ro", "/"),
        *("--chdir", str(cwd if cwd.is_relative_to(folder) else folder)),
        "--",
    ]


def find_bwrap(folder: Path | None = None) -> str | None:
    """Return the path of bubblewrap. Places below `folder` do not count: its runner may have put a program there."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    trusted = [place for place in places if Path(place).is_absolute() and not (folder and _is_below(place, folder))]
    return shutil.which(BWRAP, path=os.pathsep.join(trusted))


def check_folder(launch: Launch, private: Iterable[Path]) -> None:
    """Raise RuntimeProblem if the folder of a sandboxed runner contains the user's home, /tmp or a private file."""
    if launch.sandbox is None:
        return
    for path in (Path.home(), Path(TEMPORARY), *private):
        if _is_below(path, launch.folder):
            raise RuntimeProblem(
                f"{path} is in {launch.folder}, the folder of the runner, which it can read and change in its sandbox. "
                f"Move the runner to a folder of its own, or {REMOVE_HINT}."
            )


def failed_start(how: str, printed: str) -> str:
    """Return the problem of a sandbox that ended before the worker was ready."""
    return " ".join(f"The runner's sandbox did not start: {BWRAP} {how}. {printed}".split()) + f" {START_HINT}"


def find_leftovers(launch: Launch, group: int, mark: str) -> list[int]:
    """Return the living processes that the runner of an idle child has left. Blocks for some milliseconds."""
    if launch.sandbox is None:
        return others(group, mark)
    return [pid for pid in find_descendants(group) if not _is_own_process(pid)]


def check_sandbox() -> SandboxCheck:
    """Start our own interpreter in a sandbox. Blocks for about 50 ms."""
    path = find_bwrap()
    if path is None:
        return SandboxCheck(None, problem=f"{BWRAP} is not installed. {INSTALL_HINT}")
    with tempfile.TemporaryDirectory(prefix="trackside-") as name:
        folder = Path(name).resolve()
        launch = Launch(folder / "runner.py", None, folder, folder, sandbox=Sandbox())
        command = [*sandbox_options(launch, sys.executable), sys.executable, "-I", "-c", ""]
        try:
            version = _run([path, "--version"]).stdout.strip()
            started = _run(command)
        except (OSError, subprocess.TimeoutExpired) as error:
            return SandboxCheck(path, problem=failed_start("did not answer", str(error)))
    problem = failed_start(f"ended with code {started.returncode}", started.stderr) if started.returncode else ""
    return SandboxCheck(path, version, problem)


class _View:
    """The files of the host that a child sees."""

    def __init__(self) -> None:
        self._binds: dict[Path, str] = {}
        self._links: dict[Path, str] = {}

    def add_read_only(self, *paths: Path) -> None:
        for path in paths:
            self._binds[path] = "--ro-bind"

    def add_writable(self, path: Path) -> None:
        self._binds[path] = "--bind"

    def add_interpreter(self, python: Path, folder: Path) -> None:
        """Show an interpreter: the folders of every link to it, and the installation that a .venv was made from.

        The runner may have written what is in its folder. If the interpreter is there, all that is shown outside of the
        folder is a Python installation.
        """
        is_own = python.is_relative_to(folder)
        for place in _chain(python):
            prefix = place.parent.parent
            if _is_system(place):
                continue
            if _is_installation(prefix) or (_is_venv(prefix) and not (is_own and _leads_out(prefix, folder))):
                self.add_read_only(*_entries(prefix), *_entries(prefix.resolve()))
            elif place.is_symlink():
                self._links[place] = str(place.readlink())
            elif place.is_file() and is_own:
                raise RuntimeProblem(
                    f"{python} leads to {place}, which is no Python installation, so the sandbox does not show it. "
                    "Make the .venv again, or name another interpreter with `python:` in trackside.yaml."
                )
            elif place.is_file():
                self.add_read_only(place)

    def options(self) -> Iterator[str]:
        """Yield the options. Folders come before what is in them, so that the deeper one decides."""
        for path in sorted(self._binds, key=lambda path: len(path.parts)):
            yield from (self._binds[path], str(path), str(path))
        for path, target in self._links.items():
            if not any(path.is_relative_to(shown) for shown in self._binds):
                yield from ("--symlink", target, str(path))


def _system(network: bool) -> Iterator[str]:
    yield from ("--ro-bind", str(_SYSTEM), str(_SYSTEM))
    for name in _SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
    for name in (*_ETC, *(_ETC_NETWORK if network else ())):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _protected(folder: Path) -> Iterator[Path]:
    """Yield what the host itself reads or runs in the runner's folder: a runner could leave its sandbox through it."""
    own = (folder / "trackside.yaml", folder / ".venv", Path(sys.prefix), _ROOT / "engine", _ROOT / "console")
    for path in own:
        if path != folder and path.is_relative_to(folder) and path.exists() and not path.is_symlink():
            yield path


def _find_interpreter(python: str) -> Path:
    found = shutil.which(python)
    if found is None:
        code = errno.EACCES if Path(python).exists() else errno.ENOENT
        raise OSError(code, os.strerror(code), python)
    return Path(os.path.abspath(found))  # noqa: PTH100 - without following links: a .venv is found beside the link


def _chain(python: Path) -> Iterator[Path]:
    """Yield the interpreter, what its links lead to, and the interpreter that a .venv names as its origin."""
    for _ in range(_MAX_LINKS):
        yield python
        config = python.parent.parent / "pyvenv.cfg"
        if config.is_file() and (home := _HOME_LINE.search(config.read_text("utf-8", "replace"))):
            yield Path(home[1], "python3")
        if not python.is_symlink():
            return
        python = Path(os.path.normpath(python.parent / python.readlink()))


def _entries(prefix: Path) -> Iterator[Path]:
    real = prefix.resolve()
    for name in _PREFIX_ENTRIES:
        path = prefix / name
        if path.exists() and path.resolve().is_relative_to(real):
            yield path


def _is_installation(prefix: Path) -> bool:
    return any(prefix.glob("lib*/python3*/os.py"))


def _is_venv(prefix: Path) -> bool:
    return (prefix / "pyvenv.cfg").is_file()


def _leads_out(path: Path, folder: Path) -> bool:
    return not path.resolve().is_relative_to(folder.resolve())


def _is_system(place: Path) -> bool:
    return place.is_relative_to(_SYSTEM) or place.parent.resolve().is_relative_to(_SYSTEM)


def _is_below(path: str | Path, folder: Path) -> bool:
    return Path(path).resolve().is_relative_to(folder.resolve())


def _is_own_process(pid: int) -> bool:
    """Whether a process is one of those that every sandbox has."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:  # it ended meanwhile
        return True
    found = re.search(rb"^NSpid:\s+\d+\s+(\d+)$", status, re.MULTILINE)
    return found is not None and found[1].decode() in _OWN_PROCESSES


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CHECK_TIMEOUT_SECONDS, check=False
    )
