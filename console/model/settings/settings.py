"""What the console is to be like for one person."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from console.model.settings.palette import Palette
from console.model.settings.problem import Problem


class Settings(NamedTuple):
    """Nothing settled is how the console comes."""

    theme: str | None = None
    is_ascii: bool | None = None
    keys: Mapping[str, str] = MappingProxyType({})
    """Other keys, by command."""
    palettes: Sequence[Palette] = ()
    """Themes of one's own."""
    problems: Sequence[Problem] = ()
    where: str = ""
    """The file, as people know it."""
