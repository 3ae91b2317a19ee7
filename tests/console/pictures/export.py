"""Writes the two pictures that the README shows, as the console itself exports them."""

from pathlib import Path

from tests.console.pictures.scene import NARROW, WIDE
from tests.console.pictures.scenes import SCENES
from tests.console.pictures.taking import take

FOLDER = Path(__file__).parents[3] / "fixtures" / "pictures"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, size in (("wide", WIDE), ("narrow", NARROW)):
        (FOLDER / f"{name}.svg").write_text(take(SCENES["showpiece"], size), encoding="utf-8")


if __name__ == "__main__":
    main()
