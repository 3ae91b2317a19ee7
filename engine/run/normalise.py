"""Judges what a runner yields: recorded as it came, applied, dropped, ignored or refused, each with the reason."""

from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

import orjson

from engine.facts.redact import redact
from engine.protocol.payloads import validate_payload
from engine.protocol.results import ResultType
from engine.run.sequence import Sequence

RESULT_LIMIT: Final = 1024 * 1024
DEPTH_LIMIT: Final = 100
_LONGEST_KIND: Final = 200
_LARGEST_INTEGER: Final = 2**63 - 1
TERMINAL: Final = frozenset({ResultType.RUN_COMPLETED.value, ResultType.RUN_FAILED.value})
_KNOWN: Final = frozenset(str(kind) for kind in ResultType)

_HOSTS_OWN: Final = frozenset({"run.started", "run.finished"})
_HOSTS_WORDS: Final = frozenset({"call", "cancel", "hold", "output", "result", "steering", "warning"})

UNTYPED: Final = "result.untyped"
UNREADABLE: Final = "result.unreadable"


class Outcome(StrEnum):
    """What became of a result that was not simply applied."""

    WARNED = "warned"
    """Applied, with a remark."""
    DROPPED = "dropped"
    """Recorded, without effect: its payload is wrong, it repeats, or policy forbids it."""
    REFUSED = "refused"
    """Not taken: too large, too deep, too late, or one too many."""
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

    def judge(self, result: Any) -> Judged:
        """What to record of this result and whether to apply it."""
        if not isinstance(result, dict):
            shown = {"value": _shortened(result)}
            return self._broken(UNTYPED, shown, None, f"a result must be an object, not {_json_name(result)}")
        envelope = cast("dict[str, Any]", result)
        kind, data, sequence = envelope.get("type"), envelope.get("data"), envelope.get("sequence")
        number = sequence if type(sequence) is int and abs(sequence) <= _LARGEST_INTEGER else None
        if not isinstance(kind, str) or not kind:
            return self._broken(UNTYPED, {"value": _shortened(data)}, number, "a result must have a type")
        kind = kind[:_LONGEST_KIND]
        if kind not in _KNOWN and _is_hosts(kind):
            # Nobody who reads the journal may take it for an entry of the host's.
            kind = f"result.{kind}"
        text, size, refusal = _written({} if data is None else data)
        shown = payload = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        if refusal is not None:
            shown = {"size": size}
            text = orjson.dumps(shown).decode()
        elif "base64" in text or '"attachments"' in text:
            redacted = redact(data)
            text = orjson.dumps(redacted).decode()
            shown = cast("dict[str, Any]", redacted) if isinstance(redacted, dict) else {}
        own = envelope.get("run_id")
        if own is not None and own != self._run_id:
            return self._broken(kind, shown, number, f"run_id {own!r:.80} is not this run's", text)
        outcome, reason, applies = self._placed(kind, cast(object, data), sequence, refusal)
        return Judged(kind, shown, text, payload, outcome, reason, number, applies)

    def _placed(
        self, kind: str, data: object, sequence: object, refusal: str | None
    ) -> tuple[Outcome | None, str | None, bool]:
        """What becomes of a result of this run, why, and whether it has its effect."""
        if self.end is not None:
            return Outcome.IGNORED, f"came after {self.end}", False
        is_repeat, remark = self._sequence.note(sequence)
        if is_repeat:
            return Outcome.DROPPED, remark, False
        if refusal is not None:
            return Outcome.REFUSED, refusal, False
        if kind not in _KNOWN:
            return Outcome.UNKNOWN, "this host does not know the type", False
        if (problem := validate_payload(kind, data)) is not None:
            return Outcome.DROPPED, problem, False
        if kind in TERMINAL:
            self.end = ResultType(kind)
        return None if remark is None else Outcome.WARNED, remark, True

    def _broken(
        self, kind: str, shown: dict[str, Any], sequence: int | None, problem: str, text: str | None = None
    ) -> Judged:
        written = text if text is not None else orjson.dumps(shown).decode()
        if self.end is not None:
            return Judged(kind, shown, written, {}, Outcome.IGNORED, f"came after {self.end}", sequence)
        return Judged(kind, shown, written, {}, Outcome.REFUSED, problem, sequence, protocol_error=problem)


def _is_hosts(kind: str) -> bool:
    """Whether only the host writes entries of this type."""
    return kind in _HOSTS_OWN or kind.partition(".")[0] in _HOSTS_WORDS


def _written(data: object) -> tuple[str, int, str | None]:
    """A result's data as JSON, its size without inline content, and why it is refused, if it is."""
    try:
        blob = orjson.dumps(data)
    except (TypeError, ValueError) as error:
        return "", 0, f"cannot be written as JSON: {error}"
    size = len(blob)
    if size > RESULT_LIMIT:
        inline = cast("dict[str, Any]", data).get("content_base64") if isinstance(data, dict) else None
        size -= len(inline.encode()) if isinstance(inline, str) else 0
        if size > RESULT_LIMIT:
            return "", size, f"{size} bytes are more than a result may have ({RESULT_LIMIT})"
    # Counting brackets is a hundred times cheaper than walking, and enough for nearly every result.
    if blob.count(b"{") + blob.count(b"[") > DEPTH_LIMIT and depth_of(cast(object, data)) > DEPTH_LIMIT:
        return "", size, f"nested deeper than {DEPTH_LIMIT} levels"
    return blob.decode(), size, None


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
