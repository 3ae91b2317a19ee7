"""The runners that can be used now, by id and by short name."""

from collections.abc import Collection, Iterable
from pathlib import Path

from engine.runners.descriptor import Origin, Problem, RunnerDescriptor
from engine.runners.discovery import NOT_THERE, Discovery, Source, bundled_folder, discover
from engine.runners.errors import AmbiguousRunner, RunnerNotAllowed, RunnerNotFound
from engine.runners.ids import RunnerId
from engine.runners.source_files import files_of
from engine.runtimes.worker.file_stamps import Mark


class Registry:
    """Caches what discovery found until it is refreshed."""

    def __init__(
        self,
        sources: Iterable[Source] = (),
        *,
        cwd: Path,
        allowed: Collection[str] | None = None,
        bundled: Path | None = None,
    ) -> None:
        """`allowed` lists plugins as `author/name`; None allows all. `bundled` replaces the bundled folder."""
        self._own = tuple(sources)
        self._cwd = cwd
        self._allowed = None if allowed is None else frozenset(allowed)
        self._bundled = bundled or bundled_folder()
        self._found_own: Discovery | None = None
        self._marks: dict[Path, Mark] = {}
        self._found_bundled: Discovery | None = None

    def refresh(self) -> None:
        """Forget what was found; the next access discovers again."""
        self._found_own = self._found_bundled = None

    def look(self) -> None:
        """Discover the runners that a run without a named runner may use. Blocks, because it parses files.

        Bundled runners are discovered later if the project has its own: most runs need no other.
        """
        if not self._own_discovery().runners:
            self._bundled_discovery()

    def runners(self) -> tuple[RunnerDescriptor, ...]:
        """Return every allowed runner: the project's first, then the bundled ones."""
        return tuple(runner for runner in self._everything() if self._allows(runner))

    def problems(self) -> tuple[Problem, ...]:
        """Return the files that were left out, with reasons."""
        return self._own_discovery().problems + self._bundled_discovery().problems

    def places(self) -> tuple[Path, ...]:
        """Return the places in which the project's runners are discovered."""
        return tuple(source.path for source in self._own)

    def marks(self) -> dict[Path, Mark]:
        """Return the files of the project's runners as they were when they were read."""
        self._own_discovery()
        return self._marks

    def get(self, name: str) -> RunnerDescriptor:
        """Return the runner with this id, or the only one with this short name (plugin, file or class)."""
        fitting = self._fitting(name)
        allowed = [runner for runner in fitting if self._allows(runner)]
        if not fitting and (problem := self._left_out(name)) is not None:
            advice = "Put it back, or choose another" if problem.reason.startswith(NOT_THERE) else "Fix that file"
            raise RunnerNotFound(f"the runner {name!r} is left out: {problem}. {advice}.")
        if not fitting:
            raise RunnerNotFound(f"no runner called {name!r}. {self._known()}")
        if not allowed:
            plugins = ", ".join(sorted({runner.id.plugin_id for runner in fitting}))
            raise RunnerNotAllowed(f"the runner {name!r} is not allowed. Add {plugins} to `allowed_plugins`.")
        if len(allowed) > 1:
            raise AmbiguousRunner(f"{name!r} could be any of {_listed(allowed)}", "Name one by its whole id.")
        return allowed[0]

    def choose(self, name: str | None = None) -> RunnerDescriptor:
        """Return the named runner; without a name, the project's only runner, or rehearsal if it has none."""
        if name is not None:
            return self.get(name)
        if not self._own:
            return self.get("plugin:trackside/rehearsal/default")
        found = self._own_discovery()
        own = [runner for runner in found.runners if self._allows(runner)]
        if len(own) > 1:
            raise AmbiguousRunner(f"there are {len(own)} runners: {_listed(own)}", "Name one with --runner.")
        if found.runners and not own:
            return self.get(str(found.runners[0].id))
        if not own:
            raise RunnerNotFound("\n".join(str(problem) for problem in found.problems) or f"no runner. {self._known()}")
        return own[0]

    def _everything(self) -> tuple[RunnerDescriptor, ...]:
        own = self._own_discovery().runners
        ids = {runner.id for runner in own}
        return own + tuple(runner for runner in self._bundled_discovery().runners if runner.id not in ids)

    def _fitting(self, name: str) -> list[RunnerDescriptor]:
        if name.startswith("plugin:"):
            wanted = RunnerId.parse(name)
            # A runner of the project is found without discovering the bundled ones.
            own = [runner for runner in self._own_discovery().runners if runner.id == wanted]
            return own or [runner for runner in self._bundled_discovery().runners if runner.id == wanted]
        return [runner for runner in self._everything() if name in short_names(runner.id)]

    def _left_out(self, name: str) -> Problem | None:
        """Return the problem of the file or plugin folder with this name, if that is why it is not found."""
        plugin = RunnerId.parse(name).plugin if name.startswith("plugin:") else name
        names = {plugin, *plugin.split("/")}
        found = (problem for problem in self.problems() if not names.isdisjoint(_names_of(problem.path)))
        return next(found, None)

    def _own_discovery(self) -> Discovery:
        if self._found_own is None:
            # First, so that an edit while they are read shows later.
            self._marks = files_of(self.places()).marks
            self._found_own = discover(self._own, self._cwd)
        return self._found_own

    def _bundled_discovery(self) -> Discovery:
        if self._found_bundled is None:
            self._found_bundled = discover([Source(self._bundled, Origin.BUNDLED)], self._cwd)
        return self._found_bundled

    def _allows(self, runner: RunnerDescriptor) -> bool:
        return self._allowed is None or runner.id.plugin_id in self._allowed

    def _known(self) -> str:
        runners = self.runners()
        found = f"Found: {_listed(runners)}." if runners else "None were found."
        left_out = len(self.problems())
        hint = f" {left_out} left out: `trackside doctor` says why." if left_out else ""
        return found + hint


def short_names(runner_id: RunnerId) -> frozenset[str]:
    """Return the names by which a runner can be called, if they are unique."""
    return frozenset({runner_id.name, runner_id.plugin, runner_id.plugin_id, f"{runner_id.plugin}/{runner_id.name}"})


def _names_of(path: Path) -> tuple[str, ...]:
    """Return the name of a file's runner: a Python file's stem, or the name of the plugin's folder."""
    return (path.stem,) if path.suffix == ".py" else (path.parent.name, path.parent.parent.name)


def _listed(runners: Iterable[RunnerDescriptor]) -> str:
    return ", ".join(sorted(str(runner.id) for runner in runners))
