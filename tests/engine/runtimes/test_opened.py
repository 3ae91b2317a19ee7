"""Connections and processes that a runner opens itself are reported, once per kind and run."""

import pytest

from engine.runtimes.child_reports import MAX_TARGET_CHARS, read_opened
from engine.runtimes.runtime import EndKind

OPENS = """
    import asyncio, os, socket, subprocess, sys

    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen()
    PORT = server.getsockname()[1]

    def connect():
        for _ in range(3):
            socket.create_connection(("localhost", PORT)).close()

    def popen():
        subprocess.run(["true", "--flag"], check=True)
        subprocess.run(["true", "--other"], check=True)

    def system():
        os.system("true 1")

    def posix_spawn():
        os.waitpid(os.posix_spawn("/bin/true", ["true", "2"], {}), 0)

    def fork():
        pid = os.fork()
        if pid == 0:
            connect()
            os._exit(0)
        os.waitpid(pid, 0)

    def execute():
        os.execv("/bin/true", ["true", "3"])

    def datagram():
        socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))

    def unix():
        try:
            socket.socket(socket.AF_UNIX).connect("/nowhere/x.sock")
        except OSError:
            pass

    def hostile():
        class Text(str):
            def __str__(self):
                raise SystemError
        sys.audit("subprocess.Popen", None, [Text("x"), object()], None, None)
        sys.audit("socket.connect", None)
        sys.audit("os.system")

    def nothing():
        open(__file__).close()
        asyncio.new_event_loop().close()

    async def run(ctx):
        for name in ctx.config["opens"]:
            globals()[name]()
        yield PORT
"""


@pytest.mark.parametrize(
    ("name", "what", "target"),
    [
        ("connect", "connection", "localhost:{port} (127.0.0.1)"),
        ("datagram", "connection", "127.0.0.1:{port}"),
        ("unix", "connection", "unix:/nowhere/x.sock"),
        ("popen", "process", "true --flag"),
        ("system", "process", "true 1"),
        ("posix_spawn", "process", "true 2"),
        ("fork", "process", "a copy of the runner (fork)"),
    ],
)
async def test_first_of_a_kind_is_reported_in_each_run(harness, name, what, target):
    launch = harness.launch(OPENS)
    for _ in range(2):
        _, sink = await harness.run(launch, opens=[name])
        assert sink.opens == [(what, target.format(port=sink.results[0]))]
    assert not sink.faults


async def test_every_kind_is_reported_once(harness):
    _, sink = await harness.run(harness.launch(OPENS), opens=["popen", "connect", "system", "connect", "fork"])
    assert [what for what, _ in sink.opens] == ["process", "connection"]


async def test_command_is_reported_before_it_replaces_the_runner(harness):
    ending, sink = await harness.run(harness.launch(OPENS), opens=["execute"])
    assert ending.how is EndKind.LOST
    assert sink.opens == [("process", "true 3")]


async def test_worker_itself_opens_nothing_and_odd_events_do_no_harm(harness):
    ending, sink = await harness.run(harness.launch(OPENS), opens=["nothing"])
    assert (ending.how, sink.opens) == (EndKind.ENDED, [])
    ending, sink = await harness.run(harness.launch(OPENS), opens=["hostile"])
    assert (ending.how, sink.opens) == (EndKind.ENDED, [("process", "Text object")])


async def test_what_the_module_opens_during_its_import_belongs_to_the_first_run(harness):
    launch = harness.launch("import os\nos.system('true')\nasync def run(ctx):\n    yield 1")
    await harness.pool.warm(launch)
    runs = [(await harness.run(launch))[1].opens for _ in range(2)]
    assert runs == [[("process", "true")], []]


@pytest.mark.parametrize(
    "report",
    [
        None,
        [],
        {},
        {"what": "process"},
        {"what": "process", "target": 1},
        {"what": "process", "target": ""},
        {"what": "file", "target": "x"},
        {"what": ["process"], "target": "x"},
    ],
)
def test_report_that_is_none_is_refused(report):
    assert read_opened(report) is None


def test_long_target_is_cut():
    assert read_opened({"what": "process", "target": "x" * 100_000}) == ("process", "x" * MAX_TARGET_CHARS)
