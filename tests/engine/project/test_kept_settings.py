"""Settings that the user saved override those of trackside.yaml in runs that use them."""

from pathlib import Path

import pytest

from engine.api import Engine, EventEnvelope, FormError, KeptSettings, RunnersError, RunOptions
from engine.project.agents import DeliveryPolicy, ResourcePolicy, StatePolicy
from engine.store import kept_settings as facts_of_settings
from engine.store.kept_settings import SettingsRefused
from tests.support.engines import (
    Engines,
    FakeClock,
    declares,
    done,
    journal_of,
    message,
    read_database,
    run_event,
    send,
    wait_for_run,
    wait_forever,
)

KEY = "sk-very-secret-1"
KEPT = RunOptions(kept=True)


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


def config(engine: Engine, choice: RunOptions = KEPT, event: EventEnvelope | None = None) -> dict[str, object]:
    return engine.runs.prepare(event or message(), choice).config


async def test_saved_values_override_written_ones_and_options_override_both(open_engine: Engines, clock: FakeClock):
    agents = [{"id": "a", "runner": "plans", "config": {"depth": 2, "style": "written"}}]
    engine = await open_engine(plans, agents=agents)
    assert await engine.settings.get("a") is None

    kept = await engine.settings.save("a", KeptSettings(config={"depth": 3}))

    assert kept.updated_at == clock.now()
    assert await engine.settings.get("a") == kept
    assert config(engine) == {"depth": 3, "style": "written"}
    assert config(engine, RunOptions(kept=True, config={"depth": 4})) == {"depth": 4, "style": "written"}
    assert config(engine, RunOptions(kept=True, settings={"depth": "5"})) == {"depth": 5, "style": "written"}
    assert config(engine, RunOptions()) == {"depth": 2, "style": "written"}, "only where it is wanted"


async def test_saved_policies_replace_written_policies_as_a_whole(open_engine: Engines):
    agents = [
        {"id": "a", "runner": "plans", "state": {"state_scopes": ["runner"]}, "delivery": {"max_message_size": 9}}
    ]
    engine = await open_engine(plans, agents=agents)
    await engine.settings.save(
        "a",
        KeptSettings(
            resources=ResourcePolicy(allow_workspace_storage=True), state=StatePolicy(state_scopes=("actor", "subject"))
        ),
    )

    binding = engine.runs.prepare(message(), KEPT).binding
    assert binding.resource_policy == ResourcePolicy(allow_workspace_storage=True)
    assert binding.state_policy.state_scopes == ("actor", "subject")
    assert binding.delivery_policy == DeliveryPolicy(max_message_size=9)
    assert engine.runs.prepare(message(), RunOptions()).binding.state_policy.state_scopes == ("runner",)


async def test_saved_settings_survive_restart_and_can_be_deleted(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.settings.save(None, KeptSettings(config={"depth": 3}, delivery=DeliveryPolicy(enable_reply=False)))
    await open_engine.close(engine)

    engine = await open_engine(plans)
    assert config(engine)["depth"] == 3
    assert not engine.runs.prepare(message(), KEPT).binding.delivery_policy.enable_reply
    assert await engine.settings.delete("plans")
    assert not await engine.settings.delete("plans")
    assert config(engine)["depth"] == 1
    assert await engine.settings.get() is None


async def test_settings_of_another_agent_or_runner_are_not_used(open_engine: Engines):
    agents = [{"id": "a", "runner": "plans"}, {"id": "b", "runner": "plans", "events": ["api.invoked"]}]
    engine = await open_engine(plans, agents=agents)
    await engine.settings.save("a", KeptSettings(config={"depth": 3}))

    assert config(engine, RunOptions("a", kept=True))["depth"] == 3
    assert (
        config(engine, RunOptions("b", kept=True), message().model_copy(update={"event_type": "api.invoked"}))["depth"]
        == 1
    )
    assert config(engine, RunOptions("plans", kept=True))["depth"] == 1
    with pytest.raises(RunnersError, match=r"there are 2 agents: a, b\. Name one"):
        await engine.settings.get()


async def test_runner_file_of_the_same_name_elsewhere_gets_no_settings(tmp_path: Path):
    source = "config = [{'name': 'api_key', 'type': 'string'}]\nasync def run(ctx):\n    yield\n"
    ids = []
    for place, expected in (("mine", KEY), ("theirs", None), ("mine", KEY)):
        path = tmp_path / place / "bot.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
        async with await Engine.open(path, db=tmp_path / "facts.db") as engine:
            if not ids:
                await engine.settings.save(None, KeptSettings(config={"api_key": KEY}))
            order = engine.runs.prepare(message(), KEPT)
            ids.append(order.binding.binding_id)
            assert order.config.get("api_key") == expected
    assert len(set(ids)) == 1, "or this would prove nothing"


async def test_saved_secret_reaches_runner_and_is_masked_in_journal(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.settings.save(None, KeptSettings(config={"api_key": KEY}))

    run = await run_event(engine, kept=True)

    assert run.context["config"]["api_key"] == "‹secret api_key›"
    assert run.one("run.completed").data["message"]["content"] == "1 plain ‹secret api_key›"
    assert KEY not in str(await journal_of(engine, run.run_id))
    assert KEY not in str(run.row)


async def test_invalid_values_are_refused_and_not_saved(open_engine: Engines):
    engine = await open_engine(plans)

    with pytest.raises(
        FormError, match=r"settings of plugin:local/plans/default: depth must be an integer, not text\."
    ):
        await engine.settings.save(None, KeptSettings(config={"depth": "deep", "moon": "full"}))
    with pytest.raises(SettingsRefused, match="the limit is 1,048,576"):
        await engine.settings.save(None, KeptSettings(config={"style": "x" * (1 << 20)}))

    assert await engine.settings.get() is None
    await engine.settings.save(None, KeptSettings(config={"moon": "full"}))
    assert engine.runs.prepare(message(), KEPT).warnings == ("config: moon is not in the runner's form",)


async def test_error_of_outdated_saved_settings_names_their_origin(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.settings.save(None, KeptSettings(config={"style": "odd"}))
    path = open_engine.folder / "plans.py"
    path.write_text(path.read_text().replace("'name': 'style', 'type': 'string'", "'name': 'style', 'type': 'integer'"))
    await engine.runners.reload()

    with pytest.raises(FormError, match=r"style must be an integer, not text\. The saved settings are part"):
        engine.runs.prepare(message(), KEPT)
    assert engine.runs.prepare(message(), RunOptions(config={"style": 1})).config["style"] == 1


async def test_missing_value_is_not_blamed_on_empty_saved_settings(open_engine: Engines):
    engine = await open_engine(wants)

    for settings in (KeptSettings(), KeptSettings(delivery=DeliveryPolicy(enable_reply=False))):
        with pytest.raises(FormError, match=r"depth is required\.$"):
            engine.settings.preview_grants(RunOptions(), settings)


async def test_unreadable_saved_settings_affect_only_runs_that_use_them(open_engine: Engines):
    engine = await open_engine(plans)
    await engine.settings.save(None, KeptSettings(config={"depth": 3}))
    [key] = read_database(engine, facts_of_settings.every)
    await engine._core.edit(lambda tx: facts_of_settings.put(tx.connection, key, {"state": {"moon": 1}}, at=1))
    await open_engine.close(engine)

    engine = await open_engine(plans)
    assert config(engine, RunOptions())["depth"] == 1
    with pytest.raises(
        FormError, match=r"The saved settings of plugin:local/plans/default cannot be used: state\.moon"
    ):
        engine.runs.prepare(message(), KEPT)
    assert await engine.settings.delete()
    assert config(engine)["depth"] == 1


async def test_run_again_uses_the_same_saved_settings(open_engine: Engines):
    engine = await open_engine(plans)
    first, plain = await run_event(engine, kept=True), await run_event(engine)
    await engine.settings.save(None, KeptSettings(config={"depth": 3}))

    for run, depth in ((first, 3), (plain, 1)):
        again = await wait_for_run(engine, await (await engine.runs.run_again(run.run_id)).started)
        assert again.context["config"]["depth"] == depth


async def test_resent_message_uses_its_saved_settings(open_engine: Engines):
    @declares(config=[{"name": "depth", "type": "integer", "default": 1}])
    async def waits_first(ctx):
        yield done(str(ctx.config["depth"]))
        if ctx.input.to_text() == "first":
            await wait_forever()

    engine = await open_engine(waits_first)
    run_id = await send(engine, "first", kept=True)
    ticket = await engine.runs.submit(message("second"), KEPT, after=True)
    assert ticket.item_id is not None
    await engine.queue.withdraw(ticket.item_id)
    await engine.runs.stop(run_id)
    await engine.settings.save(None, KeptSettings(config={"depth": 3}))

    again = await wait_for_run(engine, await (await engine.queue.resend(ticket.item_id)).started)
    assert again.context["config"]["depth"] == 3


async def test_settings_saved_by_another_process_are_read_on_get_and_reload(open_engine: Engines):
    ours, theirs = await open_engine(plans), await open_engine(plans)
    await theirs.settings.save(None, KeptSettings(config={"depth": 3}))
    await ours.runners.reload()
    assert config(ours)["depth"] == 3
    await theirs.settings.save(None, KeptSettings(config={"depth": 4}))
    assert (await ours.settings.get()).config == {"depth": 4}
    assert config(ours)["depth"] == 4


async def test_saved_settings_do_not_share_objects_with_the_caller(open_engine: Engines):
    engine = await open_engine(plans)
    styles = {"config": {"style": "a", "more": ["x"]}}
    await engine.settings.save(None, KeptSettings(**styles))
    order = engine.runs.prepare(message(), KEPT)
    order.config["more"].append("y")
    styles["config"]["more"].append("z")
    assert config(engine)["more"] == ["x"]


async def test_order_reports_unused_saved_settings(open_engine: Engines):
    engine = await open_engine(plans)
    assert not engine.settings.has_unused(engine.runs.prepare(message()))
    await engine.settings.save(None, KeptSettings(config={"depth": 3}))
    assert engine.settings.has_unused(engine.runs.prepare(message()))
    assert not engine.settings.has_unused(engine.runs.prepare(message(), KEPT))
