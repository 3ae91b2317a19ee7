"""The process of a run, in words."""

from engine.events import RunProcess


def process_summary(process: RunProcess) -> str:
    """Return one short line: `new, Python 3.11.7`."""
    kind = "new" if process.is_fresh else "reused"
    return f"{kind}, Python {process.python_version}" if process.python_version else kind


def process_lines(process: RunProcess) -> list[str]:
    """Return interpreter, seeds and variables, one line each."""
    hash_seed = "chosen by Python" if process.hash_seed is None else str(process.hash_seed)
    return [
        f"interpreter: {process.python}",
        f"hash seed: {hash_seed}",
        f"random seed: {process.random_seed or 'none'}",
        f"variables passed on: {', '.join(process.variables) or 'none'}",
    ]
