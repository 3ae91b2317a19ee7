"""The fields of a form: a runner's own, the host's, and those of the three policies; each with what it is edited by."""

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
    RESOURCES: "Resources, beyond those of the config",
    STATE: "State",
    DELIVERY: "Delivery",
}


class Kind(StrEnum):
    """What a value is edited by."""

    LINE = "line"
    WHOLE = "whole"
    NUMBER = "number"
    PAGE = "page"
    PROMPT = "prompt"
    SWITCH = "switch"
    ONE = "one"
    MANY = "many"
    RANKED = "ranked"
    """Several in order: the first, and what to fall back on."""
    LINES = "lines"


_KINDS: Final = {
    "string": Kind.LINE,
    "text": Kind.PAGE,
    "integer": Kind.WHOLE,
    "float": Kind.NUMBER,
    "boolean": Kind.SWITCH,
    "select": Kind.ONE,
    "prompt-editor": Kind.PROMPT,
    "llm-model-selector": Kind.ONE,
    "model-fallback-selector": Kind.RANKED,
    "rerank-model-selector": Kind.ONE,
    "knowledge-base-multi-selector": Kind.MANY,
    "file": Kind.ONE,
    "array[file]": Kind.MANY,
    "array[string]": Kind.LINES,
}
_FILES: Final = ("file", "array[file]")
NO_ROOTS: Final = "set `file_roots` in trackside.yaml to choose files here"


@dataclass(frozen=True, slots=True)
class FormField:
    """One row of the form."""

    section: str
    name: str
    kind: Kind
    label: str
    description: str = ""
    type: str = ""
    required: bool = False
    options: "tuple[Option, ...]" = ()
    takes_others: bool = False
    """Whether what is not among the options can be typed."""
    is_secret: bool = False
    when_unknown: str = ""
    """What is said where there are no options, if it is more than that none is known."""
    when_none: str = "not set"
    """What it means that there is no value."""
    when_empty: str = ""
    """What it means that none of them is chosen, where that is not the same."""

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    def label_of(self, value: object) -> str:
        """What a value is called."""
        found = next((option.label for option in self.options if option.value == value), None)
        return one_line(str(value) if found is None else found, 200)


def slots_of(form: "Form") -> tuple[FormField, ...]:
    """All of them, in the order of the form."""
    return (*_config(form), *_resources(form.choices), *_state(form.choices.scopes), *_delivery())


def _config(form: "Form") -> Iterator[FormField]:
    for field in form.fields:
        yield _own(field, form.choices)
    if all(field.name != "timeout" for field in form.fields):
        yield FormField(
            CONFIG, "timeout", Kind.NUMBER, "Timeout", "Seconds for the whole run. 0 is none.", "float",
            when_none="300 s",
        )  # fmt: skip


def _own(field: "Field", choices: "Choices") -> FormField:
    kind = _KINDS[field.type]
    slot = FormField(
        CONFIG, field.name, kind, one_line(field.label, 80), field.description, str(field.type), field.required,
        field.options, takes_others=str(field.type) != "select" or not field.options, is_secret=field.is_secret,
    )  # fmt: skip
    if str(field.type) not in _FILES:
        return slot
    none = "no file lies under the `file_roots` of trackside.yaml"
    return replace(slot, when_unknown=none if choices.has_file_roots else NO_ROOTS)


def _resources(choices: "Choices") -> Iterator[FormField]:
    for name, label, options, none, empty in (
        ("allowed_model_uuids", "Models", choices.models, "none more", ""),
        ("allowed_tool_names", "Tools", choices.tools, "none", ""),
        ("allowed_kb_uuids", "Knowledge bases", choices.knowledge_bases, "none more", ""),
        ("allowed_skill_names", "Skills", choices.skills, "all that are visible", "none at all"),
    ):
        about = f"resource_policy.{name}: what a run may use, as far as the manifest permits it."
        yield FormField(
            RESOURCES, name, Kind.MANY, label, about, "ids", options=options, takes_others=True, when_none=none,
            when_empty=empty,
        )  # fmt: skip
    for kind in ("plugin", "workspace"):
        about = f"Whether a run may use the {kind}'s storage, as far as the manifest permits it."
        yield FormField(
            RESOURCES, f"allow_{kind}_storage", Kind.SWITCH, f"{kind.capitalize()} storage", about, "boolean"
        )


def _state(scopes: "tuple[Option, ...]") -> Iterator[FormField]:
    yield FormField(STATE, "enable_state", Kind.SWITCH, "State", "Whether a run has any state.", "boolean")
    yield FormField(STATE, "state_scopes", Kind.MANY, "Scopes", "What of it a run may read and write.", "scopes",
               options=scopes, when_empty="none")  # fmt: skip


def _delivery() -> Iterator[FormField]:
    yield FormField(DELIVERY, "enable_streaming", Kind.SWITCH, "Streaming", "Whether deltas are delivered.", "boolean")
    yield FormField(DELIVERY, "enable_reply", Kind.SWITCH, "Reply", "Whether answers are delivered at all.", "boolean")
    yield FormField(
        DELIVERY, "max_message_size", Kind.WHOLE, "Longest message", "Characters of one message.", "integer",
        when_none="no limit",
    )  # fmt: skip


def sought(slots: Iterable[FormField], text: str) -> FormField | None:
    """The first field that holds what is looked for; a name that is just that comes before."""
    wanted = text.lower()
    held = [slot for slot in slots if wanted and wanted in f"{slot.label}\n{slot.name}".lower()]
    return next((slot for slot in held if wanted in (slot.name.lower(), slot.label.lower())), next(iter(held), None))
