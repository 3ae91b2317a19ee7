"""Saved settings as YAML, with the keys of an agent in trackside.yaml, and back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from engine.project.agents import DeliveryPolicy, ResourcePolicy, StatePolicy
from engine.project.kept_settings import KeptSettings
from engine.runners.config_form import ConfigForm
from engine.runners.document import KeyPath, dotted
from engine.runners.errors import InvalidFile
from engine.runners.validation_text import faults
from engine.yaml_model import YamlModel

_NO_FILE: Final = Path("settings")
_UNICODE_LINE_ENDS: Final = frozenset("\r\x85\u2028\u2029")


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A problem of the settings, and its line."""

    line: int | None
    key: str
    message: str
    warning: bool = False
    """True if the settings can be used in spite of the problem."""

    def __str__(self) -> str:
        prefix = "" if self.line is None else f"line {self.line}: "
        return f"{prefix}{self.key} {self.message}" if self.key else f"{prefix}{self.message}"


class _SettingsSection(YamlModel):
    """The keys that the YAML may have."""

    config: dict[str, Any] | None = None
    resources: Annotated[ResourcePolicy | None, Field(strict=False)] = None
    state: Annotated[StatePolicy | None, Field(strict=False)] = None
    delivery: Annotated[DeliveryPolicy | None, Field(strict=False)] = None


def to_yaml(settings: KeptSettings) -> str:
    """The settings as YAML that can be pasted under an agent; empty if nothing is set."""
    import yaml  # noqa: PLC0415  (26 ms that a run need not pay)

    class Dumper(yaml.SafeDumper):
        """Writes multi-line text as a block; escapes Unicode line ends, which YAML would change."""

    def text(dumper: Any, value: str) -> yaml.Node:
        style = '"' if not _UNICODE_LINE_ENDS.isdisjoint(value) else "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)

    Dumper.add_representer(str, text)
    value = settings.to_json()
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100) if value else ""


def from_yaml(text: str, form: ConfigForm) -> tuple[KeptSettings | None, tuple[LineProblem, ...]]:
    """The settings of a YAML text, or None if it is invalid, and its problems by line."""
    from engine.runners.document import parse  # noqa: PLC0415  (the same 26 ms)

    try:
        document = parse(text.encode(errors="surrogatepass"), _NO_FILE)
    except InvalidFile as error:
        return None, (LineProblem(error.line, "", error.reason),)

    def problem(keys: KeyPath, message: str, *, warning: bool = False) -> LineProblem:
        return LineProblem(document.line(keys) or (1 if keys else None), dotted(keys), message, warning)

    try:
        written = _SettingsSection.model_validate({} if document.value is None else document.value)
    except ValidationError as error:
        return None, _in_order([problem(keys, message) for keys, message in faults(error)])
    values = {name: value for name in written.model_fields_set if (value := getattr(written, name)) is not None}
    problems = [
        problem(("config", fault.field), fault.message, warning=fault.warning)
        for fault in form.check_some(written.config or {})
    ]
    settings = None if any(not found.warning for found in problems) else KeptSettings(**values)
    return settings, _in_order(problems)


def _in_order(problems: list[LineProblem]) -> tuple[LineProblem, ...]:
    return tuple(sorted(problems, key=lambda found: found.line or 0))
