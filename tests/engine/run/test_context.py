"""The context that a runner gets."""

import math

import pytest

from engine.api import RunOptions
from engine.protocol.event import EventSource
from engine.store import cursors
from engine.store.row_mapping import ConversationKey
from tests.support.engines import (
    START,
    Engines,
    ScriptRunner,
    declares,
    done,
    event,
    message,
    open_script_runner,
    run_event,
    said,
    wait_for_run,
    waits,
)

EVERY_PERMISSION = {
    "history": ["page", "search"],
    "events": ["get", "page"],
    "artifacts": ["metadata", "read"],
    "storage": ["plugin", "workspace"],
}


@declares(capabilities={"steering": True}, permissions=EVERY_PERMISSION)
async def able(ctx):
    yield done()


async def test_runner_gets_the_context_that_the_journal_records(open_engine: Engines):
    seen = []

    async def looks(ctx):
        seen.append(ctx.model_dump(mode="json"))
        yield done()

    run = await run_event(await open_engine(looks))

    assert seen == [run.context]


async def test_event_delivery_and_context_are_always_there(run_script: ScriptRunner):
    run = await run_script(event=event("schedule.triggered"))

    assert run.context["event"]["event_type"] == "schedule.triggered"
    assert run.context["delivery"]["surface"] == "console"
    assert run.context["context"]["inline_policy"]["mode"] == "current_event"
    assert (run.context["conversation"], run.context["actor"], run.context["subject"]) == (None, None, None)


async def test_history_is_never_inlined(run_script: ScriptRunner):
    await run_script(said("one"), done())
    run = await run_script()

    assert not {"messages", "bootstrap"} & run.context.keys()
    assert run.context["context"]["inline_policy"] == {
        "mode": "current_event",
        "delivered_count": 0,
        "source_total_count": None,
        "messages_complete": False,
        "reason": "current_event_only",
    }


async def test_the_trace_id_is_the_run_id_and_the_context_has_the_hosts_version(run_script: ScriptRunner):
    run = await run_script()

    assert run.context["run_id"] == run.context["runtime"]["trace_id"] == run.run_id
    assert run.context["runtime"]["langbot_version"].startswith("trackside ")


async def test_trigger_time_is_the_event_time_or_now(run_script: ScriptRunner):
    without = await run_script(event=message())
    timed = await run_script(event=message(event_time="2025-05-05T05:05:05+01:00"))

    assert without.context["trigger"]["timestamp"] == START // 1_000_000
    assert without.context["event"]["event_time"] is None
    assert timed.context["trigger"]["timestamp"] == timed.context["event"]["event_time"] == 1_746_417_905


@pytest.mark.parametrize("source", list(EventSource))
async def test_trigger_source_is_that_of_the_event_and_webui_for_the_console(
    run_script: ScriptRunner, source: EventSource
):
    run = await run_script(event=message(source=source))

    assert run.context["event"]["source"] == source
    assert run.context["trigger"]["source"] == ("webui" if source == "console" else source)


async def test_conversation_actor_and_subject_come_from_the_event(run_script: ScriptRunner):
    run = await run_script(
        event=message(
            session="s1",
            thread_id="t",
            bot_id="b",
            workspace_id="w",
            actor={"actor_type": "user", "actor_id": "ann", "metadata": {"vip": True}},
            subject={"subject_type": "message", "subject_id": "m1", "data": {"x": 1}},
        )
    )

    assert run.context["conversation"] == {
        "conversation_id": "s1",
        "thread_id": "t",
        "launcher_type": None,
        "launcher_id": None,
        "sender_id": "ann",
        "bot_id": "b",
        "workspace_id": "w",
        "session_id": "s1",
    }
    assert run.context["actor"]["metadata"] == {"vip": True}
    assert run.context["subject"] == {"subject_type": "message", "subject_id": "m1", "data": {"x": 1}}
    assert (run.context["runtime"]["metadata"]["bot_id"], run.context["runtime"]["metadata"]["workspace_id"]) == (
        "b",
        "w",
    )


# The cursor


async def test_first_event_of_a_conversation_has_no_history(run_script: ScriptRunner):
    access = (await run_script()).context["context"]

    assert (access["latest_cursor"], access["transcript_seq"], access["has_history_before"]) == (None, None, False)
    assert access["event_seq"] == 1


async def test_the_latest_cursor_is_after_all_lines_before_this_event(run_script: ScriptRunner):
    await run_script(said("one"), said("two"), done())

    access = (await run_script(event="next")).context["context"]

    edge = cursors.read_history(ConversationKey("s"), access["latest_cursor"])
    before = await run_script.engine.sessions.transcript("s", before=edge)
    assert [line.content for line in before] == ["two", "one", "hi"]
    assert access["has_history_before"]
    assert access["transcript_seq"] == before[0].seq


async def test_latest_cursor_ignores_other_threads_bots_and_workspaces(run_script: ScriptRunner):
    await run_script(said("here"), done())
    for place in ({"thread_id": "t"}, {"bot_id": "b"}, {"workspace_id": "w"}, {"session": "other"}):
        access = (await run_script(said("there"), done(), event=message(**place))).context["context"]
        assert access["latest_cursor"] is None, place

    access = (await run_script()).context["context"]
    assert access["transcript_seq"] == 2


# The calls


@pytest.mark.parametrize(
    ("session", "on"),
    [
        (
            "s",
            {
                "history_page",
                "history_search",
                "event_get",
                "event_page",
                "artifact_metadata",
                "artifact_read",
                "state",
                "storage",
                "steering_pull",
                "run_get",
                "run_list",
                "run_cancel",
            },
        ),
        (None, {"event_get", "artifact_metadata", "artifact_read", "state", "storage", "run_get"}),
    ],
    ids=["conversation", "none"],
)
async def test_available_apis_require_their_permission_and_some_a_conversation(
    open_engine: Engines, session: str | None, on: set
):
    run = await run_event(await open_engine(able), message(session=session))

    apis = run.context["context"]["available_apis"]
    assert {name for name, is_on in apis.items() if is_on} == on


async def test_without_permissions_only_state_and_calls_for_runs_are_there(run_script: ScriptRunner):
    apis = (await run_script()).context["context"]["available_apis"]

    assert {name for name, is_on in apis.items() if is_on} == {"state", "run_get", "run_list", "run_cancel"}


@pytest.mark.parametrize(
    ("permission", "api"),
    [
        ({"history": ["page"]}, "history_page"),
        ({"history": ["search"]}, "history_search"),
        ({"events": ["get"]}, "event_get"),
        ({"events": ["page"]}, "event_page"),
        ({"artifacts": ["metadata"]}, "artifact_metadata"),
        ({"artifacts": ["read"]}, "artifact_read"),
        ({"storage": ["plugin"]}, "storage"),
    ],
)
async def test_each_permission_allows_its_own_call(open_engine: Engines, permission: dict, api: str):
    @declares(permissions=permission)
    async def asks(ctx):
        yield done()

    apis = (await run_event(await open_engine(asks))).context["context"]["available_apis"]

    assert {name for name, is_on in apis.items() if is_on} == {"state", "run_get", "run_list", "run_cancel", api}


@pytest.mark.parametrize("state", [{"enable_state": False}, {"state_scopes": []}])
async def test_the_state_call_needs_a_policy_with_at_least_one_scope(open_engine: Engines, state: dict):
    run_script = await open_script_runner(open_engine, agents=[{"id": "me", "runner": "play", "state": state}])

    assert (await run_script()).context["context"]["available_apis"]["state"] is False


@pytest.mark.parametrize(
    ("permitted", "policy", "plugin", "workspace"),
    [
        (["plugin", "workspace"], {}, True, False),
        (["plugin", "workspace"], {"allow_workspace_storage": True}, True, True),
        (["plugin"], {"allow_plugin_storage": False, "allow_workspace_storage": True}, False, False),
        (["workspace"], {"allow_workspace_storage": True}, False, True),
    ],
)
async def test_storage_needs_permission_and_policy(
    open_engine: Engines, permitted: list, policy: dict, plugin: bool, workspace: bool
):
    @declares(permissions={"storage": permitted})
    async def stores(ctx):
        yield done()

    engine = await open_engine(stores, agents=[{"id": "me", "runner": "stores", "resources": policy}])
    context = (await run_event(engine)).context

    assert context["resources"]["storage"] == {"plugin_storage": plugin, "workspace_storage": workspace}
    assert context["context"]["available_apis"]["storage"] is (plugin or workspace)


# Delivery


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, {"supports_streaming": True, "reply_target": {"chat": 1}, "max_message_size": 500}),
        ({"enable_streaming": False}, {"supports_streaming": False}),
        ({"enable_reply": False}, {"reply_target": None}),
        ({"max_message_size": 100}, {"max_message_size": 100}),
        ({"max_message_size": 900}, {"max_message_size": 500}),
    ],
)
async def test_delivery_combines_envelope_and_policy(open_engine: Engines, policy: dict, expected: dict):
    run_script = await open_script_runner(open_engine, agents=[{"id": "me", "runner": "play", "delivery": policy}])
    delivery = {
        "surface": "chat",
        "reply_target": {"chat": 1},
        "supports_streaming": True,
        "supports_edit": True,
        "max_message_size": 500,
    }
    run = await run_script(said("recorded all the same"), done(), event=message(delivery=delivery))

    assert run.context["delivery"] | expected == run.context["delivery"]
    assert run.context["delivery"]["supports_edit"] is True
    streams = run.context["delivery"]["supports_streaming"]
    assert run.context["runtime"]["metadata"]["streaming_supported"] is streams
    assert run.one("message.completed").outcome is None


async def test_a_policy_cannot_add_streaming_that_the_surface_lacks(run_script: ScriptRunner):
    run = await run_script(event=message(delivery={"surface": "mail", "supports_streaming": False}))

    assert run.context["delivery"]["supports_streaming"] is False


# Config, params, deadline


async def test_config_is_that_of_the_binding_with_defaults_of_the_form(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer", "default": 3}, {"name": "tone", "type": "string"}])
    async def configured(ctx):
        yield done()

    engine = await open_engine(
        configured, agents=[{"id": "me", "runner": "configured", "config": {"tone": "dry", "more": 1}}]
    )
    run = await run_event(engine, config={"tone": "warm"})

    assert run.context["config"] == {"depth": 3, "tone": "warm", "more": 1}
    assert run.warnings == ["config: more is not in the runner's form"]


async def test_adapter_extra_has_only_the_params_of_the_event(run_script: ScriptRunner):
    assert (await run_script()).context["adapter"] is None
    assert (await run_script(params={"lang": "de"})).context["adapter"] == {"extra": {"params": {"lang": "de"}}}


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        ({}, 300),
        ({"timeout": 10}, 10),
        ({"timeout": 0.5}, 0.5),
        ({"timeout": 0}, None),
        ({"timeout": -1}, None),
        ({"timeout": None}, None),
        ({"timeout": "60"}, None),
        ({"timeout": True}, None),
        ({"timeout": math.nan}, None),
        ({"timeout": math.inf}, None),
        ({"timeout": 2**62}, None),
        ({"timeout": 1e12}, None),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_deadline_is_the_configured_timeout_or_300_s_and_none_for_other_values(
    run_script: ScriptRunner, config: dict, seconds: float | None
):
    order = run_script.engine.runs.prepare(message(), RunOptions(config=config))
    assert order.timeout == seconds


@pytest.mark.parametrize(("config", "seconds"), [({}, 300), ({"timeout": 2}, 2), ({"timeout": 0}, None)])
async def test_deadline_is_in_the_context_and_in_the_run_row(
    run_script: ScriptRunner, config: dict, seconds: int | None
):
    run = await run_script(config=config)

    at = None if seconds is None else START + seconds * 1_000_000
    assert run.row.deadline_at == at
    assert run.context["runtime"]["deadline_at"] == (None if at is None else at / 1_000_000)


# Frozen


async def test_changes_after_submitting_do_not_affect_the_run(open_engine: Engines):
    async def looks(ctx):
        yield done("x")

    engine = await open_engine(waits, looks)
    holder = await engine.runs.submit(message(), RunOptions(runner="waits"))
    config, params, data = {"list": [1]}, {"p": [1]}, {"d": [1]}
    ticket = await engine.runs.submit(message(data=data), RunOptions(runner="looks", config=config, params=params))
    assert ticket.waits_for == await holder.started
    config["list"].append(2)
    params["p"].append(2)
    data["d"].append(2)
    await engine.runs.cancel(await holder.started)

    run = await wait_for_run(engine, await ticket.started)

    assert run.context["config"]["list"] == [1]
    assert run.context["adapter"]["extra"]["params"] == {"p": [1]}
    assert run.context["event"]["data"] == {"d": [1]}
