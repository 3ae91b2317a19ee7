"""Secrets in ids, keys, types, names and state values: refused, or masked wherever a user reads them."""

import asyncio
import base64
import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from engine.api import IntakeError, RunOptions, Scope
from engine.journal.secret_mask import SecretMask
from engine.store import tables
from engine.store.errors import SessionRefused
from tests.support.engines import (
    Engines,
    artifact_created,
    declares,
    delta,
    done,
    lines_of,
    message,
    read_database,
    run_event,
    said,
    send,
    state_updated,
    wait_for_run,
)

KEY = "sk-very-secret-1"
MARK = "‹secret api_key›"
CONFIG = {"config": {"api_key": KEY}}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"event_id": KEY}, "event_id"),
        ({"session": KEY}, "conversation_id"),
        ({"thread_id": KEY}, "thread_id"),
        ({"bot_id": f"bot {KEY}"}, "bot_id"),
        ({"workspace_id": KEY}, "workspace_id"),
        ({"actor": {"actor_type": "user", "actor_id": KEY}}, "actor.actor_id"),
        ({"subject": {"subject_type": "group", "subject_id": KEY}}, "subject.subject_id"),
        (
            {"input": {"attachments": [{"artifact_id": KEY, "artifact_type": "file", "source": "user"}]}},
            "attachments.artifact_id",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_event_with_a_secret_in_an_id_is_refused(open_engine: Engines, fields: dict[str, Any], named: str):
    async def answers(ctx):
        yield done("hi")

    engine = await open_engine(answers)
    with pytest.raises(IntakeError, match=rf"^{named} contains the secret api_key\. Use an id without it\.$"):
        await engine.runs.submit(message("hi", **fields), RunOptions(**CONFIG))
    assert await engine.runs.list() == []


async def test_agent_with_a_secret_in_its_id_starts_no_run(open_engine: Engines):
    async def answers(ctx):
        yield done("hi")

    agents = [{"id": f"a-{KEY}", "runner": "answers", "config": {"api_key": KEY}}]
    engine = await open_engine(answers, agents=agents)
    with pytest.raises(IntakeError, match=r"^the agent's id contains the secret api_key\. Use an id without it\.$"):
        await engine.runs.submit(message("hi"))


async def test_ids_and_keys_of_a_runner_with_a_secret_are_refused(open_engine: Engines):
    async def writes(ctx):
        yield artifact_created(artifact_id=KEY)
        yield state_updated(KEY, 1)
        yield done()

    run = await run_event(await open_engine(writes), **CONFIG)

    artifact, state = run.one("artifact.created"), run.one("state.updated")
    assert (artifact.outcome, artifact.reason) == (
        "dropped",
        "the artifact id contains the secret api_key; use an id without it",
    )
    assert (state.outcome, state.reason) == (
        "dropped",
        "the state key contains the secret api_key. Use a key without it.",
    )


async def test_type_of_an_unknown_result_is_masked_before_it_is_cut(open_engine: Engines):
    async def invents(ctx):
        yield {"type": f"x.{KEY}", "data": {}}
        yield {"type": "x" * 195 + KEY, "data": {}}
        yield done()

    run = await run_event(await open_engine(invents), **CONFIG)

    assert [entry.type for entry in run.journal if entry.type.startswith("x")] == [f"x.{MARK}", "x" * 195 + "‹secr"]


async def test_artifact_is_listed_with_its_secrets_masked_and_its_runner_gets_them_back(open_engine: Engines):
    seen: list[Any] = []

    @declares(permissions={"artifacts": ["metadata"]})
    async def paints(ctx):
        content = base64.b64encode(f"1 {KEY} 2 {KEY}".encode()).decode()
        yield artifact_created(
            KEY, artifact_id="a", name=KEY, mime_type=KEY, metadata={"by": KEY}, content_base64=content
        )
        yield artifact_created(artifact_id="c", metadata={"masked_ranges": "forged"}, content_base64=content)
        found = await ctx.api.artifact_metadata("a")
        seen.extend([found.artifact_type, found.name, found.mime_type, found.metadata])
        yield done()

    engine = await open_engine(paints)
    attached = {"artifact_id": "b", "artifact_type": "file", "source": "user", "name": KEY, "url": f"http://x/{KEY}"}
    await run_event(engine, message("", input={"text": "look", "attachments": [attached]}), **CONFIG)

    rows = {row.artifact_id: row for row in await engine.artifacts.list()}
    assert (rows["a"].artifact_type, rows["a"].name, rows["a"].mime_type, rows["a"].metadata) == (
        *(MARK, MARK, MARK),
        {"by": MARK},
    )
    assert (rows["b"].name, rows["b"].location) == (MARK, f"http://x/{MARK}")
    assert seen == [KEY, KEY, KEY, {"by": KEY}]
    await open_engine.close(engine)
    reader = await open_engine(mode="read")  # knows no secret
    assert await reader.artifacts.read_bytes("a") == f"1 {KEY} 2 {KEY}".encode()
    assert (await reader.artifacts.preview("a", limit=100)).decode() == f"1 {MARK} 2 {MARK}"
    assert (await reader.artifacts.preview("c", limit=100)).decode() == f"1 {MARK} 2 {MARK}"
    assert (await reader.artifacts.preview("a", limit=6)).decode() == f"1 {MARK}"
    assert (await reader.artifacts.get("a")).metadata == {"by": MARK}


async def test_users_line_is_masked_for_the_user_and_in_clear_for_the_runner(open_engine: Engines):
    seen: list[Any] = []

    @declares(permissions={"history": ["page", "search"]})
    async def remembers(ctx):
        page = await ctx.api.history_page()
        found = await ctx.api.history_search("remember")
        seen.extend((item.content, item.content_json["text"]) for item in (*page.items, *found.items))
        yield done()

    engine = await open_engine(remembers)
    await run_event(engine, f"remember {KEY}", **CONFIG)

    assert seen == [(f"remember {KEY}", f"remember {KEY}")] * 2
    assert await lines_of(engine) == [("user", f"remember {MARK}")]
    assert KEY not in str((await engine.sessions.transcript("s"), await engine.search.lines("remember")))
    await run_event(engine, "and now?")
    assert seen[2:] == [("and now?", "and now?"), *[(f"remember {MARK}", f"remember {MARK}")] * 2], "not its secret"
    assert KEY.encode() not in open_engine.db.read_bytes()


async def test_state_is_read_with_its_secrets_masked_and_an_edit_keeps_them(open_engine: Engines):
    seen: list[Any] = []

    async def saves(ctx):
        seen.append(await ctx.api.state_get("conversation", "login"))
        if seen == [None]:
            yield state_updated("login", {"user": "ann", "key": KEY})
            await ctx.api.state_set("conversation", "login", {"user": "bob", "key": KEY})
        yield done()

    engine = await open_engine(saves)
    run = await run_event(engine, **CONFIG)
    await open_engine.close(engine)
    reader = await open_engine(mode="read")  # knows no secret
    scope = (await reader.state.scopes_of_run(run.run_id))[Scope.CONVERSATION]

    shown = {"user": "bob", "key": MARK}
    assert await reader.state.value(scope, "login") == shown
    assert [one.value for one in await reader.state.read()] == [shown]
    (row,) = await reader.state.browse()
    assert row.glimpse == '{"user":"bob","key":"‹secret api_key›"}'
    newest, first = await reader.state.history(scope, "login")
    assert (await reader.state.value(scope, "login", change=first.number))["key"] == MARK
    assert newest.glimpse == row.glimpse
    assert (await reader.state.read_at(run.run_id, run.journal[-1].position))["conversation"]["login"].value == shown

    edit = await reader.state.set(scope, "login", {"user": "eve", "key": MARK, "note": f"was {MARK}"}, expected=shown)
    assert (await reader.state.value(scope, "login"))["note"] == f"was {MARK}"
    await reader.state.restore(edit.edit_id)
    assert await reader.state.value(scope, "login") == shown
    await reader.state.set(scope, "login", {"user": "eve", "key": MARK, "old": "‹secret api_kex›"}, expected=row)
    await open_engine.close(reader)

    engine = await open_engine()
    await run_event(engine, **CONFIG)
    assert seen[-1] == {"user": "eve", "key": KEY, "old": "‹secret api_kex›"}
    fork = await engine.sessions.fork("s")
    (copy,) = await engine.state.read(conversation_id=fork.session_id)
    assert copy.value["key"] == MARK


async def test_secret_that_an_earlier_run_saved_is_masked_in_later_runs(open_engine: Engines):
    async def repeats(ctx):
        saved = ctx.state.conversation.get("key")
        if saved is None:
            yield state_updated("key", KEY)
        else:
            yield delta(saved[:8])
            yield delta(saved[8:])
            yield delta(" it is")
        yield done()

    engine = await open_engine(repeats)
    await run_event(engine, **CONFIG)
    run = await run_event(engine)  # has no secret in its own config

    assert run.context["state"]["conversation"]["key"] == MARK
    assert KEY not in str(run.journal)
    assert KEY not in "".join(entry.data["chunk"]["content"] for entry in run.all("message.delta"))
    assert await lines_of(engine) == [("user", "hi"), ("user", "hi"), ("assistant", f"{MARK} it is")]


async def test_secret_that_a_run_reads_from_state_is_masked(open_engine: Engines):
    saved = asyncio.Event()

    async def reads(ctx):
        yield delta("…")
        await saved.wait()
        yield said(str(await ctx.api.state_get("conversation", "key")))
        yield done()

    engine = await open_engine(reads)
    reading = await send(engine)
    scope = (await engine.state.scopes_of_run(reading))[Scope.CONVERSATION]
    await engine.state.set(scope, "key", "soon")
    text, masked = json.dumps(KEY), SecretMask({KEY: "api_key"}).masked_json(KEY)
    # As a run of another process would write it.
    with closing(sqlite3.connect(open_engine.db)) as other:
        other.execute("UPDATE state SET value = ?, masked = ? WHERE state_key = 'key'", (text, masked))
        other.commit()
    saved.set()
    run = await wait_for_run(engine, reading)

    assert KEY not in str(run.journal)
    assert run.one("message.completed").data["message"]["content"] == MARK


async def test_texts_that_the_user_writes_outside_of_a_run_are_masked(open_engine: Engines):
    async def answers(ctx):
        yield said("hi")

    agents = [{"id": "a", "runner": "answers", "config": {"api_key": KEY}}]
    engine = await open_engine(answers, agents=agents)
    await run_event(engine)
    await engine.sessions.rename("s", f"about {KEY}")
    await engine.sessions.set_metadata("s", {"note": KEY})
    await engine.sessions.fork("s", title=KEY)
    await engine.sessions.spawn("s", title=KEY)

    rows = read_database(engine, lambda conn: [tuple(row) for row in conn.execute(tables.sessions.select())])
    assert KEY not in str(rows)
    assert f"about {MARK}" in str(rows)


async def test_session_with_a_secret_in_its_id_is_not_created(open_engine: Engines):
    async def answers(ctx):
        yield said("hi")

    engine = await open_engine(answers, agents=[{"id": "a", "runner": "answers", "config": {"api_key": KEY}}])
    await run_event(engine)
    refused = r"^the session id contains the secret api_key\. Use an id without it\.$"
    with pytest.raises(SessionRefused, match=refused):
        await engine.sessions.create(f"room {KEY}")
    with pytest.raises(SessionRefused, match=refused):
        await engine.sessions.spawn("s", f"room {KEY}")


async def test_stored_grants_are_masked_and_keep_the_keys_of_the_state(open_engine: Engines):
    @declares(
        capabilities={"tool_calling": True, "knowledge_retrieval": True, "skill_authoring": True},
        permissions={"tools": ["call"], "knowledge_bases": ["retrieve"]},
    )
    async def answers(ctx):
        assert ctx.resources.tools[0].description == f"asks with {KEY}", "the runner sees it in clear"
        yield state_updated("seen", True)
        yield done()

    tool = {"name": "ask", "kind": "scripted", "description": f"asks with {KEY}", "answers": [{"result": 1}]}
    engine = await open_engine(
        answers,
        tools=[tool, tool | {"name": KEY}],
        agents=[
            {
                "id": "a",
                "runner": "answers",
                # The second one is part of the keys of state scopes.
                "config": {"api_key": KEY, "other_key": "ation:v2"},
                "resources": {"allowed_tool_names": ["ask", KEY]},
            }
        ],
    )
    run = await run_event(engine)

    granted = (await engine.runs.get(run.run_id)).authorization
    assert granted is not None
    assert KEY not in str(granted)
    assert [tool["description"] for tool in granted["resources"]["tools"]] == [f"asks with {MARK}"] * 2
    assert f"tool:{MARK}" in granted["operations"].keys() & granted["clauses"].keys()
    read = await engine.state.read_at(run.run_id, run.journal[-1].position)
    assert read["conversation"]["seen"].value is True


async def test_parameter_with_the_name_of_a_secret_is_masked(open_engine: Engines):
    async def answers(ctx):
        yield said("the code is hush-hush")

    run = await run_event(await open_engine(answers), params={"access_token": "hush-hush"})

    assert "hush-hush" not in str(run.journal)
