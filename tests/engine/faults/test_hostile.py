"""Hostile input over the wire: the run survives it or fails as the contract requires, and the host is not affected."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.faults.faults import FinishedRun, PooledEngine, open_pooled_engine, process_mark

HERE = Path(__file__).resolve().parents[2] / "support" / "faults"
SURVIVED = ("completed", "stop")
BROKE_THE_PROTOCOL = ("failed", "protocol.error")
DEEP = "nested deeper than 100"
UNKNOWN = "the host does not know this type"


@dataclass(frozen=True)
class Case:
    """An attack and what is recorded of it: entries as type, outcome and the start of the reason."""

    name: str
    recorded: list[tuple[str, str | None, str | None]]
    end: tuple[str, str] = SURVIVED


def unreadable(*reasons: str) -> list[tuple[str, str | None, str | None]]:
    return [("result.unreadable", "refused", reason) for reason in reasons]


def warned(*reasons: str) -> list[tuple[str, str | None, str | None]]:
    return [("tool.call.started", "warned", reason) for reason in reasons]


APPLIED = [("state.updated", None, None)]
CASES = (
    Case("result over 1 MiB", [("tool.call.started", "refused", "1048584 bytes exceed the limit of a result")]),
    Case("line over 2 MiB", unreadable("larger than 2097152 bytes")),
    Case("line of 5 MiB without an end", unreadable("larger than 2097152 bytes")),
    Case("artifact of 1 MiB", [("artifact.created", None, None)]),
    Case("10,000 levels", unreadable(DEEP)),
    Case("10,000 objects deep", unreadable(DEEP)),
    Case("101 levels", unreadable(DEEP)),
    Case("brackets in a string", APPLIED),
    Case("15,000 keys", APPLIED),
    Case("type of a million characters", [("t" * 200, "unknown", UNKNOWN)]),
    Case("type that is a number", [("result.untyped", "refused", "a result must have a type")], BROKE_THE_PROTOCOL),
    Case("type that is empty", [("result.untyped", "refused", "a result must have a type")], BROKE_THE_PROTOCOL),
    Case(
        "types of the host",
        [
            (f"result.{kind}", "unknown", UNKNOWN)
            for kind in (
                "run.finished",
                "run.started",
                "output",
                "warning",
                "call.requested",
                "steering.pulled",
                "cancel.requested",
            )
        ],
    ),
    Case("integer of 70 bits", APPLIED),
    Case("integer of 64 bits", APPLIED),
    Case("integer of 5,000 digits", unreadable("not JSON: a number is too large")),
    Case("NaN", unreadable("not JSON: NaN is no JSON number")),
    Case("Infinity", unreadable("not JSON: -Infinity is no JSON number")),
    Case("1e999", unreadable("not JSON: a number is too large")),
    Case("half a character", APPLIED),
    Case("half a character in the type", [("x\ufffd", "unknown", UNKNOWN)]),
    Case("bytes that are no UTF-8", unreadable("not UTF-8")),
    Case("null characters", APPLIED),
    Case(
        "sequences",
        warned(
            "sequence 1.1805916207174113e+21 is not an integer",
            "sequence 9223372036854775808, expected 1",
            "sequence -9223372036854775808 is not positive",
            "sequence 1.5 is not an integer",
            "sequence True is not an integer",
            "sequence '1' is not an integer",
            "sequence [1] is not an integer",
            "sequence 9223372036854775807 came after 9223372036854775808",
        ),
    ),
    Case("size of 64 bits", [("artifact.created", "dropped", "data.size_bytes: ")]),
    Case("usage of 64 bits", [("tool.call.started", None, None)] * 3),
    Case("usage with a long name", [("tool.call.started", "warned", "its usage is not recorded: 1000")] * 20),
    Case("usage that is text", [("tool.call.started", None, None)]),
    Case("data that is a list", [("message.delta", "dropped", "data: should be an object")]),
    Case("data that is null", [("tool.call.started", None, None)]),
    Case("tool call without an id", [("tool.call.completed", None, None)]),
    Case(
        "run id that is an object",
        [("message.delta", "refused", "run_id {'a': 1} is not this run's")],
        BROKE_THE_PROTOCOL,
    ),
    Case("state of 300 KiB", [("state.updated", "dropped", "the value of state key 'k' has 307202 bytes")]),
    Case("10,000 state keys", APPLIED * 10_000),
    Case("garbage", unreadable("not UTF-8", *["not a frame of the wire"] * 4)),
    Case("frame of no run", unreadable("a response without a request")),
    Case(
        "fragments",
        unreadable(
            "a fragment of no frame",
            "larger than 2097152 bytes",
            "more than 4096 fragments",
            "a fragment at 4 where 0 was due",
        ),
    ),
    Case("unreadable that says so itself", unreadable("r" * 500)),
    Case("end of the stream", [], ("completed", "no output")),
    Case("failed end", [], ("failed", "runner.exception")),
    Case("closed wire", [], ("failed", "runner.lost")),
    Case("half a frame", unreadable("the wire ended inside a frame"), ("failed", "runner.lost")),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PooledEngine]:
    """One engine for all attacks."""
    with process_mark():
        async with open_pooled_engine(tmp_path_factory.mktemp("hostile") / "facts.db", HERE / "hostile.py") as opened:
            yield opened


async def attack(wire: PooledEngine, name: str) -> FinishedRun:
    return await wire.run("hostile", name, session="s-" + re.sub(r"\W+", "-", name), warm=True, timeout=30)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_invalid_input_on_the_wire_is_recorded_and_harmless(wire: PooledEngine, case: Case):
    played = await attack(wire, case.name)

    assert (played.run.status, played.run.status_reason) == case.end
    others = ("message.completed", "run.completed", "run.stopped")
    said = [entry for entry in played.entries[1:-1] if entry.type not in others]
    assert [(entry.type, entry.outcome) for entry in said] == [(kind, outcome) for kind, outcome, _ in case.recorded]
    for entry, (_, _, reason) in zip(said, case.recorded, strict=True):
        assert reason is None or (entry.reason or "").startswith(reason)
        assert len(entry.reason or "") <= 500
    if case.end is SURVIVED:
        assert [json.loads(entry.data)["message"]["content"] for entry in played.entries_of("message.completed")] == [
            "survived"
        ]
    await wire.check_normal()


@pytest.mark.asyncio(loop_scope="module")
async def test_value_that_json_can_represent_is_stored_unchanged(wire: PooledEngine):
    kept = {}
    for name in ("integer of 64 bits", "integer of 70 bits", "half a character", "null characters"):
        (entry,) = (await attack(wire, name)).entries_of("state.updated")
        kept[name] = json.loads(entry.data)["value"]
    assert kept == {
        "integer of 64 bits": 2**64 - 1,
        "integer of 70 bits": float(2**70),
        "half a character": "\ufffd and \ufffd",
        "null characters": "a\0b",
    }


@pytest.mark.asyncio(loop_scope="module")
async def test_usage_values_that_are_no_counts_are_ignored(wire: PooledEngine):
    for name in ("usage of 64 bits", "usage with a long name", "usage that is text"):
        played = await attack(wire, name)
        assert played.run.usage is None
        assert "usage" not in played.last


@pytest.mark.asyncio(loop_scope="module")
async def test_all_state_of_a_conversation_reaches_the_next_run(wire: PooledEngine):
    await wire.run("hostile", "10,000 state keys", session="many", timeout=30)
    played = await wire.run("echo", "and now?", session="many")
    assert played.run.status == "completed"
    again = await wire.run("hostile", "NaN", session="many", timeout=30)
    assert len(json.loads(again.entries[0].data)["context"]["state"]["conversation"]) == 10_001


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", ["calls", "3,000 calls"])
async def test_invalid_calls_are_answered_and_recorded(wire: PooledEngine, name: str):
    played = await attack(wire, name)
    assert (played.run.status, played.run.status_reason) == SURVIVED
    assert all(entry.outcome == "refused" or "error" not in entry.data for entry in played.entries_of("call.replied"))
    await wire.check_normal()


@pytest.mark.asyncio(loop_scope="module")
async def test_full_journal_ends_the_run_even_without_a_readable_result(
    wire: PooledEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 2_000)
    played = await attack(wire, "fragments")
    assert (played.run.status, played.run.status_reason) == ("failed", "journal.full")
    assert len(played.entries_of("message.completed", "ignored")) == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_a_flood_of_bad_lines_is_counted_in_few_entries(wire: PooledEngine):
    played = await attack(wire, "20,000 bad lines")

    assert (played.run.status, played.run.status_reason) == SURVIVED
    faults = [json.loads(entry.data) for entry in played.entries_of("result.unreadable", "refused")]
    assert faults[:100] == [{"size": 1}] * 100
    assert sum(fault.get("lines", 1) for fault in faults) == 20_000
    assert sum(fault["size"] for fault in faults) == 20_000
    assert len(faults) < 200


@pytest.mark.asyncio(loop_scope="module")
async def test_a_result_of_too_many_parts_is_refused_without_decoding_it(wire: PooledEngine):
    played = await attack(wire, "200,000 arrays")

    assert (played.run.status, played.run.status_reason) == SURVIVED
    (fault,) = played.entries_of("result.unreadable", "refused")
    assert (fault.reason, json.loads(fault.data)["size"] > 600_000) == ("more than 100000 objects and arrays", True)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_message_of_too_many_parts_is_dropped(wire: PooledEngine):
    played = await attack(wire, "message of 20,000 parts")

    assert (played.run.status, played.run.status_reason) == SURVIVED
    (dropped,) = played.entries_of("message.completed", "dropped")
    assert dropped.reason == "data.message.content: more than 10000 items"


@pytest.mark.asyncio(loop_scope="module")
async def test_brackets_in_text_are_no_parts(wire: PooledEngine):
    played = await attack(wire, "200,000 brackets in a string")

    assert (played.run.status, played.run.status_reason) == SURVIVED
    assert len(played.entries_of("state.updated")) == 1


async def test_empty_output_fills_the_journal_like_anything_else(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engine.journal.recorder.JOURNAL_LIMIT", 200_000)
    runner = tmp_path / "printer.py"
    runner.write_text(
        "import asyncio, itertools\n\n\n"
        "async def run(ctx):\n"
        "    for number in itertools.count():\n"
        "        print(flush=True)\n"
        "        await asyncio.sleep(0)\n"
        "    yield {}\n"
    )
    async with open_pooled_engine(tmp_path / "facts.db", runner) as opened:
        played = await opened.run("printer", "go", warm=True, timeout=30)

    assert (played.run.status, played.run.status_reason) == ("failed", "journal.full")


async def test_a_flood_of_everything_ends_at_its_deadline(tmp_path: Path, mark: str):
    runner = tmp_path / "flood.py"
    runner.write_text((HERE / "flood.py").read_text())
    async with open_pooled_engine(tmp_path / "facts.db", runner) as opened:
        played = await opened.run("flood", "go", warm=True, timeout=1.0)  # `run` checks when the run ended
        assert played.run.status == "timeout"
        missing = [entry for entry in played.entries_of("warning") if "bytes of stdout were not read" in entry.data]
        assert len(missing) <= 1
        await opened.check_normal()


async def test_run_flooding_state_ends_at_its_deadline(tmp_path: Path, mark: str):
    runner = tmp_path / "keeper.py"
    runner.write_text(
        "import itertools\n\n\n"
        "async def run(ctx):\n"
        "    for number in itertools.count():\n"
        '        data = {"scope": "conversation", "key": f"k{number % 500}", "value": number}\n'
        '        yield {"type": "state.updated", "data": data}\n'
    )
    async with open_pooled_engine(tmp_path / "facts.db", runner) as opened:
        played = await opened.run("keeper", "go", warm=True, timeout=1.5)
        assert played.run.status == "timeout"
        assert len(played.entries_of("state.updated")) > 100
        await opened.check_normal()
