"""`python -m tests.walk` prints the path of one message, one steering message and one call through our functions.

The real console runs headless with a real runner in a child process. A profile hook records every call of a function
of ours on the loop's thread, and a loop of our own remembers which functions were active when a callback was scheduled
or a future created. The path is read backwards from its last call: the functions that were active then, the functions
that were active when that callback was scheduled, and so on, back to the key or to the runner's process. A function
that has returned by then is a helper, and no part of the path. So the path depends on causes alone and not on times,
and it is the same in every run.

`python -m tests.walk --update-docs` writes the paths into docs/ARCHITECTURE.md; tests/test_walk.py compares them.
"""

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final, NamedTuple

import pytest
from textual.events import Key
from textual.message import Message
from textual.message_pump import MessagePump

from engine import host
from engine.events import CommittedEntry, Entry, EntryKind
from engine.runtimes.pool import ChildPool
from engine.store.batch import Batch, Operation

ROOT: Final = Path(__file__).resolve().parents[1]
DOCUMENT: Final = ROOT / "docs" / "ARCHITECTURE.md"
MARKER: Final = "<!-- walk -->\n"
WARM_UP: Final = "walk warm-up"
MESSAGE: Final = "walk message"
STEERING: Final = "walk steering message"
MESSAGE_PATH: Final = "A message, from the key to its first delta on the screen"
STEERING_PATH: Final = "A steering message, from the key to its place in the queue"
PULL_PATH: Final = "A pull, from the runner to the reply with the steering message"
CALL_PATH: Final = "A call, from the runner to its reply"
MAX_RETURNS: Final = {MESSAGE_PATH: 12, STEERING_PATH: 4}
"""How often a path may enter a package that it had left."""
MAX_VALUES: Final = 60
"""Values of the arguments of one call that are searched for entries."""
WAIT_SECONDS: Final = 60
LAZY: Final = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
RUNNER: Final = f'''
"""Answers once, waits for a steering message at its steering point, makes a call, and ends."""

import asyncio

capabilities = {{"streaming": True, "steering": True}}


async def run(ctx):
    if ctx.input.to_text() != {WARM_UP!r}:
        yield {{"type": "message.delta", "data": {{"chunk": {{"role": "assistant", "content": "first"}}}}}}
        while not (pulled := (await ctx.api.steering_pull()).items):
            await asyncio.sleep(0.05)
        await ctx.api.state_set("conversation", "walk", pulled[0].input.to_text())
    yield {{"type": "run.completed", "data": {{"finish_reason": "stop"}}}}
'''


class PathLost(Exception):
    """The causes of a call could not be followed back to its origin."""


@dataclass(eq=False, slots=True)
class Call:
    """One activation of a function of ours: its call, or its continuation after an await."""

    package: str
    function: str
    arguments: dict[str, Any]
    continues: bool
    message: Message | None
    """The Textual message among the arguments."""
    posted: "Cause | None"
    """Where that message was posted."""
    entries: list[Entry]
    """The journal entries among the arguments."""

    def has_entry(self, entry: Entry) -> bool:
        return any(one is entry for one in self.entries)


class Cause(NamedTuple):
    """The functions that were active at a moment, outermost first, and what had started the outermost one."""

    stack: tuple[Call, ...]
    handle: "asyncio.Handle | None"


class Hop(NamedTuple):
    """One line of a path."""

    package: str
    function: str


RUNNER_PROCESS: Final = Hop("", "(the runner's process)")


class TracingLoop(asyncio.SelectorEventLoop):
    """Remembers the cause of every callback and of every future."""

    trace: "Trace | None" = None

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        return self._remember(super().call_soon(callback, *args, context=context), args)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:
        return self._remember(super().call_soon_threadsafe(callback, *args, context=context), args)

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        handle = super().call_at(when, callback, *args, context=context)
        self._remember(handle, args)
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        future = super().create_future()
        if self.trace is not None:
            self.trace.futures[id(future)] = future, self.trace.cause()
        return future

    def _remember(self, handle: asyncio.Handle, args: tuple[Any, ...]) -> asyncio.Handle:
        if self.trace is not None:
            future = next((each for each in args if isinstance(each, asyncio.Future)), None)
            self.trace.handles[id(handle)] = handle, self.trace.cause(), future
        return handle


@dataclass
class Trace:
    """Everything that happens on the loop's thread while it is recorded."""

    loop: TracingLoop
    calls: list[tuple[Call, Cause]] = field(default_factory=list[tuple[Call, Cause]])
    """The calls at which a path may end, with the functions that were active then."""
    handles: dict[int, tuple[asyncio.Handle, Cause, asyncio.Future[Any] | None]] = field(default_factory=dict[int, Any])
    futures: dict[int, tuple[asyncio.Future[Any], Cause]] = field(default_factory=dict[int, Any])
    posts: dict[int, tuple[Message, Cause]] = field(default_factory=dict[int, Any])
    recorded: dict[int, Cause] = field(default_factory=dict[int, Cause])
    """By the id of an entry: where it was given to the writer."""
    operations: dict[int, asyncio.Future[Any]] = field(default_factory=dict[int, Any])
    """By the id of an entry that an operation of the writer recorded: the future of that operation."""
    received: dict[int, Cause] = field(default_factory=dict[int, Cause])
    """By the id of an entry: where its subscriber received it."""
    _stack: list[Call] = field(default_factory=list[Call])
    _frames: list[FrameType] = field(default_factory=list[FrameType])
    _begun: set[FrameType] = field(default_factory=set[FrameType])
    _handle: asyncio.Handle | None = None
    _thread: int = field(default_factory=threading.get_ident)

    def start(self) -> None:
        self.loop.trace = self
        sys.setprofile(self._event)

    def stop(self) -> None:
        sys.setprofile(None)
        self.loop.trace = None

    def cause(self) -> Cause:
        """The functions that are active now. Other threads have none: the future that they resolve has a cause."""
        if threading.get_ident() != self._thread:
            return Cause((), None)
        return Cause(tuple(self._stack), self._handle)

    def _event(self, frame: FrameType, event: str, value: object) -> None:
        code = frame.f_code
        if event not in ("call", "return"):
            return
        if code is HANDLE_RUN:
            self._handle = frame.f_locals["self"] if event == "call" else None
            return
        package = TEXTUAL if code is DISPATCH else package_of(code.co_filename)
        if package is None:
            return
        if event == "return":
            self._returned(frame, value)
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        arguments = {name: frame.f_locals.get(name) for name in names}
        message = next((each for name, each in arguments.items() if name != "self" and isinstance(each, Message)), None)
        continues = frame in self._begun
        if code.co_flags & LAZY:
            self._begun.add(frame)
        given = [each for name, each in arguments.items() if name != "self"]
        posted = self.posts[id(message)][1] if id(message) in self.posts else None
        entries = list(entries_in(given))
        call = Call(package, code.co_qualname, arguments, continues, message, posted, entries)
        if call.function in ENDS or (package == "console/ui" and call.entries):
            self.calls.append((call, self.cause()))
        self._stack.append(call)
        self._frames.append(frame)
        if call.function == "Writer.append":
            self.recorded[id(arguments["entry"])] = self.cause()

    def _returned(self, frame: FrameType, value: object) -> None:
        if not self._frames or self._frames[-1] is not frame:
            return  # it was called before the trace began
        self._frames.pop()
        call = self._stack.pop()
        if call.function == "Subscription._next_buffered":
            outside = tuple(each for each in self._stack if each.package != "engine/events")
            self.received.update((id(entry), Cause(outside, self._handle)) for entry in entries_in([value]))


ENDS: Final = ("WritePipe.write", "Answers._send_confirmed", "Answers._reply")
TEXTUAL: Final = "textual"
"""The package of Textual's own dispatch of a message, which is followed but not listed."""
DISPATCH: Final = MessagePump._dispatch_message.__code__
HANDLE_RUN: Final = asyncio.Handle._run.__code__  # pyright: ignore[reportAttributeAccessIssue]
PACKAGES: Final[dict[str, str | None]] = {}


def package_of(filename: str) -> str | None:
    """The package of a file of ours, as the tables of docs/ARCHITECTURE.md name it."""
    if filename not in PACKAGES:
        path = Path(filename)
        parts = path.relative_to(ROOT).with_suffix("").parts if path.is_relative_to(ROOT) else ("",)
        PACKAGES[filename] = "/".join(parts[:2]) if parts[0] in ("engine", "console") else None
    return PACKAGES[filename]


def entries_in(values: Sequence[object]) -> Iterator[Entry]:
    """The journal entries among some values, and in lists of them."""
    todo, left = list(values), MAX_VALUES
    while todo and left:
        left -= 1
        value = todo.pop()
        if isinstance(value, Entry):
            yield value
        elif isinstance(value, CommittedEntry):
            yield value.entry
        elif isinstance(value, list | tuple):
            todo += value[:MAX_VALUES]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


# From the last call back to the origin


@dataclass
class Walk:
    """Follows the causes of one call backwards."""

    trace: Trace
    entry: Entry | None = None
    """The entry that is on its way to the screen; None before it is committed."""
    is_through_runner: bool = True
    """Whether what the runner sends is caused by the order to run; otherwise the path begins at its process."""
    _future: asyncio.Future[Any] | None = None
    """The future that was last waited for."""
    _hops: list[Hop] = field(default_factory=list[Hop])

    def path_to(self, call: Call, cause: Cause) -> list[Hop]:
        """The hops from the origin to a call."""
        origin: Cause | None = Cause((*cause.stack, call), cause.handle)
        while origin is not None:
            origin = self._add_stack(origin)
        hops = self._hops[::-1]
        return [hop for place, hop in enumerate(hops) if place == 0 or hop != hops[place - 1]]

    def _add_stack(self, cause: Cause) -> Cause | None:
        """Add the functions of one stack, innermost first. Returns what led to them; None at the origin."""
        inner: Call | None = None
        stack = list(cause.stack)
        while stack:
            call = stack.pop()
            # Of the functions that continue after an await, only the one that acts is on the path.
            if not (call.continues and inner is not None and inner.continues):
                self._add(call)
            inner = call
            if call.function == "Child._received":
                return self._order_of_run(call)
            if call.function == "Writer._committed" and self.entry is not None:
                return self._recorded()
            if self._took_entry(call) and (received := self.trace.received.pop(id(self.entry), None)) is not None:
                return received
        if inner is not None and inner.posted is not None and not inner.continues:  # Textual has called it
            is_pressed = isinstance(inner.message, Key) and not inner.posted.stack  # by the pilot
            return None if is_pressed else inner.posted
        return self._scheduled(cause.handle)

    def _took_entry(self, call: Call) -> bool:
        """Whether a function has taken the entry from its subscription, as those that it called have the entry."""
        return self.entry is not None and call.package.startswith("console/") and not call.has_entry(self.entry)

    def _scheduled(self, handle: asyncio.Handle | None) -> Cause | None:
        """What scheduled a callback. If another thread did, what created the future that the thread resolved."""
        if handle is None or id(handle) not in self.trace.handles:
            return None
        _, scheduled, future = self.trace.handles[id(handle)]
        self._future = future or self._future
        if scheduled.stack or scheduled.handle is not None:
            return scheduled
        return self.trace.futures[id(self._future)][1] if id(self._future) in self.trace.futures else None

    def _recorded(self) -> Cause:
        """What recorded the entry: a function on the loop, or an operation of the writer."""
        entry, self.entry = self.entry, None
        if id(entry) in self.trace.recorded:
            return self.trace.recorded[id(entry)]
        return self.trace.futures[id(self.trace.operations[id(entry)])][1]

    def _order_of_run(self, received: Call) -> Cause | None:
        self._hops.append(RUNNER_PROCESS)
        child = received.arguments["self"]
        orders = (
            Cause((*cause.stack, call), cause.handle)
            for call, cause in self.trace.calls
            if call.function == "WritePipe.write"
            and cause.stack[-1].function == "Child.run"
            and cause.stack[-1].arguments["self"] is child
        )
        return next(orders, None) if self.is_through_runner else None

    def _add(self, call: Call) -> None:
        if call.package != TEXTUAL:
            self._hops.append(Hop(call.package, call.function))


def returns_in(path: Sequence[Hop]) -> int:
    """How often the path enters a package that it had left."""
    seen, current, count = set[str](), "", 0
    for hop in path:
        if hop.package not in ("", current):
            count += hop.package in seen
            seen.add(hop.package)
            current = hop.package
    return count


# The recorded run


async def record(loop: TracingLoop) -> dict[str, list[Hop]]:
    """Run the console with one message and one steering message. Returns the paths by their titles."""
    from console.app import Trackside
    from console.launch import LaunchOptions

    with TemporaryDirectory(prefix="trackside-walk-") as folder, watched() as watch:
        runner = Path(folder, "walk_runner.py")
        runner.write_text(RUNNER)  # noqa: ASYNC240
        app = Trackside(LaunchOptions(target=runner, db=Path(folder, "walk.db")))
        async with app.run_test(size=(160, 45)) as pilot:
            await until(lambda: app.focused is not None and "send" in str(getattr(app.focused, "border_title", "")))
            # The first run starts the child that the second one finds idle, and every function is loaded then.
            app.focused.insert(WARM_UP)
            await pilot.press("enter")
            await until(watch.has_idle_child)
            app.focused.insert(MESSAGE)
            message = watch.start(Trace(loop))
            await pilot.press("enter")
            await until(lambda: shown(message, EntryKind.MESSAGE_DELTA) is not None)
            message.stop()
            app.focused.insert(STEERING)
            steering = watch.start(Trace(loop))
            await pilot.press("enter")
            await until(lambda: shown(steering, EntryKind.STEERING_QUEUED) is not None)
            await until(lambda: shown(steering, EntryKind.RUN_COMPLETED) is not None)
            steering.stop()
    return {
        MESSAGE_PATH: path_to_screen(message, EntryKind.MESSAGE_DELTA),
        STEERING_PATH: path_to_screen(steering, EntryKind.STEERING_QUEUED),
        PULL_PATH: path_of_reply(steering, "Answers._send_confirmed"),
        CALL_PATH: path_of_reply(steering, "Answers._reply"),
    }


class Watch:
    """What is watched during the run: the trace that is recorded now, and the pool of children."""

    def __init__(self) -> None:
        self.trace: Trace | None = None
        self.pool: ChildPool | None = None

    def start(self, trace: Trace) -> Trace:
        self.trace = trace
        trace.start()
        return trace

    def has_idle_child(self) -> bool:
        pool: Any = self.pool
        return pool is not None and bool(pool._idle) and not pool._checks and not pool._warm_starts


@contextmanager
def watched() -> Iterator[Watch]:
    """Note where messages are posted, which operation records an entry, and which pool is made."""
    watch, post, operate, make_pool = Watch(), MessagePump.post_message, Batch._operate, ChildPool.__init__

    def post_message(self: MessagePump, message: Message) -> bool:
        if watch.trace is not None:
            watch.trace.posts[id(message)] = message, watch.trace.cause()
        return post(self, message)

    def operate_and_note(self: Batch, connection: Any, driver: Any, operation: Operation) -> None:
        before = len(self.entries)
        operate(self, connection, driver, operation)
        if watch.trace is not None:
            watch.trace.operations.update((id(entry), operation.future) for entry in self.entries[before:])

    def note_pool(self: ChildPool, *arguments: Any, **options: Any) -> None:
        watch.pool = self
        make_pool(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessagePump, "post_message", post_message)
        patch.setattr(Batch, "_operate", operate_and_note)
        patch.setattr(ChildPool, "__init__", note_pool)
        # Otherwise a poll for other processes, at the same moment, makes the subscriber read the database.
        patch.setattr(host, "POLL_SECONDS", 10 * WAIT_SECONDS)
        yield watch


def shown(trace: Trace, kind: EntryKind) -> tuple[Call, Cause, Entry] | None:
    """The first call of the screen with an entry of a kind that came through the subscription."""
    return next(
        (
            (call, cause, entry)
            for call, cause in trace.calls
            if call.package == "console/ui"
            for entry in call.entries
            if entry.type == kind and id(entry) in trace.received
        ),
        None,
    )


def path_to_screen(trace: Trace, kind: EntryKind) -> list[Hop]:
    found = shown(trace, kind)
    if found is None:
        raise PathLost(f"No {kind} reached the screen.")
    call, cause, entry = found
    path = Walk(trace, entry).path_to(call, cause)
    if not path[0].package.startswith("console/"):
        raise PathLost(f"The path of {kind} was lost at {path[0]}.")
    return path


def path_of_reply(trace: Trace, function: str) -> list[Hop]:
    """The path to the last call of a function that replies to the runner."""
    call, cause = next(each for each in reversed(trace.calls) if each[0].function == function)
    path = Walk(trace, is_through_runner=False).path_to(call, cause)
    if path[0] != RUNNER_PROCESS:
        raise PathLost(f"The path of {function} was lost at {path[0]}.")
    return path


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


# The document


def paths() -> dict[str, list[Hop]]:
    """The paths of today's code, by their titles."""
    with asyncio.Runner(loop_factory=TracingLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, TracingLoop)
        return runner.run(record(loop))


def as_markdown(found: dict[str, list[Hop]]) -> str:
    """The paths as the document has them."""
    parts: list[str] = []
    for title, path in found.items():
        lines = [f"{'`' + hop.package + '` ' if hop.package else ''}{hop.function}" for hop in path]
        parts.append(f"**{title}**: {len(path)} calls, returns to a package already left: {returns_in(path)}")
        parts.append("\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str]) -> int:
    text = as_markdown(paths())
    if "--update-docs" in arguments:
        before = DOCUMENT.read_text().partition(MARKER)[0]
        DOCUMENT.write_text(f"{before}{MARKER}\n{text}")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
