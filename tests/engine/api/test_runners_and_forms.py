"""Runner summaries, settings forms and grant previews."""

import pytest

from engine.api import ConfigError, FieldType, FormError, IntakeError, KeptSettings, Option, RunOptions
from engine.project.agents import ResourcePolicy, StatePolicy
from engine.protocol.event import EventType
from tests.support.engines import Engines, FakeClock, declares, done, message, run_event

MODELS = [
    {"id": "small", "kind": "scripted", "replies": [{"text": "x"}]},
    {"id": "sorter", "kind": "scripted", "type": "rerank"},
]


@declares(capabilities={"streaming": True}, permissions={"history": ["page"], "tools": []})
async def first(ctx):
    yield done("x")


async def second(ctx):
    yield done("x")


@declares(
    capabilities={"tool_calling": True, "knowledge_retrieval": True},
    permissions={"models": ["invoke", "rerank"], "tools": ["call"], "files": ["config"], "knowledge_bases": ["list"]},
    config=[
        {"name": "model", "type": "llm-model-selector", "label": {"en_US": "Model", "de_DE": "Modell"}},
        {"name": "models", "type": "model-fallback-selector", "label": {"zh_Hans": "模型"}},
        {"name": "sorter", "type": "rerank-model-selector"},
        {"name": "bases", "type": "knowledge-base-multi-selector"},
        {"name": "file", "type": "file"},
        {
            "name": "tone",
            "type": "select",
            "required": True,
            "default": "warm",
            "options": [{"name": "warm", "label": {"en_US": "Warm"}}, "cold"],
            "description": {"en_US": "How it speaks"},
        },
        {"name": "api_key", "type": "string"},
    ],
)
async def asks(ctx):
    yield done("x")


async def test_runner_summaries_are_sorted_by_last_use(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(first, second)
    assert [fact.short_name for fact in await engine.runners.summaries()][:2] == ["first", "second"]
    await run_event(engine, runner="first")
    clock.advance(1)
    await run_event(engine, runner="second")
    clock.advance(1)
    await run_event(engine, runner="second")

    facts = await engine.runners.summaries("en_US")

    assert [fact.short_name for fact in facts][:2] == ["second", "first"]
    assert {"echo", "rehearsal"} < {fact.short_name for fact in facts[2:]}
    assert [fact.last_used for fact in facts[:3]] == [clock.now(), clock.now() - 2_000_000, None]
    fact = facts[1]
    assert (fact.id, fact.label, fact.origin) == ("plugin:local/first/default", "default", "file")
    assert (fact.capabilities, fact.permissions) == (("streaming",), {"history": ("page",)})
    assert (fact.path, fact.problems) == (open_engine.folder / "first.py", ())


async def test_last_use_of_agent_and_runner_are_separate(open_engine: Engines, clock: FakeClock):
    agents = [{"id": "me", "runner": "first"}, {"id": "you", "runner": "first"}]
    engine = await open_engine(first, agents=agents)
    await run_event(engine, runner="first")
    clock.advance(1)
    await run_event(engine, runner="me")

    used = {fact.short_name: fact.last_used for fact in await engine.runners.summaries()}

    assert (used["first"], await engine.runners.agents_last_used()) == (clock.now() - 1_000_000, {"me": clock.now()})


async def test_short_name_belongs_to_one_runner_and_no_agent(open_engine: Engines):
    (open_engine.folder / "two.py").write_text(
        "from engine.protocol import AgentRunner\n"
        "class Same(AgentRunner):\n    async def run(self, ctx):\n        yield\n"
        "class Own(AgentRunner):\n    async def run(self, ctx):\n        yield\n"
    )
    (open_engine.folder / "three.py").write_text("class Same:\n    async def run(self, ctx):\n        yield\n")
    engine = await open_engine(first, second, agents=[{"id": "second", "runner": "first"}])

    names = {fact.id: fact.short_name for fact in await engine.runners.summaries()}

    assert names["plugin:local/two/Own"] == "Own"
    assert names["plugin:local/two/Same"] == "two/Same"
    assert names["plugin:local/second/default"] == "second/default", "`second` is an agent here"
    for runner_id, name in names.items():
        assert str(engine.runners.registry.get(name).id) == runner_id
        assert engine.runs.prepare(message(), RunOptions(runner=name)).binding.agent_id is None


async def test_summary_lists_problems_of_the_runner_file(open_engine: Engines):
    (open_engine.folder / "second.py").write_text("config = make()\nasync def run(ctx):\n    yield\n")
    engine = await open_engine(first)
    facts = {fact.short_name: fact for fact in await engine.runners.summaries()}
    assert [problem.line for problem in facts["second"].problems] == [1]
    assert facts["first"].problems == ()


async def test_summary_lists_missing_config_until_it_is_saved(open_engine: Engines):
    @declares(config=[{"name": name, "type": "string", "required": True} for name in ("city", "tone")])
    async def needs(ctx):
        yield done("x")

    engine = await open_engine(needs, first)

    async def unfit(name: str) -> tuple[str, ...]:
        return next(fact.unfit for fact in await engine.runners.summaries() if fact.short_name == name)

    assert (await unfit("needs"), await unfit("first")) == (("city is required", "tone is required"), ())
    await engine.settings.save("needs", KeptSettings(config={"city": "Rome"}))
    assert await unfit("needs") == ("tone is required",)
    await engine.settings.save("needs", KeptSettings(config={"city": "Rome", "tone": "warm"}))
    assert await unfit("needs") == ()


async def test_invalid_agent_counts_its_further_problems(open_engine: Engines):
    agents = [{"id": "poor", "runner": "asks", "config": {"tone": "hot", "api_key": 1}}]
    engine = await open_engine(asks, agents=agents)
    assert [agent.reason for agent in engine.runners.invalid_agents()] == [
        "config.tone: must be one of warm, cold (and 1 more)"
    ]


async def test_invalid_agent_is_listed_and_others_can_be_used(open_engine: Engines):
    agents = [
        {"id": "good", "runner": "asks"},
        {"id": "poor", "runner": "asks", "config": {"tone": "hot"}},
        {"id": "ghost", "runner": "nobody"},
    ]
    engine = await open_engine(asks, agents=agents)

    assert [agent.agent_id for agent in engine.runners.agents()] == ["good"]
    assert [(agent.agent_id, agent.reason.partition(".")[0]) for agent in engine.runners.invalid_agents()] == [
        ("poor", "config"),
        ("ghost", "runner: no runner called 'nobody'"),
    ]
    assert engine.runs.prepare(message(), RunOptions(runner="good")).binding.agent_id == "good"
    assert engine.runs.prepare(message(), RunOptions(runner="asks")).binding.agent_id is None
    for choice in (RunOptions(runner="poor"), RunOptions()):
        with pytest.raises(ConfigError, match=r"agents\[1\]\.config\.tone: must be one of warm, cold"):
            engine.runs.prepare(message(), choice)


async def test_invalid_agent_does_not_prevent_a_reload(open_engine: Engines):
    engine = await open_engine(first, agents=[{"id": "ghost", "runner": "nobody"}])
    engine.runners.list()

    (open_engine.folder / "fresh.py").write_text("async def run(ctx):\n    yield\n")
    reloaded = await engine.runners.reload()

    assert reloaded.added == ("plugin:local/fresh/default",)
    assert [agent.agent_id for agent in engine.runners.invalid_agents()] == ["ghost"]


async def test_form_has_labels_options_config_and_saved_settings(open_engine: Engines):
    (open_engine.folder / "files").mkdir()
    (open_engine.folder / "files" / "notes.txt").touch()
    engine = await open_engine(
        asks,
        models=MODELS,
        knowledge_bases=[{"id": "kb", "name": "Handbook", "kind": "scripted"}],
        file_roots=["files"],
        agents=[{"id": "a", "runner": "asks", "config": {"model": "small"}, "state": {"enable_state": False}}],
    )
    await engine.settings.save("a", KeptSettings(config={"tone": "cold"}))

    form = await engine.settings.form("a", locale="de_AT.UTF-8")

    fields = {field.name: field for field in form.fields}
    assert [field.label for field in form.fields][:3] == ["Modell", "模型", "sorter"]
    small, sorter = (Option("small", "small"),), (Option("sorter", "sorter"),)
    assert (fields["model"].options, fields["models"].options, fields["sorter"].options) == (small, small, sorter)
    assert fields["bases"].options == (Option("kb", "Handbook"),)
    assert fields["file"].options == (Option("notes.txt", "notes.txt"),)
    tone = fields["tone"]
    assert (tone.type, tone.required, tone.default) == (FieldType.SELECT, True, "warm")
    assert (tone.description, tone.options) == ("How it speaks", (Option("warm", "Warm"), Option("cold", "cold")))
    assert [field.name for field in form.fields if field.is_secret] == ["api_key"]
    assert (form.agent_id, form.runner_id) == ("a", "plugin:local/asks/default")
    assert form.config == {"model": "small", "tone": "warm"}
    assert form.state == StatePolicy(enable_state=False)
    assert form.kept is not None
    assert form.kept.config == {"tone": "cold"}
    assert [option.value for option in (await engine.resources.choices()).tools] == []
    assert [option.value for option in form.choices.scopes] == ["conversation", "actor", "subject", "runner"]


SECRETS = [{"name": f"key_{kind}", "type": kind} for kind in ("string", "text", "array[string]", "select")]
PLAIN = [{"name": f"tokens_{kind}", "type": kind} for kind in ("integer", "float", "boolean", "llm-model-selector")]


@declares(config=[*SECRETS, *PLAIN, {"name": "key_kind", "type": "select", "options": ["long", "short"]}])
async def hides(ctx):
    yield done("x")


async def test_only_typed_or_undeclared_values_can_be_secrets(open_engine: Engines):
    engine = await open_engine(hides, agents=[{"id": "a", "runner": "hides", "config": {"api_key": 1, "pace": 2}}])

    form = await engine.settings.form("a")

    assert form.secrets == {"api_key", *(field["name"] for field in SECRETS)}
    assert [field.name for field in form.fields if field.is_secret] == [field["name"] for field in SECRETS]


async def test_single_field_check_agrees_with_whole_form_check(open_engine: Engines):
    rules = (await (await open_engine(asks)).settings.form()).rules

    for name, value in (("tone", "loud"), ("tone", ""), ("bases", "kb"), ("model", 3), ("file", {1, 2})):
        alone = rules.check_field(name, value)
        assert alone is not None
        assert alone in rules.check(rules.complete({name: value}))
    assert rules.check_field("tone", "cold") is None
    assert rules.check_field("moon", "full") is None
    assert rules.check_some({"model": "small"}) == []


async def test_policy_value_is_checked_like_in_the_config_file(open_engine: Engines):
    form = await (await open_engine(asks)).settings.form()

    assert form.check_policy("delivery", "max_message_size", 0) == "must be greater than 0"
    assert form.check_policy("delivery", "max_message_size", "much") == "must be an integer"
    assert form.check_policy("state", "state_scopes", ("conversation",)) is None
    assert form.check_policy("delivery", "max_message_size", None) is None


async def test_grants_preview_uses_form_values_and_records_nothing(open_engine: Engines):
    engine = await open_engine(asks, models=MODELS, tools=[{"name": "look", "kind": "scripted", "parameters": {}}])
    settings = KeptSettings(config={"model": "small"}, resources=ResourcePolicy(allowed_tool_names=("look", "gone")))

    order = engine.settings.preview_grants(settings=settings)

    assert order.grants.clauses["model:small"] == "permissions.models and the runner's config"
    assert order.grants.clauses["tool:look"] == "permissions.tools and resource_policy.allowed_tool_names"
    assert [words for words in order.warnings if "gone" in words]
    assert engine.settings.preview_grants().grants.clauses == {}
    assert await engine.settings.get() is None
    assert await engine.runs.list() == []
    with pytest.raises(FormError, match="tone must be one of"):
        engine.settings.preview_grants(settings=KeptSettings(config={"tone": "loud"}))


async def test_grants_can_be_previewed_for_every_event_type(open_engine: Engines):
    engine = await open_engine(asks)
    for event_type in EventType:
        assert engine.settings.preview_grants(event=event_type).envelope.event_type == event_type
    assert engine.settings.preview_grants(event=message(session=None)).grants.conversation_id is None

    agent = await open_engine(asks, agents=[{"id": "a", "runner": "asks"}])
    with pytest.raises(IntakeError, match=r"no enabled agent handles api\.invoked"):
        agent.settings.preview_grants(event=EventType.API_INVOKED)
