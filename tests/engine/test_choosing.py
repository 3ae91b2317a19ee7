"""What a person chooses from: runners in words, forms with their options, and grants before anything runs."""

import pytest

from engine.api import Choice, ConfigError, FieldType, FormError, IntakeError, KeptSettings, Option
from engine.intake.agents import ResourcePolicy, StatePolicy
from engine.protocol.event import EventType
from tests.support import Engines, FakeClock, declares, done, message, perform

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


async def test_runners_come_in_words_and_the_one_used_last_first(open_engine: Engines, clock: FakeClock):
    engine = await open_engine(first, second)
    assert [fact.short_name for fact in await engine.runner_facts()][:2] == ["first", "second"]
    await perform(engine, runner="first")
    clock.advance(1)
    await perform(engine, runner="second")
    clock.advance(1)
    await perform(engine, runner="second")

    facts = await engine.runner_facts("en_US")

    assert [fact.short_name for fact in facts][:2] == ["second", "first"]
    assert {"echo", "rehearsal"} < {fact.short_name for fact in facts[2:]}
    assert [fact.last_used for fact in facts[:3]] == [clock.now(), clock.now() - 2_000_000, None]
    fact = facts[1]
    assert (fact.id, fact.label, fact.origin) == ("plugin:local/first/default", "default", "file")
    assert (fact.capabilities, fact.permissions) == (("streaming",), {"history": ("page",)})
    assert (fact.path, fact.problems) == (open_engine.folder / "first.py", ())


async def test_an_agent_and_its_runner_are_each_used_by_their_own_runs(open_engine: Engines, clock: FakeClock):
    agents = [{"id": "me", "runner": "first"}, {"id": "you", "runner": "first"}]
    engine = await open_engine(first, agents=agents)
    await perform(engine, runner="first")
    clock.advance(1)
    await perform(engine, runner="me")

    used = {fact.short_name: fact.last_used for fact in await engine.runner_facts()}

    assert (used["first"], await engine.agents_used()) == (clock.now() - 1_000_000, {"me": clock.now()})


async def test_a_short_name_means_one_runner_and_no_agent(open_engine: Engines):
    (open_engine.folder / "two.py").write_text(
        "from engine.protocol import AgentRunner\n"
        "class Same(AgentRunner):\n    async def run(self, ctx):\n        yield\n"
        "class Own(AgentRunner):\n    async def run(self, ctx):\n        yield\n"
    )
    (open_engine.folder / "three.py").write_text("class Same:\n    async def run(self, ctx):\n        yield\n")
    engine = await open_engine(first, second, agents=[{"id": "second", "runner": "first"}])

    names = {fact.id: fact.short_name for fact in await engine.runner_facts()}

    assert names["plugin:local/two/Own"] == "Own"
    assert names["plugin:local/two/Same"] == "two/Same"
    assert names["plugin:local/second/default"] == "second/default", "`second` is an agent here"
    for runner_id, name in names.items():
        assert str(engine.registry.get(name).id) == runner_id
        assert engine.prepare(message(), Choice(runner=name)).binding.agent_id is None


async def test_a_runner_tells_what_is_odd_in_its_own_file(open_engine: Engines):
    (open_engine.folder / "second.py").write_text("config = make()\nasync def run(ctx):\n    yield\n")
    engine = await open_engine(first)
    facts = {fact.short_name: fact for fact in await engine.runner_facts()}
    assert [problem.line for problem in facts["second"].problems] == [1]
    assert facts["first"].problems == ()


async def test_a_runner_tells_what_its_form_lacks_until_that_is_kept(open_engine: Engines):
    @declares(config=[{"name": name, "type": "string", "required": True} for name in ("city", "tone")])
    async def needs(ctx):
        yield done("x")

    engine = await open_engine(needs, first)

    async def unfit(name: str) -> tuple[str, ...]:
        return next(fact.unfit for fact in await engine.runner_facts() if fact.short_name == name)

    assert (await unfit("needs"), await unfit("first")) == (("city is required", "tone is required"), ())
    await engine.keep_settings("needs", KeptSettings(config={"city": "Rome"}))
    assert await unfit("needs") == ("tone is required",)
    await engine.keep_settings("needs", KeptSettings(config={"city": "Rome", "tone": "warm"}))
    assert await unfit("needs") == ()


async def test_of_an_agent_it_is_told_how_much_more_does_not_fit(open_engine: Engines):
    agents = [{"id": "poor", "runner": "asks", "config": {"tone": "hot", "api_key": 1}}]
    engine = await open_engine(asks, agents=agents)
    assert [agent.reason for agent in engine.unfit_agents()] == ["config.tone: must be one of warm, cold (and 1 more)"]


async def test_an_agent_that_does_not_fit_is_told_and_all_others_can_be_used(open_engine: Engines):
    agents = [
        {"id": "good", "runner": "asks"},
        {"id": "poor", "runner": "asks", "config": {"tone": "hot"}},
        {"id": "ghost", "runner": "nobody"},
    ]
    engine = await open_engine(asks, agents=agents)

    assert [agent.agent_id for agent in engine.agents()] == ["good"]
    assert [(agent.agent_id, agent.reason.partition(".")[0]) for agent in engine.unfit_agents()] == [
        ("poor", "config"),
        ("ghost", "runner: no runner called 'nobody'"),
    ]
    assert engine.prepare(message(), Choice(runner="good")).binding.agent_id == "good"
    assert engine.prepare(message(), Choice(runner="asks")).binding.agent_id is None
    for choice in (Choice(runner="poor"), Choice()):
        with pytest.raises(ConfigError, match=r"agents\[1\]\.config\.tone: must be one of warm, cold"):
            engine.prepare(message(), choice)


async def test_an_agent_that_never_fitted_does_not_keep_other_files_from_being_read_again(open_engine: Engines):
    engine = await open_engine(first, agents=[{"id": "ghost", "runner": "nobody"}])
    engine.runners()

    (open_engine.folder / "fresh.py").write_text("async def run(ctx):\n    yield\n")
    reloaded = await engine.reload()

    assert reloaded.added == ("plugin:local/fresh/default",)
    assert [agent.agent_id for agent in engine.unfit_agents()] == ["ghost"]


async def test_a_form_has_words_options_and_what_is_written_and_kept(open_engine: Engines):
    (open_engine.folder / "files").mkdir()
    (open_engine.folder / "files" / "notes.txt").touch()
    engine = await open_engine(
        asks,
        models=MODELS,
        knowledge_bases=[{"id": "kb", "name": "Handbook", "kind": "scripted"}],
        file_roots=["files"],
        agents=[{"id": "a", "runner": "asks", "config": {"model": "small"}, "state": {"enable_state": False}}],
    )
    await engine.keep_settings("a", KeptSettings(config={"tone": "cold"}))

    form = await engine.form("a", locale="de_AT.UTF-8")

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
    assert [option.value for option in (await engine.choices()).tools] == []
    assert [option.value for option in form.choices.scopes] == ["conversation", "actor", "subject", "runner"]


SECRETS = [{"name": f"key_{kind}", "type": kind} for kind in ("string", "text", "array[string]", "select")]
PLAIN = [{"name": f"tokens_{kind}", "type": kind} for kind in ("integer", "float", "boolean", "llm-model-selector")]


@declares(config=[*SECRETS, *PLAIN, {"name": "key_kind", "type": "select", "options": ["long", "short"]}])
async def hides(ctx):
    yield done("x")


async def test_only_what_someone_types_can_be_a_secret_and_what_no_field_declares(open_engine: Engines):
    engine = await open_engine(hides, agents=[{"id": "a", "runner": "hides", "config": {"api_key": 1, "pace": 2}}])

    form = await engine.form("a")

    assert form.secrets == {"api_key", *(field["name"] for field in SECRETS)}
    assert [field.name for field in form.fields if field.is_secret] == [field["name"] for field in SECRETS]


async def test_each_field_is_checked_for_itself_as_the_whole_is(open_engine: Engines):
    rules = (await (await open_engine(asks)).form()).rules

    for name, value in (("tone", "loud"), ("tone", ""), ("bases", "kb"), ("model", 3), ("file", {1, 2})):
        alone = rules.check_field(name, value)
        assert alone is not None
        assert alone in rules.check(rules.complete({name: value}))
    assert rules.check_field("tone", "cold") is None
    assert rules.check_field("moon", "full") is None
    assert rules.check_some({"model": "small"}) == []


async def test_a_value_of_a_policy_is_checked_in_the_words_of_the_config(open_engine: Engines):
    form = await (await open_engine(asks)).form()

    assert form.check_policy("delivery", "max_message_size", 0) == "must be greater than 0"
    assert form.check_policy("delivery", "max_message_size", "much") == "must be an integer"
    assert form.check_policy("state", "state_scopes", ("conversation",)) is None
    assert form.check_policy("delivery", "max_message_size", None) is None


async def test_grants_are_shown_as_a_form_would_have_them_and_nothing_is_recorded(open_engine: Engines):
    engine = await open_engine(asks, models=MODELS, tools=[{"name": "look", "kind": "scripted", "parameters": {}}])
    settings = KeptSettings(config={"model": "small"}, resources=ResourcePolicy(allowed_tool_names=("look", "gone")))

    order = engine.grants_preview(settings=settings)

    assert order.grants.clauses["model:small"] == "permissions.models and the runner's config"
    assert order.grants.clauses["tool:look"] == "permissions.tools and resource_policy.allowed_tool_names"
    assert [words for words in order.warnings if "gone" in words]
    assert engine.grants_preview().grants.clauses == {}
    assert await engine.kept_settings() is None
    assert await engine.runs() == []
    with pytest.raises(FormError, match="tone must be one of"):
        engine.grants_preview(settings=KeptSettings(config={"tone": "loud"}))


async def test_grants_can_be_shown_for_every_kind_of_event(open_engine: Engines):
    engine = await open_engine(asks)
    for event_type in EventType:
        assert engine.grants_preview(event=event_type).envelope.event_type == event_type
    assert engine.grants_preview(event=message(session=None)).grants.conversation_id is None

    agent = await open_engine(asks, agents=[{"id": "a", "runner": "asks"}])
    with pytest.raises(IntakeError, match=r"no enabled agent takes api\.invoked"):
        agent.grants_preview(event=EventType.API_INVOKED)
