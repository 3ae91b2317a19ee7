"""Seeds `random` and `uuid.uuid4`, so that a run can be repeated with the seed that its journal has."""

import random
import uuid
from collections.abc import Callable
from typing import Any, Final

_seed_random: Final = random.seed
_UUIDS: Final = random.Random()  # noqa: S311 - it must be repeatable
"""The source of `uuid.uuid4`: an author's seed of `random` does not change ids, and ids use up no random numbers."""
_author: Final = {"has_seeded": False}


def install(seed: str) -> None:
    """Seed both generators, and note from now on whether the runner's code seeds `random` itself."""
    start_run(seed)
    random.seed = _noting(random.seed)
    random.setstate = _noting(random.setstate)
    uuid.uuid4 = _uuid4


def start_run(seed: str) -> None:
    """Seed both generators for a run. An author's own seed of `random` stays in force."""
    if not _author["has_seeded"]:
        _seed_random(int(seed, 16))
    _UUIDS.seed(f"uuid4 {seed}")


def _noting(seed: Callable[..., None]) -> Callable[..., None]:
    def noting(*arguments: Any, **named: Any) -> None:
        _author["has_seeded"] = True
        seed(*arguments, **named)

    noting.__name__ = noting.__qualname__ = seed.__name__
    noting.__doc__ = seed.__doc__
    return noting


def _uuid4() -> uuid.UUID:
    """Return a random UUID, from the seed of the run."""
    return uuid.UUID(int=_UUIDS.getrandbits(128), version=4)
