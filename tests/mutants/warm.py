"""A Python that has imported what no fault can touch: each run of tests is a fork of it, and starts at once."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Final

STRANGERS: Final = ("pytest", "pydantic", "sqlalchemy.dialects.sqlite", "orjson", "yaml", "platformdirs", "hypothesis")
"""Nothing of the project's own may be among them."""


class Warm:
    """The fork's parent, seen from outside."""

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
        self._asks, self._answers = self._process.stdin, self._process.stdout

    def run(self, arguments: list[str], output: Path, longest: float) -> int | None:
        """The exit code of pytest with these arguments, or None if it was stuck."""
        self._asks.write(json.dumps([arguments, str(output)]) + "\n")
        self._asks.flush()
        patience = Timer(longest, os.kill, (int(self._answers.readline()), signal.SIGKILL))
        patience.start()
        code = int(self._answers.readline())
        patience.cancel()
        return None if code == -signal.SIGKILL else code

    def close(self) -> None:
        self._asks.close()
        self._process.wait()
        self._answers.close()


def main() -> None:
    """For every line a run: first its process id, then its exit code."""
    for name in STRANGERS:
        import_module(name)
    for line in sys.stdin:
        arguments, output = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _perform(arguments, output)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _perform(arguments: list[str], output: str) -> None:
    pytest = import_module("pytest")
    told = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor, kept in ((os.open(os.devnull, os.O_RDONLY), 0), (told, 1), (told, 2)):
        os.dup2(descriptor, kept)
    code = 70
    try:
        code = int(pytest.main(arguments))
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
