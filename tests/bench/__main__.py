"""`python -m tests.bench [NAME…]`: each measurement in a process of its own, one JSON line each, then a count."""

import json
import subprocess
import sys
from collections import Counter
from threading import Timer
from typing import Final

BENCHES: Final = {
    "throughput": "events a second, in this process and through a child, against raw SQLite",
    "lag": "from recorded to told at 2,000 events a second",
    "memory": "the host over a million events in one run",
    "start": "a worker and `trackside run`, in multiples of `python -c pass`",
    "first_frame": "`trackside` in a terminal: its first frame against an empty Textual app, and its engine open",
    "warm": "the first result of a warm child",
    "cancel": "from a cancel to the run's recorded end, wherever its runner is, and what is left of it",
    "steer": "from a message that is sent to a working run until the runner's pull has it",
    "orphans": "how soon nothing is left of a host that was killed",
    "access": "the gate's decision, and a call from a child and back",
    "pages": "a page deep in a long journal",
    "search": "search over a million lines against LIKE, and a page deep in a long conversation",
    "browse": "pages of sessions, hits and state among a million lines, and how long the loop stands meanwhile",
    "browser": "the session browser over ten thousand sessions and a million lines: how long the loop stands",
    "keys": "from a key to the frame that shows it while a runner streams, against RichLog",
    "form": "the form of a runner with a hundred fields: from the key to its frame, against an empty screen",
    "stream": "the stream pane: what an entry costs against RichLog, what it keeps, and opening a run of any length",
}
LONGEST: Final = 240
"""Seconds after which a measurement is given up."""


def main(names: list[str]) -> None:
    """Run the named ones, or all. It reports and never fails: a busy machine is not a fault."""
    if unknown := [name for name in names if name not in BENCHES]:
        known = "\n".join(f"  {name:12}{what}" for name, what in BENCHES.items())
        print(f"no measurement called {', '.join(unknown)}. There are:\n{known}", file=sys.stderr)
        return
    counts: Counter[str] = Counter()
    for name in names or BENCHES:
        counts.update(_run(name))
    print(json.dumps({"bench": "summary", **{kind: counts[kind] for kind in ("ok", "not ok", "told only", "broken")}}))


def _run(name: str) -> list[str]:
    """What became of each line of one measurement."""
    verdicts: list[str] = []
    with subprocess.Popen([sys.executable, "-m", f"tests.bench.{name}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        patience = Timer(LONGEST, process.kill)
        patience.start()
        for line in process.stdout:
            print(line, end="", flush=True)
            verdicts.append({True: "ok", False: "not ok", None: "told only"}[json.loads(line)["ok"]])
        patience.cancel()
    if process.returncode:
        print(json.dumps({"bench": name, "error": f"ended with code {process.returncode}"}), flush=True)
        verdicts.append("broken")
    return verdicts


if __name__ == "__main__":
    main(sys.argv[1:])
