"""Every misbehaviour of the bundled chaos runner: its run ends with the right status, and no other run is affected."""

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from engine.runners.discovery import bundled_folder
from tests.support.faults.faults import (
    FinishedRun,
    PooledEngine,
    descendants,
    marked_processes,
    open_pooled_engine,
    process_mark,
    until,
)

SHORT = 1.0
"""Deadline in seconds of runs that would never end by themselves."""


@dataclass(frozen=True)
class Case:
    """The expected outcome of one misbehaviour."""

    name: str
    status: str
    reason: str
    shows: Callable[[FinishedRun], None]
    config: dict[str, Any] = field(default_factory=dict)


def _reasons(played: FinishedRun, kind: str, outcome: str) -> list[str]:
    return [entry.reason or "" for entry in played.entries_of(kind, outcome)]


def _messages(played: FinishedRun) -> list[str]:
    return [json.loads(entry.data)["message"]["content"] for entry in played.entries_of("message.completed")]


def _deltas(played: FinishedRun) -> list[str]:
    return [json.loads(entry.data)["chunk"]["content"] for entry in played.entries_of("message.delta")]


def _raised(text: str) -> Callable[[FinishedRun], None]:
    def shows(played: FinishedRun) -> None:
        assert played.last["error"] == f"RuntimeError: {text}"
        (traceback,) = played.output("traceback")
        assert f'raise RuntimeError("{text}")' in traceback
        assert "engine/runtimes" not in traceback

    return shows


def _timed_out(said: str) -> Callable[[FinishedRun], None]:
    def shows(played: FinishedRun) -> None:
        assert _deltas(played)[:1] == [said]
        assert played.last["error"] == f"the run took longer than {SHORT:g} s"
        assert played.last["retryable"] is True

    return shows


def _ignored_cancel(played: FinishedRun) -> None:
    _timed_out("I shall not be moved.")(played)
    assert played.output("stdout") == ["cancel ignored"]


def _flooded_on(played: FinishedRun) -> None:
    _timed_out("0 ")(played)
    assert _reasons(played, "message.delta", "ignored")[:1] in (
        [],
        ["came after the run was stopped (deadline)"],
    )


def _lost(error: str) -> Callable[[FinishedRun], None]:
    def shows(played: FinishedRun) -> None:
        assert played.last["error"] == error
        stopped = [entry for entry in played.entries if entry.type == "run.stopped"]
        assert [json.loads(entry.data) for entry in stopped] == [{"reason": "lost", "error": error}]

    return shows


def _left_a_grandchild(played: FinishedRun) -> None:
    (line,) = played.output("stdout")
    assert line.startswith("grandchild ")
    assert _messages(played) == [f"I leave {line.removeprefix('grandchild ')} behind."]


def _flooded(played: FinishedRun) -> None:
    assert _deltas(played) == [f"{number} " for number in range(5_000)]
    assert _messages(played) == ["5000 deltas."]


def _was_noisy(played: FinishedRun) -> None:
    out, err = played.output("stdout"), played.output("stderr")
    assert out[0] == "noise on standard output"
    assert '"type": "run.failed"' in out[1]
    assert out[2:] == [*(f"line {number}" for number in range(200)), "not UTF-8: \ufffd\ufffd\ufffd"]
    assert err == ["noise on standard error", "half a line"]


def _had_long_lines(played: FinishedRun) -> None:
    for stream in ("stdout", "stderr"):
        assert "".join(played.output(stream)) == "".join(letter * 100_000 for letter in "abc")
        assert [len(piece) for piece in played.output(stream)] == [65_536, 34_464] * 3


def _said_nothing(played: FinishedRun) -> None:
    assert [entry.type for entry in played.entries] == ["run.started", "run.finished"]


def _verbatim(telltale: str) -> Callable[[FinishedRun], None]:
    """Recorded unchanged: the screen makes it harmless."""

    def shows(played: FinishedRun) -> None:
        (message,) = _messages(played)
        assert telltale in message
        assert _deltas(played) == [message]
        assert "".join(played.output("stdout")).rstrip("\r") == message
        assert json.loads(played.entries_of("tool.call.started")[0].data)["tool_name"] == message

    return shows


def _assembled(played: FinishedRun) -> None:
    (warning,) = played.entries_of("warning")
    assert "assembled from deltas" in warning.data


def _was_malformed(played: FinishedRun) -> None:
    assert _reasons(played, "message.completed", "dropped") == [
        "data: should be an object",
        "data.message: should be an object",
        "data.message.role: field required",
        "data.extra: unknown key",
    ]
    assert _reasons(played, "message.delta", "dropped") == [
        "data.chunk: should be an object",
        "data: should be an object",
    ]
    scope, key = _reasons(played, "state.updated", "dropped")
    assert scope.startswith("data.scope: ")
    assert key == "data.key: field required"
    assert _reasons(played, "artifact.created", "dropped") == [
        "data.artifact_type: field required",
        "content_base64 is not valid base64",
    ]
    assert _reasons(played, "action.requested", "dropped") == ["data: should be an object"]
    assert _messages(played) == ["Only this one was good."]


def _was_not_json(played: FinishedRun) -> None:
    unserialisable, not_a_number = _reasons(played, "result.unreadable", "refused")
    assert "object" in unserialisable
    assert not_a_number == "not JSON: NaN is no JSON number"
    applied = {
        json.loads(entry.data)["key"]: json.loads(entry.data)["value"] for entry in played.entries_of("state.updated")
    }
    assert applied == {"set": [1, 2, 3], "half a character": "\ufffd"}
    assert _messages(played) == ["Only this one was good."]


def _broke_the_protocol(kind: str, reason: str) -> Callable[[FinishedRun], None]:
    def shows(played: FinishedRun) -> None:
        assert _reasons(played, kind, "refused") == [reason]
        assert played.last["error"] == reason
        # Whether a later result still arrives is a race with the stop; that it has no effect is not.
        late = [(entry.outcome, entry.reason) for entry in played.entries if entry.type == "run.completed"]
        assert late in ([], [("ignored", "came after the run was stopped (protocol)")])

    return shows


def _was_oversize(played: FinishedRun) -> None:
    (delta,) = played.entries_of("message.delta", "refused")
    assert json.loads(delta.data)["size"] > 1 << 20
    assert "exceed the limit of a result (1048576)" in (delta.reason or "")
    (unreadable,) = played.entries_of("result.unreadable", "refused")
    assert json.loads(unreadable.data)["size"] > 3 << 20
    assert unreadable.reason == "larger than 2097152 bytes"
    (artifact,) = played.entries_of("artifact.created", "dropped")
    assert artifact.reason == "1048577 bytes exceed the limit of inline content (1048576)"
    assert json.loads(artifact.data)["content_redacted"] is True
    assert _messages(played) == ["Only this one was small enough."]


def _was_unknown(played: FinishedRun) -> None:
    unknown = [entry for entry in played.entries if entry.outcome == "unknown"]
    assert [entry.type for entry in unknown] == ["telepathy.received", "message.Delta", "x" * 200]
    assert {entry.reason for entry in unknown} == {"the host does not know this type"}
    assert _messages(played) == ["Only this one is known."]


def _repeated_itself(played: FinishedRun) -> None:
    assert _reasons(played, "message.delta", "dropped") == [f"sequence {n} was seen before" for n in range(1, 5)]
    assert _deltas(played) == ["once ", "and ", "only ", "once"]


def _left_numbers_out(played: FinishedRun) -> None:
    assert _reasons(played, "message.delta", "warned") == [
        "sequence 4, expected 2",
        "sequence 3 came after 4",
        "sequence 0 is not positive",
        "sequence -7 is not positive",
    ]
    assert _reasons(played, "message.completed", "warned") == ["sequence 100, expected 5"]


def _went_on(played: FinishedRun) -> None:
    ignored = [entry for entry in played.entries if entry.outcome == "ignored"]
    assert [entry.type for entry in ignored] == ["message.delta", "message.completed", "state.updated", "run.failed"]
    assert {entry.reason for entry in ignored} == {"came after run.completed"}
    assert _messages(played) == ["The end."]


def _was_deep(played: FinishedRun) -> None:
    deep, deeper, call = _reasons(played, "result.unreadable", "refused")
    assert deep == call == "nested deeper than 100"
    assert "depth" in deeper
    assert _messages(played) == ["Only this one was shallow."]


def _kept_too_much(played: FinishedRun) -> None:
    value, key = _reasons(played, "state.updated", "dropped")
    assert "the limit is 262144" in value
    assert key == "data.key: should have at most 255 characters"
    assert [json.loads(entry.data)["key"] for entry in played.entries_of("state.updated")] == ["fits"]


ENDLESS = {"timeout": SHORT}
CASES = (
    Case("raise", "failed", "runner.exception", _raised("chaos was asked to raise")),
    Case("raise after text", "failed", "runner.exception", _raised("chaos was asked to raise after text")),
    Case("hang", "timeout", "runner.timeout", _timed_out("Waiting…"), ENDLESS),
    Case("ignore cancel", "timeout", "runner.timeout", _ignored_cancel, ENDLESS),
    Case("block", "timeout", "runner.timeout", _timed_out("Blocking the loop…"), ENDLESS),
    Case("spin", "timeout", "runner.timeout", _timed_out("Spinning…"), ENDLESS),
    Case("block in c", "timeout", "runner.timeout", _timed_out("Holding the lock…"), ENDLESS),
    Case("exit", "failed", "runner.lost", _lost("the runner exited with code 3")),
    Case("sys exit", "failed", "runner.lost", _lost("the runner exited with code 3")),
    Case("kill", "failed", "runner.lost", _lost("the runner was killed by SIGKILL")),
    Case("grandchild", "completed", "stop", _left_a_grandchild),
    Case("flood", "completed", "stop", _flooded, {"count": 5_000}),
    Case("flood forever", "timeout", "runner.timeout", _flooded_on, ENDLESS),
    Case("print noise", "completed", "stop", _was_noisy),
    Case("100 kb lines", "completed", "stop", _had_long_lines),
    Case("no output", "completed", "no output", _said_nothing),
    Case("terminal escapes", "completed", "stop", _verbatim("\x1b]0;owned\x07")),
    Case("markup", "completed", "stop", _verbatim("[@click=app.quit]quit[/]")),
    Case("delta fragments", "completed", "stop", _assembled),
    Case("delta snapshots", "completed", "stop", _assembled),
    Case("delta all content", "completed", "stop", _assembled),
    Case("malformed results", "completed", "stop", _was_malformed),
    Case("not json", "completed", "stop", _was_not_json),
    Case(
        "not an object",
        "failed",
        "protocol.error",
        _broke_the_protocol("result.untyped", "a result must be an object, not an array"),
    ),
    Case("oversize results", "completed", "stop", _was_oversize),
    Case("unknown types", "completed", "stop", _was_unknown),
    Case("no type", "failed", "protocol.error", _broke_the_protocol("result.untyped", "a result must have a type")),
    Case("duplicate sequences", "completed", "stop", _repeated_itself),
    Case("missing sequences", "completed", "stop", _left_numbers_out),
    Case(
        "wrong run id",
        "failed",
        "protocol.error",
        _broke_the_protocol("message.completed", "run_id 'run_of_someone_else' is not this run's"),
    ),
    Case("results after the end", "completed", "stop", _went_on),
    Case("deep json", "completed", "stop", _was_deep),
    Case("huge state", "completed", "stop", _kept_too_much),
)
LINES = {
    "delta fragments": "The whole is the sum of its parts.",
    "delta snapshots": "The whole is here.",
    "delta all content": "The whole is the sum of its parts.",
    "duplicate sequences": "once and only once",
    "missing sequences": "all of it is said",
    "results after the end": "The end.",
}
"""The one assistant line that these must write, whatever was streamed."""


@pytest.fixture(scope="module")
def chaos_mark() -> Iterator[str]:
    """The mark of the processes of the shared engine."""
    with process_mark() as mark:
        yield mark


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chaos(tmp_path_factory: pytest.TempPathFactory, chaos_mark: str) -> AsyncIterator[PooledEngine]:
    """One engine for all cases: damage by one of them would affect the next."""
    async with open_pooled_engine(tmp_path_factory.mktemp("chaos") / "facts.db") as opened:
        yield opened
    await until(lambda: not marked_processes(chaos_mark), 1.0)


async def test_every_misbehaviour_of_the_chaos_runner_has_a_case():
    source = (bundled_folder() / "chaos" / "runner.py").read_text()
    named = [line.split('"')[1] for line in source.splitlines() if line.startswith('@misbehaviour("')]
    assert [case.name for case in CASES] == named


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_misbehaving_runner_affects_only_its_own_run(chaos: PooledEngine, chaos_mark: str, case: Case):
    played = await chaos.run("chaos", case.name, session=f"s-{case.name.replace(' ', '-')}", warm=True, **case.config)

    assert (played.run.status, played.run.status_reason) == (case.status, case.reason)
    case.shows(played)
    if case.name in LINES:
        lines = await chaos.engine.sessions.transcript(str(played.run.conversation_id))
        assert [(line.role, line.content) for line in lines] == [
            ("assistant", LINES[case.name]),
            ("user", case.name),
        ]
    await chaos.check_normal()
    # A child that ended cleanly is kept for the next run; nothing else may be left.
    await until(lambda: marked_processes(chaos_mark) == {child.pid for child in chaos.pool._idle.values()}, 1.0)


async def test_closing_host_leaves_no_process_whatever_its_runners_do(tmp_path: Path, mark: str):
    before = descendants(os.getpid())
    async with open_pooled_engine(tmp_path / "facts.db") as opened:
        for name in ("hang", "ignore cancel", "block", "block in c", "flood forever"):
            run_id = await opened.start_run("chaos", name, session=f"s-{name.replace(' ', '-')}")
            await opened.wait_for_entry(run_id, "message.delta")
        assert len(marked_processes(mark)) == 5
    assert marked_processes(mark) == set()
    assert descendants(os.getpid()) == before

    async with open_pooled_engine(tmp_path / "facts.db") as opened:
        assert opened.engine.recovered_runs == []
        runs = await opened.engine.runs.list()
        assert [(run.status, run.status_reason) for run in runs] == [("cancelled", "cancelled")] * 5
