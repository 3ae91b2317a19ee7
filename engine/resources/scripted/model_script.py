"""What a scripted model says, as YAML has it."""

from re import Pattern
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from engine.resources.scripted.failing import Failing, Seconds
from engine.resources.scripted.rules import Rule
from engine.section import PathText, ResourceName, Section


def _mapping_or_text(value: Any) -> Any:
    if not isinstance(value, dict | str):
        raise ValueError("must be a mapping, or text exactly as the model writes it")  # noqa: TRY004  (pydantic's way)
    return value  # pyright: ignore[reportUnknownVariableType]


Arguments = Annotated[
    Any, AfterValidator(_mapping_or_text), WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "string"}]})
]


class ScriptedCall(Section):
    """A tool that the model wants called."""

    name: ResourceName
    arguments: Arguments = Field(default_factory=dict[str, Any])
    """A mapping, or text as it is: that is how a model's broken JSON is scripted."""
    id: str | None = None
    """Not set: call_1, call_2 … over the model's life."""


class Reply(Failing):
    """One answer of the model: text, tool calls, or a failure."""

    text: str | None = None
    pieces: list[str] | None = None
    """The text as it is streamed; not set: word by word."""
    tool_calls: Annotated[list[ScriptedCall], Field(min_length=1)] | None = None
    """More than one are parallel calls."""
    usage: dict[str, Annotated[int, Field(ge=0)]] | None = None
    pace: Seconds | None = None
    """Seconds between pieces; not set: the script's."""
    first_token: Seconds = 0.0
    """Seconds before the first piece, on top of the delay."""
    cut_after: Annotated[int, Field(ge=0)] | None = None
    """The stream breaks after so many pieces; error and status say with what."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.check_failure()
        if self.text is not None and self.pieces is not None:
            raise ValueError("has both text and pieces: keep one, the pieces are joined to the text")
        says = self.text is not None or self.pieces is not None or self.tool_calls is not None
        if self.fails() and self.cut_after is None and (says or self.usage is not None):
            raise ValueError("fails and says something too: add cut_after to fail in the middle")
        if not says and not self.fails():
            raise ValueError("says nothing: give it text, pieces, tool_calls, error or status")
        return self

    def whole_text(self) -> str:
        """The text, however it is streamed."""
        return "".join(self.pieces) if self.pieces is not None else self.text or ""


class ReplyRule(Reply, Rule):
    """A reply and when it is given; all conditions must hold."""

    turn: Annotated[int, Field(ge=1)] | None = None
    """The model's nth turn: the request holds n - 1 assistant messages."""
    match: Pattern[str] | None = None
    """Found in the text of the last user message."""
    tool_result: Pattern[str] | None = None
    """Found in a tool result that came since the model's last message."""

    def conditions(self) -> list[str]:
        named = (
            ("turn", self.turn),
            ("match", self.match and repr(self.match.pattern)),
            ("tool_result", self.tool_result and repr(self.tool_result.pattern)),
        )
        return [f"{name} {value}" for name, value in named if value is not None]


class Score(Section):
    """How relevant documents are that fit a pattern."""

    match: Pattern[str]
    score: Annotated[float, Field(ge=0, le=1)]


class Reranking(Failing):
    """How documents are scored."""

    scores: list[Score] = Field(default_factory=list[Score])
    """The first that fits a document; where none does, the share of the query's words that it holds."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.check_failure()
        return self


class ModelScript(Section):
    """What a script file of a model holds."""

    replies: list[ReplyRule] = Field(default_factory=list[ReplyRule])
    """The first that fits is given. One without conditions fits once."""
    otherwise: Reply | None = None
    """When no reply fits; not set: the last reply without conditions again, if there is one."""
    pace: Seconds = 0.0
    """Seconds between pieces, where a reply does not say."""
    rerank: Reranking = Field(default_factory=Reranking)


class ModelEntry(ModelScript):
    """A model, with its script here or in a file of its own."""

    id: ResourceName
    kind: Literal["scripted"]
    type: Literal["llm", "rerank"] = "llm"
    provider: str = "scripted"
    context_window_tokens: Annotated[int, Field(ge=1)] | None = None
    script: PathText | None = None
    """A YAML file with the keys of a script, instead of them; relative to this file."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_both(self, ModelScript)
        return self


def refuse_both(entry: Section, script: type[Section]) -> None:
    """For validators: a script lies in its file or here."""
    both = [name for name in script.model_fields if name in entry.model_fields_set]
    if "script" in entry.model_fields_set and both:
        raise ValueError(f"has a script file and {', '.join(both)} too: keep one")
