"""Runs code in a fresh interpreter and says what it has loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def loaded(code: str, *arguments: str, cwd: Path = ROOT) -> tuple[set[str], Any]:
    """Run code in a fresh interpreter. Returns the names of all loaded modules, and the value of `said` in the code."""
    whole = f"import json, sys\nsaid = None\n{code}\nprint()\nprint(json.dumps([sorted(sys.modules), said]))"
    done = subprocess.run(
        [sys.executable, "-c", whole, *arguments],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    modules, said = json.loads(done.stdout.splitlines()[-1])
    return set(modules), said
