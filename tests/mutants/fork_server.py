"""A process that has imported the libraries of the tests. Each run of pytest is a fork of it and starts at once."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Final

LIBRARIES: Final = ("pytest", "pydantic", "sqlalchemy.dialects.sqlite", "orjson", "yaml", "platformdirs", "hypothesis")
"""No module of the project may be here: a fork would not load it with its fault."""


class ForkServer:
    """Starts the process and sends it one run after another."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout

    def run(self, arguments: list[str], output: Path, max_seconds: float) -> int | None:
        """Run pytest with these arguments. Returns its exit code, or None if it took longer."""
        self._requests.write(json.dumps([arguments, str(output)]) + "\n")
        self._requests.flush()
        timer = Timer(max_seconds, os.kill, (int(self._replies.readline()), signal.SIGKILL))
        timer.start()
        code = int(self._replies.readline())
        timer.cancel()
        return None if code == -signal.SIGKILL else code

    def close(self) -> None:
        self._requests.close()
        self._process.wait()
        self._replies.close()


def main() -> None:
    """Run pytest for every line of input, and print the process id and then the exit code."""
    for name in LIBRARIES:
        import_module(name)
    for line in sys.stdin:
        arguments, output = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run_pytest(arguments, output)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _run_pytest(arguments: list[str], output: str) -> None:
    pytest = import_module("pytest")
    log = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor, kept in ((os.open(os.devnull, os.O_RDONLY), 0), (log, 1), (log, 2)):
        os.dup2(descriptor, kept)
    code = 70
    try:
        code = int(pytest.main(arguments))
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
