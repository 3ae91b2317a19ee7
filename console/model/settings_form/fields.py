"""The fields of a settings form: of the runner's config, of the host, and of the three policies."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console.model.text.safe import one_line

if TYPE_CHECKING:
    from engine.api import Choices, Field, Form, Option

CONFIG, RESOURCES, STATE, DELIVERY = "config", "resources", "state", "delivery"
SECTIONS: Final = {
    CONFIG: "Config",
    RESOURCES: "Additional resources",
    STATE: "State",
    DELIVERY: "Delivery",
}


class FieldKind(StrEnum):
    """How a value is edited."""

    LINE = "line"
    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    """Several lines."""
    PROMPT = "prompt"
    SWITCH = "switch"
    ONE = "one"
    """One option of a list."""
    MANY = "many"
    """Several options of a list."""
    RANKED = "ranked"
    """Several options in order: the first one, and fallbacks."""
    LINES = "lines"
    """A list of strings, one per line."""


SELECTIONS: Final = (FieldKind.ONE, FieldKind.MANY, FieldKind.RANKED)
TEXTS: Final = (FieldKind.TEXT, FieldKind.PROMPT, FieldKind.LINES)
_KINDS: Final = {
    "string": FieldKind.LINE,
    "text": FieldKind.TEXT,
    "integer": FieldKind.INTEGER,
    "float": FieldKind.NUMBER,
    "boolean": FieldKind.SWITCH,
    "select": FieldKind.ONE,
    "prompt-editor": FieldKind.PROMPT,
    "llm-model-selector": FieldKind.ONE,
    "model-fallback-selector": FieldKind.RANKED,
    "rerank-model-selector": FieldKind.ONE,
    "knowledge-base-multi-selector": FieldKind.MANY,
    "file": FieldKind.ONE,
    "array[file]": FieldKind.MANY,
    "array[string]": FieldKind.LINES,
}
_FILE_TYPES: Final = ("file", "array[file]")
NO_FILES: Final = "no files under the `file_roots` of trackside.yaml"
NO_FILE_ROOTS: Final = "set `file_roots` in trackside.yaml to choose files here"


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of the form."""

    section: str
    name: str
    kind: FieldKind
    label: str
    description: str = ""
    type: str = ""
    required: bool = False
    options: "tuple[Option, ...]" = ()
    allows_others: bool = False
    """Whether the user can type a value that is not an option."""
    is_secret: bool = False
    no_options_text: str = ""
    """Why there are no options, if the reason is known."""
    none_text: str = "not set"
    """The meaning of no value."""
    empty_text: str = ""
    """The meaning of an empty selection, if it differs from no value."""

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    def label_of(self, value: object) -> str:
        """The label of an option, or the value itself."""
        found = next((option.label for option in self.options if option.value == value), None)
        return one_line(str(value) if found is None else found, 200)


def form_fields(form: "Form") -> tuple[FormField, ...]:
    """All fields in the order of the form."""
    return (*_config(form), *_resources(form.choices), *_state(form.choices.scopes), *_delivery())


def _config(form: "Form") -> Iterator[FormField]:
    for field in form.fields:
        yield _config_field(field, form.choices)
    if all(field.name != "timeout" for field in form.fields):
        yield FormField(
            CONFIG, "timeout", FieldKind.NUMBER, "Timeout", "Seconds for the whole run; 0 means no limit.", "float",
            none_text="300 s",
        )  # fmt: skip


def _config_field(field: "Field", choices: "Choices") -> FormField:
    found = FormField(
        CONFIG, field.name, _KINDS[field.type], one_line(field.label, 80), field.description, str(field.type),
        field.required, field.options, allows_others=str(field.type) != "select" or not field.options,
        is_secret=field.is_secret,
    )  # fmt: skip
    if str(field.type) not in _FILE_TYPES:
        return found
    return replace(found, no_options_text=NO_FILES if choices.has_file_roots else NO_FILE_ROOTS)


def _resources(choices: "Choices") -> Iterator[FormField]:
    for name, label, options, none, empty in (
        ("allowed_model_uuids", "Models", choices.models, "none", ""),
        ("allowed_tool_names", "Tools", choices.tools, "none", ""),
        ("allowed_kb_uuids", "Knowledge bases", choices.knowledge_bases, "none", ""),
        ("allowed_skill_names", "Skills", choices.skills, "all visible ones", "none"),
    ):
        about = f"resource_policy.{name}: what a run may use, if the manifest permits it."
        yield FormField(
            RESOURCES, name, FieldKind.MANY, label, about, "ids", options=options, allows_others=True, none_text=none,
            empty_text=empty,
        )  # fmt: skip
    for kind in ("plugin", "workspace"):
        about = f"Whether a run may use the {kind}'s storage, if the manifest permits it."
        yield FormField(
            RESOURCES, f"allow_{kind}_storage", FieldKind.SWITCH, f"{kind.capitalize()} storage", about, "boolean"
        )


def _state(scopes: "tuple[Option, ...]") -> Iterator[FormField]:
    yield FormField(STATE, "enable_state", FieldKind.SWITCH, "State", "Whether a run has state.", "boolean")
    yield FormField(
        STATE, "state_scopes", FieldKind.MANY, "Scopes", "The scopes that a run may read and write.", "scopes",
        options=scopes, empty_text="none",
    )  # fmt: skip


def _delivery() -> Iterator[FormField]:
    for name, label, about in (
        ("enable_streaming", "Streaming", "Whether deltas are delivered."),
        ("enable_reply", "Reply", "Whether answers are delivered at all."),
    ):
        yield FormField(DELIVERY, name, FieldKind.SWITCH, label, about, "boolean")
    yield FormField(
        DELIVERY, "max_message_size", FieldKind.INTEGER, "Maximum message size", "Characters of one message.",
        "integer", none_text="no limit",
    )  # fmt: skip


def find_field(fields: Iterable[FormField], text: str) -> FormField | None:
    """The field with this name or label, else the first one that contains the text."""
    wanted = text.lower()
    found = [field for field in fields if wanted and wanted in f"{field.label}\n{field.name}".lower()]
    exact = (field for field in found if wanted in (field.name.lower(), field.label.lower()))
    return next(exact, next(iter(found), None))
