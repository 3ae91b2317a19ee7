"""From an event and a choice of runner to an order: one binding, a checked config, frozen grants."""

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import ValidationError

from engine.clock import Ids
from engine.config import Project
from engine.intake.agents import AgentBinding, AgentConfig, implicit_agent
from engine.intake.attachments import check_attachments, without_raw
from engine.intake.binding import resolve
from engine.intake.envelope import EventEnvelope
from engine.intake.settings import KeptSettings, SettingsKey
from engine.protocol.event import EventType
from engine.resources.catalog import Catalog
from engine.resources.shelf import Shelf
from engine.run.grants import grant
from engine.run.marks import Marks, secrets_in
from engine.run.order import RunOrder, timeout_of
from engine.run.points import Point
from engine.runners.descriptor import Origin, RunnerDescriptor
from engine.runners.errors import FormError
from engine.runners.forms import ConfigForm
from engine.runners.registry import Registry

AllKept = Mapping[SettingsKey, Mapping[str, Any]]
"""Settings that a person keeps, as they are on disk."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person says beyond the event itself."""

    runner: str | None = None
    """An agent's name, a runner's id or its short name; none where there is only one."""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values over the agent's config."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """The same as text, read by the runner's form."""
    python: str | None = None
    env: tuple[str, ...] = ()
    """Names of variables that the runner's process may see, beyond the project's."""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kept: bool = False
    """Whether settings that a person keeps lie over those of trackside.yaml."""
    holds: tuple[str, ...] = ()
    """Points where the run is held, armed from its start: `pull`, `tool`, `call_tool#2`, `message.completed` …"""


def choose(
    project: Project, registry: Registry, choice: Choice, event_type: EventType | None = None
) -> tuple[tuple[AgentConfig, ...], str | None]:
    """The agents an event may go to, and the name of the one that was asked for.

    Where kept settings count, also one whose own config does not fit: they may mend it, and it is checked with them.
    """
    name, kept = choice.runner, choice.kept
    if name is not None and (agent := project.agent(name, registry, as_written=kept)) is not None:
        # What is wrong with others does not matter.
        others = (one for one in project.agents_by_fitness(registry)[0] if one.agent_id != name)
        return (agent, *others), name
    if choice.runner is not None or not project.config.agents:
        return (implicit_agent(str(registry.choose(choice.runner).id)),), None
    return project.agents(registry, as_written=kept, event_type=event_type), None


class Setting(Protocol):
    """What an order is made from."""

    project: Project
    registry: Registry
    shelf: Shelf
    catalog: Catalog
    ids: Ids
    kept: AllKept


def prepare(setting: Setting, envelope: EventEnvelope, choice: Choice, kept: AllKept | None = None) -> RunOrder:
    """Everything that can be wrong with the event, the choice or the config is said here, before any record."""
    project, registry, catalog, ids = setting.project, setting.registry, setting.catalog, setting.ids
    check_attachments(envelope, project.file_roots())
    agents, agent_id = choose(project, registry, choice, envelope.event_type)
    binding = resolve(agents, envelope.event_type, agent_id=agent_id)
    runner = registry.get(binding.runner_id)
    settings = kept_for(binding, runner, setting.kept if kept is None else kept) if choice.kept else None
    binding = binding if settings is None else settings.over(binding)
    try:
        config, warnings = _config(runner, {**binding.runner_config, **choice.config}, choice.settings)
    except FormError as error:
        if settings is None or not settings.config:
            raise
        raise FormError(f"{error} Settings that are kept for it are a part of this.") from error
    # Copies: what the sender does with its own objects from here on must not reach the run.
    envelope, raw = without_raw(envelope.model_copy(deep=True), ids.new("art"))
    grants, left_out = grant(runner, binding, envelope, config, catalog, project.file_roots())
    python, names = project.launch_settings(binding.agent_id)
    launch = runner.launch_with(python=choice.python or python, env=(*names, *choice.env), environ=os.environ)
    models = (catalog.models[model.model_id] for model in grants.resources.models if model.model_type == "llm")
    return RunOrder(
        run_id=ids.new("run"),
        envelope=envelope,
        binding=binding.model_copy(update={"runner_config": config}),
        launch=launch,
        grants=grants,
        config=config,
        timeout=timeout_of(config),
        context_window=next((model.context_window_tokens for model in models), None),
        raw=raw,
        params=deepcopy(dict(choice.params)),
        prompt=ConfigForm(runner.manifest).prompt(config),
        marks=Marks(secrets_in((*config.items(), *launch.env))),
        holds=tuple(dict.fromkeys(Point.parse(words) for words in choice.holds)),
        shelf=setting.shelf,
        file_roots=project.file_roots(),
        takes_kept=choice.kept,
        warnings=(*warnings, *left_out),
    )


def settings_key(binding: AgentBinding, runner: RunnerDescriptor) -> SettingsKey:
    """Where settings for this binding are kept. A bundled runner is the same wherever it is installed."""
    return binding.binding_id, "" if runner.origin is Origin.BUNDLED else str(runner.path)


def kept_for(binding: AgentBinding, runner: RunnerDescriptor, kept: AllKept) -> KeptSettings | None:
    """The settings that are kept for a binding; raises where they cannot be read."""
    value = kept.get(settings_key(binding, runner))
    try:
        return None if value is None else KeptSettings.model_validate(value)
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(map(str, fault["loc"])) for fault in error.errors()}))
        raise FormError(
            f"settings kept for {binding.agent_id or binding.runner_id} cannot be used: {fields}. Keep them anew."
        ) from None


def _config(
    runner: RunnerDescriptor, config: dict[str, Any], settings: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The config that the runner gets, checked against its form, and what is odd about it."""
    form = ConfigForm(runner.manifest)
    given = {**config, **{name: form.read(name, text) for name, text in settings.items()}}
    completed = deepcopy(form.require(given))
    return completed, tuple(f"config: {problem}" for problem in form.check(completed) if problem.warning)
