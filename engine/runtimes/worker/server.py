"""The child's main loop: load the runner once, then serve one run at a time until the host is gone."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final, NoReturn

from engine.runtimes import wire
from engine.runtimes.worker import seeding
from engine.runtimes.worker.host_calls import HostCalls
from engine.runtimes.worker.loader import load, loaded_files, new_digests, new_modules
from engine.runtimes.worker.opened import OpenedReporter
from engine.runtimes.worker.outbox import Outbox
from engine.runtimes.worker.run import Run, rehearse
from engine.runtimes.worker.tracebacks import report, sentence

LEFTOVER_GRACE_SECONDS: Final = 0.5
"""Seconds for leftover tasks of the runner to react to their cancellation."""

NO_BREAKPOINT: Final = (
    "breakpoint() cannot ask here: a runner's stdin belongs to the wire. Attach a debugger instead: "
    "`import debugpy; debugpy.listen(5678); debugpy.wait_for_client()`, and debugpy.breakpoint()."
)


def serve(wire_in: int, wire_out: int, where: list[str]) -> NoReturn:
    """Serve everything after `ready`; `where` is the runner's path, attribute and folder, and the random seed."""
    path, attr, folder, seed = where
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    outbox = Outbox(wire_out, loop)
    try:
        server = _Server(loop, outbox, Path(folder))
        threading.Thread(target=_listen, args=(wire_in, loop, server), name="trackside-wire", daemon=True).start()
        if "PYTHONBREAKPOINT" not in os.environ:
            sys.breakpointhook = _no_breakpoint
        if seed:
            seeding.install(seed)
        server.watch_opened()
        server.load(Path(path), attr or None)
        rehearse()
        loop.run_forever()
    except SystemExit as leaving:
        _leave(outbox, leaving.code)
    except KeyboardInterrupt as interrupt:
        print(report(interrupt), file=sys.stderr)
        _leave(outbox, 130)
    raise AssertionError("the loop never stops by itself")


def _listen(wire_in: int, loop: asyncio.AbstractEventLoop, server: "_Server") -> None:
    """Read the wire. Its end means that the host is gone, so this process group ends too."""
    decoder = wire.Decoder(wire.MAX_REPLY)
    while data := os.read(wire_in, 1 << 16):
        frames = [item[0] for item in decoder.feed(data) if not isinstance(item, wire.Fault)]
        if frames:
            loop.call_soon_threadsafe(server.take, frames)
    os.killpg(0, signal.SIGKILL)


class _Server:
    def __init__(self, loop: asyncio.AbstractEventLoop, outbox: Outbox, folder: Path) -> None:
        self._loop = loop
        self._outbox = outbox
        self._folder = folder
        self._calls = HostCalls(outbox)
        self._runner: Any = None
        self._failure: dict[str, str] | None = None
        self._number = 0
        self._task: asyncio.Task[None] | None = None
        self._opened = OpenedReporter(self._report_opened)

    def watch_opened(self) -> None:
        """Report from now on what the runner opens itself."""
        self._opened.install()

    def _report_opened(self, what: str, target: str) -> None:
        opened = {"what": what, "target": target}
        self._outbox.send_without_waiting(wire.encode({"seq_id": 0, "action": "__opened", "data": opened}))

    def load(self, path: Path, attr: str | None) -> None:
        """Import the runner; a failure is kept for the run that asks for it."""
        try:
            self._runner = load(path, attr, self._folder)
        except Exception as error:  # noqa: BLE001 - the author's module may raise anything
            self._failure = {"code": "runner.not_loaded", "message": sentence(error), "traceback": report(error)}
        loaded = {**self._loaded_code(), "failed": self._failure is not None}
        self._outbox.send(wire.encode({"seq_id": 0, "action": "loaded", "data": loaded}))

    def _loaded_code(self) -> dict[str, Any]:
        """Return all loaded files, and of digests and modules those that are new since the last report."""
        files = loaded_files(self._folder)
        return {"files": files, "digests": new_digests(), "modules": new_modules()}

    def take(self, frames: list[wire.Frame]) -> None:
        """Handle one frame of the host on the loop's thread."""
        for frame in frames:
            match frame.get("action"):
                case None:
                    self._calls.replied(frame)
                case "run_agent":
                    self._begin(frame["seq_id"], frame["data"])
                case "__cancel_action":
                    if self._task is not None and frame["data"].get("seq_id") == self._number:
                        self._task.cancel()
                case "ping":
                    self._outbox.send(wire.encode({"seq_id": frame["seq_id"], "code": 0, "message": "pong"}))
                case action:
                    refusal = {"seq_id": frame["seq_id"], "code": 1, "message": f"no action {action!r} here"}
                    self._outbox.send(wire.encode(refusal))

    def _begin(self, number: int, order: dict[str, Any]) -> None:
        self._number = number
        if order.get("is_first") is not True:
            self._opened.start_run()
            if order.get("seed"):
                seeding.start_run(order["seed"])
        run = Run(number, self._outbox)
        task = self._task = self._loop.create_task(self._serve(run, order))
        # A task that is cancelled before its first step cannot report it.
        task.add_done_callback(lambda _: self._end(run, order["nonce"]))

    async def _serve(self, run: Run, order: dict[str, Any]) -> None:
        try:
            if self._failure is None:
                await run.perform(self._runner, order["context"], self._calls)
            else:
                run.failure = self._failure
        finally:
            run.is_clean = await _end_leftovers()

    def _end(self, run: Run, nonce: str) -> None:
        """Report the end of a run after its output, so that the host knows that it has read everything."""
        for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
            with contextlib.suppress(Exception):  # the author may have closed or replaced either
                stream.flush()
            with contextlib.suppress(OSError):
                os.write(descriptor, b"\0%b\n" % nonce.encode())
        end = {**self._loaded_code(), "clean": run.is_clean}
        failure = run.failure
        head = {"seq_id": run.number, "code": 0 if failure is None else 1, "chunk_status": "end"}
        message = "success" if failure is None else failure["message"]
        self._outbox.send(wire.encode({**head, "message": message, "data": {**end, **(failure or {})}}))


async def _end_leftovers() -> bool:
    """Cancel tasks that the runner left. Returns True if none survives in this process."""
    leftovers = asyncio.all_tasks() - {asyncio.current_task()}
    for task in leftovers:
        task.cancel()
    if leftovers:
        await asyncio.wait(leftovers, timeout=LEFTOVER_GRACE_SECONDS)
    quiet = ("trackside-", "asyncio_")  # ours, and the idle threads of `asyncio.to_thread`
    threads = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    return all(task.done() for task in leftovers) and all(thread.name.startswith(quiet) for thread in threads)


def _no_breakpoint(*_: object, **__: object) -> NoReturn:
    raise RuntimeError(NO_BREAKPOINT)


def _leave(outbox: Outbox, code: object) -> NoReturn:
    """Exit as Python would, but without waiting for threads that the runner left."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    outbox.drain(5)
    os._exit((code or 0) & 0xFF)
