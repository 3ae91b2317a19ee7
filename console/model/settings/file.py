"""`console.yaml`: what a person settled, checked line by line. What is wrong is told, and the rest holds."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol, cast

from console.model.settings.keymap import Change, check
from console.model.settings.palette import BORROWED, COLOURS, DARK, LIGHT, PALETTES, WHITE, Palette, made_legible
from console.model.settings.problem import Problem, nearest
from console.model.settings.settings import Settings

NAMES: Final = ("theme", "ascii", "keys", "themes")
_NOTHING: Final = "tag:yaml.org,2002:null"
_COLOUR: Final = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}")
_THEME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")
_EXAMPLES: Final = {"the file": "ascii: true", "keys": "app.again: alt+a", "themes": "mine: {dark: true}"}
"""What each part may hold."""
EXAMPLE: Final = """\
theme: light
ascii: false
keys:                  # see `trackside keys`
  app.again: alt+a
  stream.mark: [m, M]  # either of them
  app.zoom: null       # no key: found by its name
themes:
  mine:
    dark: true
    background: "#101418"
    accent: "#ffb454"
"""
"""What such a file looks like."""


class Node(Protocol):
    """A part of a YAML file, which knows its line."""

    id: str
    tag: str
    value: Any
    start_mark: Any


def read(text: str, where: str = "") -> Settings:
    """What the file says."""
    import yaml  # noqa: PLC0415  (it takes longer than all the rest; most people have no such file)

    try:
        compose = cast("Callable[..., Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
        root = compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        wrong = Problem(mark.line + 1 if mark else 1, f"this is no YAML: {error.problem}")
        return Settings(problems=[wrong], where=where)
    except yaml.YAMLError as error:
        return Settings(problems=[Problem(1, f"this is no YAML: {error}")], where=where)
    except RecursionError:
        return Settings(
            problems=[Problem(1, "it is nested too deep; settings need no more than three levels")], where=where
        )
    return _Reading().settings(root)._replace(where=where)


class _Reading:
    """One file, part by part."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def settings(self, root: Node | None) -> Settings:
        parts = {name: (key, value) for name, key, value in self._pairs(root, "the file")}
        for name, (key, _) in parts.items():
            if name not in NAMES:
                words = f"there is nothing called {name!r} to settle{nearest(name, NAMES)}"
                self._wrong(key, f"{words} There are: {', '.join(NAMES)}.")
        palettes = tuple(self._palettes(parts["themes"][1])) if "themes" in parts else ()
        keys, clashes = check(self._changes(parts["keys"][1]) if "keys" in parts else [])
        return Settings(
            theme=self._theme(parts["theme"][1], palettes) if "theme" in parts else None,
            is_ascii=self._flag(parts["ascii"][1], "ascii") if "ascii" in parts else None,
            keys=keys,
            palettes=palettes,
            problems=tuple(sorted([*self._problems, *clashes])),
        )

    def _theme(self, node: Node, palettes: Sequence[Palette]) -> str | None:
        known = list(dict.fromkeys((*(one.name for one in palettes), *PALETTES, *BORROWED)))
        if isinstance(node.value, str) and node.value in known:
            return node.value
        words = f"there is no theme {_said(node)}{nearest(_said(node), known)}"
        self._wrong(node, f"theme: {words} There are: {', '.join(known)}.")
        return None

    def _changes(self, node: Node) -> Iterator[Change]:
        for name, key, value in self._pairs(node, "keys"):
            if value.tag == _NOTHING:
                yield Change(name, "", _line(key))
            elif isinstance(value.value, str):
                yield Change(name, value.value, _line(key))
            elif value.id == "sequence" and all(isinstance(one.value, str) for one in value.value):
                yield Change(name, ",".join(one.value for one in value.value), _line(key))
            else:
                self._wrong(
                    value,
                    f"{name}: write a key, or several in brackets, such as [alt+a, alt+n]; null takes its key away",
                )

    def _palettes(self, node: Node) -> Iterator[Palette]:
        for name, key, value in self._pairs(node, "themes"):
            if not _THEME.fullmatch(name):
                self._wrong(key, f"themes: {name!r} is no name; use small letters, digits and -")
            elif (palette := self._palette(name, key, value)) is not None:
                yield palette

    def _palette(self, name: str, key: Node, node: Node) -> Palette | None:
        given = {part: (where, value) for part, where, value in self._pairs(node, f"themes.{name}")}
        is_dark = self._flag(given.pop("dark")[1], f"themes.{name}.dark") if "dark" in given else True
        colours: dict[str, str] = {}
        for part, (where, value) in given.items():
            if part not in COLOURS:
                words = f"themes.{name}: there is no colour {part!r}{nearest(part, COLOURS)}"
                self._wrong(where, f"{words} There are: dark, {', '.join(COLOURS)}.")
            elif not _COLOUR.fullmatch(_said(value)):
                self._wrong(value, f'themes.{name}.{part}: write a colour as "#rrggbb", in quotes')
            else:
                colours[part] = _long(_said(value))
        palette = (DARK if is_dark is not False else LIGHT)._replace(name=name, **colours)
        if not palette.can_be_read:
            behind = " and ".join(dict.fromkeys(sorted(palette.backgrounds)))
            words = f"no words can be read on {behind} alike; give background, surface and panel colours that are alike"
            self._wrong(key, f"themes.{name}: {words}. It is left out.")
            return None
        for fault in palette.faults():
            self._wrong(key, f"themes.{name}: {fault}. It is shown stronger.")
        return made_legible(palette)._replace(is_dark=palette.strongest == WHITE)

    def _flag(self, node: Node, name: str) -> bool | None:
        flag = {"true": True, "false": False, "yes": True, "no": False}.get(_said(node).lower())
        if flag is None:
            self._wrong(node, f"{name}: write true or false")
        return flag

    def _pairs(self, node: Node | None, name: str) -> Iterator[tuple[str, Node, Node]]:
        """What a mapping holds, each name once."""
        if node is None or (node.id == "scalar" and not node.value):
            return
        if node.id != "mapping":
            example = _EXAMPLES.get(name, 'accent: "#ffb454"')  # else it is one of the themes
            self._wrong(node, f"{name} must be names with values, such as `{example}`")
            return
        seen: set[str] = set()
        for key, value in node.value:
            said = _said(key)
            if said in seen:
                self._wrong(key, f"{said} is there twice; the first holds")
            else:
                seen.add(said)
                yield said, key, value

    def _wrong(self, node: Node, words: str) -> None:
        self._problems.append(Problem(_line(node), words))


def _said(node: Node) -> str:
    return node.value if isinstance(node.value, str) else ""


def _line(node: Node) -> int:
    return node.start_mark.line + 1


def _long(colour: str) -> str:
    return colour.lower() if len(colour) == 7 else "#" + "".join(2 * part for part in colour[1:].lower())
