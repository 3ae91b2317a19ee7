"""The host's side of one child process, which serves one run at a time."""

import asyncio
import errno
import secrets
import signal
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, cast

from engine.log import get_log
from engine.runtimes import wire
from engine.runtimes.answers import Answers
from engine.runtimes.child_reports import (
    MAX_MESSAGE_CHARS,
    MAX_TRACEBACK_CHARS,
    MAX_VERSION_CHARS,
    read_files,
    read_opened,
    read_size,
    read_text,
)
from engine.runtimes.environment import passed_variables
from engine.runtimes.guardian import Guardian
from engine.runtimes.heartbeat import Heartbeat, HeartbeatTimeouts
from engine.runtimes.loaded_modules import LoadedModules, LoadedSnapshot
from engine.runtimes.output import OutputLines
from engine.runtimes.pipes import ReadPipe, WritePipe
from engine.runtimes.processes import ProcessGroup
from engine.runtimes.resource_shortage import shortage_of
from engine.runtimes.runtime import Ending, EndKind, Launch, LoadedCode, ProcessFacts, RuntimeProblem, Sink
from engine.runtimes.sandbox import failed_start
from engine.runtimes.seeds import Seeds
from engine.runtimes.spawn import (
    NO_SEEDS,
    StartedProcess,
    abandon,
    interpreter_problem,
    known_version,
    python_of,
    spawn,
)
from engine.runtimes.worker.file_stamps import Stamp

LOG: Final = get_log("process")
READY_TIMEOUT_SECONDS: Final = 10.0
"""How long a new process may take to report that it is ready."""
DRAIN_TIMEOUT_SECONDS: Final = 0.3
"""How long to wait for more of a run's last output. What was written before the end is read to its end, unless the
child was killed.
"""
KILLED_DRAIN_SECONDS: Final = 0.1
"""How long to read what a killed child left in its pipes; a flood must not delay the end of the run."""
MAX_EARLY_LINES: Final = 256
"""Lines printed before the first run that are recorded in it: a module may print while it is imported."""
MAX_PARSED_BYTES: Final = 128 * 1024
"""A longer line is parsed and checked in a thread."""
ENVELOPE_BYTES: Final = len(b'{"seq_id":,"code":0,"message":"success","data":,"chunk_status":"continue"}')
"""Size of a result's frame without its number and data."""


class State(StrEnum):
    """The state of a child."""

    STARTING = "starting"
    IDLE = "idle"
    BUSY = "busy"
    SPENT = "spent"
    """The child served a run and must not be used again."""
    GONE = "gone"


class Child:
    """One worker process."""

    def __init__(
        self,
        launch: Launch,
        guardian: Guardian,
        timeouts: HeartbeatTimeouts | None = None,
        seeds: Seeds = NO_SEEDS,
    ) -> None:
        self.launch = launch
        self._seeds = seeds
        self._variables = passed_variables(launch)
        self._loaded_modules = LoadedModules(launch)
        self._loaded_modules.python_version = known_version(launch)
        self._early_opened: dict[str, str] = {}
        """What the module opened while it was imported, which the first run records."""
        self.mark = guardian.new_mark()
        """Its value in the environment of this child and of everything it starts."""
        self.state = State.STARTING
        self.is_old = False
        """Whether newer code was requested: the child may finish its run but gets no other."""
        self.files: list[Stamp] = []
        """Every module that was loaded from the launch's folder."""
        self.loaded: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether the runner could be imported."""
        self._guardian = guardian
        self._ready: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._group: ProcessGroup | None = None
        self._decoder = wire.Decoder(max_parsed=MAX_PARSED_BYTES)
        self._parsing: asyncio.Task[None] | None = None
        """Parses a large line; nothing more is read from the wire until it is handled, so that the order is kept."""
        self._wire_in = WritePipe(self._apply_backpressure)
        self._wire_out = ReadPipe(self._received, self._wire_ended)
        self._heartbeat = Heartbeat(self._wire_in.write, timeouts or HeartbeatTimeouts(), asyncio.get_running_loop())
        self._streams = {name: OutputLines() for name in ("stdout", "stderr")}
        self._outputs = {name: ReadPipe(self._output_reader(name)) for name in self._streams}
        self._early_output: deque[tuple[str, str]] = deque(maxlen=MAX_EARLY_LINES)
        self._run: ChildExecution | None = None
        self._runs = 0
        self._is_throttled = False
        self._was_killed = False
        self._is_dying = False
        """Whether it was killed and its group may not be gone yet. Nothing is read meanwhile: a flood would keep the
        interpreter's lock from the thread that looks for the group's processes, for up to three seconds.
        """
        self._closed_its_wire = False
        self._watching: asyncio.Task[None] | None = None

    async def start(self, reserved: int = 0) -> None:
        """Wait until the child is ready. Raises RuntimeProblem if it never will be.

        Raises OutOfResources if the system allows no further process; `reserved` descriptors stay free.
        """
        try:
            spawned = await asyncio.to_thread(self._spawn, reserved)
            self._group = self._watch_process(spawned)
        except RuntimeError as error:
            if "thread" not in str(error):
                raise
            raise shortage_of(errno.EAGAIN) from error  # threads count as processes
        if self._was_killed:  # the host was closed meanwhile
            self._group.kill()
        await self._connect(spawned)
        self._watching = asyncio.get_running_loop().create_task(self._watch(self._group))
        try:
            async with asyncio.timeout(READY_TIMEOUT_SECONDS):
                problem = await asyncio.shield(self._ready)
        except TimeoutError:
            await self.kill()
            python = python_of(self.launch)
            raise RuntimeProblem(
                f"{python} was not ready within {READY_TIMEOUT_SECONDS:.0f} s. Is it a Python interpreter?"
            ) from None
        if problem is not None:
            await self.kill()
            raise RuntimeProblem(problem)
        LOG.info("process %d is ready", self.pid)
        if self.state is State.STARTING:
            self.state = State.IDLE

    def _spawn(self, reserved: int) -> StartedProcess:
        if self._was_killed:  # given up before a thread was free
            raise RuntimeProblem("The start was given up.")
        return spawn(self.launch, self._guardian, self.mark, reserved, self._seeds)

    def _watch_process(self, spawned: StartedProcess) -> ProcessGroup:
        try:
            return ProcessGroup(spawned.process, self.mark, asyncio.get_running_loop())
        except RuntimeError:  # no thread can be started
            abandon(spawned, self._guardian)
            raise

    @property
    def pid(self) -> int:
        """The process id, which is also the id of the process group."""
        return 0 if self._group is None else self._group.pid

    def facts(self, random_seed: str | None) -> ProcessFacts:
        """Return the facts for the next run. The first run has the random seed of the child, later ones their own."""
        is_fresh = self._runs == 0
        return ProcessFacts(
            python=python_of(self.launch),
            python_version=self._loaded_modules.python_version,
            variables=self._variables,
            is_fresh=is_fresh,
            is_deterministic=self.launch.is_deterministic,
            hash_seed=self._seeds.hash_seed,
            random_seed=self._seeds.random_seed if is_fresh else random_seed,
        )

    def run(self, run_id: str, context: dict[str, Any], sink: Sink, random_seed: str | None = None) -> "ChildExecution":
        """Start a run. The child must have none. `random_seed` counts unless the run is the first.

        Raises RuntimeProblem if the process is gone, or if the context cannot be sent.
        """
        if self.state is State.GONE:  # nothing would report the end of the run
            raise RuntimeProblem(f"The process of {run_id} had ended before the run began.")
        number = self._runs + 1
        nonce = secrets.token_hex(16)
        order = {
            "run_id": run_id,
            "context": context,
            "nonce": nonce,
            "is_first": number == 1,
            "seed": random_seed,
        }
        try:
            line = wire.encode({"seq_id": number, "action": "run_agent", "data": order})
        except wire.Unencodable as error:
            self.state = State.SPENT
            raise RuntimeProblem(f"The context of {run_id} cannot be sent to its runner: {error}.") from error
        self._runs = number
        self.state = State.BUSY
        answers = Answers(sink, self._wire_in)
        self._run = run = ChildExecution(self, number, sink, answers)
        for stream, lines in self._streams.items():
            lines.mark = b"\0" + nonce.encode()
            run.marks[stream].clear()
        for what, target in self._early_opened.items():
            sink.opened(what, target)
        self._early_opened.clear()
        while self._early_output:
            sink.output(*self._early_output.popleft())
        self._wire_in.write(line)
        self._heartbeat.watch(sink)
        return run

    def cancel(self, number: int) -> None:
        """Pass a stop request on to the run."""
        self._wire_in.write(wire.encode({"seq_id": 0, "action": "__cancel_action", "data": {"seq_id": number}}))

    async def kill(self) -> None:
        """Kill the whole process group. Returns when it is gone."""
        self._was_killed = True
        if self._group is not None:
            self._group.kill()
            self._is_dying = not self._group.gone.done()
            self._apply_backpressure()
            await asyncio.shield(self._group.gone)
        if self._watching is not None:
            await asyncio.shield(self._watching)

    # Input from the child

    def _received(self, data: bytes) -> None:
        self._handle(self._decoder.feed(data))

    def _handle(self, found: list[tuple[wire.Frame, int] | wire.Fault]) -> None:
        run = self._run
        for item in found:
            if isinstance(item, wire.Fault):
                self._unreadable(item.reason, item.size)
                continue
            frame, size = item
            if run is not None and frame.get("chunk_status") == "continue" and frame["seq_id"] == run.number:
                if run.is_open:
                    run.sink.result(frame.get("data"), max(0, size - run.overhead))
            elif "action" in frame:
                self._handle_request(frame)
            else:
                self._handle_response(frame, size)
        if self._decoder.unparsed is not None:
            self._parsing = asyncio.get_running_loop().create_task(self._parse(self._decoder.unparsed))
        self._apply_backpressure()

    async def _parse(self, line: bytes) -> None:
        """Parse a large line off the loop, and then handle it and what follows it."""
        prepare = self._run.sink.prepare if self._run is not None else None
        value = await asyncio.to_thread(_parse_large, line, prepare)
        self._parsing = None
        self._handle(self._decoder.resume(value))

    def _handle_request(self, frame: wire.Frame) -> None:
        action, data = frame["action"], frame.get("data")
        if action == "ready" and not self._ready.done():
            ready = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
            problem = ready.get("problem")
            self._loaded_modules.python_version = read_text(ready.get("python"), MAX_VERSION_CHARS) or None
            told = read_text(problem, MAX_MESSAGE_CHARS) or "reported a problem"
            self._ready.set_result(None if problem is None else interpreter_problem(self.launch, told))
        elif action == "loaded" and not self.loaded.done():
            self.loaded.set_result(self._take_files(data) and cast("dict[str, Any]", data).get("failed") is False)
        elif action == "__opened":
            self._handle_opened(data)
        elif self._run is not None and self._run.is_open and type(action) is str:
            self._run.answers.take(frame["seq_id"], action, data)
        else:
            self._unreadable("a call without a name, or outside a run", 0)

    def _handle_opened(self, data: object) -> None:
        opened = read_opened(data)
        if opened is None:
            self._unreadable("a report of a connection or process that is not one", 0)
        elif self._run is not None and self._run.is_open:
            self._run.sink.opened(*opened)
        elif self._runs == 0:
            self._early_opened.setdefault(*opened)

    def _handle_response(self, frame: wire.Frame, size: int) -> None:
        run = self._run
        status = frame.get("chunk_status")
        raw = frame.get("data")
        data = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        if frame["seq_id"] == 0 and frame.get("message") == "pong" and self._heartbeat.answered():
            return
        if run is None or not run.is_open or frame["seq_id"] != run.number or status not in ("end", "unreadable"):
            self._unreadable("a response without a request", size)
        elif status == "unreadable":
            run.sink.unreadable(
                read_text(data.get("reason"), 500) or "no reason given", read_size(data.get("size"), size)
            )
        else:
            ending = _ending(data) if frame.get("code") != 0 else Ending(EndKind.ENDED)
            reusable = self._take_files(data) and data.get("clean") is True and ending.how is EndKind.ENDED
            self._heartbeat.stop()
            run.loaded = self._loaded_modules.snapshot()
            run.close(ending)
            run.concluding = asyncio.get_running_loop().create_task(self._conclude(run, reusable))

    def _unreadable(self, reason: str, size: int) -> None:
        if self._run is not None and self._run.is_open:
            self._run.sink.unreadable(reason, size)
        else:
            self._mark_spent()

    def _output_reader(self, stream: str) -> Any:
        lines = self._streams[stream]

        def received(data: bytes) -> None:
            complete, marked = lines.feed(data)
            for line in complete:
                self._output(stream, line)
            if marked and self._run is not None:
                self._run.marks[stream].set()
            self._apply_backpressure()

        return received

    def _output(self, stream: str, line: str) -> None:
        if self._run is not None:
            self._run.sink.output(stream, line)
        elif self._runs == 0:
            self._early_output.append((stream, line))
        else:
            self._mark_spent()

    def _mark_spent(self) -> None:
        """Do not reuse the child: an earlier run still produces output, which no other run must receive."""
        if self.state is State.IDLE:
            self.state = State.SPENT

    def _take_files(self, data: object) -> bool:
        files = read_files(data, self.launch)
        if files is None:
            return False
        self.files = files
        self._loaded_modules.take(cast("dict[str, Any]", data), files)
        return True

    # Backpressure

    def _apply_backpressure(self) -> None:
        """Stop reading from the child while the sink or the pipe to the child is full."""
        run = self._run
        if run is not None and run.sink.full and not self._is_throttled:
            self._is_throttled = True
            self._heartbeat.set_throttled(True)
            run.sink.when_room(self._resume_reading)
        is_waiting = self._is_throttled or self._is_dying
        self._wire_out.pause(is_waiting or self._parsing is not None or not self._wire_in.room.is_set())
        for output in self._outputs.values():
            output.pause(is_waiting)

    def _resume_reading(self) -> None:
        self._is_throttled = False
        self._heartbeat.set_throttled(False)
        self._apply_backpressure()

    # The end

    async def _conclude(self, run: "ChildExecution", reusable: bool) -> None:
        """Handle the end of the runner. Its output may still be on the way."""
        ends = {stream: self._end_of_output(run, stream) for stream in self._streams}
        missed = await self._read_to_end(ends)
        if self._run is run:
            self._send_rest(run)
            self._report_missed(run, missed)
            self._run = None
            if (
                self._is_throttled
            ):  # because of that run, which may be paused for long; the next run must not wait for it
                self._resume_reading()
            if self.state is State.BUSY:
                self.state = State.IDLE if reusable and not any(missed.values()) else State.SPENT
            run.finish()

    async def _watch(self, group: ProcessGroup) -> None:
        """Wait until the whole group is gone; after that only the pipes' content can arrive."""
        code = await asyncio.shield(group.gone)
        LOG.info("process %d is gone: exit code %s", group.pid, code)
        self._is_dying = False
        self._apply_backpressure()
        self._heartbeat.stop()
        self._guardian.forget(group.pid)
        if self._run is not None:
            self._run.sink.gone()
        wire_end = asyncio.get_running_loop().create_task(self._read_rest(self._wire_out, self._wire_out.closed))
        missed = await self._read_to_end({stream: pipe.closed for stream, pipe in self._outputs.items()})
        await wire_end
        self.state = State.GONE
        run, self._run = self._run, None
        if run is not None:
            for fault in self._decoder.finish():
                if run.is_open:
                    run.sink.unreadable(fault.reason, fault.size)
            self._send_rest(run)
            self._report_missed(run, missed)
            run.loaded = run.loaded or self._loaded_modules.snapshot()
            run.close(Ending(EndKind.LOST, self._describe_end(code), exit_code=code))
            run.finish()
        for pipe in (self._wire_out, *self._outputs.values()):
            pipe.close()
        self._wire_in.close()
        if not self._ready.done():
            self._ready.set_result(self._describe_failed_start(code))
        if not self.loaded.done():
            self.loaded.set_result(False)

    async def _read_to_end(self, ends: dict[str, asyncio.Event]) -> dict[str, int]:
        """Read each output stream to its end. Returns how many bytes of each could not be read."""
        if all(end.is_set() for end in ends.values()):
            return {}
        missed = await asyncio.gather(*(self._read_rest(self._outputs[stream], end) for stream, end in ends.items()))
        return dict(zip(ends, missed, strict=True))

    async def _read_rest(self, pipe: ReadPipe, end: asyncio.Event) -> int:
        """Wait for the event, or until everything was read that is in the pipe now. Returns how much was not read.

        Neither the size of the pipe nor the speed of reading matters, but a pipe that brings nothing more is given up
        after a while, and that of a killed child in any case.
        """
        total = pipe.handled_bytes + pipe.unread_bytes()
        seconds = KILLED_DRAIN_SECONDS if self._was_killed else DRAIN_TIMEOUT_SECONDS
        while not end.is_set():
            before = pipe.handled_bytes
            try:
                async with asyncio.timeout(seconds):
                    await end.wait()
            except TimeoutError:
                is_waiting = self._is_throttled or self._parsing is not None
                is_over = pipe.handled_bytes == before or pipe.handled_bytes >= total
                if self._was_killed or (is_over and not is_waiting):
                    break
        return 0 if end.is_set() else max(0, total - pipe.handled_bytes)

    def _report_missed(self, run: "ChildExecution", missed: dict[str, int]) -> None:
        for stream, size in missed.items():
            if size:
                run.sink.output_lost(stream, size)

    def _end_of_output(self, run: "ChildExecution", stream: str) -> asyncio.Event:
        return self._outputs[stream].closed if self._outputs[stream].closed.is_set() else run.marks[stream]

    def _send_rest(self, run: "ChildExecution") -> None:
        for stream, lines in self._streams.items():
            for line in lines.rest():
                run.sink.output(stream, line)

    def _wire_ended(self) -> None:
        # A process that exits closes its wire first. Wait for its exit code, which explains more than the closed wire.
        asyncio.get_running_loop().call_later(DRAIN_TIMEOUT_SECONDS, self._kill_without_wire)

    def _kill_without_wire(self) -> None:
        if self._group is not None and not self._group.gone.done() and not self._was_killed:
            self._closed_its_wire = True
            self._group.kill()

    def _describe_end(self, code: int) -> str:
        if self._was_killed:
            return "the runner was killed"
        if self._closed_its_wire:
            return "the runner closed its wire, so it was killed"
        return f"the runner was killed by {_signal(-code)}" if code < 0 else f"the runner exited with code {code}"

    def _describe_failed_start(self, code: int) -> str:
        words = " ".join(line for _, line in list(self._early_output)[-5:]).strip()
        how = f"was killed by {_signal(-code)}" if code < 0 else f"ended with code {code}"
        if self.launch.sandbox is not None:
            return failed_start(f"{how} before {python_of(self.launch)} was ready", words)
        return f"{python_of(self.launch)} {how} before it was ready. Is it a Python interpreter? {words}".strip()

    async def _connect(self, spawned: StartedProcess) -> None:
        await self._wire_in.open(spawned.wire_in)
        await self._wire_out.open(spawned.wire_out)
        await self._outputs["stdout"].open(spawned.stdout)
        await self._outputs["stderr"].open(spawned.stderr)


class ChildExecution:
    """One run in a child."""

    def __init__(self, child: Child, number: int, sink: Sink, answers: Answers) -> None:
        self.number = number
        self.sink = sink
        self.answers = answers
        self.is_open = True
        """Whether results may still come."""
        self.marks = {"stdout": asyncio.Event(), "stderr": asyncio.Event()}
        self.overhead = ENVELOPE_BYTES + len(str(number))
        self.finished: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.concluding: asyncio.Task[None] | None = None
        self.loaded: LoadedSnapshot | None = None
        """What the process had loaded at the end of the run."""
        self._ending: Ending | None = None
        self._child = child

    async def ended(self) -> Ending:
        return await asyncio.shield(self.finished)

    @property
    def code(self) -> list[Stamp]:
        return self._child.files

    def cancel(self) -> None:
        if self.is_open:
            self._child.cancel(self.number)

    async def kill(self) -> None:
        # Afterwards the child may already serve another run.
        if not self.finished.done():
            await self._child.kill()

    async def loaded_code(self) -> LoadedCode | None:
        return None if self.loaded is None else await self.loaded.read()

    def close(self, ending: Ending) -> None:
        """Set the ending, after which no results come. The first ending stands."""
        if self.is_open:
            self.is_open = False
            self._ending = ending
            self.answers.stop()

    def finish(self) -> None:
        """Report the ending to those who wait for it: all output was read."""
        if self._ending is not None and not self.finished.done():
            self.finished.set_result(self._ending)


def _ending(data: dict[str, Any]) -> Ending:
    how = {"runner.not_loaded": EndKind.NOT_LOADED, "cancelled": EndKind.CANCELLED}.get(
        read_text(data.get("code"), 100), EndKind.RAISED
    )
    if how is EndKind.CANCELLED:
        return Ending(how)
    message = read_text(data.get("message"), MAX_MESSAGE_CHARS)
    return Ending(how, message, read_text(data.get("traceback"), MAX_TRACEBACK_CHARS))


def _parse_large(line: bytes, prepare: Callable[[object], object] | None) -> object:
    """Parse a large line, and check the result in it, if it has one. Runs in a thread."""
    if wire.too_wide(line):
        return wire.Fault(wire.TOO_WIDE, len(line))
    value = wire.parse(line)
    if prepare is None or type(value) is not dict:
        return value
    frame = cast("wire.Frame", value)
    if frame.get("chunk_status") == "continue":
        try:
            frame["data"] = prepare(frame.get("data"))
        except Exception as error:  # noqa: BLE001 - a bug of ours must not stop the wire
            return wire.Fault(f"the host could not check it: {error!r:.200}", len(line))
    return frame


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
