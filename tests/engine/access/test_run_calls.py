"""`run_list` and `run_cancel`: a runner sees and stops its own runs in its own place, and no others."""

from typing import Any

from tests.support.engines import Engines, delta, message, run_event, send, wait_for_entry, wait_forever
from tests.support.own_and_foreign_data import FOREIGN_PLACES, OWN_PLACE, AccessHarness, own_message


async def do_nothing(ctx: Any) -> None:
    pass


async def make_run(harness: AccessHarness, place: Any = OWN_PLACE, runner: str = "asks") -> str:
    return (await harness.try_in_run(do_nothing, own_message("x", place), runner)).run.run_id


async def test_run_list_has_the_runs_of_this_runner_in_this_place_newest_first(harness: AccessHarness):
    own = [await make_run(harness) for _ in range(2)]
    for place in FOREIGN_PLACES.values():
        await make_run(harness, place)
    await make_run(harness, runner="other")

    outcome = await harness.try_in_run(lambda ctx: ctx.api.run_list())

    page = outcome.value
    assert [item.run_id for item in page.items] == [outcome.run.run_id, own[1], own[0]]
    assert [item.status for item in page.items] == ["running", "completed", "completed"]
    last = page.items[-1]
    assert (last.conversation_id, last.thread_id, last.bot_id, last.workspace_id) == ("ours", "t1", "b1", "w1")
    assert (last.agent_id, last.status_reason) == ("asks", "stop")
    assert None not in (last.created_at, last.started_at, last.finished_at, last.deadline_at)
    assert (page.has_more, page.next_cursor, page.prev_cursor) == (False, None, page.items[0].cursor)


async def test_pages_of_runs_have_every_run_once(harness: AccessHarness):
    own = [await make_run(harness) for _ in range(4)]

    async def read_all(ctx: Any) -> list[str]:
        found, cursor = [], None
        while True:
            page = await ctx.api.run_list(statuses=["completed"], before_cursor=cursor, limit=3)
            found += [item.run_id for item in page.items]
            cursor = page.next_cursor
            if not page.has_more:
                return found

    assert await harness.do_in_run(read_all) == own[::-1]


async def test_statuses_limit_the_list_and_an_unknown_one_is_refused(harness: AccessHarness):
    await make_run(harness)

    async def count(ctx: Any) -> list[int]:
        wanted = (["running"], ["completed", "failed"], ["queued", "claimed"], [])
        return [len((await ctx.api.run_list(statuses=statuses)).items) for statuses in wanted]

    assert await harness.do_in_run(count) == [1, 1, 0, 0]
    refused = await harness.try_in_run(lambda ctx: ctx.api.run_list(statuses=["asleep"]))
    assert refused.error is not None
    assert (refused.error.code, refused.error.message) == (
        "invalid_argument",
        "'asleep' is not a status of a run; use created, running, completed, failed, cancelled, timeout",
    )


async def test_another_conversation_and_its_cursors_are_refused(harness: AccessHarness):
    page = await harness.do_in_run(lambda ctx: ctx.api.run_list())
    history = await harness.do_in_run(lambda ctx: ctx.api.history_page())

    for arguments, code in (
        ({"conversation_id": "theirs"}, "unauthorized"),
        ({"before_cursor": history.items[0].cursor}, "unauthorized"),
        ({"before_cursor": "made-up"}, "invalid_argument"),
        ({"limit": 0}, "invalid_argument"),
    ):
        outcome = await harness.try_in_run(lambda ctx, given=arguments: ctx.api.run_list(**given))
        assert outcome.error is not None
        assert outcome.error.code == code
    foreign = own_message("x", FOREIGN_PLACES["thread"])
    outcome = await harness.try_in_run(lambda ctx: ctx.api.run_list(before_cursor=page.items[0].cursor), foreign)
    assert outcome.error is not None
    assert outcome.error.code == "unauthorized"


async def test_a_run_can_stop_itself_and_gets_the_reply_first(open_engine: Engines):
    seen: list[Any] = []

    async def quits(ctx: Any):
        yield delta("…")
        seen.append(await ctx.api.run_cancel(reason="enough"))
        seen.append("goes on")
        await wait_forever()

    run = await run_event(await open_engine(quits))

    assert (run.row.status, run.row.status_reason) == ("cancelled", "cancelled")
    assert run.finished["error"] == "enough"
    assert (seen[0].run_id, seen[0].status, seen[1]) == (run.run_id, "running", "goes on")
    assert seen[0].cancel_requested_at is not None
    assert run.row.cancel_requested_at is not None
    request = run.one("cancel.requested")
    assert (request.source, request.data) == ("host", {"by_runner": True, "reason": "enough"})
    assert run.types.index("call.replied") < run.types.index("cancel.requested")


async def test_a_run_that_has_ended_stays_as_it_is(harness: AccessHarness):
    ended = await make_run(harness)

    record = await harness.do_in_run(lambda ctx: ctx.api.run_cancel(ended))

    assert (record.run_id, record.status, record.cancel_requested_at) == (ended, "completed", None)


async def test_runs_of_other_places_and_runners_and_unknown_runs_are_refused_alike(harness: AccessHarness):
    foreign = [await make_run(harness, place) for place in FOREIGN_PLACES.values()]
    foreign += [await make_run(harness, runner="other"), "run_nobody"]

    for run_id in foreign:
        outcome = await harness.try_in_run(lambda ctx, target=run_id: ctx.api.run_cancel(target))
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.message) == ("not_found", f"this run can read no run {run_id!r}")


async def test_a_live_run_of_another_conversation_goes_on(harness: AccessHarness):
    event = own_message("theirs", FOREIGN_PLACES["conversation"])

    async def wait(ctx: Any) -> None:
        await ctx.api.run_get()
        await wait_forever()

    harness._works[event.event_id] = wait
    live = await send(harness.engine, event, runner="asks")
    await wait_for_entry(harness.engine, live, "call.replied")

    outcome = await harness.try_in_run(lambda ctx: ctx.api.run_cancel(live))

    assert outcome.error is not None
    assert outcome.error.code == "not_found"
    assert (await harness.engine.runs.get(live)).cancel_requested_at is None
    await harness.engine.runs.stop(live)


async def test_both_calls_need_a_conversation(harness: AccessHarness):
    without = message("x", None, event_id="alone")
    for work in (lambda ctx: ctx.api.run_list(), lambda ctx: ctx.api.run_cancel()):
        outcome = await harness.try_in_run(work, without.model_copy(update={"event_id": f"alone-{id(work)}"}))
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.message) == ("unauthorized", "the event has no conversation")
        apis = outcome.run.context["context"]["available_apis"]
        assert (apis["run_get"], apis["run_list"], apis["run_cancel"]) == (True, False, False)
