"""Checks the results of a runner: each is applied, dropped, ignored or refused, with the reason."""

from typing import Any, Final, NamedTuple, cast

import orjson

from engine.events import EntryKind, Outcome
from engine.protocol.payloads import validate_payload
from engine.protocol.results import ResultType
from engine.store.redact import redact

_MAX_GAPS: Final = 1_000


class SequenceTracker:
    """Tells a repeated sequence number from a late one, in bounded memory.

    Skipped numbers are stored as ranges. If there are too many ranges, the oldest is forgotten and its numbers count
    as skipped, so that a late result is applied with a warning rather than lost.
    """

    def __init__(self) -> None:
        self._highest = 0
        self._skipped: list[tuple[int, int]] = []
        self._forgotten_below = 0

    def check(self, claim: object) -> tuple[bool, str | None]:
        """Return whether this result is a repeat, and a remark if its number is unexpected."""
        if claim is None:
            return False, None
        if not isinstance(claim, int) or isinstance(claim, bool):
            return False, f"sequence {claim!r:.40} is not an integer"
        if claim < 1:
            return False, f"sequence {claim} is not positive"
        if claim > self._highest:
            return False, self._advance(claim)
        if claim < self._forgotten_below or self._take_skipped(claim):
            return False, f"sequence {claim} came after {self._highest}"
        return True, f"sequence {claim} was seen before"

    def _advance(self, claim: int) -> str | None:
        expected = self._highest + 1
        self._highest = claim
        if claim == expected:
            return None
        self._skipped.append((expected, claim - 1))
        if len(self._skipped) > _MAX_GAPS:
            self._forgotten_below = self._skipped.pop(0)[1] + 1
        return f"sequence {claim}, expected {expected}"

    def _take_skipped(self, claim: int) -> bool:
        for index, (first, last) in enumerate(self._skipped):
            if first <= claim <= last:
                self._skipped[index : index + 1] = [
                    part for part in ((first, claim - 1), (claim + 1, last)) if part[0] <= part[1]
                ]
                return True
        return False


MAX_RESULT_BYTES: Final = 1024 * 1024
MAX_RESULT_DEPTH: Final = 100
_MAX_TYPE_LENGTH: Final = 200
_MAX_INTEGER: Final = 2**63 - 1
TERMINAL_TYPES: Final = frozenset({ResultType.RUN_COMPLETED.value, ResultType.RUN_FAILED.value})
_KNOWN: Final = frozenset(str(kind) for kind in ResultType)

_HOST_TYPES: Final = frozenset({EntryKind.RUN_STARTED, EntryKind.RUN_FINISHED})
_HOST_PREFIXES: Final = frozenset({"breakpoint", "call", "cancel", "output", "pause", "result", "steering", "warning"})

UNTYPED: Final = EntryKind.RESULT_UNTYPED
UNREADABLE: Final = EntryKind.RESULT_UNREADABLE


class CheckedResult(NamedTuple):
    """A result as it will be recorded, and whether it is applied."""

    kind: str
    data: dict[str, Any]
    """As recorded: without inline base64."""
    text: str
    """`data` as JSON."""
    payload: dict[str, Any]
    """As the runner sent it."""
    outcome: Outcome | None = None
    reason: str | None = None
    sequence: int | None = None
    applies: bool = False
    protocol_error: str | None = None
    """Set if the run must fail because of it."""


class Normaliser:
    """Checks the results of one run in the order in which they come."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._sequence = SequenceTracker()
        self.final_type: ResultType | None = None
        """The type of the first terminal result, once it came."""

    def check(self, result: Any) -> CheckedResult:
        """Return what to record of this result and whether to apply it."""
        if not isinstance(result, dict):
            shown = {"value": _shortened(redact(result))}
            return self._refuse(UNTYPED, shown, None, f"a result must be an object, not {_json_name(result)}")
        envelope = cast("dict[str, Any]", result)
        kind, data, sequence = envelope.get("type"), envelope.get("data"), envelope.get("sequence")
        number = sequence if type(sequence) is int and abs(sequence) <= _MAX_INTEGER else None
        if not isinstance(kind, str) or not kind:
            return self._refuse(UNTYPED, {"value": _shortened(redact(data))}, number, "a result must have a type")
        kind = kind[:_MAX_TYPE_LENGTH]
        if kind not in _KNOWN and _is_host_type(kind):
            # A reader of the journal must not take it for an entry of the host.
            kind = f"result.{kind}"
        text, size, refusal = _encode({} if data is None else data)
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
            return self._refuse(kind, shown, number, f"run_id {own!r:.80} is not this run's", text)
        outcome, reason, applies = self._decide_outcome(kind, cast(object, data), sequence, refusal)
        return CheckedResult(kind, shown, text, payload, outcome, reason, number, applies)

    def _decide_outcome(
        self, kind: str, data: object, sequence: object, refusal: str | None
    ) -> tuple[Outcome | None, str | None, bool]:
        """Return the outcome of a result, its reason, and whether it is applied."""
        if self.final_type is not None:
            return Outcome.IGNORED, f"came after {self.final_type}", False
        is_repeat, remark = self._sequence.check(sequence)
        if is_repeat:
            return Outcome.DROPPED, remark, False
        if refusal is not None:
            return Outcome.REFUSED, refusal, False
        if kind not in _KNOWN:
            return Outcome.UNKNOWN, "the host does not know this type", False
        if (problem := validate_payload(kind, data)) is not None:
            return Outcome.DROPPED, problem, False
        if kind in TERMINAL_TYPES:
            self.final_type = ResultType(kind)
        return None if remark is None else Outcome.WARNED, remark, True

    def _refuse(
        self, kind: str, shown: dict[str, Any], sequence: int | None, problem: str, text: str | None = None
    ) -> CheckedResult:
        encoded = text if text is not None else orjson.dumps(shown).decode()
        if self.final_type is not None:
            return CheckedResult(kind, shown, encoded, {}, Outcome.IGNORED, f"came after {self.final_type}", sequence)
        return CheckedResult(kind, shown, encoded, {}, Outcome.REFUSED, problem, sequence, protocol_error=problem)


def _is_host_type(kind: str) -> bool:
    """Whether only the host writes entries of this type."""
    return kind in _HOST_TYPES or kind.partition(".")[0] in _HOST_PREFIXES


def _encode(data: object) -> tuple[str, int, str | None]:
    """Return a result's data as JSON, its size without inline content, and why it is refused, if it is."""
    try:
        blob = orjson.dumps(data)
    except (TypeError, ValueError) as error:
        return "", 0, f"cannot be written as JSON: {error}"
    size = len(blob)
    if size > MAX_RESULT_BYTES:
        inline = cast("dict[str, Any]", data).get("content_base64") if isinstance(data, dict) else None
        size -= len(inline.encode()) if isinstance(inline, str) else 0
        if size > MAX_RESULT_BYTES:
            return "", size, f"{size} bytes exceed the limit of a result ({MAX_RESULT_BYTES})"
    # Counting brackets is a hundred times cheaper than walking the value, and enough for nearly every result.
    if blob.count(b"{") + blob.count(b"[") > MAX_RESULT_DEPTH and nesting_depth(cast(object, data)) > MAX_RESULT_DEPTH:
        return "", size, f"nested deeper than {MAX_RESULT_DEPTH} levels"
    return blob.decode(), size, None


def nesting_depth(value: object) -> int:
    """Return how deep objects and arrays are nested. Not recursive, because the value is not trusted."""
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
