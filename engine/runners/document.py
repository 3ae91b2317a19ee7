"""Reads a YAML file into plain values that know their lines."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from engine.runners.errors import InvalidFile

KeyPath = tuple[str | int, ...]


def dotted(keys: KeyPath) -> str:
    """Return the key path in the usual notation: `agents[1].runner`."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


if TYPE_CHECKING:
    from yaml import SafeLoader as _Safe
else:
    _Safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast, where it was built

MAX_BYTES: Final = 1 << 20
MAX_DEPTH: Final = 100
MAX_VALUES: Final = 100_000
"""Values are counted with aliases expanded, so that a few lines cannot stand for gigabytes."""
_TAG: Final = "tag:yaml.org,2002:"
_JSON_LIKE: Final = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "str", "seq", "map", "merge"))


class _Loader(_Safe):
    """A safe, JSON-like loader: a date stays text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in _Safe.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a YAML file with their lines."""

    path: Path
    value: Any
    """None for an empty file."""
    _root: yaml.Node | None

    def line(self, keys: KeyPath) -> int | None:
        """Return the line of a key, or of its nearest written parent."""
        node, line = self._root, None
        for key in keys:
            found = _step(node, key)
            if found is None:
                break
            mark, node = found
            line = mark.start_mark.line + 1
        return line


def read(path: Path) -> Document:
    """Read one YAML document. Raises InvalidFile with the line if it is not YAML."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidFile(f"cannot be read: {error.strerror or error}") from error
    return parse(raw, path)


def parse(raw: bytes, path: Path) -> Document:
    """Parse YAML text that is not in a file or was read already."""
    if len(raw) > MAX_BYTES:
        raise InvalidFile(f"the file is larger than {MAX_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFile(f"not UTF-8: {error.reason}", raw[: error.start].count(b"\n") + 1) from error
    try:
        _refuse_deep(text)
        root, value = _load(text)
    except yaml.YAMLError as error:
        raise _not_yaml(error, text) from error
    except (ValueError, LookupError, AttributeError, OverflowError, TypeError) as error:
        # PyYAML's own: `!!bool perhaps`, a number of ten thousand digits.
        raise InvalidFile("a value does not fit its YAML tag") from error
    return Document(path, value, root)


def _refuse_deep(text: str) -> None:
    """Check the nesting. Events need no recursion; composing deep nesting in C would crash the process."""
    depth = 0
    loader: Any = _Loader(text)
    while loader.check_event():
        event: yaml.Event = loader.get_event()
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidFile(f"nested deeper than {MAX_DEPTH} levels", event.start_mark.line + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _load(text: str) -> tuple[yaml.Node | None, Any]:
    loader: Any = _Loader(text)  # the stubs leave half of its methods untyped
    try:
        root: yaml.Node | None = loader.get_single_node()
        if root is None:
            return None, None
        _weigh(root, {}, set())
        return root, loader.construct_document(root)
    finally:
        loader.dispose()


def _not_yaml(error: yaml.YAMLError, text: str) -> InvalidFile:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.context, error.problem) if part)
        return InvalidFile(f"not YAML: {problem}", mark.line + 1 if mark else None)
    if isinstance(error, yaml.reader.ReaderError):
        before = text.encode()[: error.position]
        return InvalidFile(f"not YAML: {error.reason}", before.count(b"\n") + 1)
    return InvalidFile(f"not YAML: {error}")


def _step(node: yaml.Node | None, key: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """Return the node with the position of this key, and the node of its value."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key:
                return name, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key]
    return None


def _weigh(node: yaml.Node, known: dict[int, int], above: set[int]) -> int:
    """Count the values that a node stands for. Raises if it contains itself or grows too large."""
    if (weight := known.get(id(node))) is not None:
        return weight
    if id(node) in above:
        raise InvalidFile("an alias contains itself", node.start_mark.line + 1)
    above.add(id(node))
    weight = 1
    _refuse_unlike_json(node)
    if isinstance(node, yaml.MappingNode):
        _settle_keys(node)
        weight += sum(_weigh(name, known, above) + _weigh(value, known, above) for name, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        weight += sum(_weigh(value, known, above) for value in node.value)
    above.discard(id(node))
    if weight > MAX_VALUES:
        raise InvalidFile(f"the YAML expands to more than {MAX_VALUES:,} values", node.start_mark.line + 1)
    known[id(node)] = weight
    return weight


def _refuse_unlike_json(node: yaml.Node) -> None:
    if node.tag not in _JSON_LIKE:
        raise InvalidFile(f"the tag {node.tag.replace(_TAG, '!!')} is not supported", node.start_mark.line + 1)
    if isinstance(node, yaml.ScalarNode) and node.tag == _TAG + "float":
        digits = node.value.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan")
        if ":" not in digits and not math.isfinite(float(digits)):  # with a colon it counts in sixties
            raise InvalidFile("a number must be finite", node.start_mark.line + 1)


def _settle_keys(node: yaml.MappingNode) -> None:
    """Build a mapping. Every key is text, also `on` and `1`, and must be unique."""
    seen: set[str] = set()
    for name, _ in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise InvalidFile("a key must be text", name.start_mark.line + 1)
        if name.tag == _TAG + "merge":
            continue
        name.tag = _TAG + "str"
        if name.value in seen:
            raise InvalidFile(f"the key {name.value!r} is written twice", name.start_mark.line + 1)
        seen.add(name.value)
