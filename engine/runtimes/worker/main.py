"""Started by path in the user's interpreter: `PYTHON worker/main.py WIRE_FD ROOT PATH ATTR FOLDER SEED`.

Reports `ready` as soon as the interpreter runs, then loads the rest. Its syntax stays plain, so that an old
interpreter can still report that it is too old.
"""

import sys

# Modules in the folder of this file must not be found by the runner's imports.
if __name__ == "__main__" and sys.path and sys.path[0].endswith("worker"):
    del sys.path[0]

import gc
import json
import os
from importlib.util import find_spec
from types import ModuleType

OLDEST_PYTHON = (3, 11)


def main() -> None:
    """Take the descriptors, report, and serve."""
    wire_out, root = int(sys.argv[1]), sys.argv[2]
    wire_in = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Processes that the runner starts must not keep our wire open.
    os.set_inheritable(wire_out, False)
    fault = problem()
    ready = {"python": sys.version.split()[0], "problem": fault}
    os.write(wire_out, json.dumps({"seq_id": 0, "action": "ready", "data": ready}).encode() + b"\n")
    if fault is not None:
        sys.exit(1)
    engine = ModuleType("engine")
    engine.__path__ = [os.path.join(root, "engine")]  # noqa: PTH118 - pathlib costs 5 ms here
    sys.modules["engine"] = engine
    # Imports leave no garbage, and collecting takes a twentieth of their time; the modules stay until the end.
    gc.disable()
    from engine.runtimes.worker.server import serve  # noqa: PLC0415 - the package is made above

    gc.freeze()
    gc.enable()
    # The contract is loaded; from here on the runner sees no other part of the engine.
    engine.__path__ = []
    serve(wire_in, wire_out, sys.argv[3:])


def problem() -> "str | None":
    """Return why this interpreter cannot run a runner, or None."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        return f"is Python {sys.version.split()[0]}"
    # Version 1 had no core; finding it is faster than the import.
    if find_spec("pydantic") is None or find_spec("pydantic_core") is None:
        return "has no pydantic 2"
    return None


if __name__ == "__main__":
    main()
