"""Checks, completes and reads a runner's config by the form that its manifest declares."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson

from engine.events import NOTHING_CHOSEN
from engine.protocol.manifest import AgentRunnerManifest, ConfigItem, FieldType
from engine.runners.errors import FormError

TIMEOUT: Final = "timeout"
HOST_FIELDS: Final = frozenset({TIMEOUT})
"""Keys that the host itself reads from a runner's config; a form need not declare them."""
UNWRITABLE: Final = "must be valid JSON, with integers of at most 64 bits"


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field that does not fit, with the reason."""

    field: str
    message: str
    warning: bool = False
    """Whether the config can be used in spite of it."""

    def __str__(self) -> str:
        return f"{self.field} {self.message}"


class ConfigForm:
    """The form of one runner. Completes, checks and reads its config."""

    def __init__(self, manifest: AgentRunnerManifest) -> None:
        self._runner = manifest.id
        self._items = {item.name: item for item in manifest.config_schema}

    def complete(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the config with the defaults of missing fields."""
        defaults = {name: item.default for name, item in self._items.items() if item.default is not None}
        return deepcopy(defaults) | dict(config)  # a default must not change by use

    def check(self, config: Mapping[str, Any]) -> list[FieldProblem]:
        """Return the problems of a completed config, in the order of the form."""
        problems = [
            FieldProblem(name, message)
            for name, item in self._items.items()
            if (message := _complaint(item, config.get(name))) is not None
        ]
        problems += [FieldProblem(name, UNWRITABLE) for name, value in config.items() if _is_unwritable(value)]
        unknown = [name for name in config if name not in self._items and name not in HOST_FIELDS]
        problems += [FieldProblem(name, "is not in the runner's form", warning=True) for name in unknown]
        odd = self._odd_timeout(config.get(TIMEOUT))
        is_told = any(problem.field == TIMEOUT for problem in problems)
        return problems if odd is None or is_told else [*problems, odd]

    def check_field(self, field: str, value: object) -> FieldProblem | None:
        """Return the problem of one field's value, in the words of `check`."""
        item = self._items.get(field)
        message = None if item is None else _complaint(item, value)
        if message is None and _is_unwritable(value):
            message = UNWRITABLE
        if message is None:
            return self._odd_timeout(value) if field == TIMEOUT else None
        return FieldProblem(field, message)

    def check_some(self, config: Mapping[str, Any]) -> list[FieldProblem]:
        """Return the problems of a partial config; missing fields are no problem."""
        return [problem for problem in self.check(config) if problem.field in config]

    def require(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the completed config. Raises FormError with the runner and every field that does not fit."""
        completed = self.complete(config)
        faults = [str(problem) for problem in self.check(completed) if not problem.warning]
        if faults:
            raise FormError(f"config of {self._runner}: {'; '.join(faults)}.")
        return completed

    def read(self, field: str, text: str) -> Any:
        """Convert the text of `--set field=text` to the field's value."""
        item = self._items.get(field)
        if item is None:
            return _json_or_text(text)
        value = _READERS.get(item.type, _json_or_text)(text)
        if (message := _complaint(item, value)) is not None:
            raise FormError(f"config of {self._runner}: {field} {message}.")
        return value

    def language_models(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the ids of models that the config selects, each once."""
        ids: list[object] = []
        for item in self._of_kind(FieldType.LLM_MODEL, FieldType.MODEL_FALLBACK):
            value = config.get(item.name)
            if isinstance(value, dict):
                chosen = cast("dict[str, Any]", value)
                ids += [chosen.get("primary"), *_listed(chosen.get("fallbacks"))]
            else:
                ids.append(value)
        return _chosen(ids)

    def rerank_models(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the ids of rerank models that the config selects."""
        return _chosen(config.get(item.name) for item in self._of_kind(FieldType.RERANK_MODEL))

    def knowledge_bases(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the ids of knowledge bases that the config selects."""
        items = self._of_kind(FieldType.KNOWLEDGE_BASES)
        return _chosen(base for item in items for base in _listed(config.get(item.name)))

    def files(self, config: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of the config's file fields: a key, or a mapping with one."""
        single = [config.get(item.name) for item in self._of_kind(FieldType.FILE)]
        many = [file for item in self._of_kind(FieldType.FILES) for file in _listed(config.get(item.name))]
        return tuple(file for file in single + many if not is_nothing(file))

    def prompt(self, config: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
        """Return the first prompt field as messages; plain text becomes a system message."""
        for item in self._of_kind(FieldType.PROMPT_EDITOR):
            value = config.get(item.name)
            if isinstance(value, str) and value:
                return ({"role": "system", "content": value},)
            if messages := _listed(value):
                return tuple(messages)
        return ()

    def _odd_timeout(self, value: object) -> FieldProblem | None:
        """Warn about a timeout that the host treats as no deadline although it is not empty."""
        item = self._items.get(TIMEOUT)
        if is_nothing(value) or (item is not None and item.required):
            return None
        wanted = "finite" if _is_infinite(value) else None if _is_number(value) else "a number of seconds"
        if wanted is None:
            return None
        return FieldProblem(TIMEOUT, f"must be {wanted}; with this value the run has no deadline", warning=True)

    def _of_kind(self, *kinds: FieldType) -> list[ConfigItem]:
        return [item for item in self._items.values() if item.type in kinds]


def is_nothing(value: object) -> bool:
    """Whether the value means that nothing was chosen."""
    return value is None or (isinstance(value, str) and value in NOTHING_CHOSEN)


def _is_infinite(value: object) -> bool:
    """Whether the value is `inf` or `nan`."""
    return isinstance(value, float) and not math.isfinite(value)


def _complaint(item: ConfigItem, value: object) -> str | None:
    """Return the problem of a field's value, or None. Never quotes the value, which may be a secret."""
    if is_nothing(value) or (item.required and value in ([], {})):
        return "is required" if item.required else None
    if item.type == FieldType.SELECT:
        options = [option.name for option in item.options or ()]
        return None if not options or value in options else f"must be one of {', '.join(map(str, options))}"
    fits, wanted = _CHECKS[item.type]
    if item.type == FieldType.FLOAT and _is_infinite(value):
        return "must be finite"
    return None if fits(value) else f"must be {wanted}, not {_what(value)}"


def _is_unwritable(value: object) -> bool:
    """Whether the value cannot be passed to a runner and recorded, independent of the form."""
    try:
        orjson.dumps(value)
    except (TypeError, ValueError):
        return True
    return False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_integer(value) or (isinstance(value, float) and not _is_infinite(value))


def _is_fallbacks(value: object) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, str)
    chosen = cast("dict[str, Any]", value)
    fallbacks = chosen.get("fallbacks")
    return (
        isinstance(chosen.get("primary", ""), str | None)
        and (fallbacks is None or _is_texts(fallbacks))
        and not chosen.keys() - {"primary", "fallbacks"}
    )


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in cast("list[object]", value))


def _is_prompt(value: object) -> bool:
    if not isinstance(value, list):
        return isinstance(value, str)
    return all(isinstance(entry, dict) and "role" in entry for entry in cast("list[object]", value))


def _is_file(value: object) -> bool:
    return isinstance(value, (str, dict))


def _is_files(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_file, cast("list[object]", value)))


Check = tuple[Callable[[object], bool], str]
_CHECKS: Final[Mapping[FieldType, Check]] = {
    FieldType.STRING: (_is_text, "text"),
    FieldType.TEXT: (_is_text, "text"),
    FieldType.INTEGER: (_is_integer, "an integer"),
    FieldType.FLOAT: (_is_number, "a number"),
    FieldType.BOOLEAN: (lambda value: isinstance(value, bool), "true or false"),
    FieldType.PROMPT_EDITOR: (_is_prompt, "text or a list of {role, content}"),
    FieldType.LLM_MODEL: (_is_text, "the id of a model"),
    FieldType.MODEL_FALLBACK: (_is_fallbacks, "the id of a model or {primary, fallbacks: []}"),
    FieldType.RERANK_MODEL: (_is_text, "the id of a model"),
    FieldType.KNOWLEDGE_BASES: (_is_texts, "a list of knowledge base ids"),
    FieldType.FILE: (_is_file, "a file key"),
    FieldType.FILES: (_is_files, "a list of file keys"),
    FieldType.STRINGS: (_is_texts, "a list of texts"),
}


def _what(value: object) -> str:
    """Describe the type of a value."""
    if _is_infinite(value):
        return "a number that is not finite"
    kinds: tuple[tuple[type, str], ...] = (
        (bool, "a boolean"), (int, "a number"), (float, "a decimal number"), (str, "text"),
    )  # fmt: skip
    named = next((word for kind, word in kinds if isinstance(value, kind)), None)
    return named or ("a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else "nothing")


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda word: word)
    except (ValueError, RecursionError):
        return text


def _texts(text: str) -> Any:
    """Parse a JSON list, or words separated by commas."""
    return _json_or_text(text) if text.startswith("[") else [word.strip() for word in text.split(",") if word.strip()]


def _boolean(text: str) -> Any:
    return {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }.get(text.strip().lower(), text)


_READERS: Final[Mapping[FieldType, Callable[[str], Any]]] = {
    FieldType.STRING: str,
    FieldType.TEXT: str,
    FieldType.BOOLEAN: _boolean,
    FieldType.LLM_MODEL: str,
    FieldType.RERANK_MODEL: str,
    FieldType.KNOWLEDGE_BASES: _texts,
    FieldType.STRINGS: _texts,
    FieldType.FILES: _texts,
}
"""Field types whose text is not parsed as JSON: a text field may hold `5`, a model may be called `true`."""


def _listed(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _chosen(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str) and not is_nothing(value)))
