"""Starts one worker process with pipes for its wire and its output."""

import contextlib
import errno
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.runtimes.environment import environment_of
from engine.runtimes.guardian import Guardian
from engine.runtimes.processes import kill_group
from engine.runtimes.resource_shortage import DESCRIPTORS_PER_START, SHORTAGES, free_descriptors, shortage_of
from engine.runtimes.runtime import Launch, RuntimeProblem
from engine.runtimes.sandbox import sandbox_options
from engine.runtimes.seeds import Seeds

WORKER: Final = Path(__file__).resolve().parent / "worker" / "main.py"
ROOT: Final = WORKER.parents[3]
"""The folder that holds the engine; the child imports only the protocol and the wire from it."""

OTHER_PYTHON_HINT: Final = "Name another one with --python, or `python:` in trackside.yaml."

NO_SEEDS: Final = Seeds()

_opening: Final = threading.Lock()
"""Held while pipes are opened, so that two starts do not count on the same descriptors."""


@dataclass(frozen=True, slots=True)
class StartedProcess:
    """A started process and the host's ends of its pipes."""

    process: "subprocess.Popen[bytes]"
    wire_in: int
    wire_out: int
    stdout: int
    stderr: int


def python_of(launch: Launch) -> str:
    """Return the interpreter of a launch."""
    return launch.python or sys.executable


def known_version(launch: Launch) -> str | None:
    """Return the version of the interpreter if it is ours; another one reports it when it has started."""
    return sys.version.split()[0] if launch.python is None else None


def spawn(launch: Launch, guardian: Guardian, mark: str, reserved: int = 0, seeds: Seeds = NO_SEEDS) -> StartedProcess:
    """Start the worker. Blocks until the interpreter is executed, so call it in a thread.

    Raises OutOfResources if the system allows no further process, or if fewer than `reserved` descriptors would stay
    free.
    """
    sandbox = _sandbox(launch)
    child_in, wire_in, wire_out, child_out, stdout, child_stdout, stderr, child_stderr = _open_pipes(reserved)
    where = [str(launch.path.absolute()), launch.attr or "", str(launch.folder.absolute()), seeds.random_seed or ""]
    try:
        process = subprocess.Popen(
            [*sandbox, python_of(launch), str(WORKER), str(child_out), str(ROOT), *where],
            stdin=child_in,
            stdout=child_stdout,
            stderr=child_stderr,
            pass_fds=(child_out,),
            start_new_session=True,
            cwd=launch.cwd,
            env=environment_of(launch, mark, seeds.hash_seed),
        )
    except OSError as error:
        _close(wire_in, wire_out, stdout, stderr)
        if error.errno in SHORTAGES:
            raise shortage_of(error.errno) from error
        raise RuntimeProblem(_start_problem(launch, error)) from error
    finally:
        _close(child_in, child_out, child_stdout, child_stderr)
    started = StartedProcess(process, wire_in, wire_out, stdout, stderr)
    try:
        guardian.watch(process.pid)
    except OSError as error:  # unwatched, it might outlive the host
        abandon(started, guardian)
        if error.errno in SHORTAGES:
            raise shortage_of(error.errno) from error
        raise
    return started


def abandon(started: StartedProcess, guardian: Guardian) -> None:
    """Kill a process that nobody watches yet, and close its pipes."""
    kill_group(started.process.pid)
    started.process.wait()
    guardian.forget(started.process.pid)
    _close(started.wire_in, started.wire_out, started.stdout, started.stderr)


def _sandbox(launch: Launch) -> list[str]:
    try:
        return sandbox_options(launch, python_of(launch))
    except OSError as error:
        raise RuntimeProblem(_start_problem(launch, error)) from error


def _start_problem(launch: Launch, error: OSError) -> str:
    python = python_of(launch)
    if not launch.cwd.is_dir():
        return f"The working folder {launch.cwd} does not exist."
    if isinstance(error, FileNotFoundError):
        return f"There is no interpreter at {python}. {OTHER_PYTHON_HINT}"
    return f"{python} cannot be started: {error.strerror}. {OTHER_PYTHON_HINT}"


def interpreter_problem(launch: Launch, problem: str) -> str:
    """Return the advice for an interpreter that started and reported what it lacks."""
    python = python_of(launch)
    if "pydantic" in problem:
        return f"{python} {problem}, which runners need. Install it: {python} -m pip install 'pydantic>=2.10,<3'"
    return f"{python} {problem}; runners need 3.11 or newer. {OTHER_PYTHON_HINT}"


def _open_pipes(reserved: int) -> list[int]:
    """Open the pipes of a child. Raises OutOfResources if too few descriptors are left."""
    try:
        with _opening:
            if reserved and free_descriptors() < reserved + DESCRIPTORS_PER_START:
                raise shortage_of(errno.EMFILE)
            return _pipes(4)
    except OSError as error:
        if error.errno in SHORTAGES:
            raise shortage_of(error.errno) from error
        raise


def _pipes(count: int) -> list[int]:
    """Open this many pipes, or none: after a failure all are closed again."""
    ends: list[int] = []
    try:
        for _ in range(count):
            ends += os.pipe()
    except OSError:
        _close(*ends)
        raise
    return ends


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)
