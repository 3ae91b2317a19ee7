"""`python -m tests.walk`: prints the path of one message, one steering message and one call through our functions.

The real console runs headless with a real runner in a child process, while `sys.setprofile` records every call of a
function of ours whose arguments carry the message: its text, or the id of its event, queue item, run or call. A
function that returns before the next such call is left out, as it is a helper and not a hop.
"""

import asyncio
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from types import FrameType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
MESSAGE: Final = "walk-message-text"
STEERING: Final = "walk-steering-text"
IDS: Final = re.compile(r"walk-\w+-text|\b(?:evt|run|item|call)_[0-9A-Za-z]+")
HANDLER: Final = re.compile(r"\.(_?on_|action_|_dispatch_message)")
"""Functions that take a key or a message of the screen; others that run before the engine only draw."""
MAX_DEPTH: Final = 4
MAX_VALUES: Final = 120
"""Values of the arguments of one call that are searched for ids."""
WAIT_SECONDS: Final = 60
RUNNER: Final = '''
"""Answers once, waits for a steering message at its steering point, makes a call, and ends."""

import asyncio

capabilities = {"streaming": True, "steering": True}


async def run(ctx):
    yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": "first"}}}
    while not (pulled := (await ctx.api.steering_pull()).items):
        await asyncio.sleep(0.05)
    await ctx.api.state_set("conversation", "walk", pulled[0].input.to_text())
    yield {"type": "run.completed", "data": {"finish_reason": "stop"}}
'''


@dataclass(slots=True)
class Call:
    """One call of a function of ours."""

    at: int
    thread: int
    depth: int
    """Functions of ours below it on its stack."""
    package: str
    function: str
    found: frozenset[str]
    """The ids and texts in its arguments."""
    kinds: frozenset[str]
    """Entry kinds among its arguments."""
    ended: int = 0


@dataclass
class Trace:
    """Records calls in every thread while it is on."""

    calls: list[Call] = field(default_factory=list[Call])
    _stacks: dict[int, list[tuple[FrameType, Call]]] = field(default_factory=dict[int, Any])

    def start(self) -> None:
        threading.setprofile(self._event)
        sys.setprofile(self._event)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _event(self, frame: FrameType, event: str, _argument: object) -> None:
        if event not in ("call", "return"):
            return
        package = package_of(frame.f_code.co_filename)
        if package is None:
            return
        thread = threading.get_ident()
        stack = self._stacks.setdefault(thread, [])
        if event == "return":
            while stack:
                left, call = stack.pop()
                call.ended = perf_counter_ns()
                if left is frame:
                    break
            return
        found = strings_in(frame)
        call = Call(
            perf_counter_ns(),
            thread,
            len(stack),
            package,
            frame.f_code.co_qualname,
            frozenset(match for text in found for match in IDS.findall(text)),
            frozenset(text for text in found if text in ("message.delta", "steering.injected", "call.replied")),
        )
        stack.append((frame, call))
        self.calls.append(call)


def package_of(filename: str) -> str | None:
    """The package of a file of ours, as the tables of docs/ARCHITECTURE.md name it."""
    try:
        parts = Path(filename).relative_to(ROOT).with_suffix("").parts
    except ValueError:
        return None
    return "/".join(parts[:2]) if parts[0] in ("engine", "console") else None


def strings_in(frame: FrameType) -> set[str]:
    """The strings in the arguments of a call, without those of `self`."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    todo: list[tuple[object, int]] = [(frame.f_locals.get(name), 0) for name in names if name not in ("self", "cls")]
    found, budget = set[str](), MAX_VALUES
    while todo and budget:
        budget -= 1
        value, depth = todo.pop()
        if isinstance(value, str):
            found.add(value[:2_000])
        elif isinstance(value, bytes):
            found.add(value[:2_000].decode("utf-8", "replace"))
        elif depth < MAX_DEPTH:
            todo += [(inner, depth + 1) for inner in inner_values(value)]
    return found


def inner_values(value: object) -> Iterator[object]:
    """The values inside a container, a dataclass, a model or a Textual message."""
    if isinstance(value, Mapping):
        yield from list(value.values())[:20]
    elif isinstance(value, list | tuple | set | frozenset):
        yield from list(value)[:20]
    elif hasattr(value, "__dataclass_fields__"):
        yield from (getattr(value, name, None) for name in value.__dataclass_fields__)
    elif type(value).__module__.split(".")[0] in ("engine", "console"):
        slots = getattr(type(value), "__slots__", ())
        yield from (getattr(value, name, None) for name in (slots if isinstance(slots, tuple) else ()))
        name = type(value).__qualname__
        if "." in name or hasattr(value, "model_fields_set"):  # a nested Textual message, or a pydantic model
            yield from list(vars(value).values())[:20]


def path_of(calls: list[Call], carries: Callable[[Call], bool]) -> list[Call]:
    """The hops: of each burst of calls, the functions that are on the stack when the last of them begins.

    A burst is one callback of the loop, or one operation of another thread. A function that has returned by then
    was a helper. As soon as the engine has the message, what the console draws meanwhile is not on the way.
    """
    path: list[Call] = []
    in_engine = False
    for burst in bursts(calls):
        chain = stack_at_last(burst, carries)
        known = {hop.function for hop in path}
        reaches_engine = any(call.package.startswith("engine/") for call in chain)
        if in_engine and any(call.package.startswith("console/") and call.function not in known for call in chain):
            continue
        if not in_engine and not reaches_engine and not any(HANDLER.search(call.function) for call in chain):
            continue
        in_engine = in_engine or any(call.package == "engine/api" for call in chain)
        path += [call for call in chain if call.function not in known]
    return path


def bursts(calls: list[Call]) -> Iterator[list[Call]]:
    """Calls by the outermost call that they belong to, in the order in which they began."""
    current: dict[int, list[Call]] = {}
    begun: list[list[Call]] = []
    for call in calls:
        if call.depth == 0 or call.thread not in current:
            current[call.thread] = []
            begun.append(current[call.thread])
        current[call.thread].append(call)
    yield from begun


def stack_at_last(burst: list[Call], carries: Callable[[Call], bool]) -> list[Call]:
    """The calls of a burst that were active when its last carrying call began, and that call itself."""
    last = next((call for call in reversed(burst) if carries(call)), None)
    if last is None:
        return []
    outer = [call for call in burst if call.at < last.at and call.depth < last.depth and not 0 < call.ended < last.at]
    return [*[call for call in outer if carries(call)], last]


def returns_in(path: list[Call]) -> int:
    """How often the path enters a package that it had left."""
    seen, current, count = set[str](), "", 0
    for call in path:
        if call.package != current:
            count += call.package in seen
            seen.add(call.package)
            current = call.package
    return count


async def record() -> tuple[list[Call], dict[str, set[str]]]:
    """Run the console with one message and one steering message. Returns all calls and the ids of each path."""
    from console.app import Trackside
    from console.launch import LaunchOptions

    trace = Trace()
    with TemporaryDirectory(prefix="trackside-walk-") as folder:
        runner = Path(folder, "walk_runner.py")
        runner.write_text(RUNNER)  # noqa: ASYNC240
        app = Trackside(LaunchOptions(target=runner, db=Path(folder, "walk.db")))
        async with app.run_test(size=(160, 45)) as pilot:
            await until(lambda: app.active_session.is_open and app.controllers.drafts.is_open)
            await type_text(app, pilot, MESSAGE)
            trace.start()
            await pilot.press("enter")
            await until(lambda: any("message.delta" in call.kinds for call in trace.calls))
            trace.stop()
            first = len(trace.calls)
            await type_text(app, pilot, STEERING)
            trace.start()
            await pilot.press("enter")
            await until(lambda: any("call.replied" in call.kinds and call.at for call in trace.calls[first:]), 2)
            await asyncio.sleep(1)
            trace.stop()
    ids = {
        "message": ids_beside(trace.calls, MESSAGE, ("evt_", "run_")),
        "steering": ids_beside(trace.calls[first:], STEERING, ("evt_", "item_")),
        "call": {"walk"},
    }
    return trace.calls, ids


async def type_text(app: Any, pilot: Any, text: str) -> None:
    app.focused.insert(text)
    await pilot.pause()


async def until(holds: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not holds() and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def ids_beside(calls: list[Call], text: str, prefixes: tuple[str, ...]) -> set[str]:
    """The text, and the ids that a call had among its arguments together with it."""
    together = {name for call in calls if text in call.found for name in call.found}
    return {text, *(name for name in together if name.startswith(prefixes))}


def main() -> int:
    calls, ids = asyncio.run(record())
    for name, wanted in ids.items():
        path = path_of(calls, lambda call, wanted=wanted: bool(call.found & wanted))
        print(f"### {name}: {len(path)} hops, {returns_in(path)} returns to a package already left\n")
        for call in path:
            print(f"- `{call.package}` {call.function}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
