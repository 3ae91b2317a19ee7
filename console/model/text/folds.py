"""Which paths the user has unfolded. Kept across entries, so that the next entry is unfolded alike."""

from collections.abc import Iterator

Key = str | int
Path = tuple[Key, ...]


class Folds:
    """Fold states by path. A path without a state is folded as the view decides."""

    def __init__(self) -> None:
        self._below: dict[Path, dict[Key, bool]] = {}

    def is_open(self, path: Path, *, default: bool = False) -> bool:
        decided = self._below.get(path[:-1], {}).get(path[-1])
        return default if decided is None else decided

    def has(self, path: Path) -> bool:
        """Whether the path has a state."""
        return path[-1] in self._below.get(path[:-1], ())

    def put(self, path: Path, *, is_open: bool) -> None:
        self._below.setdefault(path[:-1], {})[path[-1]] = is_open

    def opened_below(self, path: Path) -> Iterator[Key]:
        """Return the unfolded children of a path."""
        return (key for key, is_open in self._below.get(path, {}).items() if is_open)
