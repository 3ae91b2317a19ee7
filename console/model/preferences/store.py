"""The user's preferences: `console.yaml`, and the theme and ASCII mode chosen on the screen."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import orjson

from console.model.preferences.color_themes import DARK
from console.model.preferences.file import FilePreferences
from console.model.preferences.problem import Problem

_FILE_NAME: Final = "console.yaml"
_CHOICES_FILE_NAME: Final = "console.json"
_MAX_FILE_BYTES: Final = 256 * 1024


class SavedChoices:
    """The theme and ASCII mode that the user chose on the screen, saved for the next start.

    Without a path nothing is written. If the file does not exist yet, `before`, its former path, is read.
    """

    def __init__(self, path: Path | None = None, before: Path | None = None) -> None:
        self._path = path
        found = before if before is not None and path is not None and not _exists(path) else path
        self._saved = {} if found is None else _read_choices(found)

    @property
    def theme(self) -> str | None:
        return self._get("theme", str)

    @property
    def is_ascii(self) -> bool | None:
        return self._get("ascii", bool)

    def save(self, **chosen: str | bool) -> None:
        """Save these choices beside those that other consoles saved meanwhile. Raises OSError if the disk refuses."""
        saved_by_others = _read_choices(self._path) if self._path is not None else {}
        self._saved |= saved_by_others | chosen
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            temporary.write_bytes(orjson.dumps(self._saved, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
            temporary.replace(self._path)  # atomic: another console may be reading it

    def _get(self, name: str, kind: type[Any]) -> Any:
        value = self._saved.get(name)
        return value if isinstance(value, kind) else None


def _read_choices(path: Path) -> dict[str, Any]:
    # A file that cannot be read counts as no choice.
    with suppress(OSError, ValueError):
        saved: Any = orjson.loads(path.read_bytes())
        return cast("dict[str, Any]", saved) if isinstance(saved, dict) else {}
    return {}


def _exists(path: Path) -> bool:
    """Whether the file exists; False if its folder cannot be read."""
    try:
        return path.exists()
    except OSError:
        return False


class Preferences:
    """The preferences in force: those of the file, else the saved choices, else the defaults."""

    # Not a dataclass: creating one takes longer than reading both files, and the first frame waits for it.
    def __init__(
        self,
        file: FilePreferences | None = None,
        saved: SavedChoices | None = None,
    ) -> None:
        self.file = file or FilePreferences()
        self.saved = saved or SavedChoices()

    @property
    def theme(self) -> str:
        return self.file.theme or self.saved.theme or DARK.name

    @property
    def is_ascii(self) -> bool:
        is_ascii = self.file.is_ascii
        return bool(self.saved.is_ascii if is_ascii is None else is_ascii)


def preferences_path() -> Path:
    """Return the path of `console.yaml`."""
    from platformdirs import user_config_path  # noqa: PLC0415  (the commands of the CLI need not load it)

    return user_config_path("trackside") / _FILE_NAME


def read_file_preferences() -> FilePreferences:
    """Read `console.yaml`. Without a file nothing is set, and no YAML parser is loaded."""
    path = preferences_path()
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            return FilePreferences(problems=[Problem(1, "The file is too large.")], where=str(path))
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return FilePreferences(where=str(path))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return FilePreferences(problems=[Problem(line, "The file is not UTF-8 text.")], where=str(path))
    except OSError as error:
        return FilePreferences(problems=[Problem(1, f"The file cannot be read: {error.strerror}.")], where=str(path))
    from console.model.preferences.file import parse  # noqa: PLC0415  (most users have no such file)

    return parse(text, str(path))


def load_preferences() -> Preferences:
    from platformdirs import user_state_path  # noqa: PLC0415

    saved = SavedChoices(
        preferences_path().with_name(_CHOICES_FILE_NAME), before=user_state_path("trackside") / _CHOICES_FILE_NAME
    )
    return Preferences(read_file_preferences(), saved)
