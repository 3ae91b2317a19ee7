"""Prepares a run order from an event and options: one binding, a checked config, frozen grants."""

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from engine.intake.attachments import check_attachments, move_large_data_out
from engine.intake.envelope import EventEnvelope
from engine.journal.secret_mask import SecretMask, note_process_secrets, secrets_in
from engine.project.agents import AgentBinding, AgentConfig, implicit_agent
from engine.project.binding import resolve_binding
from engine.project.config import Project
from engine.project.kept_settings import AllKept, KeptSettings, SettingsKey
from engine.project.workspace import Workspace
from engine.run.breakpoints import BreakpointLocation
from engine.run.grants import compute_grants
from engine.run.masked_event import refuse_secret_ids
from engine.run.params import passable_params
from engine.run.run_order import RunOrder, timeout_seconds
from engine.runners.config_form import ConfigForm
from engine.runners.descriptor import Origin, RunnerDescriptor
from engine.runners.errors import FormError
from engine.runners.registry import Registry
from engine.runtimes.runtime import Sandbox


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run besides the event."""

    runner: str | None = None
    """An agent's name, a runner's id or its short name; None if there is only one."""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values that override the agent's config."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Overrides as text, converted by the runner's form."""
    python: str | None = None
    env: tuple[str, ...] = ()
    """Names of environment variables for the runner's process, in addition to the project's."""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kept: bool = False
    """Whether the user's saved settings override those of trackside.yaml."""
    breakpoints: tuple[str, ...] = ()
    """Breakpoints that are set from the start: `steering`, `tool`, `call_tool#2`, `message.completed` …"""


def choose_agents(
    project: Project, registry: Registry, options: RunOptions, envelope: EventEnvelope | None = None
) -> tuple[tuple[AgentConfig, ...], str | None]:
    """Return the agents that may handle an event, and the name of the one that the options ask for.

    If saved settings are used, an agent with an invalid config is included: the settings may correct it.
    """
    name, kept = options.runner, options.kept
    if name is not None and (agent := project.agent(name, registry, as_written=kept)) is not None:
        # Problems of other agents do not matter.
        others = (one for one in project.split_agents(registry)[0] if one.agent_id != name)
        return (agent, *others), name
    if options.runner is not None or not project.config.agents:
        return (implicit_agent(str(registry.choose(options.runner).id)),), None
    return project.agents(registry, as_written=kept, envelope=envelope), None


def prepare(
    workspace: Workspace, envelope: EventEnvelope, options: RunOptions, kept: AllKept | None = None
) -> RunOrder:
    """Prepare a run order. Raises for every problem of the event, the options or the config, before any record."""
    project, registry, catalog, ids = workspace.project, workspace.registry, workspace.catalog, workspace.ids
    check_attachments(envelope, project.file_roots())
    agents, agent_id = choose_agents(project, registry, options, envelope)
    binding = resolve_binding(agents, envelope, agent_id=agent_id)
    runner = registry.get(binding.runner_id)
    settings = kept_for(binding, runner, workspace.kept if kept is None else kept) if options.kept else None
    binding = binding if settings is None else settings.apply_to(binding)
    try:
        config, warnings = _config(runner, {**binding.runner_config, **options.config}, options.settings)
    except FormError as error:
        if settings is None or not settings.config:
            raise
        raise FormError(f"{error} The saved settings are part of this config.") from error
    # Copies: later changes to the sender's objects must not reach the run.
    envelope, raw = move_large_data_out(envelope.model_copy(deep=True), ids.new("art"))
    grants, left_out = compute_grants(runner, binding, envelope, config, catalog, project.file_roots())
    params, unpassed = passable_params(options.params)
    python, names = project.launch_settings(binding.agent_id)
    section = project.sandbox(binding.agent_id)
    launch = runner.launch_with(
        python=options.python or python,
        env=(*names, *options.env),
        environ=os.environ,
        is_deterministic=project.config.deterministic,
        sandbox=None if section is None else Sandbox(section.network),
    )
    given = ((str(name), value) for name, value in options.params.items())
    secrets = secrets_in((*config.items(), *launch.env, *given))
    mask = SecretMask(secrets)
    refuse_secret_ids(envelope, binding.agent_id, mask)
    workspace.secrets.update(secrets)
    note_process_secrets(secrets)
    models = (catalog.models[model.model_id] for model in grants.resources.models if model.model_type == "llm")
    return RunOrder(
        run_id=ids.new("run"),
        envelope=envelope,
        binding=binding.model_copy(update={"runner_config": config}),
        launch=launch,
        grants=grants,
        config=config,
        timeout=timeout_seconds(config),
        context_window=next((model.context_window_tokens for model in models), None),
        raw_data=raw,
        params=params,
        prompt=ConfigForm(runner.manifest).prompt(config),
        secret_mask=mask,
        breakpoints=tuple(dict.fromkeys(BreakpointLocation.parse(words) for words in options.breakpoints)),
        resource_set=workspace.resources,
        file_roots=project.file_roots(),
        state_limits=project.state_limits(),
        project=str(project.folder.absolute()),
        artifact_lifetimes=project.config.artifacts.expire_after_seconds,
        uses_kept_settings=options.kept,
        warnings=(*warnings, *left_out, *unpassed),
    )


def settings_key(binding: AgentBinding, runner: RunnerDescriptor) -> SettingsKey:
    """Return the key of a binding's saved settings. A bundled runner has the same key wherever it is installed."""
    return binding.binding_id, "" if runner.origin is Origin.BUNDLED else str(runner.path)


def kept_for(binding: AgentBinding, runner: RunnerDescriptor, kept: AllKept) -> KeptSettings | None:
    """Return the saved settings of a binding. Raises FormError if they cannot be read."""
    value = kept.get(settings_key(binding, runner))
    try:
        return None if value is None else KeptSettings.model_validate(value)
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(map(str, fault["loc"])) for fault in error.errors()}))
        raise FormError(
            f"The saved settings of {binding.agent_id or binding.runner_id} cannot be used: {fields}. Save them again."
        ) from None


def _config(
    runner: RunnerDescriptor, config: dict[str, Any], settings: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the config for the runner, checked against its form, and warnings."""
    form = ConfigForm(runner.manifest)
    given = {**config, **{name: form.read(name, text) for name, text in settings.items()}}
    completed = deepcopy(form.require(given))
    return completed, tuple(f"config: {problem}" for problem in form.check(completed) if problem.warning)
