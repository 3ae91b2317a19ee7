"""The seeds of a child: of its hashes, and of `random` and `uuid.uuid4` in its first run."""

from collections.abc import Callable
from typing import Final, NamedTuple

from engine.runtimes.runtime import Launch

HASH_SEED: Final = "PYTHONHASHSEED"
RandomBits = Callable[[int], int]
"""Returns a random number of so many bits, like `secrets.randbits`."""
MAX_HASH_SEED: Final = 2**32 - 1


class Seeds(NamedTuple):
    """The seeds that a new child gets. None means that the interpreter chooses."""

    hash_seed: int | None = None
    random_seed: str | None = None
    """128 bits as hexadecimal digits, because JSON numbers end at 64 bits."""


def new_seeds(launch: Launch, bits: RandomBits) -> Seeds:
    """Choose the seeds of a new child. A hash seed that the user passes on wins."""
    hash_seed = (bits(32) or 1) if launch.is_deterministic else None
    given = dict(launch.env).get(HASH_SEED)
    return Seeds(hash_seed if given is None else _read_hash_seed(given), new_random_seed(launch, bits))


def new_random_seed(launch: Launch, bits: RandomBits) -> str | None:
    """Choose the random seed of a run; None if the runs of this launch are not seeded."""
    return f"{bits(128):032x}" if launch.is_deterministic else None


def _read_hash_seed(text: str) -> int | None:
    """Return a value of PYTHONHASHSEED as a number; None for `random`, and for text that interpreters refuse."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else MAX_HASH_SEED + 1
    return number if number <= MAX_HASH_SEED else None
