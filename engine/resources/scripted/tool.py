"""A scripted tool, its YAML form, and the check of its parameters."""

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import AfterValidator, Field, model_validator

from engine.protocol.errors import ErrorCode
from engine.resources.catalog import ToolFact
from engine.resources.interfaces import ResourceError
from engine.resources.scripted.behaviour import Rule, Rules, ScriptedBehaviour, Sleep, contains_all, wait
from engine.resources.scripted.model_script import refuse_both
from engine.yaml_model import PathText, ResourceName, YamlModel

Values = dict[str, Any]

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or _is_whole(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def check_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """For validators: raise ValueError if the schema cannot be used for the check."""
    if schema.get("type", "object") != "object":
        raise ValueError("must be a JSON Schema of type object")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in cast("list[Any]", required)):
        raise ValueError("must have names in its required")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(
        isinstance(each, dict) for each in cast("Values", properties).values()
    ):
        raise ValueError("must have a JSON Schema for each parameter in its properties")
    for name in cast("Values", properties):
        if any(kind not in tuple(_TYPES) for kind in _kinds(cast("Values", properties), name)):
            raise ValueError(f"has a type for {name} that is none of {', '.join(_TYPES)}")
    return schema


def find_problem(schema: Mapping[str, Any], parameters: Mapping[str, Any]) -> str | None:
    """Return the first problem of the parameters, or None. Checks required names and top-level types."""
    for name in schema.get("required", ()):
        if name not in parameters:
            return f"parameters.{name} is missing"
    for name, value in parameters.items():
        kinds = _kinds(schema.get("properties", {}), name)
        if kinds and not any(_TYPES[kind](value) for kind in kinds):
            return f"parameters.{name} must be of type {' or '.join(kinds)}"
    return None


def _kinds(properties: Mapping[str, Any], name: str) -> list[Any]:
    """Return the types that a parameter may have; an empty list means any."""
    kind: Any = properties.get(name, {}).get("type", [])
    return cast("list[Any]", kind) if isinstance(kind, list) else [kind]


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


class Answer(ScriptedBehaviour):
    """The reply to one call: any JSON, or a failure."""

    result: Any = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.check_failure()
        if self.fails() == ("result" in self.model_fields_set):
            raise ValueError("must have either a result or a failure (error, status)")
        return self


class AnswerRule(Answer, Rule):
    """An answer with its conditions."""

    match: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Parameters that the call must have; others are ignored."""

    def conditions(self) -> list[str]:
        return [f"{name} = {value!r:.80}" for name, value in self.match.items()]


class ToolBody(YamlModel):
    """A tool without its name."""

    description: str = ""
    parameters: Annotated[dict[str, Any], AfterValidator(check_schema)] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """JSON Schema. Calls are checked for required parameters and top-level types."""
    answers: list[AnswerRule] = Field(default_factory=list[AnswerRule])
    """The first answer that fits is used. An answer without `match` is used once."""
    otherwise: Answer | None = None
    """Used if no answer fits. Default: the last answer without `match` again."""


class NamedTool(ToolBody):
    """A tool in a script file."""

    name: ResourceName


class ToolsFile(YamlModel):
    """The content of a script file of tools."""

    tools: Annotated[list[NamedTool], Field(min_length=1)]


class ToolEntry(ToolBody):
    """An inline tool, or a file with several."""

    kind: Literal["scripted"]
    name: ResourceName | None = None
    script: PathText | None = None
    """A YAML file with `tools:` instead of an inline tool; relative to this file."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_both(self, NamedTool)
        if self.name is None and self.script is None:
            raise ValueError("must have a name, or a script file with tools")
        return self


class ScriptedTool:
    """A tool that gives the answers of a script. All callers share one sequence of answers."""

    def __init__(self, name: str, body: ToolBody, *, sleep: Sleep = asyncio.sleep) -> None:
        self._fact = ToolFact(name, "scripted", body.description)
        self._body = body
        self._rules = Rules(body.answers)
        self._sleep = sleep

    @property
    def fact(self) -> ToolFact:
        return self._fact

    def detail(self) -> dict[str, Any]:
        """Return name, description, and parameters as JSON Schema."""
        return {
            "name": self._fact.tool_name,
            "description": self._body.description,
            "parameters": deepcopy(self._body.parameters),
        }

    async def call(self, parameters: Mapping[str, Any]) -> Any:
        """Return the result of the first answer that fits."""
        name = self._fact.tool_name
        if (problem := find_problem(self._body.parameters, parameters)) is not None:
            raise ResourceError(f"{name}: {problem}", code=ErrorCode.INVALID_ARGUMENT)
        answer = (
            self._rules.choose(lambda rule: contains_all(parameters, rule.match))
            or self._body.otherwise
            or self._rules.last_in_order()
        )
        if answer is None:
            raise ResourceError(
                f"the script of tool {name} has no answer for {dict(parameters)!r:.200}. "
                f"Its answers: {self._rules.describe()}. Add one that fits, or `otherwise`."
            )
        await wait(answer, self._sleep)
        return deepcopy(answer.result)  # an in-process runner may change the value
