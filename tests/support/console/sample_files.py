"""A folder with a few files to attach."""

from pathlib import Path


def folder_of_files(where: Path) -> Path:
    """Create files: one with a space in its name, a hidden one, a picture, and one in a subfolder."""
    here = where / "here"
    (here / "my maps").mkdir(parents=True)
    (here / "notes.txt").write_text("Two days in Kyoto\n")
    (here / "north.png").write_bytes(b"\x89PNG")
    (here / ".hidden").write_text("")
    (here / "my maps" / "city map.txt").write_text("here is the river")
    return here
