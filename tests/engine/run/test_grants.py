"""Effective access = manifest permissions ∩ binding policy ∩ config; decided once and frozen."""

from typing import Any

import pytest

from engine.resources.catalog import Catalog, KnowledgeBaseFact, ModelFact, SkillFact, ToolFact
from tests.support.engines import Engines, FinishedRun, declares, done, message, run_event, wait_for_run

CATALOG = Catalog(
    models={
        "small": ModelFact("small", "acme", context_window_tokens=8_000),
        "large": ModelFact("large", "acme", context_window_tokens=200_000),
        "sorter": ModelFact("sorter", "acme", "rerank"),
    },
    tools={"search": ToolFact("search", "builtin", "Looks things up"), "mail": ToolFact("mail", "mcp")},
    knowledge_bases={
        "kb1": KnowledgeBaseFact("kb1", "Manuals", "vector"),
        "kb2": KnowledgeBaseFact("kb2", "Notes", "vector"),
    },
    skills={"write": SkillFact("write", "Writing", "Writes"), "draw": SkillFact("draw")},
)
FORM = [
    {"name": "model", "type": "llm-model-selector"},
    {"name": "chain", "type": "model-fallback-selector"},
    {"name": "rerank", "type": "rerank-model-selector"},
    {"name": "bases", "type": "knowledge-base-multi-selector"},
    {"name": "file", "type": "file"},
    {"name": "files", "type": "array[file]"},
]
ABLE = {"tool_calling": True, "knowledge_retrieval": True, "skill_authoring": True}
MAY = {
    "models": ["invoke", "stream", "rerank"],
    "tools": ["detail", "call"],
    "knowledge_bases": ["list", "retrieve"],
    "files": ["config"],
}


async def granted(
    open_engine: Engines,
    *,
    policy: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    able: dict[str, bool] = ABLE,
    may: dict[str, list[str]] = MAY,
    **project: Any,
) -> FinishedRun:
    """A run of a runner with this manifest, policy and config."""

    @declares(capabilities=able, permissions=may, config=FORM)
    async def asks(ctx):
        yield done()

    agents = [{"id": "me", "runner": "asks", "resources": policy or {}, "config": config or {}}]
    return await run_event(await open_engine(asks, catalog=CATALOG, agents=agents, **project))


def write_files(open_engine: Engines, *names: str) -> None:
    """Files in the folder that a project may name as its root of files."""
    (open_engine.folder / "files").mkdir(exist_ok=True)
    for name in names:
        (open_engine.folder / "files" / name).touch()


def resources(run: FinishedRun, kind: str, *fields: str) -> list[Any]:
    """The named fields of the granted resources."""
    return [tuple(one[field] for field in fields) for one in run.context["resources"][kind]]


async def test_without_config_and_policy_only_visible_skills_are_granted(open_engine: Engines):
    run = await granted(open_engine, config={"model": "", "rerank": "__none__", "file": "__none"})

    found = run.context["resources"]
    assert [found[kind] for kind in ("models", "tools", "knowledge_bases", "files")] == [[], [], [], []]
    assert found["platform_capabilities"] == {}
    assert run.warnings == []


# Models


@pytest.mark.parametrize(
    ("config", "ids"),
    [
        ({"model": "small"}, ["small"]),
        ({"chain": "large"}, ["large"]),
        ({"chain": {"primary": "large", "fallbacks": ["small", "large"]}}, ["large", "small"]),
    ],
)
async def test_models_come_from_the_configs_selector_fields(open_engine: Engines, config: dict, ids: list):
    run = await granted(open_engine, config=config)

    assert [one["model_id"] for one in run.context["resources"]["models"]] == ids
    assert run.context["resources"]["models"][0] == {
        "model_id": ids[0],
        "model_type": "llm",
        "provider": "acme",
        "operations": ["invoke", "stream"],
    }


async def test_the_policys_extra_models_are_language_models_with_invoke_and_stream(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_model_uuids": ["large", "sorter"]}, config={"model": "small"})

    assert resources(run, "models", "model_id", "operations") == [
        ("small", ["invoke", "stream"]),
        ("large", ["invoke", "stream"]),
    ]
    assert run.warnings == ["model 'sorter', named by resource_policy.allowed_model_uuids, does not exist; left out"]


async def test_rerank_models_come_only_from_rerank_selectors_and_get_rerank_only(open_engine: Engines):
    run = await granted(open_engine, config={"rerank": "sorter"})

    assert resources(run, "models", "model_id", "model_type", "operations") == [("sorter", "rerank", ["rerank"])]


async def test_a_language_model_in_a_rerank_selector_is_left_out(open_engine: Engines):
    run = await granted(open_engine, config={"rerank": "small"})

    assert run.context["resources"]["models"] == []
    assert len(run.warnings) == 1


@pytest.mark.parametrize(
    ("permitted", "operations"), [(["invoke"], ["invoke"]), (["stream", "rerank"], ["stream"]), ([], None)]
)
async def test_a_model_has_only_the_operations_that_the_manifest_permits(
    open_engine: Engines, permitted: list, operations: list | None
):
    run = await granted(open_engine, config={"model": "small"}, may={"models": permitted})

    expected = [] if operations is None else [("small", operations)]
    assert resources(run, "models", "model_id", "operations") == expected


async def test_the_context_has_the_window_of_the_configured_model(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_model_uuids": ["large"]}, config={"model": "small"})

    assert run.context["runtime"]["metadata"]["model_context_window_tokens"] == 8_000


@pytest.mark.parametrize(
    ("kind", "permission", "operations"),
    [
        ("models", {"models": ["invoke"]}, None),
        ("tools", {"tools": ["detail"]}, ["detail"]),
        ("tools", {}, None),
        ("knowledge_bases", {"knowledge_bases": ["list"]}, ["list"]),
        ("knowledge_bases", {}, None),
    ],
)
async def test_each_kind_of_resource_has_only_the_operations_that_the_manifest_permits(
    open_engine: Engines, kind: str, permission: dict, operations: list | None
):
    config = {"rerank": "sorter", "bases": ["kb1"]}
    run = await granted(open_engine, policy={"allowed_tool_names": ["search"]}, config=config, may=permission)

    assert resources(run, kind, "operations") == ([] if operations is None else [(operations,)])


# Tools, knowledge bases, skills, files


async def test_tools_come_from_the_policy(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_tool_names": ["search", "search"]})

    assert run.context["resources"]["tools"] == [
        {
            "tool_name": "search",
            "tool_type": "builtin",
            "description": "Looks things up",
            "operations": ["detail", "call"],
        }
    ]


async def test_tools_need_the_capability_tool_calling(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_tool_names": ["search"]}, able={})

    assert run.context["resources"]["tools"] == []
    assert run.warnings == ["search not granted: the manifest's capabilities have no tool_calling"]


async def test_knowledge_bases_come_from_the_config_and_the_policy(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_kb_uuids": ["kb2", "kb1"]}, config={"bases": ["kb1"]})

    assert resources(run, "knowledge_bases", "kb_id", "kb_name", "operations") == [
        ("kb1", "Manuals", ["list", "retrieve"]),
        ("kb2", "Notes", ["list", "retrieve"]),
    ]


async def test_knowledge_bases_need_the_capability_knowledge_retrieval(open_engine: Engines):
    run = await granted(open_engine, config={"bases": ["kb1"]}, able={})

    assert run.context["resources"]["knowledge_bases"] == []
    assert run.warnings == ["kb1 not granted: the manifest's capabilities have no knowledge_retrieval"]


@pytest.mark.parametrize(("policy", "names"), [({}, ["write", "draw"]), ({"allowed_skill_names": ["draw"]}, ["draw"])])
async def test_all_visible_skills_are_granted_unless_the_policy_names_some(
    open_engine: Engines, policy: dict, names: list
):
    run = await granted(open_engine, policy=policy)

    assert [one["skill_name"] for one in run.context["resources"]["skills"]] == names
    assert run.row.authorization["operations"][f"skill:{names[0]}"] == ["activate"]


async def test_an_empty_list_of_skills_grants_none(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_skill_names": []})

    assert run.context["resources"]["skills"] == []


async def test_skills_have_no_operations_and_need_the_capability_skill_authoring(open_engine: Engines):
    run = await granted(open_engine)
    assert run.context["resources"]["skills"][1] == {
        "skill_name": "draw",
        "display_name": "draw",
        "description": "",
    }

    run = await granted(open_engine, able={"tool_calling": True})
    assert run.context["resources"]["skills"] == []


async def test_files_come_from_the_configs_file_fields(open_engine: Engines):
    config = {"file": "f1", "files": [{"file_key": "f2", "file_name": "a.txt", "mime_type": "text/plain"}, "f3"]}
    write_files(open_engine, "f1", "f2", "f3")
    run = await granted(open_engine, config=config, file_roots=["files"])

    assert resources(run, "files", "file_id", "file_name", "mime_type", "source", "operations") == [
        ("f1", None, None, "config", ["config"]),
        ("f2", "a.txt", "text/plain", "config", ["config"]),
        ("f3", None, None, "config", ["config"]),
    ]


async def test_files_need_the_permission(open_engine: Engines):
    write_files(open_engine, "f1")
    run = await granted(open_engine, config={"file": "f1"}, may={"files": ["knowledge"]}, file_roots=["files"])

    assert (run.context["resources"]["files"], run.warnings) == ([], [])


async def test_a_file_that_is_not_under_the_roots_is_left_out_with_a_warning(open_engine: Engines):
    write_files(open_engine, "f1")
    (open_engine.folder / "files" / "out").symlink_to(open_engine.folder / "trackside.yaml")
    wanted = ["f1", "./f1", "gone", "../trackside.yaml", "out", "/etc/hostname", "x\0", "."]
    run = await granted(open_engine, config={"files": wanted}, file_roots=["files"])

    assert [one["file_id"] for one in run.context["resources"]["files"]] == ["f1", "./f1"]
    assert run.warnings == [
        f"file {key!r}, named by the runner's config, does not exist under the project's file_roots; left out"
        for key in wanted[2:]
    ]


async def test_without_file_roots_the_warning_says_what_to_set(open_engine: Engines):
    write_files(open_engine, "f1")
    run = await granted(open_engine, config={"file": "./files/f1"})

    assert run.context["resources"]["files"] == []
    assert run.warnings == [
        "file './files/f1', named by the runner's config, is left out: add its folder to `file_roots` in trackside.yaml"
    ]


# Left out, and frozen


@pytest.mark.parametrize(
    ("policy", "config", "warning"),
    [
        ({}, {"model": "gone"}, "model 'gone', named by the runner's config, does not exist; left out"),
        (
            {"allowed_tool_names": ["gone", "search"]},
            {},
            "tool 'gone', named by resource_policy.allowed_tool_names, does not exist; left out",
        ),
        (
            {"allowed_kb_uuids": ["gone"]},
            {},
            "knowledge base 'gone', named by resource_policy.allowed_kb_uuids, does not exist; left out",
        ),
        (
            {"allowed_skill_names": ["gone"]},
            {},
            "skill 'gone', named by resource_policy.allowed_skill_names, does not exist; left out",
        ),
    ],
)
async def test_an_id_that_does_not_exist_is_left_out_with_a_warning(
    open_engine: Engines, policy: dict, config: dict, warning: str
):
    run = await granted(open_engine, policy=policy, config=config)

    assert run.warnings == [warning]
    assert "gone" not in str(run.context["resources"])
    assert run.row.status == "completed"


async def test_snapshot_stored_with_the_run_has_everything_that_calls_are_checked_against(open_engine: Engines):
    run = await granted(open_engine, policy={"allowed_tool_names": ["search"]}, config={"model": "small"})

    snapshot = run.row.authorization
    assert snapshot["resources"] == run.context["resources"]
    assert snapshot["available_apis"] == run.context["context"]["available_apis"]
    assert (snapshot["plugin"], snapshot["runner_id"]) == ("local/asks", "plugin:local/asks/default")
    assert (snapshot["conversation_id"], snapshot["thread_id"]) == ("s", None)
    assert (snapshot["bot_id"], snapshot["workspace_id"]) == (None, None)
    assert snapshot["operations"]["model:small"] == ["invoke", "stream"]
    assert snapshot["operations"]["tool:search"] == ["call", "detail"]
    assert snapshot["clauses"]["tool:search"] == "permissions.tools and resource_policy.allowed_tool_names"
    assert set(snapshot["state_scopes"]) == {"conversation", "actor"}


async def test_changes_after_submitting_do_not_change_grants(open_engine: Engines):
    tools = dict(CATALOG.tools)

    @declares(capabilities=ABLE, permissions=MAY)
    async def asks(ctx):
        yield done()

    agents = [{"id": "me", "runner": "asks", "resources": {"allowed_tool_names": ["search"]}}]
    engine = await open_engine(asks, catalog=Catalog(tools=tools), agents=agents)
    order = engine.runs.prepare(message())
    tools.clear()
    (open_engine.folder / "asks.py").write_text("async def run(ctx):\n    yield\n")
    engine.runners.registry.refresh()

    run = await wait_for_run(engine, await (await engine.runs.submit(order)).started)

    assert resources(run, "tools", "tool_name") == [("search",)]
    assert run.row.authorization["resources"] == run.context["resources"]
