"""A sandboxed runner sees and changes only what it may; all else is as without a sandbox."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from engine.runtimes import sandbox as sandboxes
from engine.runtimes.environment import MARK, environment_of
from engine.runtimes.guardian import Guardian
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import EndKind, Launch, RuntimeProblem, Sandbox
from engine.runtimes.sandbox import check_sandbox, sandbox_options
from engine.runtimes.spawn import abandon, spawn
from tests.support.limits import MAX_WAIT_SECONDS
from tests.support.sandboxes import write_bwrap

ROOT = Path(__file__).resolve().parents[3]
TEMPORARY, SHARED = Path("/tmp"), Path("/dev/shm")
REMOVE = "remove `sandbox:` from trackside.yaml."

PROBER = """
import os, signal, socket, subprocess, sys, tempfile
from pathlib import Path

def connect(port):
    with socket.create_connection(("127.0.0.1", port), 5):
        return "connected"

def attempt(code):
    try:
        return eval(code)
    except Exception as error:
        return type(error).__name__

async def run(ctx):
    yield {name: attempt(code) for name, code in ctx.config["attempts"].items()}
"""


async def probe(harness, launch: Launch, **attempts: str) -> dict[str, Any]:
    """Evaluate expressions in a runner. An exception counts as its name."""
    ending, sink = await harness.run(launch, attempts=attempts)
    assert ending.how is EndKind.ENDED, ending
    return sink.results[0]


def processes_with(word: str) -> list[int]:
    """Return the living processes that have this word in their command line."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def until_there(word: str, is_there: bool = True) -> None:
    """Wait until there is a process with this word, or none."""
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while bool(processes_with(word)) is not is_there:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)


# What a runner sees


async def test_files_of_the_host_are_not_visible(harness, sandbox, tmp_path):
    key = tmp_path / "home" / ".ssh" / "id_ed25519"
    database = tmp_path / "data" / "trackside.db"
    other = tmp_path / "other" / "notes.txt"
    for path in (key, database, other):
        path.parent.mkdir(parents=True)
        path.write_text("private")
    attempts = {str(path): f"Path({str(path)!r}).read_text()" for path in (key, database, other, Path("/etc/shadow"))}
    attempts |= {
        str(path): f"os.listdir({str(path)!r})" for path in (key.parent, other.parent, Path("/var"), ROOT / "tests")
    }
    seen = await probe(harness, harness.launch(PROBER, sandbox=sandbox), **attempts)
    assert set(seen.values()) == {"FileNotFoundError"}
    parents = await probe(harness, harness.launch(PROBER, sandbox=sandbox), beside=f"os.listdir({str(tmp_path)!r})")
    assert parents == {"beside": ["target"]}


async def test_processes_of_the_host_cannot_be_seen_or_killed(harness, sandbox):
    with subprocess.Popen(["sleep", "3600"]) as victim:  # noqa: ASYNC220
        seen = await probe(
            harness,
            harness.launch(PROBER, sandbox=sandbox),
            listed="sorted(name for name in os.listdir('/proc') if name.isdecimal())",
            environment=f"Path('/proc/{os.getpid()}/environ').read_bytes()",
            killed=f"os.kill({victim.pid}, signal.SIGKILL)",
            all_killed="os.kill(-1, signal.SIGKILL)",
        )
        is_alive = victim.poll() is None
        victim.kill()
    assert seen["listed"] == ["1", "2"]
    assert (seen["environment"], seen["killed"]) == ("FileNotFoundError", "ProcessLookupError")
    assert is_alive


@pytest.mark.parametrize(("network", "outcome"), [(False, "ConnectionRefusedError"), (True, "connected")])
async def test_network_is_used_only_if_it_is_allowed(harness, sandbox, network, outcome):
    with socket.create_server(("127.0.0.1", 0)) as server:
        launch = harness.launch(PROBER, sandbox=Sandbox(network))
        seen = await probe(
            harness,
            launch,
            reply=f"connect({server.getsockname()[1]})",
            hosts="len(Path('/etc/hosts').read_text()) > 0",
        )
    assert seen["reply"] in {outcome, *(() if network else ("OSError",))}
    assert seen["hosts"] is True if network else seen["hosts"] == "FileNotFoundError"


async def test_environment_is_as_without_a_sandbox_but_for_the_temporary_home(harness, sandbox, monkeypatch):
    monkeypatch.setenv("HOST_PASSWORD", "hunter2hunter2")
    launch = harness.launch(PROBER, sandbox=sandbox, env=(("SHOP_KEY", "k"),))
    seen = (await probe(harness, launch, all="dict(os.environ)"))["all"]
    plain = environment_of(replace(launch, sandbox=None), seen[MARK], int(seen["PYTHONHASHSEED"]))
    moved = {name: value for name, value in seen.items() if plain.get(name) != value}
    assert moved == {"HOME": "/tmp", "TMPDIR": "/tmp", **({"PWD": seen["PWD"]} if "PWD" in seen else {})}
    assert plain.keys() <= seen.keys()
    assert "HOST_PASSWORD" not in seen


# What a runner changes


async def test_only_its_folder_and_a_temporary_one_are_writable(harness, sandbox, tmp_path):
    places = ["/", "/usr", "/etc", "/dev", str(ROOT / "engine/runtimes"), f"{sys.prefix}/lib", f"{sys.base_prefix}/lib"]
    # A file without a name: a sandbox that fails leaves nothing there.
    attempts = {place: f"tempfile.TemporaryFile(dir={place!r}).close()" for place in places}
    attempts["/proc/sys"] = "open('/proc/sys/kernel/core_pattern', 'r+')"
    launch = harness.launch(PROBER, sandbox=sandbox)
    seen = await probe(harness, launch, **attempts)
    assert {place: outcome for place, outcome in seen.items() if outcome not in {"OSError", "PermissionError"}} == {}
    marker = f"trackside-{uuid4().hex}"
    written = await probe(
        harness,
        launch,
        own="Path('own.txt').write_text('x')",
        temporary=f"Path(tempfile.gettempdir(), {marker!r}).write_text('x')",
        shared=f"Path('/dev/shm', {marker!r}).write_text('x')",
    )
    assert written == {"own": 1, "temporary": 1, "shared": 1}
    assert (harness.folder / "own.txt").read_text() == "x"
    escaped = [path for path in (TEMPORARY / marker, SHARED / marker) if path.exists()]
    for path in escaped:
        path.unlink()
    assert escaped == []
    await probe(harness, launch, beside=f"Path({str(tmp_path / 'beside')!r}).write_text('in /tmp of the sandbox')")
    assert not (tmp_path / "beside").exists()
    harness.pool.renew()
    assert await probe(harness, launch, left=f"Path('/tmp', {marker!r}).exists()") == {"left": False}


async def test_what_the_host_reads_or_runs_in_the_folder_is_read_only(harness, sandbox):
    harness.write("trackside.yaml", "sandbox: bwrap\n")
    harness.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    seen = await probe(
        harness,
        harness.launch(PROBER, sandbox=sandbox),
        edit="Path('trackside.yaml').write_text('')",
        remove="Path('trackside.yaml').unlink()",
        replace="os.replace('runner.py', 'trackside.yaml')",
        plant="Path('.venv/bwrap').write_text('')",
        swap="Path('.venv').rename('old')",
    )
    assert set(seen.values()) <= {"OSError", "PermissionError"}
    assert (harness.folder / "trackside.yaml").read_text() == "sandbox: bwrap\n"


async def test_runner_starts_in_its_folder_if_the_working_folder_is_not_visible(harness, sandbox, tmp_path):
    below = harness.folder / "data"
    below.mkdir()
    launch = harness.launch(PROBER, sandbox=sandbox)
    for cwd, expected in ((tmp_path, harness.folder), (below, below)):
        assert await probe(harness, replace(launch, cwd=cwd), cwd="os.getcwd()") == {"cwd": str(expected)}


async def test_runner_has_no_capabilities(harness, sandbox):
    launch = harness.launch(PROBER, sandbox=sandbox)
    code = "[line for line in Path('/proc/self/status').read_text().splitlines() if line.startswith('CapEff')]"
    assert await probe(harness, launch, held=code) == {"held": [f"CapEff:\t{0:016x}"]}


# Interpreters


@pytest.fixture
def own_venv(harness) -> Path:
    """A .venv with pydantic in the folder of the runner."""
    venv = harness.folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    [packages] = venv.glob("lib/python3*/site-packages")
    ours = Path(sysconfig.get_path("purelib"))
    for name in ("pydantic", "pydantic_core", "annotated_types", "typing_inspection"):
        shutil.copytree(ours / name, packages / name)
    shutil.copy(ours / "typing_extensions.py", packages)
    return venv


async def test_plugin_with_its_own_venv_uses_it_and_cannot_change_it(harness, sandbox, own_venv):
    venv = own_venv
    [packages] = venv.glob("lib/python3*/site-packages")
    launch = harness.launch(PROBER, sandbox=sandbox, python=str(venv / "bin" / "python"))
    seen = await probe(
        harness, launch, prefix="sys.prefix", pth=f"Path({str(packages / 'x.pth')!r}).write_text('import os')"
    )
    assert seen == {"prefix": str(venv), "pth": "OSError"}


async def test_interpreter_may_be_found_through_links_and_on_the_path(harness, sandbox, tmp_path, monkeypatch):
    linked = tmp_path / "linked"
    linked.symlink_to(sys.prefix)
    launch = harness.launch(PROBER, sandbox=sandbox, python=str(linked / "bin" / "python"))
    assert await probe(harness, launch, prefix="sys.prefix") == {"prefix": str(linked)}
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin:{os.environ['PATH']}")
    launch = replace(launch, python=Path(sys.executable).name)
    assert await probe(harness, launch, prefix="sys.prefix") == {"prefix": sys.prefix}


@pytest.fixture
def fake_bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bubblewrap that only fails, for tests of the command line."""
    path = write_bwrap(tmp_path / "fake", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    return path


def planted(folder: Path, target: Path) -> Launch:
    """Return the launch of a runner with a .venv whose interpreter is a link."""
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(target)
    return Launch(folder / "runner.py", None, folder, folder, python=str(python), sandbox=Sandbox())


def test_planted_interpreter_that_leads_to_a_private_file_is_refused(harness, fake_bwrap, tmp_path):
    private = tmp_path / "private" / "bin" / "key"
    private.parent.mkdir(parents=True)
    private.write_text("")
    private.chmod(0o755)
    launch = planted(harness.folder, private)
    with pytest.raises(RuntimeProblem, match="is no Python installation, so the sandbox does not show it"):
        sandbox_options(launch, str(launch.python))


@pytest.mark.parametrize("way", ["link", "home"])
def test_planted_venv_shows_no_folder_outside(harness, fake_bwrap, tmp_path, way):
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "lib").mkdir()
    (other / "pyvenv.cfg").write_text(f"home = {other / 'bin'}\n")
    (other / "bin" / "python").symlink_to(sys.executable)
    launch = planted(harness.folder, other / "bin" / "python" if way == "link" else Path(sys.executable))
    (harness.folder / ".venv" / "pyvenv.cfg").write_text(f"home = {other / 'bin'}\n")
    options = sandbox_options(launch, str(launch.python))
    binds = [options[place + 1] for place, word in enumerate(options) if word in ("--bind", "--ro-bind")]
    assert [path for path in binds if Path(path).is_relative_to(other)] == []
    assert str(harness.folder / ".venv" / "bin") in binds


def test_planted_installation_shows_no_folder_outside(harness, fake_bwrap, tmp_path):
    private = tmp_path / "private"
    private.mkdir()
    launch = planted(harness.folder, Path(sys.executable))
    library = harness.folder / ".venv" / "lib" / "python3.11"
    library.mkdir(parents=True)
    (library / "os.py").write_text("")
    (harness.folder / ".venv" / "share").symlink_to(private)
    options = sandbox_options(launch, str(launch.python))
    assert str(harness.folder / ".venv" / "lib") in options
    assert str(harness.folder / ".venv" / "share") not in options


# Ends


CRASHES = {
    "exit 7": "os._exit(7)",
    "exit 139": "os._exit(139)",
    "sys.exit": "sys.exit(3)",
    "SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM of the group": "os.kill(0, signal.SIGTERM)",
    "raise": "1 / 0",
    "breakpoint": "breakpoint()",
}


@pytest.mark.parametrize("way", CRASHES)
async def test_end_of_a_runner_is_reported_as_without_a_sandbox(harness, sandbox, way):
    source = (
        f"import os, signal, sys\nasync def run(ctx):\n    print('first', flush=True)\n    {CRASHES[way]}\n    yield\n"
    )
    launch = harness.launch(source)
    plain, plain_sink = await harness.run(launch)
    confined, sink = await harness.run(replace(launch, sandbox=sandbox))
    assert confined == plain
    assert sink.texts() == plain_sink.texts() == ["first"]
    assert plain.how in (EndKind.LOST, EndKind.RAISED)


async def test_stop_interrupts_a_sandboxed_runner(harness, sandbox):
    source = "import asyncio\nasync def run(ctx):\n    yield 1\n    await asyncio.sleep(3600)\n"
    execution, sink = await harness.begin(harness.launch(source, sandbox=sandbox))
    await sink.until(lambda: sink.results)
    execution.cancel()
    assert (await execution.ended()).how is EndKind.CANCELLED


LEAVER = """
import asyncio, os, subprocess, time

async def run(ctx):
    # In a session of its own and without the mark of the child.
    subprocess.Popen(["sleep", ctx.config["seconds"]], start_new_session=True, env={})
    yield os.getpid()
    if ctx.config["stays"]:
        time.sleep(3600)
"""


@pytest.mark.parametrize("stays", [False, True])
async def test_grandchild_in_a_session_of_its_own_dies_with_the_run(harness, sandbox, tmp_path, stays):
    seconds = f"36{time.monotonic_ns()}"
    launch = harness.launch(LEAVER, sandbox=sandbox)
    execution, sink = await harness.begin(launch, seconds=seconds, stays=stays)
    await sink.until(lambda: sink.results)
    if stays:
        await until_there(seconds)
        await execution.kill()
        assert not processes_with(seconds)
    ending = await execution.ended()
    assert ending.how is (EndKind.LOST if stays else EndKind.ENDED)
    await until_there(seconds, is_there=False)


HOST = """
import asyncio, json, sys
from pathlib import Path
from engine.runtimes.pool import ChildPool
from engine.runtimes.runtime import Launch, Sandbox
from tests.engine.runtimes.conftest import RecordingSink, context

async def main():
    folder, seconds = Path(sys.argv[1]), sys.argv[2]
    pool = ChildPool()
    launch = Launch(folder / "runner.py", None, folder, folder, sandbox=Sandbox())
    sink = RecordingSink()
    await (await pool.reserve(launch)).begin("r", context({"seconds": seconds, "stays": True}), sink)
    await sink.until(lambda: sink.results)
    await pool.warm(launch)
    print("ready", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def test_no_sandboxed_process_outlives_a_killed_host(harness, sandbox):
    harness.write("runner.py", LEAVER)
    seconds = f"36{time.monotonic_ns()}"
    command = [sys.executable, "-c", HOST, str(harness.folder), seconds]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as host:  # noqa: ASYNC220
        assert host.stdout.readline() == b"ready\n"
        await until_there(seconds)
        assert len(processes_with(str(harness.folder / "runner.py"))) == 6  # bubblewrap, process 1 and worker, twice
        host.kill()
    await until_there(seconds, is_there=False)
    await until_there(str(harness.folder / "runner.py"), is_there=False)


async def test_sandbox_ends_with_the_process_of_bubblewrap(harness, sandbox):
    guardian = Guardian()
    seconds = f"36{time.monotonic_ns()}"
    path = harness.write(
        "runner.py", f"import subprocess\nsubprocess.Popen(['sleep', '{seconds}'], start_new_session=True, env={{}})\n"
    )
    started = spawn(Launch(path, None, harness.folder, harness.folder, sandbox=sandbox), guardian, guardian.new_mark())
    try:
        await until_there(seconds)
        os.kill(started.process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, started.process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222
        await until_there(seconds, is_there=False)
    finally:
        abandon(started, guardian)
        guardian.close()


async def test_child_is_reused_until_its_code_changes(harness, sandbox):
    source = "import time\nVALUE = {}\nasync def run(ctx):\n    yield VALUE\n"
    launch = harness.launch(source.format(1), sandbox=sandbox)
    os.utime(launch.path, (1_000, 1_000))
    pids: list[int] = []
    for value in (1, 1, 2):
        if value == 2:
            launch.path.write_text(source.format(2))
        execution, sink = await harness.begin(launch)
        pids.append(execution._child.pid)
        assert (await execution.ended()).how is EndKind.ENDED
        assert sink.results == [value]
    assert pids[0] == pids[1] != pids[2]


async def test_child_with_a_leftover_process_is_not_reused(harness, sandbox):
    launch = harness.launch(LEAVER, sandbox=sandbox)
    os.utime(launch.path, (1_000, 1_000))
    pids: list[int] = []
    for _ in range(2):
        execution, _ = await harness.begin(launch, seconds="3600", stays=False)
        pids.append(execution._child.pid)
        await execution.ended()
    assert pids[0] != pids[1]


# Sandboxes that cannot be made


PRINTER = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\nasync def run(ctx):\n    yield 1\n"


async def test_error_without_bubblewrap_names_the_package(harness, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeProblem) as problem:
        await harness.begin(harness.launch(PRINTER, sandbox=Sandbox()))
    assert str(problem.value) == (
        "The sandbox needs bubblewrap, but there is no bwrap on the PATH. "
        f"Install it (Debian package: bubblewrap), or {REMOVE}"
    )
    assert not (harness.folder / "ran").exists()
    assert check_sandbox().problem == (f"bwrap is not installed. Install it (Debian package: bubblewrap), or {REMOVE}")


async def test_error_of_bubblewrap_that_fails_has_its_reason_and_the_fix(harness, fake_bwrap):
    for attempt in (harness.begin, harness.pool.warm):
        with pytest.raises(RuntimeProblem) as problem:
            await attempt(harness.launch(PRINTER, sandbox=Sandbox()))
        assert str(problem.value) == (
            f"The runner's sandbox did not start: bwrap ended with code 1 before {sys.executable} was ready. "
            "bwrap: No permissions to create new namespace "
            f"`trackside doctor` checks it. Allow user namespaces on this system, or {REMOVE}"
        )
    assert not (harness.folder / "ran").exists()
    check = check_sandbox()
    assert check.path == str(fake_bwrap)
    assert check.problem.startswith(
        "The runner's sandbox did not start: bwrap ended with code 1. bwrap: No permissions"
    )


async def test_missing_interpreter_of_a_sandbox_is_named(harness, fake_bwrap):
    with pytest.raises(RuntimeProblem, match=r"There is no interpreter at /no/such/python\. Name another one"):
        await harness.begin(harness.launch(PRINTER, sandbox=Sandbox(), python="/no/such/python"))


def test_bubblewrap_in_the_folder_of_the_runner_is_not_used(harness, fake_bwrap, monkeypatch):
    own = write_bwrap(harness.folder / "bin", "exit 0")
    monkeypatch.setenv("PATH", f".:{own.parent}:{fake_bwrap.parent}")
    monkeypatch.chdir(own.parent)
    assert sandboxes.find_bwrap(harness.folder) == str(fake_bwrap)


@pytest.mark.parametrize("place", ["database", "home"])
async def test_folder_that_contains_private_files_is_refused(harness, fake_bwrap, monkeypatch, place):
    private = harness.folder / place
    if place == "home":
        monkeypatch.setenv("HOME", str(private))
    pool = ChildPool(private_paths=[private] if place == "database" else [])
    launch = harness.launch(PRINTER, sandbox=Sandbox())
    with pytest.raises(RuntimeProblem) as problem:
        await pool.warm(launch)
    await pool.close()
    assert str(problem.value) == (
        f"{private} is in {harness.folder}, the folder of the runner, which it can read and change in its sandbox. "
        f"Move the runner to a folder of its own, or {REMOVE}"
    )
