"""The fields of a runner's form as a screen shows them, with their options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.protocol.manifest import AgentRunnerManifest, ConfigItem, FieldType
from engine.runners.locales import local

_TYPED: Final = frozenset({FieldType.STRING, FieldType.TEXT, FieldType.PROMPT_EDITOR, FieldType.STRINGS})


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a field."""

    value: Any
    """The stored value."""
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form, in the user's language."""

    name: str
    type: FieldType
    label: str
    description: str
    required: bool
    default: Any
    options: tuple[Option, ...]
    """Options of a select or selector. A selector accepts other ids too; grants leave unknown ones out."""
    is_secret: bool
    """Whether the value is masked: its name suggests a secret and its type can hold one."""


def can_be_secret(item: ConfigItem) -> bool:
    """Whether the user types the value. Numbers, switches and choices are never masked."""
    return item.type in _TYPED or (item.type == FieldType.SELECT and not item.options)


def fields_of(
    manifest: AgentRunnerManifest, locale: str, known: Mapping[FieldType, Sequence[Option]], secret: frozenset[str]
) -> tuple[Field, ...]:
    """Return the form's fields in order. `known` has the options of selectors, `secret` the names of secret fields."""
    return tuple(_field(item, locale, known, item.name in secret) for item in manifest.config_schema)


def _field(item: ConfigItem, locale: str, known: Mapping[FieldType, Sequence[Option]], is_secret: bool) -> Field:
    own = (Option(option.name, local(option.label, locale) or str(option.name)) for option in item.options or ())
    return Field(
        name=item.name,
        type=item.type,
        label=local(item.label, locale) or item.name,
        description=local(item.description, locale),
        required=item.required,
        default=item.default,
        options=tuple(own) or tuple(known.get(item.type, ())),
        is_secret=is_secret,
    )
