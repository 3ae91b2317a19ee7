"""`trackside doctor`: check versions, project, runners, agents, interpreters, sandbox and database."""

import argparse
import os
import platform
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import pydantic

from console.cli.exit_codes import ExitCode
from console.cli.json_output import print_json
from console.cli.options import add_database, add_json, session_argument
from console.cli.terminal import standard_output
from console.model.sessions.stored_size import MAKE_ROOM, size_figures, size_text, total_text
from console.model.text.safe import one_line
from console.model.text.sentence import as_sentence
from console.model.text.units import duration, number, short_runner, size
from engine.api import (
    VERSION,
    AgentConfig,
    ConfigError,
    ConfigForm,
    DatabaseHealth,
    Project,
    Registry,
    RunnersError,
    RuntimeProblem,
    Sandbox,
    SessionSize,
    check_sandbox,
    default_database,
    examine,
    find_project,
    sandbox_options,
)

PYTHON_PROBE: Final = (
    "import sys; v = sys.version_info; print(f'{v[0]}.{v[1]}.{v[2]}'); import pydantic; print(pydantic.VERSION)"
)
MIN_PYTHON: Final = (3, 11)
PROBE_TIMEOUT_SECONDS: Final = 20


class Severity(StrEnum):
    """How serious a finding is. Only a problem makes `doctor` exit 1."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


_STYLES: Final = {Severity.OK: ("✓", "green"), Severity.WARNING: ("!", "yellow"), Severity.PROBLEM: ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. The text of an engine error includes its fix, so `fix` is empty then."""

    area: str
    severity: Severity
    text: str
    fix: str = ""
    figures: Mapping[str, Any] | None = None
    """What the text has as numbers with units, for `--json`."""

    def __str__(self) -> str:
        return f"{self.text} {self.fix}".strip()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET", help="a runner file, a plugin folder or a project folder"
    )
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    out = standard_output()
    findings: list[Finding] = []
    for finding in check_all(options.target, options.db):
        if not options.json:
            if not findings or finding.area != findings[-1].area:
                out.line(out.paint("bold", finding.area))
            glyph, colour = _STYLES[finding.severity]
            out.line(f"  {out.paint(colour, glyph)} {one_line(str(finding), 2_000)}")
        findings.append(finding)
    counts = Counter(finding.severity for finding in findings)
    problems, warnings = counts[Severity.PROBLEM], counts[Severity.WARNING]
    if options.json:
        rows = [{name: value for name, value in asdict(one).items() if value is not None} for one in findings]
        print_json(out, {"problems": problems, "warnings": warnings, "findings": rows})
    else:
        summary = f"{number(problems, 'problem')} found" if problems else "No problems found"
        if warnings:
            summary += f", {number(warnings, 'warning')}"
        out.line(f"\n{summary}.")
    return ExitCode.NO if problems else ExitCode.OK


def check_all(target: Path | None, database: Path | None) -> Iterator[Finding]:
    """Yield every finding, in the order in which a run would meet it."""
    yield from _check_versions()
    try:
        project = find_project(target, Path.cwd())
    except (ConfigError, RunnersError) as error:
        yield Finding("Project", Severity.PROBLEM, as_sentence(str(error)))
        project = None
    if project is not None:
        yield from _check_project(project)
        registry = project.registry(target, Path.cwd())
        yield from _check_runners(registry)
        yield from _check_agents(project, registry)
        yield from _check_interpreters(project, registry)
        yield from _check_sandbox(project)
    path = database or (project.database_path() if project else None) or default_database()
    health = examine(path, data_folder=default_database().parent)
    yield from _check_database(health)
    if health.exists and not health.faults:
        is_default = target is None and database is None
        where = "" if is_default else f" --db {shlex.quote(str(health.path))}"
        yield from _check_disk(health, project.disk_limit_bytes() if project else None, where)


def _check_versions() -> Iterator[Finding]:
    python = f"Python {platform.python_version()} ({sys.executable})"
    yield Finding("Versions", Severity.OK, f"trackside {VERSION}, {python}")
    yield Finding("Versions", Severity.OK, f"pydantic {pydantic.VERSION}, SQLite {sqlite3.sqlite_version}")


def _check_project(project: Project) -> Iterator[Finding]:
    if project.document is None:
        yield Finding("Project", Severity.OK, f"no trackside.yaml in {project.folder}; all settings have their default")
    else:
        yield Finding("Project", Severity.OK, str(project.document.path))
    names = dict.fromkeys([*project.config.env, *(name for agent in project.config.agents for name in agent.env)])
    for name in names:
        if name not in os.environ:
            fix = "Set it, or remove it from `env`."
            yield Finding("Project", Severity.WARNING, f"env: {name} is not set, so no runner will see it.", fix)


def _check_runners(registry: Registry) -> Iterator[Finding]:
    for problem in registry.problems():
        yield Finding("Runners", Severity.PROBLEM, str(problem))
    for runner in registry.runners():
        form = ConfigForm(runner.manifest)
        missing = [fault for fault in form.check(form.complete({})) if not fault.warning]
        text = f"{short_runner(str(runner.id))}  {runner.id}  {runner.origin}"
        if missing:
            fix = f"Set it: {' '.join(f'--set {fault.field}=…' for fault in missing)}"
            yield Finding("Runners", Severity.WARNING, f"{text}: {'; '.join(map(str, missing))}.", fix)
        else:
            yield Finding("Runners", Severity.OK, text)


def _check_agents(project: Project, registry: Registry) -> Iterator[Finding]:
    agents, unfit = project.split_agents(registry)
    for one in unfit:
        yield Finding("Agents", Severity.PROBLEM, as_sentence(str(one.error)))
    for agent in agents:
        limits = f" ({limits})" if (limits := agent.event_filter.limits()) else ""
        events = f"{', '.join(agent.event_types)}{limits}" if agent.enabled else "no events (disabled)"
        yield Finding("Agents", Severity.OK, f"{agent.agent_id}: {short_runner(agent.runner_id)}, handles {events}")
    yield from _check_bindings(agents)


def _check_bindings(agents: tuple[AgentConfig, ...]) -> Iterator[Finding]:
    """Warn of event types that several agents handle. Scopes and patterns may keep agents apart, if all have one."""
    by_event = [agent for agent in agents if agent.enabled and agent.scope.type != "agent"]
    for event_type in dict.fromkeys(kind for agent in by_event for kind in agent.event_types):
        handlers = [agent for agent in by_event if event_type in agent.event_types]
        if len(handlers) > 1 and not all(agent.event_filter.limits() for agent in handlers):
            names = ", ".join(str(agent.agent_id) for agent in handlers)
            text = f"{number(len(handlers), 'agent')} handle {event_type}: {names}."
            yield Finding("Agents", Severity.WARNING, text, "Name one with --runner.")


def _check_interpreters(project: Project, registry: Registry) -> Iterator[Finding]:
    """Check every interpreter that a run may use for its version and its pydantic."""
    chosen = [agent.python for agent in project.config.agents] + [project.config.python]
    # A runner can change what is in its folder. Its own interpreter is started as its runs are: in a sandbox, if it has
    # one.
    own: dict[str, list[str]] = {}
    for runner in registry.runners():
        python = runner.launch.python or sys.executable
        if runner.launch.python is not None and _is_sandboxed(project, str(runner.id), registry):
            launch = replace(runner.launch, sandbox=Sandbox())
            try:
                own[python] = sandbox_options(launch, python)
            except (OSError, RuntimeProblem) as error:
                own.pop(python, None)
                yield Finding("Interpreters", Severity.PROBLEM, as_sentence(str(error)))
        else:
            own.setdefault(python, [])
    named = [project.interpreter(text) for text in chosen if text]
    for python in dict.fromkeys([*(python for python in named if python is not None), *own]):
        yield _check_interpreter(python, own.get(python, []))


def _is_sandboxed(project: Project, runner_id: str, registry: Registry) -> bool:
    """Whether any run of this runner is sandboxed."""
    agents, _ = project.split_agents(registry)
    names = [None, *(agent.agent_id for agent in agents if agent.runner_id == runner_id)]
    return any(project.sandbox(name) is not None for name in names)


def _check_interpreter(python: str, sandbox: Sequence[str]) -> Finding:
    def problem(text: str, fix: str = "Name another one with `python:` in trackside.yaml, or --python.") -> Finding:
        return Finding("Interpreters", Severity.PROBLEM, text, fix)

    if shutil.which(python) is None:
        return problem(f"There is no Python interpreter at {python}.")
    try:
        probe = subprocess.run(
            [*sandbox, python, "-c", PYTHON_PROBE],
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_SECONDS,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath)} if sandbox else None,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return problem(f"{python} does not answer: {error}.")
    version, _, pydantic_version = probe.stdout.strip().partition("\n")
    if sandbox and not version:
        return problem(f"{python} does not start in the sandbox: {probe.stderr.strip()[-500:]}.")
    if not version or tuple(map(int, version.split(".")[:2])) < MIN_PYTHON:
        return problem(f"{python} is Python {version or '?'}; runners need 3.11 or newer.")
    if int((pydantic_version or "0").split(".")[0]) < 2:
        has = f"pydantic {pydantic_version}" if pydantic_version else "no pydantic"
        return problem(
            f"{python} (Python {version}) has {has}; runners need pydantic 2.",
            f"Install it: {python} -m pip install 'pydantic>=2.10,<3'",
        )
    return Finding("Interpreters", Severity.OK, f"{python}  Python {version}, pydantic {pydantic_version}")


def _check_sandbox(project: Project) -> Iterator[Finding]:
    """Report whether bubblewrap starts here, and who uses it. It is a problem only if someone does."""
    agents = [entry.id for entry in project.config.agents if project.sandbox(entry.id) is not None]
    users = "all runners" if project.sandbox(None) is not None else ", ".join(agents)
    check = check_sandbox()
    if not check.problem:
        yield Finding("Sandbox", Severity.OK, f"{check.path}  {check.version}, starts")
    elif users:
        yield Finding("Sandbox", Severity.PROBLEM, check.problem)
    else:
        yield Finding("Sandbox", Severity.OK, f"{check.path or 'bwrap'} cannot be used here, and is not needed")
    excepted = [entry.id for entry in project.config.agents if entry.id not in agents]
    if users == "all runners" and excepted:
        users += f", except {', '.join(excepted)}"
    yield Finding("Sandbox", Severity.OK, f"trackside.yaml uses it for {users}" if users else "not used")


def _check_database(health: DatabaseHealth) -> Iterator[Finding]:
    if not health.exists:
        yield Finding("Database", Severity.OK, f"{health.path} does not exist yet; `trackside run` creates it")
        return
    for fault in health.faults:
        yield Finding("Database", Severity.PROBLEM, as_sentence(fault))
    if health.faults:
        return
    details = f"{size(health.disk.file_bytes)}, schema {health.schema}, no damage"
    yield Finding("Database", Severity.OK, f"{health.path}  {details}")
    yield from _check_permissions(health)
    yield from _check_cleanup(health)
    for host in health.hosts:
        runs = number(host.live_runs, "run") + " in progress"
        if host.is_alive and host.last_activity_at is not None:
            runs += f", last activity {duration(health.examined_at - host.last_activity_at)} ago"
        if host.is_alive:
            text = f"process {host.pid} also uses this database ({runs}, trackside {host.version})"
            yield Finding("Database", Severity.OK, text)
        else:
            text = f"process {host.pid} is gone and left {runs}."
            yield Finding("Database", Severity.WARNING, text, "The next `trackside run` closes every run that is left.")
    for run in health.idle_runs:
        text = f"{run.run_id} has had no activity for {duration(health.examined_at - run.active_at)}."
        fix = f"Stop it: trackside stop {run.run_id}. If no process executes it any more: trackside stop --stale"
        yield Finding("Database", Severity.WARNING, text, fix)


def _check_disk(health: DatabaseHealth, limit_bytes: int | None, where: str) -> Iterator[Finding]:
    """Report the size of the data and of the largest sessions. `where` names the database to other commands."""
    disk, stored = health.disk, health.stored
    free = f", {size(disk.free_bytes)} of the files are free for new data" if disk.free_bytes else ""
    figures = {**asdict(disk), "warn_above_bytes": limit_bytes, **size_figures(stored)}
    del figures["shared_bytes"]  # the total counts everything once
    yield Finding("Disk", Severity.OK, f"all data: {size_text(stored)}{free}", figures=figures)
    for one in health.largest:
        text = f"session {_name_of(one)}: {size_text(one.size)}"
        figures = {"session_id": one.session_id, "title": one.title, **size_figures(one.size)}
        yield Finding("Disk", Severity.OK, text, figures=figures)
    if limit_bytes is not None and disk.used_bytes > limit_bytes:
        text = f"the database has {size(disk.used_bytes)}, more than {size(limit_bytes)} (disk.warn_above_mib)."
        fix = f"Make room: {MAKE_ROOM}{where}"
        if health.largest:
            names = ", ".join(f"{_name_of(one)} ({total_text(one.size)})" for one in health.largest)
            delete = f"trackside sessions delete{where} {session_argument(health.largest[0].session_id)}"
            fix = f"Largest sessions: {names}. {fix}, or {delete}"
        yield Finding("Disk", Severity.WARNING, text, fix)


def _name_of(one: SessionSize) -> str:
    title = f" ({one_line(one.title, 40)})" if one.title else ""
    return f"{one_line(one.session_id, 60)}{title}"


def _check_cleanup(health: DatabaseHealth) -> Iterator[Finding]:
    """Report deleted words that are still in the files."""
    is_hosted = any(host.is_alive for host in health.hosts)
    for cleanup in health.cleanups:
        text = "deleted messages are out of the search index, but may still be in unused parts of the files."
        if not cleanup.is_merged:
            text = f"deleted messages are being removed from the search index: {cleanup.share_done:.0%} done."
        if is_hosted:
            yield Finding("Database", Severity.OK, text)
        else:
            fix = "The next `trackside` or `trackside run` continues in the background."
            yield Finding("Database", Severity.WARNING, text, fix)


def _check_permissions(health: DatabaseHealth) -> Iterator[Finding]:
    """Warn of data that other users of this machine can read."""
    if health.wide_folder is not None:
        text = f"other users can enter {health.wide_folder}."
        yield Finding("Database", Severity.WARNING, text, f"Run: chmod 700 {shlex.quote(str(health.wide_folder))}")
    if health.wide_files:
        names = ", ".join(path.name for path in health.wide_files)
        fix = f"Run: chmod 600 {shlex.join(map(str, health.wide_files))}"
        yield Finding("Database", Severity.WARNING, f"other users can read {names}.", fix)
