"""The raw bytes of files, to show that deleted text is gone."""

from pathlib import Path


def files_containing(folder: Path, *texts: str) -> list[str]:
    """Return the names of all files under a folder that contain one of the texts, in the order of their names."""
    wanted = [text.encode() for text in texts]
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path.name for path in found if any(text in path.read_bytes() for text in wanted)]
