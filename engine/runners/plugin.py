"""Finds runners in a folder of LangBot's plugin layout: `manifest.yaml`, component files and Python code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

from engine.runners.descriptor import Origin, Problem, RunnerDescriptor, interpreter_of
from engine.runners.document import Document, KeyPath, dotted, read
from engine.runners.errors import InvalidFile, RunnerNotFound
from engine.runners.ids import RunnerId
from engine.runners.manifests import BrokenManifest, make_manifest
from engine.runners.single_file import read_source
from engine.runtimes.runtime import Launch

MANIFEST: Final = "manifest.yaml"
KINDS: Final = ("AgentRunner", "Runner")
MAX_DEPTH: Final = 8
NEAR: Final = 3
MAX_FILES: Final = 50
"""Limits of the search for a component that the manifest does not name: depth and number of files."""
_WRITTEN_AS: Final[dict[str, tuple[str, ...]]] = {
    "label": ("metadata", "label"),
    "description": ("metadata", "description"),
    "capabilities": ("spec", "capabilities"),
    "permissions": ("spec", "permissions"),
    "config_schema": ("spec", "config"),
}
"""Keys of a component file by the manifest's name for them."""


@dataclass(frozen=True, slots=True)
class _Plugin:
    """Values that a component inherits from its plugin."""

    folder: Path
    author: str
    name: str
    version: object
    origin: Origin


def read_plugin(folder: Path, origin: Origin = Origin.PLUGIN) -> tuple[list[RunnerDescriptor], list[Problem]]:
    """Return every runner of the plugin. A broken component is left out and reported; the others stay."""
    manifest = folder / MANIFEST
    try:
        document = read(manifest)
        author, name = _text(document, "metadata", "author"), _text(document, "metadata", "name")
        groups = _groups(document)
    except InvalidFile as error:
        return [], [Problem(manifest, error.reason, error.line, folder)]
    plugin = _Plugin(folder, author, name, _at(document, "metadata", "version"), origin)
    runners: list[RunnerDescriptor] = []
    problems: list[Problem] = []
    for path, fault in _component_files(folder, document, groups):
        if fault is not None:
            problems.append(fault)
            continue
        try:
            found = _component(plugin, path)
        except InvalidFile as error:
            problems.append(Problem(path, error.reason, error.line))
        else:
            runners += [] if found is None else [found]
    if not runners and not problems:
        problems.append(
            Problem(manifest, f"the plugin has no component of kind {' or '.join(KINDS)}{_unnamed(folder)}")
        )
    return runners, [replace(problem, folder=folder) for problem in problems]


def _unnamed(folder: Path) -> str:
    """Return advice on how to name a component file that exists but is missing in the manifest."""
    for path in islice(_yaml_files(folder, NEAR), MAX_FILES):
        try:
            kind = _at(read(path), "kind")
        except InvalidFile:
            continue
        if kind in KINDS:
            name = path.relative_to(folder)
            return f". {name} is one: name it in manifest.yaml as `spec.components.{kind}.fromFiles: [{name}]`"
    return ""


def _groups(document: Document) -> list[tuple[str, dict[str, Any]]]:
    """Return the component groups that hold runners, by kind."""
    components = _at(document, "spec", "components")
    if components is None:
        return []
    if not isinstance(components, dict):
        raise InvalidFile("spec.components must be a mapping of kinds", document.line(("spec", "components")))
    groups: list[tuple[str, dict[str, Any]]] = []
    for kind in KINDS:
        group = cast("dict[str, Any]", components).get(kind)
        if group is None:
            continue
        if not isinstance(group, dict):
            raise InvalidFile(
                f"spec.components.{kind} must be a mapping with fromDirs or fromFiles",
                document.line(("spec", "components", kind)),
            )
        groups.append((kind, cast("dict[str, Any]", group)))
    return groups


def _component_files(
    folder: Path, document: Document, groups: list[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[Path, Problem | None]]:
    """Yield the component files in order, each once. An entry that leads nowhere is yielded with its problem."""
    seen: set[Path] = set()
    for kind, group in groups:
        for key in ("fromFiles", "fromDirs"):
            entries = group.get(key)
            listed = (
                cast("list[object]", entries) if isinstance(entries, list) else [] if entries is None else [entries]
            )
            for place, entry in enumerate(listed):
                keys: KeyPath = ("spec", "components", kind, key, place)
                try:
                    paths = _files(folder, key, entry)
                except InvalidFile as error:
                    yield document.path, Problem(document.path, f"{dotted(keys)}: {error.reason}", document.line(keys))
                    continue
                fresh = [path for path in paths if path not in seen]
                seen.update(fresh)
                yield from ((path, None) for path in fresh)


def _files(folder: Path, key: str, entry: object) -> list[Path]:
    if key == "fromFiles":
        if not isinstance(entry, str):
            raise InvalidFile("must be a path")
        path = _inside(folder, folder / entry)
        if not path.is_file():
            raise InvalidFile(f"no such file: {entry}")
        return [path]
    described: dict[str, Any] = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"path": entry}
    where, depth = described.get("path"), described.get("maxDepth", 1)
    if not isinstance(where, str) or not isinstance(depth, int) or depth < 1:
        raise InvalidFile("must be {path: FOLDER, maxDepth: a number from 1}")
    root = _inside(folder, folder / where)
    if not root.is_dir():
        raise InvalidFile(f"no such folder: {where}")
    return list(_yaml_files(root, min(depth, MAX_DEPTH)))


def _yaml_files(folder: Path, depth: int) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.suffix in {".yaml", ".yml"} and path.name != MANIFEST and path.is_file():
            yield path
        elif depth > 1 and path.is_dir() and not path.name.startswith("."):
            yield from _yaml_files(path, depth - 1)


def _component(plugin: _Plugin, path: Path) -> RunnerDescriptor | None:
    """Read the runner that a component file declares, or None if it declares something else."""
    document = read(path)
    kind = _at(document, "kind")
    if kind is None:
        raise InvalidFile("kind is missing")
    if kind not in KINDS:
        return None
    runner_id = _runner_id(document, plugin)
    launch = _launch(document, plugin.folder)
    values: dict[str, Any] = {key: _at(document, *keys) for key, keys in _WRITTEN_AS.items()}
    values["metadata"] = {} if plugin.version is None else {"version": str(plugin.version)}
    try:
        manifest = make_manifest(runner_id, values)
    except BrokenManifest as error:
        raise _as_written(error, document) from error
    return RunnerDescriptor(runner_id, manifest, launch, plugin.origin, path)


def _runner_id(document: Document, plugin: _Plugin) -> RunnerId:
    name = _text(document, "metadata", "name")
    try:
        runner_id = RunnerId.parse(f"plugin:{plugin.author}/{plugin.name}/{name}")
    except RunnerNotFound as error:
        reason = f"author {plugin.author!r}, plugin {plugin.name!r} and name {name!r} do not form a runner id"
        raise InvalidFile(reason, document.line(("metadata", "name"))) from error
    claimed = _at(document, "metadata", "id")
    if claimed not in (None, str(runner_id)):
        reason = f"metadata.id: the runner has the id {claimed!r}, but must have {str(runner_id)!r}"
        raise InvalidFile(reason, document.line(("metadata", "id")))
    return runner_id


def _launch(document: Document, folder: Path) -> Launch:
    """Locate the code. Existence, place and name are checked without running it."""
    written, attr = _text(document, "execution", "python", "path"), _text(document, "execution", "python", "attr")
    path_line = document.line(("execution", "python", "path"))
    try:
        path = _inside(folder, document.path.parent / written)
        source = read_source(path) if path.is_file() else None
    except InvalidFile as error:
        raise InvalidFile(f"{written}: {error.reason}", path_line) from error
    if source is None:
        raise InvalidFile(f"execution.python.path: no such file: {written}", path_line)
    if re.search(rb"\b" + re.escape(attr.encode()) + rb"\b", source) is None:
        raise InvalidFile(f"{written} has no {attr!r}", document.line(("execution", "python", "attr")))
    return Launch(path=path, attr=attr, folder=folder, cwd=folder, python=interpreter_of(folder))


def _as_written(error: BrokenManifest, document: Document) -> InvalidFile:
    """Convert an error to one with the key path and line of the component file."""
    written = _WRITTEN_AS.get(str(error.keys[0])) if error.keys else None
    if written is None:
        return error
    keys: KeyPath = (*written, *error.keys[1:])
    return InvalidFile(error.reason.replace(dotted(error.keys), dotted(keys), 1), document.line(keys))


def _inside(folder: Path, path: Path) -> Path:
    """Resolve a path that must stay inside the plugin's folder, also through links."""
    real = path.resolve()
    if not real.is_relative_to(folder.resolve()):
        raise InvalidFile("leads out of the plugin's folder")
    return real


def _at(document: Document, *keys: str) -> Any:
    """Return the value at a key path, or None."""
    value = document.value
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = cast("dict[str, Any]", value).get(key)
    return value


def _text(document: Document, *keys: str) -> str:
    """Return the text at a key path. Raises InvalidFile if it is missing."""
    value = _at(document, *keys)
    if not isinstance(value, str) or not value.strip():
        what = "is missing" if value is None else "must be text"
        raise InvalidFile(f"{dotted(keys)} {what}", document.line(keys))
    return value.strip()
