"""Where runner code lives, seen from a run: begin it, hear from it, stop it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from engine.runtimes.inside.stamps import Stamp


class RuntimeProblem(Exception):
    """A runner cannot be started at all; the message names the fix."""


class How(StrEnum):
    """How an execution came to its end."""

    ENDED = "ended"
    RAISED = "raised"
    LOST = "lost"
    CANCELLED = "cancelled"
    NOT_LOADED = "not_loaded"


@dataclass(frozen=True, slots=True)
class Ending:
    """The last thing that is known of an execution."""

    how: How
    message: str = ""
    traceback: str = ""
    """The runner's own frames; ours are cut off."""
    exit_code: int | None = None
    """Of a lost child: what it exited with, or minus the signal that killed it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start and where. Equal launches may share a warm child."""

    path: Path
    """The Python file."""
    attr: str | None
    """Its class or function; none means the module's own `run`."""
    folder: Path
    """Goes on the child's `sys.path`; a changed module below it means a new child."""
    cwd: Path
    python: str | None = None
    """The interpreter; none means ours."""
    env: tuple[tuple[str, str], ...] = ()
    """What the child sees beyond the small base environment."""
    package_path: Path | None = None
    """Reserved for plugins that bring LangBot's own SDK."""


@dataclass(frozen=True, slots=True)
class Receipted:
    """A reply of which the host must know whether it was written to the runner; one of the two is called, once."""

    data: Any
    written: Callable[[], None]
    lost: Callable[[], None]


class Sink(Protocol):
    """How a run hears from its runner. All of it is called on the loop's thread; none of it raises but `call`."""

    @property
    def full(self) -> bool:
        """True asks the runtime to stop reading until there is room."""
        ...

    def when_room(self, call: Callable[[], None]) -> None:
        """Call once, on the loop, as soon as the sink is no longer full."""
        ...

    def result(self, result: object, size: int) -> None:
        """One decoded result, usually a dict but anything JSON can be; `size` counts its encoded bytes."""
        ...

    def unreadable(self, reason: str, size: int) -> None:
        """Something came that cannot be a result: too large, too deep, not JSON, badly split."""
        ...

    def output(self, stream: str, text: str) -> None:
        """One line that the runner printed to `stdout` or `stderr`, without its newline; long ones come in pieces."""
        ...

    def silent(self, seconds: float) -> None:
        """The runner's loop has not answered for so long; told once, until it answers."""
        ...

    def answers_again(self, seconds: float) -> None:
        """It does, after a silence that was told; `seconds` is all of it."""
        ...

    def gone(self) -> None:
        """The runner's process is gone; what it said before may still be on its way."""
        ...

    async def call(self, action: str, data: dict[str, Any]) -> Any:
        """A run-scoped call: its reply's data, plain or receipted, or an iterator of them; raises AgentAPIException."""
        ...


class Execution(Protocol):
    """One run of one runner."""

    @property
    def code(self) -> Sequence[Stamp]:
        """The files that its code came from, as they were when it was loaded; none as long as that is not known."""
        ...

    async def ended(self) -> Ending:
        """Resolves when no more results can come and the output has been read."""
        ...

    def cancel(self) -> None:
        """Ask the runner to stop: it sees CancelledError where it waits."""
        ...

    async def kill(self) -> None:
        """End the runner and all it started, now; returns when they are gone."""
        ...


class Runtime(Protocol):
    """A place that runs runners."""

    async def begin(self, launch: Launch, run_id: str, context: dict[str, Any], sink: Sink) -> Execution:
        """Start one run; raises RuntimeProblem where nothing can be started."""
        ...

    async def warm(self, launch: Launch) -> None:
        """Start a child ahead of its run."""
        ...

    def renew(self) -> None:
        """Load all code anew for runs that begin from here on; those at work keep theirs."""
        ...

    async def close(self) -> None:
        """End all that was started here."""
        ...
