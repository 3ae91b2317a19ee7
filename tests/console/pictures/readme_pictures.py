"""Write the two pictures of the README."""

from pathlib import Path

from tests.console.pictures.all_scenes import SCENES
from tests.console.pictures.scene import NARROW, WIDE
from tests.console.pictures.screenshot import take

FOLDER = Path(__file__).parents[3] / "fixtures" / "pictures"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, size in (("wide", WIDE), ("narrow", NARROW)):
        (FOLDER / f"{name}.svg").write_text(take(SCENES["showpiece"], size), encoding="utf-8")


if __name__ == "__main__":
    main()
