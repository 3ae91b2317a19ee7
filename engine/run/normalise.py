"""Judges what a runner yields: recorded as it came, applied, dropped, ignored or refused, each with the reason."""

from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

import orjson

from engine.facts.redact import redact
from engine.protocol.results import PAYLOADS, ResultType, validate_payload
from engine.run.sequence import Sequence

RESULT_LIMIT: Final = 1024 * 1024
DEPTH_LIMIT: Final = 100
_LONGEST_KIND: Final = 200
_LARGEST_INTEGER: Final = 2**63 - 1
TERMINAL: Final = frozenset({ResultType.RUN_COMPLETED.value, ResultType.RUN_FAILED.value})
_KNOWN: Final = frozenset(str(kind) for kind in ResultType)

UNTYPED: Final = "result.untyped"
UNREADABLE: Final = "result.unreadable"


class Outcome(StrEnum):
    """What became of a result that was not simply applied."""

    WARNED = "warned"
    """Applied, with a remark."""
    DROPPED = "dropped"
    """Recorded, without effect: its payload is wrong, it repeats, or policy forbids it."""
    REFUSED = "refused"
    """Too large or too deep to be taken."""
    UNKNOWN = "unknown"
    """A type that this host does not know."""
    IGNORED = "ignored"
    """Came after the run's end."""


class Judged(NamedTuple):
    """One result as it will be recorded, and whether it has its effect."""

    kind: str
    data: dict[str, Any]
    """As recorded: inline base64 is gone."""
    text: str
    """The same as JSON."""
    payload: dict[str, Any]
    """As it came."""
    outcome: Outcome | None = None
    reason: str | None = None
    sequence: int | None = None
    applies: bool = False
    protocol_error: str | None = None
    """Set when the run must fail for it."""


class Normaliser:
    """Judges one run's results in the order they come."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._sequence = Sequence()
        self.end: ResultType | None = None
        """The first terminal result, once it came."""

    def judge(self, result: object) -> Judged:
        """What to record of this result and whether to apply it."""
        if not isinstance(result, dict):
            shown = {"value": _shortened(result)}
            return self._broken(UNTYPED, shown, None, f"a result must be an object, not {_json_name(result)}")
        envelope = cast("dict[str, Any]", result)
        kind = envelope.get("type")
        data: object = envelope.get("data")
        sequence = envelope.get("sequence")
        number = sequence if type(sequence) is int and abs(sequence) <= _LARGEST_INTEGER else None
        if not isinstance(kind, str) or not kind:
            return self._broken(UNTYPED, {"value": _shortened(data)}, number, "a result must have a type")
        kind = kind[:_LONGEST_KIND]
        payload: dict[str, Any] = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        text, refusal = _written(cast(object, data) if data is not None else {})
        if refusal is not None:
            size = {"size": len(text)}
            return Judged(kind, size, orjson.dumps(size).decode(), {}, Outcome.REFUSED, refusal, number)
        shown = payload
        if "base64" in text:
            redacted = redact(data)
            text = orjson.dumps(redacted).decode()
            shown = cast("dict[str, Any]", redacted) if isinstance(redacted, dict) else {}
        own = envelope.get("run_id")
        if own is not None and own != self._run_id and self.end is None:
            return self._broken(kind, shown, number, f"run_id {own!r:.80} is not this run's", text)
        return self._placed(Judged(kind, shown, text, payload, None, None, number), cast(object, data), sequence)

    def _placed(self, judged: Judged, data: object, sequence: object) -> Judged:
        if self.end is not None:
            return judged._replace(outcome=Outcome.IGNORED, reason=f"came after {self.end}")
        is_repeat, remark = self._sequence.note(sequence)
        if is_repeat:
            return judged._replace(outcome=Outcome.DROPPED, reason=remark)
        if judged.kind not in _KNOWN:
            return judged._replace(outcome=Outcome.UNKNOWN, reason="this host does not know the type")
        if judged.kind in PAYLOADS and (problem := validate_payload(judged.kind, data)) is not None:
            return judged._replace(outcome=Outcome.DROPPED, reason=problem)
        if judged.kind in TERMINAL:
            self.end = ResultType(judged.kind)
        if remark is not None:
            return judged._replace(outcome=Outcome.WARNED, reason=remark, applies=True)
        return judged._replace(applies=True)

    def _broken(
        self, kind: str, shown: dict[str, Any], sequence: int | None, problem: str, text: str | None = None
    ) -> Judged:
        written = text if text is not None else orjson.dumps(shown).decode()
        if self.end is not None:
            return Judged(kind, shown, written, {}, Outcome.IGNORED, f"came after {self.end}", sequence)
        return Judged(kind, shown, written, {}, Outcome.REFUSED, problem, sequence, protocol_error=problem)


def _written(data: object) -> tuple[str, str | None]:
    """A result's data as JSON, and why it is refused, if it is."""
    try:
        blob = orjson.dumps(data)
    except (TypeError, ValueError) as error:
        return "", f"cannot be written as JSON: {error}"
    size = len(blob)
    if size > RESULT_LIMIT:
        inline = cast("dict[str, Any]", data).get("content_base64") if isinstance(data, dict) else None
        size -= len(inline) if isinstance(inline, str) else 0
        if size > RESULT_LIMIT:
            return blob.decode(), f"{size} bytes are more than a result may have ({RESULT_LIMIT})"
    # Counting brackets is a hundred times cheaper than walking, and enough for nearly every result.
    if blob.count(b"{") + blob.count(b"[") > DEPTH_LIMIT and depth_of(cast(object, data)) > DEPTH_LIMIT:
        return blob.decode(), f"nested deeper than {DEPTH_LIMIT} levels"
    return blob.decode(), None


def depth_of(value: object) -> int:
    """How deep objects and arrays are nested, without recursion: the value comes from a stranger."""
    depth, level = 0, [value]
    while level:
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(cast("dict[str, object]", item).values())
            elif isinstance(item, list):
                below.extend(cast("list[object]", item))
        containers = any(isinstance(item, dict | list) for item in level)
        depth += containers
        level = below
    return depth


def _shortened(value: object) -> object:
    try:
        text = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return repr(value)[:200]
    return value if len(text) <= 1_000 else text[:1_000] + "…"


def _json_name(value: object) -> str:
    names: dict[type, str] = {
        type(None): "null",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
    }
    return names.get(type(value), type(value).__name__)
