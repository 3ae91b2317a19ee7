"""Base classes of the contract's models."""

from typing import Final

from pydantic import BaseModel, ConfigDict

LARGEST_INTEGER: Final = 2**63 - 1
"""The range of an integer column."""

Seconds = int
"""A point in time as the host sends it: whole seconds since 1970, UTC."""
Moment = str | int | float
"""A point in time as a platform or a runner may send it: RFC 3339, or seconds since 1970."""


class Model(BaseModel):
    """A part of the contract. Unknown keys of a newer peer are ignored.

    Validators are built at first use: building all of them would double the import that every child waits for.
    """

    # `model_id` and its like are names of the contract; older pydantic warns about that prefix.
    model_config = ConfigDict(extra="ignore", defer_build=True, protected_namespaces=())


class StrictModel(Model):
    """A part of the contract in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")


class OpenModel(Model):
    """A part of the contract that keeps unknown keys."""

    model_config = ConfigDict(extra="allow")
