"""The interface between a run and the place of its runner's code."""

from collections.abc import Callable, Mapping, Sequence
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
class Sandbox:
    """The sandbox of a child: its own file view and processes, by bubblewrap."""

    network: bool = False
    """Whether the child shares the network of the host; else it has none."""


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
    is_deterministic: bool = True
    """Whether hashes, `random` and `uuid.uuid4` are seeded with recorded seeds."""
    sandbox: Sandbox | None = None
    """None means that the child has the rights of the host."""


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """The process of a run, as far as it decides what the runner does."""

    python: str
    """The path of the interpreter."""
    python_version: str | None
    """None if no process of this interpreter has reported it yet."""
    variables: tuple[str, ...]
    """The names of the environment variables that were passed on."""
    is_fresh: bool
    """Whether the run is the first in its process."""
    is_deterministic: bool
    hash_seed: int | None
    """None if the interpreter chose it."""
    random_seed: str | None
    """128 bits as hexadecimal digits; None if the run is not seeded."""

    def as_data(self) -> dict[str, Any]:
        """Return the facts as they are recorded."""
        return {
            "python": self.python,
            "python_version": self.python_version,
            "variables": list(self.variables),
            "fresh": self.is_fresh,
            "deterministic": self.is_deterministic,
            "hash_seed": self.hash_seed,
            "random_seed": self.random_seed,
        }


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """The code that a process had loaded at the end of a run."""

    files: Mapping[str, str | None]
    """The digests (SHA-256) of the files under the runner's own folder, by path; None if one is not known."""
    distributions: Mapping[str, str]
    """The versions of the other distributions, by name."""
    python_version: str | None
    files_left_out: int = 0

    def as_data(self) -> dict[str, Any]:
        """Return the code as it is recorded."""
        data = {"python_version": self.python_version, "files": self.files, "distributions": self.distributions}
        return {**data, "files_left_out": self.files_left_out} if self.files_left_out else data


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

    def opened(self, what: str, target: str) -> None:
        """Report a connection or process that the runner opened itself; `target` is at most 4096 characters long."""
        ...

    def process_chosen(self, process: ProcessFacts, reason: str, *, is_replaced: bool = False) -> None:
        """Report that the run gets another process than was reserved; `is_replaced` if the reserved one had ended."""
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

    async def loaded_code(self) -> LoadedCode | None:
        """Return the code that was loaded at the end of the run; None if the runner has no process of its own."""
        ...


class Reservation(Protocol):
    """The process that was chosen for one run. Either `begin` or `release` must be called."""

    @property
    def process(self) -> ProcessFacts | None:
        """The facts of the process; None if the runner has no process of its own."""
        ...

    async def begin(self, run_id: str, context: dict[str, Any], sink: Sink) -> Execution:
        """Start the run. Waits for a process if necessary. Raises RuntimeProblem if nothing can be started."""
        ...

    def release(self) -> None:
        """Give the process back. Does nothing once `begin` was called."""
        ...


class Runtime(Protocol):
    """A place that runs runners."""

    async def reserve(self, launch: Launch) -> Reservation:
        """Choose the process of a run. Waits for the check of an idle process, but never for the start of a new one."""
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
