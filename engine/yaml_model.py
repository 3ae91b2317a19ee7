"""The base class of every section of our YAML files."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

PathText = Annotated[str, StringConstraints(min_length=1)]
"""A path, relative to the file that contains it."""
ResourceName = Annotated[str, StringConstraints(pattern=r"^\S{1,128}$")]
"""The name of a model, a tool or a knowledge base."""


class YamlModel(BaseModel):
    """A mapping that rejects unknown keys."""

    # Strict: YAML has types of its own, and `yes` instead of text is a mistake worth reporting. Validators are built at
    # first use, so a folder without a config does not pay for them.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
