"""`trackside new`: write a runner and its test, and the files of more parts, from the templates in `templates/`."""

import argparse
import keyword
import shlex
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any, Final

from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import add_database, add_json

_IMPORTED_MODULES: Final = frozenset({"engine", "console", "pydantic", "pytest", "pytest_trackside"})
"""Modules that the runner or its test imports: a file of the same name would hide them."""
_TEMPLATES: Final = Path(__file__).parent / "templates"
_ALWAYS: Final = "runner"
"""The part that every new runner has. Each other file in the folder of templates is a part to choose."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name, such as hello; writes hello.py and test_hello.py")
    parts = "; ".join(f"{part}: {_read_part(part)['summary']}" for part in _parts())
    parser.add_argument(
        "--with", dest="parts", action="append", default=[], metavar="PART,…", help=f"write more files ({parts})"
    )
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line

    out = standard_output()
    chosen = _chosen_parts(options.parts)
    runner = _runner_path(options.name)
    words = runner.stem.split("_")
    names = {
        "module": runner.stem,
        "title": " ".join(words).capitalize(),
        "class_name": "".join(map(str.capitalize, words)),
    }
    texts, paths, commands = dict[Path, str](), dict[str, str](), list[str]()
    for part in map(_read_part, (_ALWAYS, *chosen)):
        for key, file in part["files"].items():
            path = runner.with_name(Template(file["name"]).substitute(names))
            texts[path] = Template(file["text"]).substitute(names)
            paths[key] = shlex.quote(str(path))
        commands += [Template(command).substitute(paths) for command in part["next"]]
    _write(texts)
    if options.json:
        print_json(out, {"files": [str(path) for path in texts]})
        return ExitCode.OK
    out.line(f"Wrote {_enumerate(one_line(str(path)) for path in texts)}. Now:\n")
    for command in commands:
        out.line(f"  {one_line(command)}")
    return ExitCode.OK


def _parts() -> list[str]:
    """The parts that `--with` can name."""
    return sorted(path.stem for path in _TEMPLATES.glob("*.toml") if path.stem != _ALWAYS)


def _read_part(name: str) -> dict[str, Any]:
    return tomllib.loads((_TEMPLATES / f"{name}.toml").read_text(encoding="utf-8"))


def _chosen_parts(typed: Iterable[str]) -> list[str]:
    chosen = list(dict.fromkeys(part.strip() for text in typed for part in text.split(",")))
    parts = _parts()
    for part in chosen:
        if part not in parts:
            raise UsageError(f"--with: there is no part {part!r:.40}. Parts: {', '.join(parts)}.")
    return chosen


def _enumerate(texts: Iterable[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def _runner_path(name: str) -> Path:
    path = Path(name)
    stem = path.name.removesuffix(".py").replace("-", "_")
    if not stem.isidentifier() or not stem.isascii() or keyword.iskeyword(stem) or stem.startswith(("_", "test_")):
        raise UsageError("NAME must be a name for a Python file: letters, digits and _, such as hello or trip_planner.")
    if stem in sys.stdlib_module_names or stem in _IMPORTED_MODULES:
        raise UsageError(f"a file called {stem}.py would hide the module {stem}. Choose another name.")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}. Create it first, or leave it out.")
    return path.with_name(f"{stem}.py")


def _write(files: dict[Path, str]) -> None:
    existing = [str(path) for path in files if path.exists()]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        raise UsageError(f"{_enumerate(existing)} already {verb}; nothing was written. Choose another name.")
    for path, text in files.items():
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
