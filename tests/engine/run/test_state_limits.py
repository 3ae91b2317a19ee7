"""A runner cannot fill a scope until no run can start: writes are refused, and a context that fits is sent."""

from pathlib import Path
from typing import Any

import pytest

from engine.api import Engine, RunOptions, StateRefused
from engine.protocol import AgentAPIException
from engine.run import state_snapshot
from engine.store import state
from engine.store.database import Database
from engine.store.state import ChangeOrigin
from tests.support.engines import Engines, done, message, run_event, state_updated, wait_for_run

LARGE = "x" * 250_000
READER = """
from engine.protocol import AgentRunResult, Message

async def run(ctx):
    held = ctx.state.conversation
    found = await ctx.api.state_get("conversation", "big00")
    text = f"{len(held)} {'big00' in held} {'small' in held} {len(found or '')}"
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
    yield AgentRunResult.run_completed(ctx.run_id)
"""


async def test_a_write_that_exceeds_a_scope_is_refused_to_calls_results_and_the_user(open_engine: Engines):
    refused: list[tuple[str, str]] = []

    async def hoards(ctx: Any):
        await ctx.api.state_set("conversation", "first", "x" * 60)
        try:
            await ctx.api.state_set("conversation", "second", "x" * 60)
        except AgentAPIException as error:
            refused.append((error.error.code, error.error.message))
        yield state_updated("third", "x" * 60)
        yield state_updated("fourth", 1)
        yield done()

    engine = await open_engine(hoards, limits={"state_bytes": 100, "state_keys": 2})
    run = await run_event(engine)

    reason = (
        "the conversation scope would hold {} bytes, and the limit is 100. "
        "Delete keys, or raise `limits.state_bytes` in trackside.yaml."
    )
    assert refused == [("payload_too_large", reason.format(135))]
    third, fourth = run.all("state.updated")
    assert (third.outcome, third.reason) == ("dropped", f"could not be applied: {reason.format(134)}")
    assert fourth.outcome is None
    assert run.row.status == "completed"
    (scope,) = {row.identity for row in await engine.state.read()}
    with pytest.raises(StateRefused, match="has 2 keys, and the limit is 2"):
        await engine.state.set(scope, "fifth", 1)
    assert [row.key for row in await engine.state.read()] == ["first", "fourth"]


async def test_a_snapshot_that_is_too_large_is_sent_without_its_largest_values(
    open_engine: Engines, monkeypatch: pytest.MonkeyPatch
):
    sizes = (("conversation", "large", 400), ("actor", "larger", 500), ("actor", "small", 300))

    async def fills(ctx: Any):
        lengths = [len(await ctx.api.state_get(scope, key) or "") for scope, key, _ in sizes]
        for scope, key, size in sizes:
            await ctx.api.state_set(scope, key, "x" * size)
        yield done(str(lengths))

    engine = await open_engine(fills)
    await run_event(engine)
    whole = await run_event(engine)
    monkeypatch.setattr(state_snapshot, "SMALL_BYTES", 500)
    monkeypatch.setattr("engine.run.run_start.state_budget", lambda _other: 600)
    cut = await run_event(engine)

    assert whole.warnings == []
    assert sorted(whole.context["state"]["actor"]) == ["larger", "small"]
    assert sorted(cut.context["state"]["actor"]) == ["small"]
    assert sorted(cut.context["state"]["conversation"]) == ["external.conversation_id"]
    (warning,) = cut.warnings
    assert warning.endswith("state_get reads them: actor 'larger' (512 bytes), conversation 'large' (411 bytes).")
    assert cut.one("run.completed").data["message"]["content"] == "[400, 500, 300]"


async def test_a_scope_of_an_older_database_that_is_too_large_to_send_does_not_stop_its_runs(tmp_path: Path):
    runner = tmp_path / "reader.py"
    runner.write_text(READER)
    db = tmp_path / "facts.db"
    async with await Engine.open(runner, db=db) as engine:
        before = await _perform(engine)
        identity = (await engine.state.scopes_of_run(before.run_id))["conversation"]
        with Database.open(db, write=True).writing_connection() as conn:
            conn.exec_driver_sql("BEGIN IMMEDIATE")
            for number in range(70):
                state.put(conn, identity, f"big{number:02}", LARGE, ChangeOrigin(editor="runner", at=1), limits=None)
            state.put(conn, identity, "small", 1, ChangeOrigin(editor="runner", at=1), limits=None)
            conn.exec_driver_sql("COMMIT")

        after = await _perform(engine)

    assert after.row.status == "completed", after.finished
    sent = (state_snapshot.state_budget(4_000)) // 250_000
    (text,) = [entry.data["message"]["content"] for entry in after.all("message.completed")]
    assert text == f"{sent + 2} False True 250000"
    (warning,) = after.warnings
    assert warning.startswith("The state is too large to send with the context. The largest values were left out;")
    assert "conversation 'big00' (250,011 bytes), conversation 'big01'" in warning


async def _perform(engine: Engine) -> Any:
    ticket = await engine.runs.submit(message("hi"), RunOptions())
    return await wait_for_run(engine, await ticket.started)
