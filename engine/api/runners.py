"""Runners and agents: discovery, reload, watching their files, and the places that were opened recently."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from engine.api.core import EngineCore
from engine.project.agents import AgentBinding, AgentConfig, bind, implicit_agent
from engine.project.config import InvalidAgent
from engine.project.reload import Reloaded, compare_workspaces
from engine.project.watch import CodeChange, Watcher
from engine.project.workspace import Workspace
from engine.run.prepare import kept_for
from engine.runners.config_form import ConfigForm
from engine.runners.descriptor import Problem, RunnerDescriptor
from engine.runners.errors import FormError
from engine.runners.locales import user_locale
from engine.runners.registry import Registry
from engine.runners.summaries import RunnerSummary, facts_of
from engine.runtimes.worker.file_stamps import have_changed
from engine.store import kept_settings, recent_places, runs
from engine.store.recent_places import RecentPlace


class RunnersApi:
    """List, reload and watch the runners and agents that new runs can use."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core
        self._watcher = Watcher(core.workspace)
        self._reload_lock = asyncio.Lock()
        """Held while a workspace is made from the current one, until the new one is in force."""

    @property
    def registry(self) -> Registry:
        """The registry in force; a reload replaces it."""
        return self._core.workspace.registry

    # Runners and agents

    async def discover(self) -> None:
        """Find all runners in a thread. A folder with hundreds of modules takes a second."""
        await asyncio.to_thread(self.registry.runners)

    def problems(self) -> tuple[Problem, ...]:
        """The files that discovery left out, with the reason."""
        return self.registry.problems()

    def agents(self) -> tuple[AgentConfig, ...]:
        """The agents of trackside.yaml whose config is valid, on its own or with the settings saved for it."""
        valid, invalid = self._core.workspace.project.split_agents(self.registry)
        fixed = (one.written for one in invalid if one.written is not None and self._is_fixed_by_settings(one.written))
        return (*valid, *fixed)

    def invalid_agents(self) -> tuple[InvalidAgent, ...]:
        """The other agents of trackside.yaml, each with the reason."""
        invalid = self._core.workspace.project.split_agents(self.registry)[1]
        return tuple(one for one in invalid if one.written is None or not self._is_fixed_by_settings(one.written))

    async def summaries(self, locale: str | None = None) -> tuple[RunnerSummary, ...]:
        """A readable summary of every runner that can be used, most recently used first."""
        found = await asyncio.to_thread(self.registry.runners)
        used = await self._last_used([(str(runner.id), None) for runner in found])
        taken = {entry.id for entry in self._core.workspace.project.config.agents}
        unfit = await asyncio.to_thread(self._config_problems_by_runner, found)
        return facts_of(found, self.problems(), used, locale=locale or user_locale(), taken=taken, unfit=unfit)

    async def agents_last_used(self) -> dict[str, int]:
        """The time of each agent's last run in this database, by agent name, in microseconds."""
        agents = await asyncio.to_thread(lambda: self._core.workspace.project.split_agents(self.registry))
        written = (*agents[0], *(one.written for one in agents[1] if one.written is not None))
        used = await self._last_used([(agent.runner_id, agent.agent_id) for agent in written])
        return {str(agent_id): at for (_, agent_id), at in used.items()}

    def list(self) -> tuple[RunnerDescriptor, ...]:
        """Every runner that can be used."""
        return self.registry.runners()

    # Code

    async def reload(self) -> Reloaded:
        """Read all files again. New runs use them; runs in progress keep what they have.

        Raises ConfigError or RunnersError, and changes nothing, if trackside.yaml is invalid.
        """
        async with self._reload_lock:
            before = self._core.workspace
            now = await asyncio.to_thread(before.reread)
            reloaded = await asyncio.to_thread(compare_workspaces, before, now)
            now.kept = await self._core.read(kept_settings.every)
            self._use(now)
            return reloaded

    def watch(self) -> AsyncGenerator[CodeChange, None]:
        """Edits to runners and to trackside.yaml as they are saved, until the engine is closed. Reloads nothing."""
        return self._watcher.changes()

    async def has_stale_code(self, run_id: str) -> bool:
        """Whether a file of a run in progress in this process was edited after the run started."""
        live = self._core.live_run(run_id)
        if live is None or live.execution is None:
            return False
        return await asyncio.to_thread(have_changed, tuple(live.execution.code))

    # Places

    async def add_place(self, path: Path) -> tuple[RunnerDescriptor, ...]:
        """Use the runners of one more file or folder until the engine is closed, and return them.

        Raises RunnersError, and changes nothing, if it has no usable runner.
        """
        place = await asyncio.to_thread(lambda: path.expanduser().resolve())
        async with self._reload_lock:
            before = self._core.workspace
            now = await asyncio.to_thread(before.with_place, place)
            now.kept = before.kept
            self._use(now)
            return tuple(runner for runner in now.registry.runners() if runner.path.is_relative_to(place))

    async def recent_places(self) -> tuple[RecentPlace, ...]:
        """Places that were opened before and are not open now, newest first. They may no longer exist."""
        found = await asyncio.to_thread(self.registry.runners)
        here = {*map(str, self.registry.places()), *(str(runner.path) for runner in found)}
        return tuple(place for place in await self._core.read(recent_places.every) if place.path not in here)

    async def add_recent_place(self, path: Path) -> None:
        place, now = str(await asyncio.to_thread(lambda: path.expanduser().resolve())), self._core.now()
        await self._core.edit(lambda tx: recent_places.note(tx.connection, place, at=now))

    async def forget_recent_place(self, path: str) -> None:
        await self._core.edit(lambda tx: recent_places.forget(tx.connection, path))

    def close(self) -> None:
        """End every watch."""
        self._watcher.close()

    # Private

    async def _last_used(self, wanted: "list[runs.Used]") -> dict[runs.Used, int]:
        return await self._core.read(lambda conn: runs.last_used(conn, wanted))

    def _use(self, workspace: Workspace) -> None:
        """Make new runs from this workspace."""
        self._core.workspace = workspace
        if self._core.host is not None:
            self._core.host.reload_code()
        self._watcher.use(workspace)

    def _is_fixed_by_settings(self, agent: AgentConfig) -> bool:
        """Whether an agent's config is valid with the settings that are saved for it."""
        return not self._config_problems(bind(agent), self.registry.get(agent.runner_id))

    def _config_problems_by_runner(self, runners: Iterable[RunnerDescriptor]) -> dict[str, tuple[str, ...]]:
        """By runner id, the problems of each runner's config if it is opened without an agent."""
        return {
            str(runner.id): self._config_problems(bind(implicit_agent(str(runner.id))), runner) for runner in runners
        }

    def _config_problems(self, binding: AgentBinding, runner: RunnerDescriptor) -> tuple[str, ...]:
        """The problems of a config with the saved settings over it."""
        try:
            kept = kept_for(binding, runner, self._core.workspace.kept)
        except FormError as error:
            return (str(error),)
        form, config = ConfigForm(runner.manifest), (binding if kept is None else kept.apply_to(binding)).runner_config
        return tuple(str(problem) for problem in form.check(form.complete(config)) if not problem.warning)
