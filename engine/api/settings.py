"""Settings that the user saves for an agent or a runner, and the form to edit them."""

from copy import deepcopy
from dataclasses import replace

from engine.api.core import EngineCore
from engine.api.resources import ResourcesApi
from engine.intake.envelope import CONSOLE_DELIVERY, LOCAL_ACTOR, EventEnvelope
from engine.journal.secret_mask import is_secret_name
from engine.project.agents import AgentBinding, bind
from engine.project.form import Form
from engine.project.kept_settings import KeptSettings
from engine.project.settings_yaml import LineProblem, from_yaml
from engine.protocol.content import RunnerInput
from engine.protocol.event import EventSource, EventType
from engine.run.prepare import RunOptions, choose_agents, kept_for, prepare, settings_key
from engine.run.run_order import RunOrder
from engine.runners.config_form import ConfigForm
from engine.runners.descriptor import RunnerDescriptor
from engine.runners.errors import AmbiguousRunner, FormError
from engine.runners.form_fields import can_be_secret, fields_of
from engine.runners.locales import user_locale
from engine.store import kept_settings


class SettingsApi:
    """Read, check and save settings. `name` is an agent or a runner; None means the only one there is."""

    def __init__(self, core: EngineCore, resources: ResourcesApi) -> None:
        self._core = core
        self._resources = resources

    async def get(self, name: str | None = None) -> KeptSettings | None:
        """The settings that are saved for an agent, or for a runner opened by path."""
        await self._read_saved()
        binding, runner = self._bound(name)
        return kept_for(binding, runner, self._core.workspace.kept)

    async def save(self, name: str | None, settings: KeptSettings) -> KeptSettings:
        """Replace the saved settings; raises FormError if a value is invalid."""
        binding, runner = self._bound(name)
        problems = ConfigForm(runner.manifest).check_some(settings.config)
        faults = [str(problem) for problem in problems if not problem.warning]
        if faults:
            raise FormError(f"settings of {binding.agent_id or binding.runner_id}: {'; '.join(faults)}.")
        key, value, now = settings_key(binding, runner), deepcopy(settings.to_json()), self._core.now()
        await self._core.edit(lambda tx: kept_settings.put(tx.connection, key, value, at=now))
        await self._read_saved()
        return settings.model_copy(update={"updated_at": now})

    async def delete(self, name: str | None = None) -> bool:
        """Delete the saved settings, so that trackside.yaml applies again. Returns whether there were any."""
        key = settings_key(*self._bound(name))
        had_settings = await self._core.edit(lambda tx: kept_settings.remove(tx.connection, key))
        await self._read_saved()
        return had_settings

    def parse_yaml(self, name: str | None, text: str) -> tuple[KeptSettings | None, tuple[LineProblem, ...]]:
        """Settings from YAML, and their problems by line. The inverse of `to_yaml`."""
        return from_yaml(text, ConfigForm(self._bound(name)[1].manifest))

    def has_unused(self, order: RunOrder) -> bool:
        """Whether settings are saved for the runner of an order that does not use them."""
        runner = self._core.workspace.registry.get(order.binding.runner_id)
        return not order.uses_kept_settings and settings_key(order.binding, runner) in self._core.workspace.kept

    async def form(self, name: str | None = None, *, locale: str | None = None) -> Form:
        """The form of an agent or a runner, with the resources to choose from and the saved settings."""
        kept = await self.get(name)
        choices = await self._resources.choices()
        binding, runner = self._bound(name)
        rules = ConfigForm(runner.manifest)
        config = rules.complete(binding.runner_config)
        declared = runner.manifest.config_schema
        names = {item.name for item in declared}.union(config, kept.config if kept else ())
        never_secret = {item.name for item in declared if not can_be_secret(item)}
        secret = frozenset(filter(is_secret_name, names - never_secret))
        return Form(
            agent_id=binding.agent_id,
            runner_id=binding.runner_id,
            fields=fields_of(runner.manifest, locale or user_locale(), choices.by_field(), secret),
            choices=choices,
            config=config,
            secrets=secret,
            resources=binding.resource_policy,
            state=binding.state_policy,
            delivery=binding.delivery_policy,
            kept=kept,
            rules=rules,
        )

    def preview_grants(
        self,
        options: RunOptions | None = None,
        settings: KeptSettings | None = None,
        *,
        event: EventEnvelope | EventType = EventType.MESSAGE_RECEIVED,
    ) -> RunOrder:
        """The order that an event would become, with its grants and the clause behind each. Records nothing.

        `settings` replace the saved ones, so that a form can show the effect of its values.
        """
        workspace, options = self._core.workspace, options or RunOptions()
        envelope = event if isinstance(event, EventEnvelope) else _example_event(event, self._core.ids.new("evt"))
        if settings is None:
            return prepare(workspace, envelope, options)
        kept = {settings_key(*self._bound(options.runner)): settings.to_json()}
        return prepare(workspace, envelope, replace(options, kept=True), kept)

    async def _read_saved(self) -> None:
        """Put the settings of the database, which another process may have changed, into the workspace."""
        kept = await self._core.read(kept_settings.every)
        self._core.workspace.kept = kept

    def _bound(self, name: str | None) -> tuple[AgentBinding, RunnerDescriptor]:
        """The agent of this name, even if its config is invalid, else the runner; without a name, the only one."""
        project, registry = self._core.workspace.project, self._core.workspace.registry
        agents, agent_id = choose_agents(project, registry, RunOptions(runner=name, kept=True))
        fitting = [agent for agent in agents if agent_id in (None, agent.agent_id)]
        if len(fitting) > 1:
            names = ", ".join(sorted(str(agent.agent_id) for agent in fitting))
            raise AmbiguousRunner(f"there are {len(fitting)} agents: {names}")
        return bind(fitting[0]), registry.get(fitting[0].runner_id)


def _example_event(event_type: EventType, event_id: str) -> EventEnvelope:
    """An event of this type from the console's user, in a session."""
    return EventEnvelope(
        event_id=event_id,
        event_type=event_type,
        source=EventSource.CONSOLE,
        conversation_id="preview",
        actor=LOCAL_ACTOR,
        input=RunnerInput(text="…") if event_type is EventType.MESSAGE_RECEIVED else RunnerInput(),
        delivery=CONSOLE_DELIVERY,
    )
