"""A runner's form as a screen asks for it: each field in words, with what can be chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.protocol.manifest import AgentRunnerManifest, ConfigItem, FieldType
from engine.runners.locales import local

_TYPED: Final = frozenset({FieldType.STRING, FieldType.TEXT, FieldType.PROMPT_EDITOR, FieldType.STRINGS})


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be chosen."""

    value: Any
    """What is stored."""
    label: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form, in the language of whoever fills it in."""

    name: str
    type: FieldType
    label: str
    description: str
    required: bool
    default: Any
    options: tuple[Option, ...]
    """Of a select and of the selectors; a selector takes other ids too, which grants then leave out."""
    is_secret: bool
    """Whether its name says that the value must not be shown, and its type that it could be a secret."""


def can_be_secret(item: ConfigItem) -> bool:
    """Whether it holds what someone types: a number, a switch and what is chosen from a list may be seen by anyone."""
    return item.type in _TYPED or (item.type == FieldType.SELECT and not item.options)


def fields_of(
    manifest: AgentRunnerManifest, locale: str, known: Mapping[FieldType, Sequence[Option]], secret: frozenset[str]
) -> tuple[Field, ...]:
    """The form's fields in order. `known` has what selectors can choose, `secret` the names of secret fields."""
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
