"""Finds runners in a single Python file by its syntax. The host never runs the file."""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from engine.runners.descriptor import Origin, Problem, RunnerDescriptor, interpreter_of
from engine.runners.errors import InvalidFile, RunnerNotFound
from engine.runners.ids import RunnerId
from engine.runners.manifests import make_manifest
from engine.runtimes.runtime import Launch
from engine.runtimes.worker.file_stamps import Stamp, stamp_of

MAX_BYTES: Final = 4 << 20
_REMEMBERED: Final = 5_000
"""Cached answers by file state."""
_ATTRIBUTES: Final = ("capabilities", "permissions", "config", "label", "description")
_SDK: Final = re.compile(rb"^[ \t]*(?:from|import)[ \t]+langbot_plugin\b", re.MULTILINE)
_RUN: Final = re.compile(rb"\basync[ \t]+def[ \t]+run\b")

NO_RUNNER: Final = (
    "the file has no runner. Add `async def run(ctx)`, "
    "or a class derived from AgentRunner with `async def run(self, ctx)`"
)
OTHER_SDK: Final = (
    "the file imports langbot_plugin, LangBot's own SDK, which is not supported yet. "
    "Import AgentRunner, AgentRunContext and AgentRunResult from engine.protocol instead"
)


def read_source(path: Path) -> bytes:
    """Read the file's bytes. Raises InvalidFile if it is not written for us."""
    try:
        with path.open("rb") as file:
            source = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidFile(f"cannot be read: {error.strerror or error}") from error
    if len(source) > MAX_BYTES:
        raise InvalidFile(f"the file is larger than {MAX_BYTES:,} bytes")
    if found := _SDK.search(source):
        raise InvalidFile(OTHER_SDK, source.count(b"\n", 0, found.start()) + 1)
    return source


def looks_like_a_runner(path: Path) -> bool:
    """Whether a file in a folder may hold a runner; most modules beside a runner do not.

    A file with a syntax error counts, so that its author learns why the runner is missing.
    """
    stamp = stamp_of(str(path))
    is_settled = stamp[2] >= 0
    try:
        return _seems_one(stamp) if is_settled else _seems_one.__wrapped__(stamp)
    except OSError:
        return False


@lru_cache(_REMEMBERED)
def _seems_one(stamp: Stamp) -> bool:
    """Cached answer for a file in one state, so that it is parsed once."""
    source = Path(stamp[0]).read_bytes()
    return _RUN.search(source) is not None or not _is_python(source)


def read_bare(path: Path, cwd: Path, origin: Origin = Origin.FILE) -> tuple[list[RunnerDescriptor], list[Problem]]:
    """Return every runner of the file; each has the id `plugin:local/<file stem>/<class or default>`."""
    try:
        tree = _parse(read_source(path))
    except InvalidFile as error:
        return [], [Problem(path, error.reason, error.line)]
    runners: list[RunnerDescriptor] = []
    problems: list[Problem] = []
    for attr, line, bodies in _declared(tree):
        written: dict[str, Any] = {}
        for name, node in _attributes(bodies):
            try:
                written[name] = ast.literal_eval(node)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                problems.append(
                    Problem(path, f"{_owner(attr)}{name} is not a literal; it counts as empty", node.lineno)
                )
        try:
            runners.append(_describe(path, attr, written, cwd, origin))
        except InvalidFile as error:
            problems.append(Problem(path, f"{_owner(attr)}{error.reason}", error.line or line))
    if not runners and not problems:
        problems.append(Problem(path, NO_RUNNER))
    return runners, problems


def _describe(path: Path, attr: str | None, written: dict[str, Any], cwd: Path, origin: Origin) -> RunnerDescriptor:
    try:
        runner_id = RunnerId.parse(f"plugin:local/{path.stem}/{attr or 'default'}")
    except RunnerNotFound as error:
        raise InvalidFile(f"no runner id can be made of the file name {path.name!r}") from error
    manifest = make_manifest(
        runner_id,
        {
            "label": written.get("label"),
            "description": written.get("description"),
            "capabilities": written.get("capabilities"),
            "permissions": written.get("permissions"),
            "config_schema": written.get("config"),
        },
    )
    launch = Launch(path=path, attr=attr, folder=path.parent, cwd=cwd, python=interpreter_of(path.parent))
    return RunnerDescriptor(runner_id, manifest, launch, origin, path)


def _parse(source: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():  # a doubtful escape in the file is its author's business, not our terminal's
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        raise InvalidFile(f"{type(error).__name__}: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidFile(f"not Python: {error or 'nested too deep'}") from error


def _is_python(source: bytes) -> bool:
    if len(source) > MAX_BYTES:
        return True  # generated code
    try:
        _parse(source)
    except InvalidFile:
        return False
    return True


Bodies = list[list[ast.stmt]]


def _declared(tree: ast.Module) -> Iterator[tuple[str | None, int, Bodies]]:
    """Yield name, line and bodies (its own first, then those of bases in this file) of every runner."""
    classes: dict[str, ast.ClassDef] = {}
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "run" and _takes(node, 1):
            yield None, node.lineno, [tree.body]
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = node
    for name, node in classes.items():
        chain = _chain(node, classes)
        if not name.startswith("_") and any(_has_run(step) for step in chain):
            yield name, node.lineno, [step.body for step in chain]


def _chain(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    chain, waiting = [node], [node]
    while waiting:
        for base in waiting.pop(0).bases:
            step = classes.get(base.id) if isinstance(base, ast.Name) else None
            if step is not None and step not in chain:
                chain.append(step)
                waiting.append(step)
    return chain


def _has_run(node: ast.ClassDef) -> bool:
    return any(isinstance(step, ast.AsyncFunctionDef) and step.name == "run" and _takes(step, 2) for step in node.body)


def _takes(node: ast.AsyncFunctionDef, count: int) -> bool:
    """Whether a function can be called with exactly this many positional arguments, `self` included."""
    given = len(node.args.posonlyargs) + len(node.args.args)
    needed = given - len(node.args.defaults)
    return needed <= count and (given >= count or node.args.vararg is not None)


def _attributes(bodies: Bodies) -> Iterator[tuple[str, ast.expr]]:
    """Return the attributes that make a manifest; an own attribute hides an inherited one."""
    seen: set[str] = set()
    for body in bodies:
        here: dict[str, ast.expr] = {}
        for node in body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            target = node.target if isinstance(node, ast.AnnAssign) else target
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(target, ast.Name) and target.id in _ATTRIBUTES and value is not None:
                here[target.id] = value
        yield from ((name, node) for name, node in here.items() if name not in seen)
        seen.update(here)


def _owner(attr: str | None) -> str:
    return f"{attr}." if attr else ""
