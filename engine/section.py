"""What the sections of every YAML file of ours have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

PathText = Annotated[str, StringConstraints(min_length=1)]
"""A path, relative to the file that says it."""
ResourceName = Annotated[str, StringConstraints(pattern=r"^\S{1,128}$")]
"""What a model, a tool or a knowledge base is called."""


class Section(BaseModel):
    """A mapping whose keys are all known."""

    # Strict: YAML has types of its own, and `yes` for a text is a slip worth a word. Validators are built at first
    # use: a folder without a config never pays for them.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
