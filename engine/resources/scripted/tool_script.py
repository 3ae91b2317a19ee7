"""What a scripted tool answers, as YAML has it."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from engine.resources.scripted.failing import Failing
from engine.resources.scripted.model_script import refuse_both
from engine.resources.scripted.parameters import check_schema
from engine.resources.scripted.rules import Rule
from engine.section import PathText, ResourceName, Section


class Answer(Failing):
    """What one call gives: any JSON, or a failure."""

    result: Any = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.check_failure()
        if self.fails() == ("result" in self.model_fields_set):
            raise ValueError("must have either a result or a failure (error, status)")
        return self


class AnswerRule(Answer, Rule):
    """An answer and when it is given."""

    match: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Parameters that the call must have; others do not matter."""

    def conditions(self) -> list[str]:
        return [f"{name} = {value!r:.80}" for name, value in self.match.items()]


class ToolBody(Section):
    """A tool but for its name."""

    description: str = ""
    parameters: Annotated[dict[str, Any], AfterValidator(check_schema)] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """JSON Schema. A call is checked for required parameters and the type of each, no deeper."""
    answers: list[AnswerRule] = Field(default_factory=list[AnswerRule])
    """The first that fits is given. One without `match` fits once."""
    otherwise: Answer | None = None
    """When no answer fits; not set: the last answer without `match` again, if there is one."""


class NamedTool(ToolBody):
    """A tool of a script file."""

    name: ResourceName


class ToolsFile(Section):
    """What a script file of tools holds."""

    tools: Annotated[list[NamedTool], Field(min_length=1)]


class ToolEntry(ToolBody):
    """A tool, or a file with several."""

    kind: Literal["scripted"]
    name: ResourceName | None = None
    script: PathText | None = None
    """A YAML file with `tools:`, instead of a tool here; relative to this file."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_both(self, NamedTool)
        if self.name is None and self.script is None:
            raise ValueError("must have a name, or a script file with tools")
        return self
