"""Settings as YAML, in the words of an agent of trackside.yaml, and back again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from engine.intake.agents import DeliveryPolicy, ResourcePolicy, StatePolicy
from engine.intake.settings import KeptSettings
from engine.runners.errors import Broken
from engine.runners.faults import faults
from engine.runners.forms import ConfigForm
from engine.runners.keys import KeyPath, dotted
from engine.section import Section

_NOWHERE: Final = Path("settings")
_ODD_ENDS: Final = frozenset("\r\x85\u2028\u2029")


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What is wrong, and on which line it is written."""

    line: int | None
    key: str
    message: str
    warning: bool = False
    """True where it can be used all the same."""

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.key} {self.message}" if self.key else f"{place}{self.message}"


class _Written(Section):
    """What such a text may say."""

    config: dict[str, Any] | None = None
    resources: Annotated[ResourcePolicy | None, Field(strict=False)] = None
    state: Annotated[StatePolicy | None, Field(strict=False)] = None
    delivery: Annotated[DeliveryPolicy | None, Field(strict=False)] = None


def to_yaml(settings: KeptSettings) -> str:
    """The settings as they could stand under an agent; nothing set is an empty text."""
    import yaml  # noqa: PLC0415  (26 ms that a run need not pay)

    class Dumper(yaml.SafeDumper):
        """Text of several lines stands as it is; line ends that only Unicode knows are escaped, or they would turn."""

    def text(dumper: Any, value: str) -> yaml.Node:
        style = '"' if not _ODD_ENDS.isdisjoint(value) else "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)

    Dumper.add_representer(str, text)
    value = settings.value()
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100) if value else ""


def from_yaml(text: str, form: ConfigForm) -> tuple[KeptSettings | None, tuple[LineProblem, ...]]:
    """The settings that a text says, and all that is wrong with it, by line; none where it cannot be used."""
    from engine.runners.document import parse  # noqa: PLC0415  (the same 26 ms)

    try:
        document = parse(text.encode(errors="surrogatepass"), _NOWHERE)
    except Broken as error:
        return None, (LineProblem(error.line, "", error.reason),)

    def problem(keys: KeyPath, message: str, *, warning: bool = False) -> LineProblem:
        return LineProblem(document.line(keys) or (1 if keys else None), dotted(keys), message, warning)

    try:
        written = _Written.model_validate({} if document.value is None else document.value)
    except ValidationError as error:
        return None, _in_order([problem(keys, message) for keys, message in faults(error)])
    said = {name: value for name in written.model_fields_set if (value := getattr(written, name)) is not None}
    problems = [
        problem(("config", fault.field), fault.message, warning=fault.warning)
        for fault in form.check_some(written.config or {})
    ]
    settings = None if any(not found.warning for found in problems) else KeptSettings(**said)
    return settings, _in_order(problems)


def _in_order(problems: list[LineProblem]) -> tuple[LineProblem, ...]:
    return tuple(sorted(problems, key=lambda found: found.line or 0))
