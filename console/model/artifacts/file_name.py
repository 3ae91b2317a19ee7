"""The file that an artifact is saved to. The suggested name is harmless, whatever the runner called the artifact."""

import re
from pathlib import Path
from typing import Final

MAX_NAME_CHARS: Final = 100
_UNUSUAL: Final = re.compile(r"[^\w.,()+=@ -]", re.ASCII)


def suggested_name(name: str | None, artifact_id: str) -> str:
    """A file name without a folder, a leading dot or control characters."""
    last = (name or "").replace("\\", "/").rpartition("/")[2]
    clean = "".join(letter if letter.isalnum() else _UNUSUAL.sub("_", letter) for letter in last)
    return clean.strip(" .")[-MAX_NAME_CHARS:] or _UNUSUAL.sub("_", artifact_id)[:MAX_NAME_CHARS] or "artifact"


def target_path(typed: str, name: str) -> Path:
    """The file for a typed path; in a folder it is called `name`."""
    path = Path(typed.strip()).expanduser()
    return path / name if typed.rstrip().endswith("/") or path.is_dir() else path
