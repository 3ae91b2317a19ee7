"""`python -m tests.bench [--against REV] [NAME…]`: each measurement in its own process, one JSON line each.

With `--against` the measurements of a revision and of the working tree are run alternately and compared.
"""

import json
import subprocess
import sys
from collections import Counter
from threading import Timer
from typing import Final

from tests.bench.compare import compare

BENCHES: Final = {
    "throughput": "events per second, in this process and through a child, against raw SQLite",
    "model_frames": "frames per second of a recorded model stream to a child, against results of a child",
    "lag": "from the time of an entry to its announcement at 2,000 events per second",
    "memory": "the growth of the host's memory over a million events in one run",
    "start": "a worker and `trackside run`, in multiples of `python -c pass`",
    "first_frame": "the first frame of `trackside`, its panes and its open engine, against an empty Textual app",
    "warm": "the time to the first result of a warm child",
    "many_runs": "two hundred runs at once: the longest stall of the loop, and their time",
    "cancel": "from a stop request to the run's recorded end, and the processes left behind",
    "steer": "from sending a message to a run in progress until the runner's pull returns it",
    "steer_elsewhere": "the same from a second process, and a stop by a second process",
    "orphans": "from SIGKILL of the host until all its processes are gone",
    "access": "the gate's decision, and the round trip of a call from a child",
    "pages": "a deep page of a long journal against its first page",
    "reads": "a short read on the kept connection against one in a thread with a pooled connection",
    "cleanup": "commit lag while deleted words are merged out of the index of a million lines",
    "search": "search over a million lines against LIKE, and a deep page of a long conversation",
    "upgrade": "upgrading a database of a million entries, against copying its file",
    "browse": "pages of sessions, hits and state among a million lines, and how long the loop is blocked",
    "browser": "the session browser over ten thousand sessions and a million lines: how long the loop is blocked",
    "sizes": "the sizes of sessions among ten thousand and a million entries, against the list without sizes",
    "keys": "from a key press to the frame that shows it while a runner streams, against RichLog",
    "form": "opening a form of a hundred fields, and the event composer, against an empty screen",
    "hostile": "attacks by hostile runners: how long each blocks the event loop, and its memory",
    "stream": "the stream pane: the cost of an entry against RichLog, its memory, and opening a run of any length",
}
TIMEOUT_SECONDS: Final = 240
"""A measurement is killed after this time."""


def main(arguments: list[str]) -> int:
    """Run the named measurements, or all. A missed limit is no failure: it may be due to other load on the machine."""
    revision, names = _parse(arguments)
    if unknown := [name for name in names if name not in BENCHES]:
        known = "\n".join(f"  {name:12}{description}" for name, description in BENCHES.items())
        print(f"Unknown measurement: {', '.join(unknown)}. Known ones:\n{known}", file=sys.stderr)
        return 2
    if revision is not None:
        return compare(revision, names or list(BENCHES))
    counts: Counter[str] = Counter()
    for name in names or BENCHES:
        counts.update(_run(name))
    kinds = ("ok", "not ok", "without limit", "failed")
    print(json.dumps({"bench": "summary", **{kind: counts[kind] for kind in kinds}}))
    return 0


def _parse(arguments: list[str]) -> tuple[str | None, list[str]]:
    if "--against" not in arguments:
        return None, arguments
    index = arguments.index("--against")
    if index + 1 >= len(arguments):
        sys.exit("--against needs a revision, such as a commit or a tag.")
    return arguments[index + 1], arguments[:index] + arguments[index + 2 :]


def _run(name: str) -> list[str]:
    """Run one measurement and print its lines. Returns the verdict of each line."""
    verdicts: list[str] = []
    with subprocess.Popen([sys.executable, "-m", f"tests.bench.{name}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        timeout = Timer(TIMEOUT_SECONDS, process.kill)
        timeout.start()
        for line in process.stdout:
            print(line, end="", flush=True)
            verdicts.append({True: "ok", False: "not ok", None: "without limit"}[json.loads(line)["ok"]])
        timeout.cancel()
    if process.returncode:
        print(json.dumps({"bench": name, "error": f"ended with code {process.returncode}"}), flush=True)
        verdicts.append("failed")
    return verdicts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
