"""The choosing part of the facade: which runner, with which settings, what it would be allowed, and new code for it."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from engine.clock import Clock
from engine.config import Project, UnfitAgent
from engine.controlling import Controlling
from engine.facts import opened, runs, settings
from engine.facts.database import Database
from engine.facts.opened import Opened
from engine.form import Choices, Form, choices_of
from engine.intake.agents import AgentBinding, AgentConfig, bind, implicit_agent
from engine.intake.envelope import CONSOLE_DELIVERY, LOCAL_ACTOR, EventEnvelope
from engine.intake.settings import KeptSettings
from engine.protocol.content import RunnerInput
from engine.protocol.event import EventSource, EventType
from engine.reloading import Reloaded, compare
from engine.resources.files import keys_under
from engine.run.marks import is_secret_name
from engine.run.order import RunOrder
from engine.run.prepare import Choice, choose, kept_for, settings_key
from engine.runners.descriptor import Problem, RunnerDescriptor
from engine.runners.errors import AmbiguousRunner, FormError
from engine.runners.facts import RunnerFact, facts_of
from engine.runners.fields import can_be_secret, fields_of
from engine.runners.forms import ConfigForm
from engine.runners.locales import user_locale
from engine.runners.registry import Registry
from engine.runtimes.inside.stamps import have_changed
from engine.setting import Setting
from engine.settings_text import LineProblem, from_yaml
from engine.watching import CodeChange, Watcher


class Choosing(Controlling):
    """What runs are made from, looked at and changed by a person."""

    def __init__(self, setting: Setting, database: Database, clock: Clock) -> None:
        super().__init__(setting, database, clock)
        self._watcher = Watcher(setting)
        self._turning = asyncio.Lock()
        """Held from a look at the setting until another is in force: each is made from the one before."""

    @property
    def project(self) -> Project:
        """The project in force."""
        return self._setting.project

    @property
    def registry(self) -> Registry:
        """The runners in force."""
        return self._setting.registry

    async def discover(self) -> None:
        """Find all runners beside the loop: it takes a second where a folder has hundreds of modules."""
        await asyncio.to_thread(self.registry.runners)

    def runners(self) -> tuple[RunnerDescriptor, ...]:
        """Every runner that can be used."""
        return self.registry.runners()

    def problems(self) -> tuple[Problem, ...]:
        """What discovery left out, and why."""
        return self.registry.problems()

    def agents(self) -> tuple[AgentConfig, ...]:
        """The agents of trackside.yaml that fit their runners, some with the settings that are kept for them."""
        fit, unfit = self.project.agents_by_fitness(self.registry)
        mended = (one.written for one in unfit if one.written is not None and self._is_mended(one.written))
        return (*fit, *mended)

    def unfit_agents(self) -> tuple[UnfitAgent, ...]:
        """Those that do not, each with the reason."""
        unfit = self._setting.unfit_agents()
        return tuple(one for one in unfit if one.written is None or not self._is_mended(one.written))

    async def runner_facts(self, locale: str | None = None) -> tuple[RunnerFact, ...]:
        """Every runner that can be used, in words; the one used last first."""
        found = await asyncio.to_thread(self.registry.runners)
        used = await self._last_used([(str(runner.id), None) for runner in found])
        taken = {entry.id for entry in self.project.config.agents}
        unfit = await asyncio.to_thread(self._unfit, found)
        return facts_of(found, self.problems(), used, locale=locale or user_locale(), taken=taken, unfit=unfit)

    async def agents_used(self) -> dict[str, int]:
        """By their names, when agents last got a run in this database, in microseconds."""
        agents = await asyncio.to_thread(lambda: self.project.agents_by_fitness(self.registry))
        written = (*agents[0], *(one.written for one in agents[1] if one.written is not None))
        used = await self._last_used([(agent.runner_id, agent.agent_id) for agent in written])
        return {str(agent_id): at for (_, agent_id), at in used.items()}

    # New code

    async def reload(self) -> Reloaded:
        """Look at all files anew; runs that begin from here on are made from them. Those at work keep what they have.

        Raises ConfigError or RunnersError where trackside.yaml is broken; then all stays as it was.
        """
        async with self._turning:
            before = self._setting
            now = await asyncio.to_thread(before.anew)
            reloaded = await asyncio.to_thread(compare, before, now)
            now.kept = await self._read(settings.every)
            self._turn(now)
            return reloaded

    async def add_place(self, path: Path) -> tuple[RunnerDescriptor, ...]:
        """Have the runners of a file or a folder, too, as long as the engine is open; those that are there.

        Raises RunnersError where there is none to use; then all stays as it was.
        """
        place = await asyncio.to_thread(lambda: path.expanduser().resolve())
        async with self._turning:
            before = self._setting
            now = await asyncio.to_thread(before.with_place, place)
            now.kept = before.kept
            self._turn(now)
            return tuple(runner for runner in now.registry.runners() if runner.path.is_relative_to(place))

    async def opened_before(self) -> tuple[Opened, ...]:
        """Places that were opened and are not open now, newest first; whether they are still there is not looked at."""
        found = await asyncio.to_thread(self.registry.runners)
        here = {*map(str, self.registry.places()), *(str(runner.path) for runner in found)}
        return tuple(place for place in await self._read(opened.every) if place.path not in here)

    async def note_opened(self, path: Path) -> None:
        """Have this place among those that were opened, the next time, too."""
        place, now = str(await asyncio.to_thread(lambda: path.expanduser().resolve())), self._clock.now()
        await self._edit(lambda tx: opened.note(tx.connection, place, at=now))

    async def forget_opened(self, path: str) -> None:
        """Have it there no longer."""
        await self._edit(lambda tx: opened.forget(tx.connection, path))

    def watch(self) -> AsyncGenerator[CodeChange, None]:
        """Edits to runners and to trackside.yaml as they are saved, until the engine is closed. They are only told."""
        return self._watcher.changes()

    async def has_old_code(self, run_id: str) -> bool:
        """Whether a run that is at work here began before one of its files was edited."""
        live = self._host.orchestrator.live.get(run_id) if self._host is not None else None
        if live is None or live.execution is None:
            return False
        return await asyncio.to_thread(have_changed, tuple(live.execution.code))

    # Settings

    async def kept_settings(self, name: str | None = None) -> KeptSettings | None:
        """What a person keeps for an agent, or for a runner opened by path."""
        self._setting.kept = await self._read(settings.every)
        binding, runner = self._bound(name)
        return kept_for(binding, runner, self._setting.kept)

    async def keep_settings(self, name: str | None, kept: KeptSettings) -> KeptSettings:
        """Keep these in place of those that were there; raises FormError where a value does not fit the form."""
        binding, runner = self._bound(name)
        faults = [str(problem) for problem in _form(runner).check_some(kept.config) if not problem.warning]
        if faults:
            raise FormError(f"settings of {binding.agent_id or binding.runner_id}: {'; '.join(faults)}.")
        key, value, now = settings_key(binding, runner), deepcopy(kept.value()), self._clock.now()
        await self._edit(lambda tx: settings.put(tx.connection, key, value, at=now))
        self._setting.kept = await self._read(settings.every)
        return kept.model_copy(update={"updated_at": now})

    async def forget_settings(self, name: str | None = None) -> bool:
        """Go back to what trackside.yaml says; whether anything was kept."""
        key = settings_key(*self._bound(name))
        were_there = await self._edit(lambda tx: settings.remove(tx.connection, key))
        self._setting.kept = await self._read(settings.every)
        return were_there

    def read_settings(self, name: str | None, text: str) -> tuple[KeptSettings | None, tuple[LineProblem, ...]]:
        """Settings from YAML, with what is wrong by line; `to_yaml` writes them."""
        return from_yaml(text, _form(self._bound(name)[1]))

    def has_unused_settings(self, order: RunOrder) -> bool:
        """Whether settings are kept for what an order runs, and did not go into it."""
        runner = self.registry.get(order.binding.runner_id)
        return not order.takes_kept and settings_key(order.binding, runner) in self._setting.kept

    # Forms

    async def choices(self) -> Choices:
        """Models, knowledge bases, tools, skills and files that can be chosen."""
        roots = self.project.file_roots()
        files = await asyncio.to_thread(keys_under, roots)
        return choices_of(self._setting.catalog, files, has_file_roots=bool(roots))

    async def form(self, name: str | None = None, *, locale: str | None = None) -> Form:
        """The form of an agent or a runner, with what can be chosen and what is kept."""
        kept = await self.kept_settings(name)
        choices = await self.choices()
        binding, runner = self._bound(name)
        config = _form(runner).complete(binding.runner_config)
        declared = runner.manifest.config_schema
        names = {item.name for item in declared}.union(config, kept.config if kept else ())
        plain = {item.name for item in declared if not can_be_secret(item)}
        secret = frozenset(filter(is_secret_name, names - plain))
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
            rules=_form(runner),
        )

    def grants_preview(
        self,
        choice: Choice | None = None,
        settings: KeptSettings | None = None,
        *,
        event: EventEnvelope | EventType = EventType.MESSAGE_RECEIVED,
    ) -> RunOrder:
        """The order that an event would become, with its grants and the clause behind each. Nothing is recorded.

        `settings` stand in for those that are kept, so that a form can show what it would do.
        """
        choice = choice or Choice()
        envelope = event if isinstance(event, EventEnvelope) else _example(event, self._setting.ids.new("evt"))
        if settings is None:
            return self._setting.prepare(envelope, choice)
        kept = {settings_key(*self._bound(choice.runner)): settings.value()}
        return self._setting.prepare(envelope, replace(choice, kept=True), kept)

    # Inside

    async def _last_used(self, wanted: list[runs.Used]) -> dict[runs.Used, int]:
        return await self._read(lambda conn: runs.last_used(conn, wanted))

    def _turn(self, setting: Setting) -> None:
        """Runs that begin from here on are made from this."""
        self._setting = setting
        if self._host is not None:
            self._host.renew()
        self._watcher.turn(setting)

    def _bound(self, name: str | None) -> tuple[AgentBinding, RunnerDescriptor]:
        """The agent of this name, whether its config fits or not, else the runner; without a name, the only one."""
        agents, agent_id = choose(self.project, self.registry, Choice(runner=name, kept=True))
        fitting = [agent for agent in agents if agent_id in (None, agent.agent_id)]
        if len(fitting) > 1:
            names = ", ".join(sorted(str(agent.agent_id) for agent in fitting))
            raise AmbiguousRunner(f"there are {len(fitting)} agents: {names}")
        return bind(fitting[0]), self.registry.get(fitting[0].runner_id)

    def _is_mended(self, agent: AgentConfig) -> bool:
        """Whether its config fits with what is kept for it."""
        return not self._faults(bind(agent), self.registry.get(agent.runner_id))

    def _unfit(self, runners: Iterable[RunnerDescriptor]) -> dict[str, tuple[str, ...]]:
        """By their ids, what is wrong with the config of runners that are opened as they are."""
        return {str(runner.id): self._faults(bind(implicit_agent(str(runner.id))), runner) for runner in runners}

    def _faults(self, binding: AgentBinding, runner: RunnerDescriptor) -> tuple[str, ...]:
        """What does not fit of a config, with what is kept over it."""
        try:
            kept = kept_for(binding, runner, self._setting.kept)
        except FormError as error:
            return (str(error),)
        form, config = _form(runner), (binding if kept is None else kept.over(binding)).runner_config
        return tuple(str(problem) for problem in form.check(form.complete(config)) if not problem.warning)


def _form(runner: RunnerDescriptor) -> ConfigForm:
    return ConfigForm(runner.manifest)


def _example(event_type: EventType, event_id: str) -> EventEnvelope:
    """An event of this type from a person at this console, in a session."""
    return EventEnvelope(
        event_id=event_id,
        event_type=event_type,
        source=EventSource.CONSOLE,
        conversation_id="preview",
        actor=LOCAL_ACTOR,
        input=RunnerInput(text="…") if event_type is EventType.MESSAGE_RECEIVED else RunnerInput(),
        delivery=CONSOLE_DELIVERY,
    )
