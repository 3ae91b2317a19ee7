"""Settings that a person keeps lie over those of trackside.yaml, where that is wanted."""

from pathlib import Path

import pytest

from engine.api import Choice, Engine, EventEnvelope, FormError, KeptSettings, RunnersError
from engine.facts import settings as facts_of_settings
from engine.facts.settings import SettingsRefused
from engine.intake.agents import DeliveryPolicy, ResourcePolicy, StatePolicy
from tests.support import Engines, FakeClock, declares, done, facts, forever, journal_of, message, perform, played, send

KEY = "sk-very-secret-1"
KEPT = Choice(kept=True)


@declares(
    capabilities={"tool_calling": True},
    permissions={"tools": ["call"]},
    config=[
        {"name": "depth", "type": "integer", "default": 1},
        {"name": "style", "type": "string", "default": "plain"},
        {"name": "api_key", "type": "string"},
    ],
)
async def plans(ctx):
    yield done(f"{ctx.config['depth']} {ctx.config['style']} {ctx.config.get('api_key')}")


@declares(config=[{"name": "depth", "type": "integer", "required": True}])
async def wants(ctx):
    yield done()


def config(engine: Engine, choice: Choice = KEPT, event: EventEnvelope | None = None) -> dict[str, object]:
    return engine.prepare(event or message(), choice).config


async def test_kept_values_go_over_the_written_ones_and_a_choice_over_both(open_engine: Engines, clock: FakeClock):
    agents = [{"id": "a", "runner": "plans", "config": {"depth": 2, "style": "written"}}]
    engine = await open_engine(plans, agents=agents)
    assert await engine.kept_settings("a") is None

    kept = await engine.keep_settings("a", KeptSettings(config={"depth": 3}))

    assert kept.updated_at == clock.now()
    assert await engine.kept_settings("a") == kept
    assert config(engine) == {"depth": 3, "style": "written"}
    assert config(engine, Choice(kept=True, config={"depth": 4})) == {"depth": 4, "style": "written"}
    assert config(engine, Choice(kept=True, settings={"depth": "5"})) == {"depth": 5, "style": "written"}
    assert config(engine, Choice()) == {"depth": 2, "style": "written"}, "only where it is wanted"


async def test_kept_policies_stand_in_for_the_written_ones_each_as_a_whole(open_engine: Engines):
    agents = [
        {"id": "a", "runner": "plans", "state": {"state_scopes": ["runner"]}, "delivery": {"max_message_size": 9}}
    ]
    engine = await open_engine(plans, agents=agents)
    await engine.keep_settings(
        "a",
        KeptSettings(
            resources=ResourcePolicy(allow_workspace_storage=True), state=StatePolicy(state_scopes=("actor", "subject"))
        ),
    )

    binding = engine.prepare(message(), KEPT).binding
    assert binding.resource_policy == ResourcePolicy(allow_workspace_storage=True)
    assert binding.state_policy.state_scopes == ("actor", "subject")
    assert binding.delivery_policy == DeliveryPolicy(max_message_size=9)
    assert engine.prepare(message(), Choice()).binding.state_policy.state_scopes == ("runner",)


async def test_settings_are_there_after_a_restart_and_can_be_forgotten(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.keep_settings(None, KeptSettings(config={"depth": 3}, delivery=DeliveryPolicy(enable_reply=False)))
    await open_engine.close(engine)

    engine = await open_engine(plans)
    assert config(engine)["depth"] == 3
    assert not engine.prepare(message(), KEPT).binding.delivery_policy.enable_reply
    assert await engine.forget_settings("plans")
    assert not await engine.forget_settings("plans")
    assert config(engine)["depth"] == 1
    assert await engine.kept_settings() is None


async def test_settings_of_another_agent_or_runner_are_not_used(open_engine: Engines):
    agents = [{"id": "a", "runner": "plans"}, {"id": "b", "runner": "plans", "events": ["api.invoked"]}]
    engine = await open_engine(plans, agents=agents)
    await engine.keep_settings("a", KeptSettings(config={"depth": 3}))

    assert config(engine, Choice("a", kept=True))["depth"] == 3
    assert (
        config(engine, Choice("b", kept=True), message().model_copy(update={"event_type": "api.invoked"}))["depth"] == 1
    )
    assert config(engine, Choice("plans", kept=True))["depth"] == 1
    with pytest.raises(RunnersError, match=r"there are 2 agents: a, b\. Name one"):
        await engine.kept_settings()


async def test_a_file_of_the_same_name_elsewhere_gets_no_ones_secrets(tmp_path: Path):
    source = "config = [{'name': 'api_key', 'type': 'string'}]\nasync def run(ctx):\n    yield\n"
    ids = []
    for place, expected in (("mine", KEY), ("theirs", None), ("mine", KEY)):
        path = tmp_path / place / "bot.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        async with await Engine.open(path, db=tmp_path / "facts.db") as engine:
            if not ids:
                await engine.keep_settings(None, KeptSettings(config={"api_key": KEY}))
            order = engine.prepare(message(), KEPT)
            ids.append(order.binding.binding_id)
            assert order.config.get("api_key") == expected
    assert len(set(ids)) == 1, "or this would prove nothing"


async def test_a_kept_secret_reaches_the_runner_and_is_a_mark_in_the_journal(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.keep_settings(None, KeptSettings(config={"api_key": KEY}))

    run = await perform(engine, kept=True)

    assert run.context["config"]["api_key"] == "‹secret api_key›"
    assert run.one("run.completed").data["message"]["content"] == "1 plain ‹secret api_key›"
    assert KEY not in str(await journal_of(engine, run.run_id))
    assert KEY not in str(run.row)


async def test_values_that_do_not_fit_are_refused_and_nothing_is_kept(open_engine: Engines):
    engine = await open_engine(plans)

    with pytest.raises(
        FormError, match=r"settings of plugin:local/plans/default: depth must be an integer, not text\."
    ):
        await engine.keep_settings(None, KeptSettings(config={"depth": "deep", "moon": "full"}))
    with pytest.raises(SettingsRefused, match="more than may be kept"):
        await engine.keep_settings(None, KeptSettings(config={"style": "x" * (1 << 20)}))

    assert await engine.kept_settings() is None
    await engine.keep_settings(None, KeptSettings(config={"moon": "full"}))
    assert engine.prepare(message(), KEPT).warnings == ("config: moon is not in the runner's form",)


async def test_settings_that_the_form_has_outgrown_say_where_they_come_from(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.keep_settings(None, KeptSettings(config={"style": "odd"}))
    path = open_engine.folder / "plans.py"
    path.write_text(path.read_text().replace("'name': 'style', 'type': 'string'", "'name': 'style', 'type': 'integer'"))
    await engine.reload()

    with pytest.raises(
        FormError, match=r"style must be an integer, not text\. Settings that are kept for it are a part"
    ):
        engine.prepare(message(), KEPT)
    assert engine.prepare(message(), Choice(config={"style": 1})).config["style"] == 1


async def test_what_is_missing_is_not_blamed_on_settings_where_no_value_is_kept(open_engine: Engines):
    engine = await open_engine(wants)

    for settings in (KeptSettings(), KeptSettings(delivery=DeliveryPolicy(enable_reply=False))):
        with pytest.raises(FormError, match=r"depth is required\.$"):
            engine.grants_preview(Choice(), settings)


async def test_settings_that_cannot_be_read_block_nobody_who_does_not_want_them(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.keep_settings(None, KeptSettings(config={"depth": 3}))
    [key] = facts(engine, facts_of_settings.every)
    await engine._edit(lambda tx: facts_of_settings.put(tx.connection, key, {"state": {"moon": 1}}, at=1))
    await open_engine.close(engine)

    engine = await open_engine(plans)
    assert config(engine, Choice())["depth"] == 1
    with pytest.raises(FormError, match=r"settings kept for plugin:local/plans/default cannot be used: state\.moon"):
        engine.prepare(message(), KEPT)
    assert await engine.forget_settings()
    assert config(engine)["depth"] == 1


async def test_what_is_sent_again_has_the_settings_that_the_first_was_to_have(open_engine: Engines):
    engine = await open_engine(plans)
    first, plain = await perform(engine, kept=True), await perform(engine)
    await engine.keep_settings(None, KeptSettings(config={"depth": 3}))

    for run, depth in ((first, 3), (plain, 1)):
        again = await played(engine, await (await engine.again(run.run_id)).started)
        assert again.context["config"]["depth"] == depth


async def test_a_message_that_was_dropped_is_sent_again_with_its_settings(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer", "default": 1}])
    async def waits_first(ctx):
        yield done(str(ctx.config["depth"]))
        if ctx.input.to_text() == "first":
            await forever()

    engine = await open_engine(waits_first)
    run_id = await send(engine, "first", kept=True)
    ticket = await engine.submit(message("second"), KEPT, after=True)
    assert ticket.item_id is not None
    await engine.withdraw_item(ticket.item_id)
    await engine.stop(run_id)
    await engine.keep_settings(None, KeptSettings(config={"depth": 3}))

    again = await played(engine, await (await engine.resend(ticket.item_id)).started)
    assert again.context["config"]["depth"] == 3


async def test_settings_of_another_process_are_seen_when_asked_for_and_after_a_reload(open_engine: Engines):
    ours, theirs = await open_engine(plans), await open_engine(plans)
    await theirs.keep_settings(None, KeptSettings(config={"depth": 3}))
    await ours.reload()
    assert config(ours)["depth"] == 3
    await theirs.keep_settings(None, KeptSettings(config={"depth": 4}))
    assert (await ours.kept_settings()).config == {"depth": 4}
    assert config(ours)["depth"] == 4


async def test_what_is_kept_does_not_change_with_the_senders_objects(open_engine: Engines):
    engine = await open_engine(plans)
    styles = {"config": {"style": "a", "more": ["x"]}}
    await engine.keep_settings(None, KeptSettings(**styles))
    order = engine.prepare(message(), KEPT)
    order.config["more"].append("y")
    styles["config"]["more"].append("z")
    assert config(engine)["more"] == ["x"]


async def test_an_order_tells_of_settings_that_are_kept_and_not_in_it(open_engine: Engines):
    engine = await open_engine(plans)
    assert not engine.has_unused_settings(engine.prepare(message()))
    await engine.keep_settings(None, KeptSettings(config={"depth": 3}))
    assert engine.has_unused_settings(engine.prepare(message()))
    assert not engine.has_unused_settings(engine.prepare(message(), KEPT))
