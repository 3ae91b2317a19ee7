"""The interface between a run and the place of its runner's code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from engine.runtimes.worker.file_stamps import Stamp


class RuntimeProblem(Exception):
    """A runner that cannot be started. The message names the fix."""


class EndKind(StrEnum):
    """How an execution ended."""

    ENDED = "ended"
    RAISED = "raised"
    LOST = "lost"
    CANCELLED = "cancelled"
    NOT_LOADED = "not_loaded"


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of an execution."""

    how: EndKind
    message: str = ""
    traceback: str = ""
    """The runner's own frames; frames of Trackside are cut off."""
    exit_code: int | None = None
    """For a lost child: its exit code, or minus the signal that killed it."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start, and where. Equal launches may share a warm child."""

    path: Path
    """The Python file."""
    attr: str | None
    """The class or function; None means the module's own `run`."""
    folder: Path
    """Added to the child's `sys.path`; a changed module below it requires a new child."""
    cwd: Path
    python: str | None = None
    """The interpreter; None means ours."""
    env: tuple[tuple[str, str], ...] = ()
    """Variables in addition to the small base environment."""
    package_path: Path | None = None
    """Reserved for plugins that bring LangBot's own SDK."""


@dataclass(frozen=True, slots=True)
class ConfirmedReply:
    """A reply for which the host must know whether the runner received it. Exactly one callback is called, once."""

    data: Any
    written: Callable[[], None]
    lost: Callable[[], None]


@dataclass(frozen=True, slots=True)
class EncodedReply:
    """A reply as JSON text, because it is large or was read from the store as text."""

    text: bytes
    sent: Callable[[], None]
    """Called once, when the reply was written or cannot be."""


class RunnerCall(Protocol):
    """A call of a runner that was read and recorded."""

    async def answer(self) -> Any:
        """Return data, a confirmed or encoded reply, or an iterator of data. Raises AgentAPIException."""
        ...

    def cancel(self) -> None:
        """Report that the runner does not wait for the reply any more. The reply may be on its way already."""
        ...

    def close(self) -> None:
        """Report that nothing more is done for this call: its reply was written, or `answer` was cancelled."""
        ...


class Sink(Protocol):
    """Receives what a runner produces. Nothing here raises; all but `prepare` are called on the loop's thread."""

    @property
    def full(self) -> bool:
        """Whether the runtime should stop reading until there is room."""
        ...

    def when_room(self, call: Callable[[], None]) -> None:
        """Call back once, on the loop, when the sink is no longer full."""
        ...

    def waiting(self, before: Callable[[], int] | None, reason: str = "") -> None:
        """Report that the run waits for a process, and which limit of the system is the reason, if any.

        `before` counts the starts before this one; None means that the wait is over. Not called if there is no wait.
        """
        ...

    def prepare(self, result: object) -> object:
        """Check a large decoded result; what it returns is passed to `result` instead. Called in a thread."""
        ...

    def result(self, result: object, size: int) -> None:
        """Take one decoded result, usually a dict but any JSON; `size` is its encoded size in bytes."""
        ...

    def unreadable(self, reason: str, size: int) -> None:
        """Report input that cannot be a result: too large, too deep, not JSON, badly split."""
        ...

    def output(self, stream: str, text: str) -> None:
        """Take one line of `stdout` or `stderr` without its newline; long lines come in parts."""
        ...

    def output_lost(self, stream: str, size: int) -> None:
        """Report bytes of `stdout` or `stderr` that could not be read before the end."""
        ...

    def silent(self, seconds: float) -> None:
        """Report once that the runner's loop has not answered for this long."""
        ...

    def answers_again(self, seconds: float) -> None:
        """Report that the loop answers again after a reported silence of `seconds`."""
        ...

    def gone(self) -> None:
        """Report that the runner's process is gone. Earlier results may still be on the way."""
        ...

    def request(self, action: str, data: dict[str, Any]) -> RunnerCall:
        """Take one call. It is recorded in the order in which results and calls were read."""
        ...


class Execution(Protocol):
    """One run of one runner."""

    @property
    def code(self) -> Sequence[Stamp]:
        """The source files as they were when they were loaded; None until that is known."""
        ...

    async def ended(self) -> Ending:
        """Wait until no more results can come and all output was read."""
        ...

    def cancel(self) -> None:
        """Ask the runner to stop: it gets a CancelledError where it waits."""
        ...

    async def kill(self) -> None:
        """Kill the runner and everything it started. Returns when they are gone."""
        ...


class Runtime(Protocol):
    """A place that runs runners."""

    async def begin(self, launch: Launch, run_id: str, context: dict[str, Any], sink: Sink) -> Execution:
        """Start one run. Raises RuntimeProblem if nothing can be started."""
        ...

    async def warm(self, launch: Launch) -> None:
        """Start a child ahead of its run."""
        ...

    def renew(self) -> None:
        """Load code again for runs that start from now on; runs in progress keep theirs."""
        ...

    async def close(self) -> None:
        """End everything that was started here."""
        ...
