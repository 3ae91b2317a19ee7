"""The result stream: which results are applied, which are dropped, and which fail the run."""

import base64
import hashlib

import pytest

from engine.run.normalise import MAX_RESULT_BYTES
from tests.support.engines import (
    ScriptRunner,
    artifact_created,
    delta,
    done,
    failed,
    lines_of,
    run_event,
    said,
    state_updated,
)

BAD_PAYLOADS = [
    {"type": "message.delta", "data": {"chunk": "text"}},
    {"type": "message.delta", "data": {}},
    {"type": "message.completed", "data": {"message": {"content": "no role"}}},
    {"type": "message.completed"},
    {"type": "artifact.created", "data": {"artifact_type": ""}},
    {"type": "artifact.created", "data": {"artifact_type": "file", "size_bytes": 2**63}},
    {"type": "state.updated", "data": {"scope": "planet", "key": "k", "value": 1}},
    {"type": "state.updated", "data": {"scope": "conversation", "key": "k"}},
    {"type": "state.updated", "data": {"scope": "conversation", "key": "k" * 256, "value": 1}},
    {"type": "action.requested", "data": {"target": {}}},
    {"type": "run.completed", "data": {"finish_reason": 5}},
    {"type": "run.failed", "data": {"code": "runner.error"}},
    {"type": "run.failed", "data": "broken"},
]


@pytest.mark.parametrize("bad", BAD_PAYLOADS, ids=lambda bad: bad["type"])
async def test_invalid_payload_is_dropped_with_a_reason_and_the_run_continues(run_script: ScriptRunner, bad: dict):
    run = await run_script(bad, said("still here"), done())

    dropped = run.journal[1]
    assert (dropped.type, dropped.outcome) == (bad["type"], "dropped")
    assert dropped.reason.startswith("data")
    assert run.row.status == "completed"
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "still here")]


@pytest.mark.parametrize(
    "result",
    [
        {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": "x"}, "extra": 1}},
        {"type": "message.completed", "data": {"message": {"role": "assistant", "content": "x"}, "extra": 1}},
        {"type": "state.updated", "data": {"scope": "conversation", "key": "k", "value": 1, "extra": 1}},
        {"type": "run.completed", "data": {"finish_reason": "stop", "extra": 1}},
    ],
    ids=lambda result: result["type"],
)
async def test_unknown_keys_are_refused_at_payload_level(run_script: ScriptRunner, result: dict):
    run = await run_script(result)

    assert (run.journal[1].outcome, run.journal[1].reason) == ("dropped", "data.extra: unknown key")


async def test_unknown_keys_are_allowed_inside_message_and_chunk(run_script: ScriptRunner):
    run = await run_script(delta("a", mood="calm"), said("a", mood="calm"), done())

    assert [entry.outcome for entry in run.journal] == [None] * 5
    assert run.one("message.delta").data["chunk"]["mood"] == "calm"
    assert run.one("message.completed").data["message"]["mood"] == "calm"


@pytest.mark.parametrize("kind", ["tool.call.started", "tool.call.completed"])
async def test_tool_call_payloads_are_not_checked(run_script: ScriptRunner, kind: str):
    run = await run_script(
        {"type": kind, "data": {"whatever": [1]}}, {"type": kind, "data": "text"}, {"type": kind}, done()
    )

    taken = run.all(kind)
    assert [(entry.data, entry.outcome) for entry in taken] == [({"whatever": [1]}, None), ("text", None), ({}, None)]


async def test_unknown_type_is_recorded_with_a_warning_and_has_no_effect(run_script: ScriptRunner):
    run = await run_script({"type": "weather.changed", "data": {"to": "rain"}}, done("sun"))

    entry = run.one("weather.changed")
    assert (entry.data, entry.outcome) == ({"to": "rain"}, "unknown")
    assert entry.reason == "the host does not know this type"
    assert run.row.status == "completed"


@pytest.mark.parametrize(
    "kind", ["run.finished", "run.started", "output", "warning", "call.replied", "cancel.requested"]
)
async def test_result_named_like_an_entry_of_the_host_is_renamed(run_script: ScriptRunner, kind: str):
    run = await run_script({"type": kind, "data": {"status": "completed"}}, done("x"))

    forged = run.one(f"result.{kind}")
    assert (forged.source, forged.outcome) == ("runner", "unknown")
    assert [entry.source for entry in run.all(kind)] in ([], ["host"])


@pytest.mark.parametrize("result", [{"data": {}}, {"type": "", "data": {}}, {"type": 5}, {"type": None}])
async def test_result_without_a_type_fails_the_run_as_protocol_error(run_script: ScriptRunner, result: dict):
    run = await run_script(result, said("too late"), done())

    assert (run.row.status, run.row.status_reason) == ("failed", "protocol.error")
    assert run.finished["error"] == "a result must have a type"
    assert run.one("result.untyped").outcome == "refused"
    assert await lines_of(run_script.engine) == [("user", "hi")]


@pytest.mark.parametrize("result", [{"data": {"content_base64": "QUJD"}}, [{"content_base64": "QUJD"}]])
async def test_a_result_without_a_type_is_recorded_without_inline_base64(run_script: ScriptRunner, result: object):
    run = await run_script(result)

    value = run.one("result.untyped").data["value"]
    assert (value if isinstance(value, dict) else value[0]) == {"content_base64": None, "content_redacted": True}


@pytest.mark.parametrize(
    ("result", "name"), [("text", "a string"), (5, "a number"), (None, "null"), ([], "an array"), (True, "a boolean")]
)
async def test_result_that_is_not_an_object_is_a_protocol_error(run_script: ScriptRunner, result: object, name: str):
    run = await run_script(result)

    assert run.row.status_reason == "protocol.error"
    assert run.finished["error"] == f"a result must be an object, not {name}"


@pytest.mark.parametrize("result", [delta("x"), said("x"), {"type": "tool.call.started"}, {"type": "x"}, done()])
async def test_a_foreign_run_id_fails_the_run_whatever_the_type(run_script: ScriptRunner, result: dict):
    run = await run_script(result | {"run_id": "run_other"}, said("too late"))

    assert (run.row.status, run.row.status_reason) == ("failed", "protocol.error")
    assert run.finished["error"] == "run_id 'run_other' is not this run's"
    assert (run.journal[1].type, run.journal[1].outcome) == (result["type"], "refused")
    assert await lines_of(run_script.engine) == [("user", "hi")]


async def test_missing_and_own_run_id_are_accepted(open_engine):
    async def names_itself(ctx):
        yield delta("a") | {"run_id": ctx.run_id}
        yield delta("b") | {"run_id": None}
        yield done("ab")

    run = await run_event(await open_engine(names_itself))

    assert run.row.status == "completed"
    assert [entry.outcome for entry in run.all("message.delta")] == [None, None]


async def test_an_action_is_recorded_and_never_executed(run_script: ScriptRunner):
    action = {"action": "reboot", "target": {"host": "x"}, "payload": {"now": True}}
    run = await run_script({"type": "action.requested", "data": action}, done())

    assert run.one("action.requested").data == action
    assert run.types == ["run.started", "action.requested", "run.completed", "run.finished"]


async def test_oversize_result_is_refused_with_its_size_and_the_run_continues(run_script: ScriptRunner):
    run = await run_script(said("é" * MAX_RESULT_BYTES), delta("x" * MAX_RESULT_BYTES), said("short"), done())

    refused = run.journal[1]
    assert refused.type == "result.unreadable"
    assert refused.outcome == "refused"
    assert refused.data["size"] > 2 * MAX_RESULT_BYTES
    refused = run.journal[2]
    size = MAX_RESULT_BYTES + len('{"chunk":{"role":"assistant","content":""}}')
    assert (refused.type, refused.outcome, refused.data) == ("message.delta", "refused", {"size": size})
    assert refused.reason == f"{size} bytes exceed the limit of a result ({MAX_RESULT_BYTES})"
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "short")]


async def test_the_size_of_a_refused_result_counts_bytes_not_characters(run_script: ScriptRunner):
    run = await run_script(delta("é" * (MAX_RESULT_BYTES // 2)), done())

    assert run.one("message.delta").data["size"] > MAX_RESULT_BYTES


async def test_inline_content_does_not_count_towards_the_size_of_a_result(run_script: ScriptRunner):
    content = b"x" * (MAX_RESULT_BYTES - 1000)
    encoded = base64.b64encode(content).decode()
    assert len(encoded) > MAX_RESULT_BYTES

    run = await run_script(artifact_created(artifact_id="big", content_base64=encoded), done())

    assert run.one("artifact.created").outcome is None
    assert await run_script.engine.artifacts.read_bytes("big") == content


async def test_a_refused_result_still_counts_in_the_runners_own_numbering(run_script: ScriptRunner):
    run = await run_script(
        delta("a") | {"sequence": 1},
        delta("x" * MAX_RESULT_BYTES) | {"sequence": 2},
        delta("b") | {"sequence": 3},
        done(),
    )

    assert [entry.outcome for entry in run.all("message.delta")] == [None, "refused", None]


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


async def test_json_deeper_than_100_levels_is_refused_and_the_run_continues(run_script: ScriptRunner):
    tool = "tool.call.started"
    run = await run_script(
        {"type": tool, "data": nested(98)}, {"type": tool, "data": nested(101)}, said("fine"), done()
    )

    assert (run.journal[1].type, run.journal[1].outcome) == (tool, None)
    assert (run.journal[2].outcome, "deeper than 100" in run.journal[2].reason) == ("refused", True)
    assert run.row.status == "completed"


async def test_a_result_that_is_not_json_is_refused_and_the_run_continues(run_script: ScriptRunner):
    run = await run_script({"type": "x", "data": object()}, {"type": "x", "data": float("nan")}, said("fine"), done())

    assert [entry.outcome for entry in run.all("result.unreadable")] == ["refused", "refused"]
    assert run.row.status == "completed"


async def test_every_result_is_recorded_with_unchanged_data(run_script: ScriptRunner):
    results = [
        delta("a\u0000b\x1b[31m", odd={"deep": [1, None, 2.5]}),
        {"type": "tool.call.started", "data": {"tool_call_id": "1", "tool_name": "t", "parameters": {"q": "ü"}}},
        state_updated("k", {"v": [True]}),
        failed("sorry", code="mine"),
    ]
    run = await run_script(*results)

    assert [entry.data for entry in run.journal[1:5]] == [result["data"] for result in results]


async def test_inline_base64_is_null_in_the_journal_and_marked(run_script: ScriptRunner):
    part = {"type": "image_base64", "image_base64": "aGVsbG8="}
    run = await run_script(
        artifact_created(artifact_id="a", content_base64="aGVsbG8="),
        said([part]),
        {"type": "tool.call.completed", "data": {"result": {"attachments": [{"content": "aGVsbG8="}]}}},
        done(),
    )

    created = run.one("artifact.created").data
    assert (created["content_base64"], created["content_redacted"]) == (None, True)
    shown = run.one("message.completed").data["message"]["content"][0]
    digest = {"content_sha256": hashlib.sha256(b"hello").hexdigest()}
    assert shown == {"type": "image_base64", "image_base64": None, "content_redacted": True, **digest}
    attachment = run.one("tool.call.completed").data["result"]["attachments"][0]
    assert attachment == {"content": None, "content_redacted": True, **digest}


async def test_claimed_usage_is_added_up_over_the_run(run_script: ScriptRunner):
    run = await run_script(
        said("a") | {"usage": {"tokens": 3}}, done() | {"usage": {"tokens": 4, "cost": 0.5, "model": "m", "ok": True}}
    )

    assert run.row.usage == run.finished["usage"] == {"claimed": {"tokens": 7, "cost": 0.5}}


async def test_result_keeps_its_usage_as_the_runner_sent_it(run_script: ScriptRunner):
    usage = {"tokens": 3, "model": "m", "details": {"cached": [1, None], "key": "walnut-77"}}
    run = await run_script(
        said("a") | {"usage": usage},
        {"type": "weather.changed", "data": {}, "usage": {"tokens": 5}},
        said("b") | {"usage": "lots"},
        done() | {"usage": None},
        said("c") | {"usage": {"tokens": 6}},
        config={"api_key": "walnut-77"},
    )

    kept = [entry.usage for entry in run.journal if entry.source == "runner"]
    covered = usage | {"details": {"cached": [1, None], "key": "‹secret api_key›"}}
    assert kept == [covered, {"tokens": 5}, None, None, {"tokens": 6}]
    assert [entry.outcome for entry in run.all("message.completed")] == [None, None, "ignored"]
    # What was not applied does not count.
    assert run.finished["usage"] == {"claimed": {"tokens": 3}}


async def test_usage_that_is_too_large_is_not_recorded_and_its_result_says_so(run_script: ScriptRunner):
    large = {"n" * 5_000: 1, "tokens": 2}
    run = await run_script(
        said("a") | {"usage": large, "sequence": 1},
        said("b") | {"usage": large, "sequence": 7},
        {"type": "weather.changed", "data": {}, "usage": large},
        done(),
    )

    problem = "its usage is not recorded: 5017 bytes exceed the limit of a usage (4096)"
    assert [(entry.usage, entry.outcome, entry.reason) for entry in run.journal[1:4]] == [
        (None, "warned", problem),
        (None, "warned", f"sequence 7, expected 2; {problem}"),
        (None, "unknown", f"the host does not know this type; {problem}"),
    ]
    assert run.finished["usage"] == {"claimed": {"tokens": 4}}
