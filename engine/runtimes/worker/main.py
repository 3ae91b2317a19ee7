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
    if os.getpid() == 1:  # only in a sandbox
        fork_worker()
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


def fork_worker() -> None:
    """Return in a fork. This process waits for the fork's end, and ends the sandbox in the same way."""
    worker = os.fork()
    if worker == 0:
        return
    # Imported here: the fork, for which the run waits, does without them.
    import faulthandler  # noqa: PLC0415
    import signal  # noqa: PLC0415

    # A handler would let the runner's signals in: without one, process 1 gets none from its own namespace.
    faulthandler.disable()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The host waits for the end of these pipes.
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    ended = status = 0
    while ended != worker:  # it also reaps what the runner leaves
        ended, status = os.wait()
    if os.WIFSIGNALED(status):
        # Bubblewrap's process outside is in this group. It dies of the signal, and the host sees which one it was.
        os.kill(0, os.WTERMSIG(status))
        os._exit(128 + os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


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
