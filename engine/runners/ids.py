"""Runner ids of the form `plugin:AUTHOR/PLUGIN/RUNNER`."""

import re
from dataclasses import dataclass
from typing import Final, Self

from engine.runners.errors import RunnerNotFound

_PART: Final = r"[^/\s\x00-\x1f\x7f](?:[^/\r\n\t\x00-\x1f\x7f]*[^/\s\x00-\x1f\x7f])?"
_ID: Final = re.compile(rf"plugin:({_PART})/({_PART})/({_PART})")


@dataclass(frozen=True, slots=True, order=True)
class RunnerId:
    """The parts of a runner id."""

    author: str
    plugin: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a runner id. Raises RunnerNotFound for any other form."""
        match = _ID.fullmatch(text)
        if match is None:
            raise RunnerNotFound(f"{text!r} is not a runner id. Runner ids look like plugin:AUTHOR/PLUGIN/RUNNER.")
        return cls(*match.groups())

    @property
    def plugin_id(self) -> str:
        """`author/plugin`, as allowed lists and storage use it."""
        return f"{self.author}/{self.plugin}"

    def __str__(self) -> str:
        return f"plugin:{self.author}/{self.plugin}/{self.name}"
