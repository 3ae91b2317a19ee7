"""Where the console finds what a person settled in a file, and what they chose on the screen the last time."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from console.model.settings.palette import DARK
from console.model.settings.problem import Problem
from console.model.settings.settings import Settings

FILE: Final = "console.yaml"
_MEMORY: Final = "console.json"
_LARGEST: Final = 256 * 1024


class Memory:
    """What was chosen on the screen, kept for the next time. Without a path it lasts as long as the console.

    Until there is such a file, the one at `before` is read: there it was kept once.
    """

    def __init__(self, path: Path | None = None, before: Path | None = None) -> None:
        self._path = path
        found = before if before is not None and path is not None and not is_there(path) else path
        self._kept = {} if found is None else _kept_in(found)

    @property
    def theme(self) -> str | None:
        return self._of("theme", str)

    @property
    def is_ascii(self) -> bool | None:
        return self._of("ascii", bool)

    @property
    def version(self) -> str | None:
        """The last version of the console that was opened."""
        return self._of("version", str)

    def keep(self, **chosen: str | bool) -> None:
        """Remember this from now on, beside what other consoles chose meanwhile.

        Raises OSError where it cannot be written.
        """
        others = _kept_in(self._path) if self._path is not None else {}
        self._kept |= others | chosen
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            beside.write_bytes(orjson.dumps(self._kept, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
            beside.replace(self._path)  # another console may read it now

    def _of(self, name: str, kind: type[Any]) -> Any:
        value = self._kept.get(name)
        return value if isinstance(value, kind) else None


def _kept_in(path: Path) -> dict[str, Any]:
    # What cannot be read was never chosen.
    with suppress(OSError, ValueError):
        kept: Any = orjson.loads(path.read_bytes())
        return kept if isinstance(kept, dict) else {}
    return {}


def is_there(path: Path) -> bool:
    """Whether there is such a file, as far as one may look."""
    try:
        return path.exists()
    except OSError:
        return False


class Settled:
    """The file first, then what was chosen, then how the console comes."""

    # No dataclass: to make one takes longer than to read both files, and the first frame waits for it.
    def __init__(
        self,
        settings: Settings | None = None,
        memory: Memory | None = None,
        again: Callable[[], Settings] | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.memory = memory or Memory()
        self.again = again
        """Reads the file as it is now; none where there is none to read."""

    def anew(self, settings: Settings) -> "Settled":
        """The same with what the file says now."""
        return Settled(settings, self.memory, self.again)

    @property
    def theme(self) -> str:
        return self.settings.theme or self.memory.theme or DARK.name

    @property
    def is_ascii(self) -> bool:
        said = self.settings.is_ascii
        return bool(self.memory.is_ascii if said is None else said)


def settings_path() -> Path:
    """The file that a person may write."""
    from platformdirs import user_config_path  # noqa: PLC0415  (Textual has loaded it; the commands need not)

    return user_config_path("trackside") / FILE


def read_settings() -> Settings:
    """What that file says; where there is none, nothing is settled and nothing was loaded for it."""
    path = settings_path()
    try:
        if path.stat().st_size > _LARGEST:
            return Settings(problems=[Problem(1, "the file is too large to be one of settings")], where=str(path))
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings(where=str(path))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Settings(problems=[Problem(line, "this is no text in UTF-8; save the file as such")], where=str(path))
    except OSError as error:
        return Settings(problems=[Problem(1, f"the file cannot be read: {error.strerror}")], where=str(path))
    from console.model.settings.file import read  # noqa: PLC0415  (most people have no such file)

    return read(text, str(path))


def settled() -> Settled:
    """All of it, as it is now."""
    from platformdirs import user_state_path  # noqa: PLC0415

    memory = Memory(settings_path().with_name(_MEMORY), before=user_state_path("trackside") / _MEMORY)
    return Settled(read_settings(), memory, read_settings)
