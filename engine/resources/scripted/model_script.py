"""The YAML form of a scripted model."""

from re import Pattern
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from engine.resources.scripted.behaviour import Rule, ScriptedBehaviour, Seconds
from engine.yaml_model import PathText, ResourceName, YamlModel


def _mapping_or_text(value: Any) -> Any:
    if not isinstance(value, dict | str):
        raise ValueError("must be a mapping, or text exactly as the model writes it")  # noqa: TRY004  (pydantic's way)
    return value  # pyright: ignore[reportUnknownVariableType]


Arguments = Annotated[
    Any, AfterValidator(_mapping_or_text), WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "string"}]})
]


class ScriptedCall(YamlModel):
    """A tool call in a scripted reply."""

    name: ResourceName
    arguments: Arguments = Field(default_factory=dict[str, Any])
    """A mapping, or literal text, for example to script broken JSON."""
    id: str | None = None
    """Default: call_1, call_2 … over the model's lifetime."""


class Reply(ScriptedBehaviour):
    """One reply of the model: text, tool calls, or a failure."""

    text: str | None = None
    pieces: list[str] | None = None
    """The text in the pieces in which it is streamed. Default: word by word."""
    tool_calls: Annotated[list[ScriptedCall], Field(min_length=1)] | None = None
    """Several calls are parallel calls."""
    usage: dict[str, Annotated[int, Field(ge=0)]] | None = None
    pace: Seconds | None = None
    """Seconds between pieces. Default: the script's pace."""
    first_token: Seconds = 0.0
    """Seconds before the first piece, in addition to the delay."""
    cut_after: Annotated[int, Field(ge=0)] | None = None
    """The stream breaks after this many pieces, with `error` or `status`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.check_failure()
        if self.text is not None and self.pieces is not None:
            raise ValueError("has both text and pieces: keep one of them")
        has_content = self.text is not None or self.pieces is not None or self.tool_calls is not None
        if self.fails() and self.cut_after is None and (has_content or self.usage is not None):
            raise ValueError("has both content and a failure: add cut_after to fail after some pieces")
        if not has_content and not self.fails():
            raise ValueError("is empty: add text, pieces, tool_calls, error or status")
        return self

    def whole_text(self) -> str:
        """Return the complete text."""
        return "".join(self.pieces) if self.pieces is not None else self.text or ""


class ReplyRule(Reply, Rule):
    """A reply with its conditions, which must all hold."""

    turn: Annotated[int, Field(ge=1)] | None = None
    """The model's turn n: the request has n - 1 assistant messages."""
    match: Pattern[str] | None = None
    """A pattern that the last user message contains."""
    tool_result: Pattern[str] | None = None
    """A pattern in a tool result since the model's last message."""

    def conditions(self) -> list[str]:
        named = (
            ("turn", self.turn),
            ("match", self.match and repr(self.match.pattern)),
            ("tool_result", self.tool_result and repr(self.tool_result.pattern)),
        )
        return [f"{name} {value}" for name, value in named if value is not None]


class Score(YamlModel):
    """The relevance of documents that match a pattern."""

    match: Pattern[str]
    score: Annotated[float, Field(ge=0, le=1)]


class Reranking(ScriptedBehaviour):
    """How documents are scored for reranking."""

    scores: list[Score] = Field(default_factory=list[Score])
    """The first match gives a document's score. Without a match, the share of query words in it does."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.check_failure()
        return self


class ModelScript(YamlModel):
    """The content of a model's script file."""

    replies: list[ReplyRule] = Field(default_factory=list[ReplyRule])
    """The first reply that fits is used. A reply without conditions is used once."""
    otherwise: Reply | None = None
    """Used if no reply fits. Default: the last reply without conditions again."""
    pace: Seconds = 0.0
    """Seconds between pieces, unless a reply sets its own."""
    rerank: Reranking = Field(default_factory=Reranking)


class ModelEntry(ModelScript):
    """A model, with its script inline or in a file."""

    id: ResourceName
    kind: Literal["scripted"]
    type: Literal["llm", "rerank"] = "llm"
    provider: str = "scripted"
    context_window_tokens: Annotated[int, Field(ge=1)] | None = None
    script: PathText | None = None
    """A YAML file with the keys of a script instead of inline keys; relative to this file."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse_both(self, ModelScript)
        return self


def refuse_both(entry: YamlModel, script: type[YamlModel]) -> None:
    """For validators: raise ValueError if a script is given both inline and as a file."""
    both = [name for name in script.model_fields if name in entry.model_fields_set]
    if "script" in entry.model_fields_set and both:
        raise ValueError(f"has both a script file and {', '.join(both)}: keep one")
