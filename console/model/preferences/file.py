"""`console.yaml`: theme, ASCII mode and keys. Invalid lines are reported, the others are used."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, cast

from console.model.preferences.color_themes import PALETTES, TEXTUAL_THEMES
from console.model.preferences.keymap import Change, check_changes
from console.model.preferences.problem import Problem, nearest


class FilePreferences(NamedTuple):
    """The contents of the file. None means that the file does not set the value."""

    theme: str | None = None
    is_ascii: bool | None = None
    keys: Mapping[str, str] = MappingProxyType({})
    """Keys by command id."""
    problems: Sequence[Problem] = ()
    where: str = ""
    """The path of the file."""


_SETTING_NAMES: Final = ("theme", "ascii", "keys")
_NULL_TAG: Final = "tag:yaml.org,2002:null"
_EXAMPLES: Final = {"the file": "ascii: true", "keys": "app.run_again: alt+a"}
"""An example for each part of the file."""
EXAMPLE: Final = """\
theme: light
ascii: false
keys:                  # see `trackside keys`
  app.run_again: alt+a
  stream.mark: [m, M]  # either of them
  app.zoom: null       # no key: in the palette only
"""
"""An example of the whole file, printed by `trackside keys --example`."""


class Node(Protocol):
    """A node of the YAML file with its position."""

    id: str
    tag: str
    value: Any
    start_mark: Any


def parse(text: str, where: str = "") -> FilePreferences:
    """Parse the text of the file. Never raises for its contents: they become problems."""
    import yaml  # noqa: PLC0415  (slow to import, and most users have no such file)

    try:
        compose = cast("Callable[..., Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
        root = compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        wrong = Problem(mark.line + 1 if mark else 1, f"Invalid YAML: {error.problem}.")
        return FilePreferences(problems=[wrong], where=where)
    except yaml.YAMLError as error:
        return FilePreferences(problems=[Problem(1, f"Invalid YAML: {error}.")], where=where)
    except RecursionError:
        return FilePreferences(
            problems=[Problem(1, "The file is nested too deeply; three levels are enough.")], where=where
        )
    return _FileReader().read(root)._replace(where=where)


class _FileReader:
    """Reads one file and collects its problems."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def read(self, root: Node | None) -> FilePreferences:
        parts = {name: (key, value) for name, key, value in self._pairs(root, "the file")}
        for name, (key, _) in parts.items():
            if name not in _SETTING_NAMES:
                words = f"Unknown setting {name!r}{nearest(name, _SETTING_NAMES)}"
                self._report(key, f"{words} Known settings: {', '.join(_SETTING_NAMES)}.")
        keys, clashes = check_changes(self._changes(parts["keys"][1]) if "keys" in parts else [])
        return FilePreferences(
            theme=self._theme(parts["theme"][1]) if "theme" in parts else None,
            is_ascii=self._flag(parts["ascii"][1], "ascii") if "ascii" in parts else None,
            keys=keys,
            problems=tuple(sorted([*self._problems, *clashes])),
        )

    def _theme(self, node: Node) -> str | None:
        known = [*PALETTES, *TEXTUAL_THEMES]
        if isinstance(node.value, str) and node.value in known:
            return node.value
        words = f"unknown theme {_text_of(node)}{nearest(_text_of(node), known)}"
        self._report(node, f"theme: {words} Known themes: {', '.join(known)}.")
        return None

    def _changes(self, node: Node) -> Iterator[Change]:
        for name, key, value in self._pairs(node, "keys"):
            if value.tag == _NULL_TAG:
                yield Change(name, "", _line(key))
            elif isinstance(value.value, str):
                yield Change(name, value.value, _line(key))
            elif value.id == "sequence" and all(isinstance(one.value, str) for one in value.value):
                yield Change(name, ",".join(one.value for one in value.value), _line(key))
            else:
                self._report(
                    value,
                    f"{name}: write a key, or several in brackets such as [alt+a, alt+n], or null for no key.",
                )

    def _flag(self, node: Node, name: str) -> bool | None:
        flag = {"true": True, "false": False, "yes": True, "no": False}.get(_text_of(node).lower())
        if flag is None:
            self._report(node, f"{name}: write true or false.")
        return flag

    def _pairs(self, node: Node | None, name: str) -> Iterator[tuple[str, Node, Node]]:
        """Yield name, key node and value node of a mapping; a repeated name is a problem."""
        if node is None or (node.id == "scalar" and not node.value):
            return
        if node.id != "mapping":
            self._report(node, f"{name} must be a mapping, for example `{_EXAMPLES[name]}`.")
            return
        seen: set[str] = set()
        for key, value in node.value:
            written = _text_of(key)
            if written in seen:
                self._report(key, f"{written} is set twice; the first value is used.")
            else:
                seen.add(written)
                yield written, key, value

    def _report(self, node: Node, words: str) -> None:
        self._problems.append(Problem(_line(node), words))


def _text_of(node: Node) -> str:
    return node.value if isinstance(node.value, str) else ""


def _line(node: Node) -> int:
    return node.start_mark.line + 1
