"""Where an artifact is written: the name that is proposed is harmless, whatever its maker called it."""

import re
from pathlib import Path
from typing import Final

_STRANGE: Final = re.compile(r"[^\w.,()+=@ -]", re.ASCII)
_LONGEST: Final = 100


def proposed_name(name: str | None, artifact_id: str) -> str:
    """A name in this folder: nothing that leads elsewhere, hides, or that a terminal obeys."""
    last = (name or "").replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter if letter.isalnum() else _STRANGE.sub("_", letter) for letter in last).strip(" .")[-_LONGEST:]
    return kept or _STRANGE.sub("_", artifact_id)[:_LONGEST] or "artifact"


def target_of(typed: str, name: str) -> Path:
    """The file that is meant; a folder means its own name in it."""
    path = Path(typed.strip()).expanduser()
    return path / name if typed.rstrip().endswith("/") or path.is_dir() else path
