"""A runner in its child: its context, results and output."""

import asyncio

import pytest

from engine.runtimes.environment import environment_of
from engine.runtimes.runtime import EndKind


async def test_a_class_yields_models_and_a_function_yields_dicts(harness):
    launch = harness.launch(
        """
        from engine.protocol import AgentRunner, AgentRunResult, MessageChunk

        class Polite(AgentRunner):
            async def run(self, ctx):
                chunk = MessageChunk(role="assistant", content=ctx.input.to_text())
                yield AgentRunResult.message_delta(ctx.run_id, chunk)
                yield AgentRunResult.run_completed(ctx.run_id)

        async def run(ctx):
            yield {"type": "message.delta", "data": {"chunk": {"content": ctx.config["word"]}}}
        """,
        "Polite",
    )
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.ENDED
    assert [result["type"] for result in sink.results] == ["message.delta", "run.completed"]
    assert sink.results[0]["data"]["chunk"]["content"] == "hello"

    plain = harness.launch(launch.path.read_text(), None)
    ending, sink = await harness.run(plain, word="hé")
    assert ending.how is EndKind.ENDED
    assert sink.results == [{"type": "message.delta", "data": {"chunk": {"content": "hé"}}}]
    assert sink.sizes == [len('{"type":"message.delta","data":{"chunk":{"content":"hé"}}}'.encode())]


async def test_any_json_arrives_and_other_values_are_reported_while_the_run_continues(harness):
    launch = harness.launch(
        """
        from engine.protocol import AgentRunResult

        async def run(ctx):
            deep = []
            for _ in range(150):
                deep = [deep]
            yield "text"
            yield {"type": "x", "data": {"half": "\\ud800"}}
            yield AgentRunResult(type="x", data={"half": "\\udfff"})
            yield {"type": "x", "data": float("nan")}
            yield AgentRunResult(type="x", data={"n": float("inf")})
            yield {"type": "x", "data": object()}
            yield {"type": "x", "data": deep}
            yield {"type": "x", "data": "x" * 3_000_000}
            yield {"type": "x", "data": "y" * 1_000_000}
            yield None
        """
    )
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.ENDED
    text, half, model, large, nothing = sink.results
    assert (text, nothing) == ("text", None)
    assert half["data"] == model["data"] == {"half": "�"}
    assert large["data"] == "y" * 1_000_000
    reasons = [reason for reason, _ in sink.faults]
    assert "NaN" in reasons[0]
    assert "Infinity" in reasons[1]
    assert "object" in reasons[2]
    assert reasons[3] == "nested deeper than 100"
    assert sink.faults[4] == ("larger than 2097152 bytes", 3_000_022)


async def test_child_can_import_only_the_contract_and_the_wire(harness):
    launch = harness.launch(
        """
        import sys

        async def run(ctx):
            yield sorted(name for name in sys.modules if name.partition(".")[0] == "engine")
            yield [name for name in ("textual", "sqlalchemy", "alembic", "yaml") if name in sys.modules]
            yield sys.path
            try:
                import engine.store
            except ImportError as error:
                yield str(error)
        """
    )
    _, sink = await harness.run(launch)
    names, others, path, error = sink.results
    strangers = [name for name in names if not name.startswith(("engine.protocol", "engine.runtimes.worker"))]
    assert strangers == ["engine", "engine.runtimes", "engine.runtimes.wire"]
    assert others == []
    assert path[0] == str(harness.folder)
    assert not any("runtimes" in entry for entry in path)
    assert "engine.store" in error


async def test_the_environment_is_explicit(harness, monkeypatch):
    monkeypatch.setenv("TRACKSIDE_TEST_SECRET", "do not tell")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    launch = harness.launch(
        """
        import os

        async def run(ctx):
            yield dict(os.environ)
            yield os.getcwd()
        """,
        env=(("MY_KEY", "given"),),
    )
    _, sink = await harness.run(launch)
    seen, cwd = sink.results
    assert seen["MY_KEY"] == "given"
    assert {"TRACKSIDE_TEST_SECRET", "PYTHONPATH"}.isdisjoint(seen)
    assert set(seen) - {"LC_CTYPE"} == set(environment_of(launch, "mark", 7)) - {"LC_CTYPE"}
    assert cwd == str(harness.folder)


async def test_stdin_is_dev_null_and_the_wire_is_not_inherited(harness):
    launch = harness.launch(
        """
        import os, subprocess, sys

        FDS = "/proc/self/fd"
        LIST = f"import os; print([os.readlink(f'{FDS}/{{n}}') for n in os.listdir('{FDS}') if int(n) > 2])"

        async def run(ctx):
            yield os.fstat(0).st_rdev == os.stat("/dev/null").st_rdev
            yield sys.stdin.read()
            if os.path.exists("/proc/self/fd"):
                listing = subprocess.run([sys.executable, "-c", LIST], capture_output=True, text=True, close_fds=False)
                yield "pipe" in listing.stdout
        """
    )
    _, sink = await harness.run(launch)
    assert sink.results in ([True, "", False], [True, ""])


async def test_printed_line_arrives_at_once(harness):
    launch = harness.launch(
        """
        import asyncio

        async def run(ctx):
            print("before the await")
            await ctx.api.state_get("runner", "go")
            yield {"type": "x"}
        """
    )
    execution, sink = await harness.begin(launch)
    sink.answer = lambda action, data: {"value": None}
    await sink.until(sink.texts)
    assert sink.texts() == ["before the await"]
    assert (await execution.ended()).how is EndKind.ENDED


async def test_every_kind_of_output_arrives_before_the_end_as_bounded_lines(harness):
    launch = harness.launch(
        """
        import os, sys
        print("as it is imported")

        async def run(ctx):
            print("x" * 100_000)
            os.write(1, b"caf\\xe9\\n")
            print("to stderr", file=sys.stderr)
            sys.stdout.write("y" * 300_000)
            sys.stderr.write("no newline")
            yield {"type": "x"}
        """
    )
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.ENDED
    out = sink.texts()
    assert out[0] == "as it is imported"
    assert "".join(out[1:3]) == "x" * 100_000
    assert out[3] == "caf�"
    assert "".join(out[4:]) == "y" * 300_000
    assert max(map(len, out)) == 64 * 1024
    assert sink.texts("stderr") == ["to stderr", "no newline"]


async def test_output_of_a_warm_child_reaches_its_first_run_only(harness):
    launch = harness.launch(
        """
        print("imported")

        async def run(ctx):
            print("ran")
            yield {"type": "x"}
        """
    )
    await harness.pool.warm(launch)
    assert (await harness.run(launch))[1].texts() == ["imported", "ran"]
    assert (await harness.run(launch))[1].texts() == ["ran"]


async def test_garbage_on_the_wire_is_unreadable_and_never_an_exception(harness):
    launch = harness.launch(
        """
        import os

        JUNK = (
            b"rubbish",
            b"{}",
            b"\\xff\\xfe",
            b"[[[[[",
            b'{"seq_id":99,"code":0,"data":1}',
            b'{"seq_id":1,"code":0,"chunk_status":["end"]}',
            b'{"seq_id":1,"action":"run_get","data":5}',
            b'{"type":"chunk_data","data":1,"offset":{}}',
            b'{"seq_id":1,"code":1,"chunk_status":{}}',
        )

        async def run(ctx):
            fd = next(number for number in range(3, 50) if is_wire(number))
            for junk in JUNK:
                os.write(fd, junk + b"\\n")
            yield {"type": "still here"}
            os.write(fd, b'{"seq_id":1,"code":0,"data":{"files":[[{},[],1e300]],"clean":[]},"chunk_status":"end"}\\n')
            yield {"type": "never seen"}

        def is_wire(n):
            import fcntl, stat
            try:
                mode = fcntl.fcntl(n, fcntl.F_GETFL) & os.O_ACCMODE
                return stat.S_ISFIFO(os.fstat(n).st_mode) and mode == os.O_WRONLY
            except OSError:
                return False
        """
    )
    ending, sink = await harness.run(launch)
    assert ending.how is EndKind.ENDED
    assert sink.results == [{"type": "still here"}]
    assert len(sink.faults) == 9


async def test_flooding_runner_is_slowed_down_by_the_pipe(harness):
    launch = harness.launch(
        """
        async def run(ctx):
            for number in range(50_000):
                yield {"type": "x", "data": {"number": number, "text": "t" * 100}}
        """
    )
    execution, sink = await harness.begin(launch)
    sink.full = True
    await sink.until(lambda: sink.waiting_for_room)
    held = len(sink.results)
    await some_turns()
    assert len(sink.results) == held < 5000
    sink.make_room()
    assert (await execution.ended()).how is EndKind.ENDED
    assert [result["data"]["number"] for result in sink.results] == list(range(50_000))


async def some_turns():
    """Time in which the pipe would be read if the host did not pause."""
    for _ in range(200):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("async def run(ctx): return 1", "has no `yield`"),
        ("def run(ctx): yield 1", "is a plain `def`"),
        ("def run(ctx): return [1]", "returned list"),
    ],
)
async def test_a_runner_that_is_no_async_generator_fails_with_the_reason(harness, source, why):
    ending, _ = await harness.run(harness.launch(source))
    assert ending.how is EndKind.RAISED
    assert f"runner.py:1: a runner is an `async def` that yields its results; this one {why}" in ending.message


async def test_modules_beside_the_runner_and_relative_imports_work(harness):
    harness.write("components/shared.py", "WORD = 'shared'")
    harness.write("beside.py", "WORD = 'beside'")
    launch = harness.launch(
        """
        import beside
        from . import shared

        async def run(ctx):
            yield [beside.WORD, shared.WORD, __name__]
        """,
        name="components/my_runner.py",
    )
    ending, sink = await harness.run(launch)
    assert ending.message == ""
    assert sink.results == [["beside", "shared", "components.my_runner"]]


@pytest.mark.parametrize("name", ["json.py", "asyncio.py", "my-runner.py", "wire.py"])
async def test_a_file_may_have_any_name(harness, name):
    launch = harness.launch("import json\nasync def run(ctx):\n    yield json.__name__", name=name)
    ending, sink = await harness.run(launch)
    assert (ending.message, sink.results) == ("", ["json"])


async def test_breakpoint_raises_because_stdin_belongs_to_the_wire(harness):
    ending, _ = await harness.run(harness.launch("async def run(ctx):\n    breakpoint()\n    yield 1"))
    assert ending.how is EndKind.RAISED
    assert "stdin belongs to the wire" in ending.message
    assert "debugpy" in ending.message
