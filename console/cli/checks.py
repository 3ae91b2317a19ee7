"""What `trackside doctor` looks at, one finding at a time."""

import os
import platform
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import pydantic

from console.model.words import number, short_runner, size
from engine.api import (
    VERSION,
    AgentConfig,
    ConfigError,
    ConfigForm,
    Project,
    Registry,
    RunnersError,
    default_database,
    examine,
    find_project,
)

_ASK: Final = (
    "import sys; v = sys.version_info; print(f'{v[0]}.{v[1]}.{v[2]}'); import pydantic; print(pydantic.VERSION)"
)
_OLDEST: Final = (3, 11)


class Verdict(StrEnum):
    """How a finding is meant; only `wrong` makes the doctor fail."""

    GOOD = "good"
    ODD = "odd"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; one that is wrong says how to mend it."""

    area: str
    verdict: Verdict
    finding: str


def check_all(target: Path | None, database: Path | None) -> Iterator[Check]:
    """Every finding, in the order in which a run would meet it."""
    yield from _versions()
    try:
        project = find_project(target, Path.cwd())
    except (ConfigError, RunnersError) as error:
        yield Check("Project", Verdict.WRONG, str(error))
        project = None
    if project is not None:
        yield from _project(project)
        registry = project.registry(target, Path.cwd())
        yield from _runners(registry)
        yield from _agents(project, registry)
        yield from _interpreters(project, registry)
    yield from _database(database or (project.database_path() if project else None) or default_database())


def _versions() -> Iterator[Check]:
    yield Check("Versions", Verdict.GOOD, f"trackside {VERSION}, Python {platform.python_version()} ({sys.executable})")
    yield Check("Versions", Verdict.GOOD, f"pydantic {pydantic.VERSION}, SQLite {sqlite3.sqlite_version}")


def _project(project: Project) -> Iterator[Check]:
    if project.document is None:
        yield Check("Project", Verdict.GOOD, f"no trackside.yaml in {project.folder}: all is default")
    else:
        yield Check("Project", Verdict.GOOD, str(project.document.path))
    names = dict.fromkeys([*project.config.env, *(name for agent in project.config.agents for name in agent.env)])
    for name in names:
        if name not in os.environ:
            yield Check("Project", Verdict.ODD, f"env: {name} is not set, so no runner will see it")


def _runners(registry: Registry) -> Iterator[Check]:
    for problem in registry.problems():
        yield Check("Runners", Verdict.WRONG, str(problem))
    for runner in registry.runners():
        form = ConfigForm(runner.manifest)
        missing = [fault for fault in form.check(form.complete({})) if not fault.warning]
        needs = "; ".join(f"{fault} (--set {fault.field}=…)" for fault in missing)
        found = f"{short_runner(str(runner.id))}  {runner.id}  {runner.origin}"
        yield Check("Runners", Verdict.ODD if missing else Verdict.GOOD, f"{found}: {needs}" if missing else found)


def _agents(project: Project, registry: Registry) -> Iterator[Check]:
    agents, unfit = project.agents_by_fitness(registry)
    for one in unfit:
        yield Check("Agents", Verdict.WRONG, str(one.error))
    for agent in agents:
        takes = ", ".join(agent.event_types) if agent.enabled else "nothing: it is off"
        yield Check("Agents", Verdict.GOOD, f"{agent.agent_id}: {short_runner(agent.runner_id)}, takes {takes}")
    yield from _rivals(agents)


def _rivals(agents: tuple[AgentConfig, ...]) -> Iterator[Check]:
    for event_type in dict.fromkeys(kind for agent in agents for kind in agent.event_types):
        taking = [str(agent.agent_id) for agent in agents if agent.enabled and event_type in agent.event_types]
        if len(taking) > 1:
            yield Check("Agents", Verdict.ODD, f"{' and '.join(taking)} take {event_type}: name one with --runner")


def _interpreters(project: Project, registry: Registry) -> Iterator[Check]:
    """Every interpreter that a run may use, asked for its version and its pydantic."""
    chosen = [agent.python for agent in project.config.agents] + [project.config.python]
    named = [project.interpreter(text) for text in chosen if text]
    own = [runner.launch.python or sys.executable for runner in registry.runners()]
    for python in dict.fromkeys([*named, *own]):
        if python is not None:
            yield _interpreter(python)


def _interpreter(python: str) -> Check:
    elsewhere = "Name another one with `python:` in trackside.yaml, or --python."
    if shutil.which(python) is None:
        return Check("Interpreters", Verdict.WRONG, f"there is no Python interpreter at {python}. {elsewhere}")
    try:
        asked = subprocess.run([python, "-c", _ASK], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("Interpreters", Verdict.WRONG, f"{python} does not answer: {error}. {elsewhere}")
    version, _, its_pydantic = asked.stdout.strip().partition("\n")
    if not version or tuple(map(int, version.split(".")[:2])) < _OLDEST:
        return Check(
            "Interpreters",
            Verdict.WRONG,
            f"{python} is Python {version or '?'}; runners need 3.11 or newer. {elsewhere}",
        )
    if int((its_pydantic or "0").split(".")[0]) < 2:
        has = f"pydantic {its_pydantic}" if its_pydantic else "no pydantic"
        mend = f"Install it: {python} -m pip install 'pydantic>=2.10,<3'"
        return Check(
            "Interpreters", Verdict.WRONG, f"{python} (Python {version}) has {has}; runners need pydantic 2. {mend}"
        )
    return Check("Interpreters", Verdict.GOOD, f"{python}  Python {version}, pydantic {its_pydantic}")


def _database(path: Path) -> Iterator[Check]:
    found = examine(path)
    if not found.exists:
        yield Check("Database", Verdict.GOOD, f"{found.path} is not there yet; `trackside run` makes it")
        return
    for fault in found.faults:
        yield Check("Database", Verdict.WRONG, fault)
    if found.faults:
        return
    yield Check("Database", Verdict.GOOD, f"{found.path}  {size(found.size_bytes)}, schema {found.schema}, sound")
    for host in found.hosts:
        runs = number(host.live_runs, "live run")
        if host.is_alive:
            yield Check(
                "Database", Verdict.GOOD, f"process {host.pid} hosts on it too ({runs}, trackside {host.version})"
            )
        else:
            gone = f"process {host.pid} is gone and left {runs}; the next `trackside run` closes them"
            yield Check("Database", Verdict.ODD, gone)
