"""Runs `trackside` commands in forks of one warm process.

Starting Python and importing the engine takes about 0.9 CPU seconds. The server imports them once; a fork takes about
20 ms and has its own working folder, environment, standard streams, signals and exit code, as a new process would.
"""

import array
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
MAX_REQUEST_BYTES = 1 << 20
SERVER_ARGUMENTS = ("-W", "error", "-m", "tests.support.command_server")
PRELOADED = (
    "asyncio",
    "engine.api",
    "engine.host",
    *(f"console.cli.{path.stem}" for path in sorted((ROOT / "console" / "cli").glob("[a-z]*.py"))),
)


class CommandProcess:
    """One command in progress, with the interface of `subprocess.Popen`."""

    def __init__(self, args: Sequence[str], connection: socket.socket, streams: Sequence[IO[str] | None]) -> None:
        self.args = args
        self.stdin, self.stdout, self.stderr = streams
        self.returncode: int | None = None
        self._messages = connection.makefile("r", encoding="utf-8")
        self._connection = connection
        self.pid = int(self._messages.readline())

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; a negative number is the signal that ended the command."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = os.waitstatus_to_exitcode(int(self._messages.readline()))
            except TimeoutError:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0) from None
            self._messages.close()
            self._connection.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Close standard input, read both outputs to their end, and wait for the exit."""
        if self.stdin is not None:
            self.stdin.close()
        texts = ["", ""]

        def read(index: int, stream: IO[str]) -> None:
            with stream:
                texts[index] = stream.read()

        open_streams = [(i, one) for i, one in enumerate((self.stdout, self.stderr)) if one is not None]
        readers = [threading.Thread(target=read, args=one, daemon=True) for one in open_streams if not one[1].closed]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        self.wait(timeout)
        return texts[0], texts[1]

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class CommandServer:
    """Client of the warm process, which starts with the first command."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, args: Sequence[str], *, cwd: Path, env: dict[str, str], stdin: str = "", timeout: float = 60
    ) -> "subprocess.CompletedProcess[str]":
        """Run one command to its end and return its exit code and outputs."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin.encode())
            given.seek(0)
            connection = self._request(args, cwd, env, (given.fileno(), out.fileno(), err.fileno()))
            code = CommandProcess(args, connection, (None, None, None)).wait(timeout)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(list(args), code, out.read().decode(), err.read().decode())

    def start(
        self, args: Sequence[str], *, cwd: Path, env: dict[str, str], stdin: int | None = subprocess.DEVNULL
    ) -> CommandProcess:
        """Start a command whose outputs are pipes; `stdin` is DEVNULL or PIPE."""
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        in_read, in_write = os.pipe() if stdin == subprocess.PIPE else (os.open(os.devnull, os.O_RDONLY), None)
        try:
            connection = self._request(args, cwd, env, (in_read, out_write, err_write))
        finally:
            for descriptor in (in_read, out_write, err_write):
                os.close(descriptor)
        typed = None if in_write is None else os.fdopen(in_write, "w", encoding="utf-8")
        outputs = (os.fdopen(out_read, encoding="utf-8"), os.fdopen(err_read, encoding="utf-8"))
        return CommandProcess(args, connection, (typed, *outputs))

    def start_with(
        self, args: Sequence[str], *, cwd: Path, env: dict[str, str], streams: Sequence[int]
    ) -> CommandProcess:
        """Start a command with three descriptors of the caller as its standard streams, such as a terminal's."""
        return CommandProcess(args, self._request(args, cwd, env, streams), (None, None, None))

    def close(self) -> None:
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait(30)

    def _request(self, args: Sequence[str], cwd: Path, env: dict[str, str], streams: Sequence[int]) -> socket.socket:
        if self._control is None:
            self._start()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        request = json.dumps({"args": list(args), "cwd": str(cwd), "env": env}).encode()
        with theirs:
            descriptors = array.array("i", [theirs.fileno(), *streams])
            self._control.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        return ours

    def _start(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, *SERVER_ARGUMENTS, str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()]
            )


def serve(control: socket.socket) -> None:
    """Fork one child per request until the client closes its end."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(wake_read, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wake_read in ready:
                os.read(wake_read, 4_096)
                _report_ended(children)
            if control in ready and not _serve_request(control, children):
                break
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _serve_request(control: socket.socket, children: dict[int, socket.socket]) -> bool:
    """Start one command; False if the client has gone."""
    space = socket.CMSG_SPACE(4 * array.array("i").itemsize)
    request, ancillary, _, _ = control.recvmsg(MAX_REQUEST_BYTES, space)
    if not request:
        return False
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data)
    connection, streams = socket.socket(fileno=descriptors[0]), list(descriptors[1:])
    pid = os.fork()
    if pid == 0:
        _run_command(json.loads(request), streams, [control, connection, *children.values()])
    for descriptor in streams:
        os.close(descriptor)
    children[pid] = connection
    connection.sendall(f"{pid}\n".encode())
    return True


def _report_ended(children: dict[int, socket.socket]) -> None:
    for pid in list(children):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with children.pop(pid) as connection, contextlib.suppress(OSError):
                connection.sendall(f"{status}\n".encode())


def _run_command(request: dict[str, Any], streams: list[int], sockets: list[socket.socket]) -> None:
    """In the fork: become the command, and never return."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in sockets:
            one.close()
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        for descriptor in {*streams} - {0, 1, 2}:
            os.close(descriptor)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        # As Python itself sets them up at its start.
        modes = enumerate(("rb", "wb", "wb"))
        inputs, outputs, errors = (os.fdopen(number, mode, closefd=False) for number, mode in modes)
        sys.stdin = sys.__stdin__ = TextIOWrapper(inputs, "utf-8")
        sys.stdout = sys.__stdout__ = TextIOWrapper(outputs, "utf-8", line_buffering=os.isatty(1))
        sys.stderr = sys.__stderr__ = TextIOWrapper(errors, "utf-8", "backslashreplace", line_buffering=True)
        sys.argv = ["trackside", *request["args"]]
        code = _exit_code(request["args"])
    except BaseException:  # noqa: BLE001  (the fork must not return into the server's loop)
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def _exit_code(args: list[str]) -> int:
    from console.cli.main import main

    try:
        return int(main(args))
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)


if __name__ == "__main__":
    for module in PRELOADED:
        import_module(module)
    import gc

    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as control_socket:
        serve(control_socket)
