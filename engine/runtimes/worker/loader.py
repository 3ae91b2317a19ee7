"""Imports the runner's file, and remembers which files of its folder, and which other packages, were loaded."""

import contextlib
import importlib
import os
import sys
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from engine.runtimes.worker.file_stamps import Stamp, stamp_of

_STAMPS: Final[dict[str, Stamp]] = {}
"""Loaded files as they were when they were first read; the process never has newer code than that."""
_DIGESTS: Final[dict[str, str]] = {}
"""Digests of the content of loaded files that were not reported yet."""
_SEEN: Final[set[str]] = set()
"""Names of modules that `new_modules` has looked at."""
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
MAX_DIGEST_BYTES: Final = 32 * 1024 * 1024
"""Larger files get no digest: reading them would delay their import."""
MAX_MODULES: Final = 2_000
"""Installed modules in one report."""


def load(path: Path, attr: str | None, folder: Path) -> Any:
    """Import the class or function. Raises whatever the import raises."""
    sys.path_hooks.insert(0, _fresh_below(folder))
    sys.path_importer_cache.clear()
    sys.path.insert(0, str(folder))
    sys.argv = [str(path)]
    module = _import(path, folder)
    name = attr or "run"
    runner = getattr(module, name, None)
    if runner is None:
        raise ImportError(f"{path} has no `{name}`", path=str(path))
    if not callable(runner):
        raise TypeError(f"`{name}` in {path} is neither a class nor a function")
    return runner


def loaded_files(folder: Path) -> list[Stamp]:
    """Return every module that came from the folder, except installed packages below it."""
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        if isinstance(name, str) and name not in _STAMPS and _is_own(name, folder):
            _STAMPS[name] = stamp_of(name)
    return list(_STAMPS.values())


def new_digests() -> list[tuple[str, str]]:
    """Return path and digest of the files that were loaded since the last report."""
    found = list(_DIGESTS.items())
    _DIGESTS.clear()
    return found


def new_modules() -> list[tuple[str, str]]:
    """Return the installed packages and modules that were imported since the last report.

    Each is a folder such as `…/site-packages` and a file below it. Modules inside a package are left out, except those
    of namespace packages, which have no file of their own. Takes 20 µs if there is nothing new.
    """
    found: list[tuple[str, str]] = []
    names = set(sys.modules) - _SEEN
    _SEEN.update(names)
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if type(file) is not str:
            continue
        mark = next((mark for mark in _INSTALLED if mark in file), None)
        if mark is None or _is_in_package(name):
            continue
        folder, _, rest = file.rpartition(mark)
        found.append((folder + mark[:-1], rest))
    return found[:MAX_MODULES]


def _is_in_package(name: str) -> bool:
    package = name.rpartition(".")[0]
    return bool(package) and type(getattr(sys.modules.get(package), "__file__", None)) is str


class _FreshLoader(SourceFileLoader):
    """Compiles the file's current content. Cached bytecode is matched by whole seconds, and users save faster."""

    def path_stats(self, path: Any) -> Any:
        raise OSError(f"no bytecode is kept for {path}")

    def exec_module(self, module: Any) -> None:
        # Before it is read: the user may save it during the import, or during a run.
        _STAMPS.setdefault(self.path, stamp_of(self.path))
        super().exec_module(module)

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        if path == self.path:
            _DIGESTS[path] = sha256(data).hexdigest()
        return data


class _ExtensionLoader(ExtensionFileLoader):
    """Loads a compiled module, and takes its digest before that."""

    def create_module(self, spec: Any) -> Any:
        _STAMPS.setdefault(self.path, stamp_of(self.path))
        with contextlib.suppress(OSError), open(self.path, "rb") as file:  # noqa: PTH123 - pathlib costs 5 ms here
            data = file.read(MAX_DIGEST_BYTES + 1)
            if len(data) <= MAX_DIGEST_BYTES:
                _DIGESTS[self.path] = sha256(data).hexdigest()
        return super().create_module(spec)


def _fresh_below(folder: Path) -> Any:
    fresh = FileFinder.path_hook((_ExtensionLoader, EXTENSION_SUFFIXES), (_FreshLoader, [".py"]))

    def hook(place: str) -> Any:
        if not _is_own(place, folder):
            raise ImportError(f"{place} is not a folder of the runner", path=place)
        return fresh(place)

    return hook


def _is_own(place: str, folder: Path) -> bool:
    # As text: this is called for every loaded module at the end of every run, where pathlib takes 4 ms.
    below = place == str(folder) or place.startswith(f"{folder}{os.sep}")
    return below and "site-packages" not in place and "dist-packages" not in place


def _import(path: Path, folder: Path) -> Any:
    name = _module_name(path, folder)
    package, _, _ = name.rpartition(".")
    if package:
        importlib.import_module(package)
    spec = spec_from_file_location(name, path, loader=_FreshLoader(name, str(path)))
    assert spec is not None  # noqa: S101 - it is None only if neither loader nor suffix is known
    assert spec.loader is not None  # noqa: S101
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _module_name(path: Path, folder: Path) -> str:
    """Return a name such as `components.runner.default` if the path allows it, so that relative imports work."""
    if path.is_relative_to(folder):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts)
        if all(part.isidentifier() for part in parts) and name not in sys.modules:
            return name
    return "runner_" + "".join(letter if letter.isalnum() else "_" for letter in path.stem)
