"""Invalid requests over the wire of a real child are recorded as unreadable, and the run continues."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.faults.faults import PooledEngine, open_pooled_engine

RUNNER = Path(__file__).resolve().parents[2] / "support" / "access" / "forger.py"
TOO_LARGE = "larger than 2097152 bytes"
NO_FRAME = "not a frame of the wire"


@dataclass(frozen=True)
class Attack:
    name: str
    unreadable: list[str] = field(default_factory=list)
    """How the reason of each refused frame begins."""
    replies: list[str] = field(default_factory=list)
    """The replies that the runner got."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Code and clause of refused calls."""


ATTACKS = [
    Attack("garbage", ["not JSON", "not UTF-8", NO_FRAME, NO_FRAME, NO_FRAME]),
    Attack("wrong seq id", [NO_FRAME] * 4),
    Attack("answer to nothing", ["a response without a request"]),
    Attack("duplicate seq id", ["call 7000 is already in progress"], ["invalid_argument", "ok"]),
    Attack("data that is no object", ["run_get: its data is not an object"], ["invalid_argument"]),
    Attack("no name", ["a call without a name"]),
    Attack("forged run id", [], ["unauthorized"], [("unauthorized", "the call has the run_id of another run")]),
    Attack("half a frame", ["not JSON"], ["ok"]),
    Attack("chunk with a wrong offset", ["a fragment at 21 where 20 was due"], ["ok"]),
    Attack("chunk that is broken off", ["a split frame was broken off"], ["ok"]),
    Attack("request of 16 mib", [TOO_LARGE, TOO_LARGE]),
    Attack("request of 10 000 levels", ["nested deeper than 100", "not JSON: NaN is no JSON number"]),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PooledEngine]:
    async with open_pooled_engine(tmp_path_factory.mktemp("wire") / "facts.db", RUNNER) as opened:
        yield opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_invalid_request_is_recorded_and_the_run_continues(wire: PooledEngine, attack: Attack):
    played = await wire.run("forger", attack.name, session=f"w-{attack.name.replace(' ', '-')}")

    assert (played.run.status, played.run.status_reason) == ("completed", "stop")
    faults = played.entries_of("result.unreadable", "refused")
    assert len(faults) == len(attack.unreadable), [fault.reason for fault in faults]
    for fault, words in zip(faults, attack.unreadable, strict=True):
        assert (fault.reason or "").startswith(words)
    (said,) = played.entries_of("message.completed")
    assert json.loads(json.loads(said.data)["message"]["content"]) == attack.replies
    refused = [json.loads(entry.data) for entry in played.entries_of("call.decided", "refused")]
    assert [(each["code"], each["clause"]) for each in refused] == attack.refused
    kept = await wire.engine.state.read(conversation_id=played.run.conversation_id)
    assert [(row.key, row.value) for row in kept] == [("after", attack.name)]


@pytest.mark.asyncio(loop_scope="module")
async def test_incomplete_frame_at_the_end_of_the_wire_is_recorded(wire: PooledEngine):
    played = await wire.run("forger", "half a frame at the end")
    assert (played.run.status, played.run.status_reason) == ("failed", "runner.lost")
    assert [entry.reason for entry in played.entries_of("result.unreadable", "refused")] == [
        "the wire ended inside a frame"
    ]
    await wire.check_normal()


@pytest.mark.asyncio(loop_scope="module")
async def test_burst_of_10_000_calls_is_answered_and_mostly_refused_and_the_run_continues(
    wire: PooledEngine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("engine.access.rate_limit.MAX_CALLS_PER_SECOND", 200)
    played = await wire.run("forger", "burst")

    assert (played.run.status, played.run.status_reason) == ("completed", "stop")
    (said,) = played.entries_of("message.completed")
    replies = json.loads(json.loads(said.data)["message"]["content"])
    assert replies == ["10000 replies", "ok", "rate_limited"]
    turned_away = played.entries_of("result.unreadable", "refused")
    outcome, refused = played.entries_of("call.requested"), played.entries_of("call.decided", "refused")
    lines = [json.loads(entry.data).get("lines", 1) for entry in turned_away]
    assert len(outcome) + sum(lines) >= 10_001
    assert {json.loads(entry.data)["code"] for entry in refused} == {"rate_limited"}
    assert len(outcome) == len(refused) + len(played.entries_of("call.decided"))
    await wire.check_normal()


@pytest.mark.asyncio(loop_scope="module")
async def test_unawaited_replies_end_with_the_run(wire: PooledEngine):
    played = await wire.run("forger", "replies never awaited")
    assert (played.run.status, played.run.status_reason) == ("completed", "stop")
    assert played.entries[-1].type == "run.finished"
    await wire.check_normal()
