"""Draw every picture many times and count how many different ones there are. There must be one of each.

python -m tests.console.pictures.stable [--times 20] [SCENE …]
"""

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp

from tests.console.pictures.all_scenes import PICTURES, SCENES
from tests.console.pictures.screenshot import take

PROCESSES = 2
Job = tuple[str, tuple[int, int], int]


def draw_repeatedly(job: Job) -> Counter[str]:
    """Draw one scene several times. Returns the different pictures and how often each occurred."""
    name, size, times = job
    return Counter(take(SCENES[name], size) for _ in range(times))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="stable", description="Draw each scene many times and count the different pictures."
    )
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="only these (default: all)")
    parser.add_argument("--times", type=int, default=20, help="pictures of each (default 20)")
    options = parser.parse_args()
    jobs: list[Job] = [
        (scene.name, size, options.times)
        for scene, size in PICTURES
        if not options.scenes or scene.name in options.scenes
    ]
    most = 0
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for (name, (width, height), _), found in zip(jobs, pool.map(draw_repeatedly, jobs), strict=True):
            most = max(most, len(found))
            print(f"{len(found):3} {name} {width}x{height}{save_if_different(name, width, found)}", flush=True)
    print(f"{most:3} different pictures at most, of {len(jobs)} scenes taken {options.times} times each")
    return 0 if most == 1 else 1


def save_if_different(name: str, width: int, found: Counter[str]) -> str:
    """Save the pictures if they differ. Returns a note with their folder."""
    if len(found) == 1:
        return ""
    folder = Path(mkdtemp(prefix=f"trackside-{name}-{width}-"))
    for number, (svg, times) in enumerate(found.most_common(), start=1):
        (folder / f"{number}-of-{times}.svg").write_text(svg, encoding="utf-8")
    return f"  {', '.join(f'{times}×' for _, times in found.most_common())}: {folder}"


if __name__ == "__main__":
    sys.exit(main())
