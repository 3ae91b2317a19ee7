"""A small shell process that outlives the host for a moment and kills the process groups that it left."""

import contextlib
import os
import secrets
import subprocess
import threading
from itertools import count
from typing import Final

from engine.runtimes.environment import MARK

SCRIPT: Final = r"""
trap '' INT TERM HUP
groups=' '
while read -r sign group; do
    case $sign in
        +) groups="$groups$group " ;;
        -) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
sessions=
for group in $groups; do kill -9 "-$group"; sessions="$sessions|$group"; done
case $sessions in '') exit ;; esac
kill_marked() {
    marked=$(grep -l -F "$1" /proc/[0-9]*/environ)
    case $marked in '') return 1 ;; esac
    for path in $marked; do path=${path#/proc/}; kill -9 "${path%/environ}"; done
    true
}
kill_marked "$1" &
for process in $(sed -n -E "s/^([0-9]+) .*\) . [0-9]+ [0-9]+ (${sessions#|}) .*/\1/p" /proc/[0-9]*/stat); do
    kill -9 "$process"
done
wait $! || exit
for try in 1 2 3 4 5 6 7 8; do kill_marked "$1" || exit; done
"""
"""End of input means that the host is gone. The script kills the groups first, then, if there is a /proc, processes
that made a group of their own within their sessions, and processes of any session with the mark of this host's
children; these may fork meanwhile, so it looks again. A shell reads byte by byte, so sed and grep choose the processes.
"""


class Guardian:
    """Tracks the process groups of one host. Safe to use from any thread."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(16)
        """The start of the marks of all children of this host."""
        self._numbers = count(1)
        self._groups: set[int] = set()
        self._shell: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def new_mark(self) -> str:
        """Return a mark for the environment of one child. Nobody else has it or can guess it."""
        return f"{self._token}-{next(self._numbers)}"

    def watch(self, group: int) -> None:
        """Watch a group. Blocks for a millisecond; the first call starts the shell."""
        with self._lock:
            self._groups.add(group)
            if self._shell is None:
                self._start()
            else:
                self._send(b"+ %d\n" % group)

    def forget(self, group: int) -> None:
        """Stop watching a group that is gone, because its number may be reused."""
        with self._lock:
            if group in self._groups:
                self._groups.discard(group)
                if self._shell is not None:
                    self._send(b"- %d\n" % group)

    def close(self) -> None:
        """End the shell, and with it every group that is still watched. Blocks until it is gone."""
        with self._lock:
            shell, self._shell = self._shell, None
            self._groups.clear()
        if shell is not None:
            _end(shell)

    def _start(self) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", SCRIPT, "trackside-guardian", f"{MARK}={self._token}-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            env={},
            bufsize=0,
        )
        self._write(b"".join(b"+ %d\n" % group for group in sorted(self._groups)))

    def _send(self, line: bytes) -> None:
        try:
            self._write(line)
        except BrokenPipeError:  # the guardian was killed: start another one
            if self._shell is not None:
                _end(self._shell)
            self._start()

    def _write(self, lines: bytes) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            os.write(self._shell.stdin.fileno(), lines)


def _end(shell: "subprocess.Popen[bytes]") -> None:
    if shell.stdin is not None:
        with contextlib.suppress(OSError):
            shell.stdin.close()
    shell.wait()
