"""Decisions of the gate: a refusal names what the author must change, and every call has a clause."""

from typing import Any

import pytest

from engine.access.server import CALL_TYPES
from engine.protocol import AgentAPIException
from engine.protocol.api import RunnerAPI
from tests.support.engines import declares, run_event
from tests.support.own_and_foreign_data import AccessHarness, collect

HELLO = [{"role": "user", "content": "hi"}]
CALLS: dict[str, tuple[tuple[Any, ...], str]] = {
    "invoke_llm": (("m", HELLO), "models.invoke is not in the manifest's permissions"),
    "invoke_llm_stream": (("m", HELLO), "models.stream is not in the manifest's permissions"),
    "invoke_rerank": (("m", "q", ["d"]), "models.rerank is not in the manifest's permissions"),
    "count_tokens": (("m", HELLO), "neither models.invoke nor models.stream is in the manifest's permissions"),
    "get_tool_detail": (("weather",), "tools.detail is not in the manifest's permissions"),
    "call_tool": (("weather", {}), "tools.call is not in the manifest's permissions"),
    "retrieve_knowledge": (("notes", "q"), "knowledge_bases.retrieve is not in the manifest's permissions"),
    "list_knowledge_bases": ((), "knowledge_bases.list is not in the manifest's permissions"),
    "history_page": ((), "history.page is not in the manifest's permissions"),
    "history_search": (("q",), "history.search is not in the manifest's permissions"),
    "event_get": (("e",), "events.get is not in the manifest's permissions"),
    "event_page": ((), "events.page is not in the manifest's permissions"),
    "steering_pull": ((), "steering is not in the manifest's capabilities"),
    "artifact_metadata": (("a",), "artifacts.metadata is not in the manifest's permissions"),
    "artifact_read": (("a",), "artifacts.read is not in the manifest's permissions"),
    "artifact_read_range": (("a",), "artifacts.read is not in the manifest's permissions"),
    "get_plugin_storage": (("k",), "storage.plugin is not in the manifest's permissions"),
    "set_plugin_storage": (("k", b""), "storage.plugin is not in the manifest's permissions"),
    "delete_plugin_storage": (("k",), "storage.plugin is not in the manifest's permissions"),
    "get_plugin_storage_keys": ((), "storage.plugin is not in the manifest's permissions"),
    "get_workspace_storage": (("k",), "storage.workspace is not in the manifest's permissions"),
    "set_workspace_storage": (("k", b""), "storage.workspace is not in the manifest's permissions"),
    "delete_workspace_storage": (("k",), "storage.workspace is not in the manifest's permissions"),
    "get_workspace_storage_keys": ((), "storage.workspace is not in the manifest's permissions"),
    "get_file": (("notes.txt",), "files.config is not in the manifest's permissions"),
}
NEEDS_NOTHING = {
    "state_get", "state_set", "state_delete", "state_list", "run_get", "run_events_page", "run_list", "run_cancel",
    "get_langbot_version", "get_prompt",
}  # fmt: skip


def test_every_call_of_the_api_has_an_action_and_every_action_a_call():
    public = {name for name in vars(RunnerAPI) if not name.startswith("_")}
    assert public == set(CALL_TYPES) == set(CALLS) | NEEDS_NOTHING


async def test_a_runner_without_permissions_gets_the_missing_permission_for_each_call(open_engine):
    seen: dict[str, tuple[str, str]] = {}

    async def modest(ctx: Any):
        for name, (arguments, _) in CALLS.items():
            call = getattr(ctx.api, name)(*arguments)
            try:
                await (collect(call) if name == "invoke_llm_stream" else call)
            except AgentAPIException as refusal:
                seen[name] = (refusal.error.code, refusal.error.message)
        yield {"type": "run.completed", "data": {}}

    run = await run_event(await open_engine(modest), "go")
    assert seen == {name: ("unauthorized", words) for name, (_, words) in CALLS.items()}
    assert [entry.reason for entry in run.all("call.decided")] == [words for _, words in CALLS.values()]
    assert run.all("call.replied") == []


@pytest.mark.parametrize(
    ("granted", "call", "words"),
    [
        ("invoke", "invoke_llm_stream", "models.stream is not in the manifest's permissions"),
        ("stream", "invoke_llm", "models.invoke is not in the manifest's permissions"),
    ],
)
async def test_model_operations_are_granted_separately_and_either_allows_count_tokens(
    open_engine, granted: str, call: str, words: str
):
    seen: list[Any] = []

    @declares(permissions={"models": [granted]}, config=[{"name": "model", "type": "llm-model-selector"}])
    async def narrow(ctx: Any):
        seen.append(await ctx.api.count_tokens("m", HELLO))
        outcome = getattr(ctx.api, call)("m", HELLO)
        try:
            await (collect(outcome) if call == "invoke_llm_stream" else outcome)
        except AgentAPIException as refusal:
            seen.append((refusal.error.code, refusal.error.message))
        yield {"type": "run.completed", "data": {}}

    model = {"id": "m", "kind": "scripted", "otherwise": {"text": "hi"}}
    agent = {"id": "a", "runner": "narrow", "config": {"model": "m"}}
    engine = await open_engine(narrow, agents=[agent], models=[model])
    await run_event(engine, "go", runner="a")
    assert seen[1] == ("unauthorized", words)


async def test_refusal_of_forbidden_storage_names_the_policy(open_engine):
    harness = await AccessHarness(open_engine).open(resources={"allow_plugin_storage": False})
    for kind in ("plugin", "workspace"):
        outcome = await harness.try_in_run(lambda ctx, k=kind: getattr(ctx.api, f"get_{k}_storage_keys")())
        assert outcome.error is not None
        assert outcome.error.message == f"resource_policy.allow_{kind}_storage is false"


async def test_grants_do_not_change_during_a_run(harness: AccessHarness):
    """The grants are frozen: changing the runner's copy of them allows nothing more."""

    async def work(ctx: Any) -> Any:
        ctx.resources.models[0].model_id = "m2"
        ctx.context.available_apis.state = False
        await ctx.api.state_set("conversation", "k", 1)
        await ctx.api.invoke_llm("m", HELLO)
        return await ctx.api.invoke_llm("m2", HELLO)

    outcome = await harness.try_in_run(work)
    assert outcome.error is not None
    assert outcome.error.message == "model 'm2' was not granted to this run"
