"""The calls of a run, assembled from its journal: as they ended, and as of an entry."""

from collections.abc import AsyncIterator
from typing import Any

from console.model.inspector.call_log import MAX_ENDED_CALLS, Call, CallLog, OpenCalls, refused_first
from engine.api import Engine, Entry
from engine.protocol import AgentAPIException
from tests.support.engines import Engines, FinishedRun, declares, done, run_event


async def asks(ctx: Any) -> AsyncIterator[Any]:
    await ctx.api.run_get()
    for call in (ctx.api.history_page(), ctx.api.state_get("conversation", "nothing"), ctx.api.state_get("odd", "k")):
        try:
            await call
        except AgentAPIException:
            continue
    yield done("thanks")


async def asked(open_engine: Engines) -> tuple[Engine, FinishedRun, list[Entry]]:
    engine = await open_engine(declares()(asks))
    run = await run_event(engine)
    return engine, run, [entry async for entry in engine.runs.entries(run.run_id)]


def log_of(entries: list[Entry]) -> CallLog:
    log = CallLog()
    log.apply(entries)
    return log


async def test_calls_are_listed_with_their_decision_clause_and_latency(open_engine: Engines):
    _, _, entries = await asked(open_engine)
    calls = log_of(entries).calls()

    assert [(call.number, call.action, call.decision, call.code) for call in calls] == [
        (1, "run_get", "allowed", None),
        (2, "history_page", "refused", "unauthorized"),
        (3, "state_get", "allowed", None),
        (4, "state_get", "refused", "invalid_argument"),
    ]
    assert calls[0].clause == "every run may make this call"
    assert calls[1].clause == "history.page is not in the manifest's permissions"
    assert all(call.microseconds == 0 for call in calls), "the clock stands still"
    by_position = {entry.position: entry.type for entry in entries}
    assert [by_position[call.requested_position] for call in calls] == ["call.requested"] * 4
    assert by_position[calls[0].replied_position or 0] == "call.replied"
    assert by_position[calls[1].replied_position or 0] == "call.decided", "a refusal is the reply"


async def test_call_as_of_an_entry_has_its_earlier_state(open_engine: Engines):
    _, _, entries = await asked(open_engine)
    call = log_of(entries).calls()[0]
    at = call.requested_position

    def words(position: int) -> tuple[str, bool] | None:
        seen = call.as_of(position)
        return None if seen is None else (seen.decision, seen.replied_at is not None)

    assert [words(at - 1), words(at), words(at + 1)] == [None, ("undecided", False), ("allowed", False)]
    assert words(call.replied_position or 0) == words(10_000) == ("allowed", True)


async def test_refused_calls_can_be_listed_first(open_engine: Engines):
    _, _, entries = await asked(open_engine)
    assert [call.number for call in refused_first(log_of(entries).calls())] == [2, 4, 1, 3]


async def test_call_without_a_reply_stays_open(open_engine: Engines):
    _, _, entries = await asked(open_engine)
    calls = OpenCalls()
    for entry in entries:
        calls.apply(entry)
        if entry.type == "call.decided":
            break

    assert [(call.action, call.decision, call.microseconds) for call in calls.calls()] == [("run_get", "allowed", None)]


def test_only_the_last_calls_are_kept_and_the_others_counted():
    def entry(position: int, kind: str, data: str) -> Entry:
        return Entry("r", position, position, "host", kind, data)

    log = CallLog()
    for number in range(MAX_ENDED_CALLS + 5):
        log.apply(
            [
                entry(2 * number + 1, "call.requested", f'{{"call_id":"c{number}","action":"run_get"}}'),
                entry(2 * number + 2, "call.decided", f'{{"call_id":"c{number}","allowed":false,"clause":"no"}}'),
            ]
        )

    calls: list[Call] = log.calls()
    assert (len(calls), calls[0].number, log.earlier) == (MAX_ENDED_CALLS, 6, 5)
