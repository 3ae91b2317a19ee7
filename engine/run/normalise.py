"""Checks the results of a runner: each is applied, dropped, ignored or refused, with the reason."""

from bisect import bisect_right
from collections.abc import Callable
from reprlib import Repr
from typing import Any, Final, NamedTuple, cast

import orjson

from engine.events import EntryKind, Outcome
from engine.protocol.payloads import validate_payload
from engine.protocol.results import ResultType
from engine.store.redact import redact, with_digest

_MAX_GAPS: Final = 1_000
_CONTAINER_BYTES: Final = 64
"""About the memory of an empty object or array; its JSON has two bytes."""
_SHORT: Final = Repr()
"""Shows values of a runner in reasons. `repr` would walk the whole value, which may have 700,000 parts."""
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 100


class SequenceTracker:
    """Tells a repeated sequence number from a late one, in bounded memory and time.

    Skipped numbers are stored as ranges. If there are too many ranges, the lowest is forgotten and all numbers up to
    its end count as skipped, so that a late result is applied with a warning rather than lost.
    """

    def __init__(self) -> None:
        self._highest = 0
        self._skipped: list[tuple[int, int]] = []
        """Ascending, without overlaps."""
        self._forgotten_below = 0

    def check(self, claim: object) -> tuple[bool, str | None]:
        """Return whether this result is a repeat, and a remark if its number is unexpected."""
        if claim is None:
            return False, None
        if not isinstance(claim, int) or isinstance(claim, bool):
            return False, f"sequence {_SHORT.repr(claim):.40} is not an integer"
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
        self._forget_lowest()
        return f"sequence {claim}, expected {expected}"

    def _take_skipped(self, claim: int) -> bool:
        index = bisect_right(self._skipped, claim, key=_first) - 1
        if index < 0 or claim > self._skipped[index][1]:
            return False
        first, last = self._skipped[index]
        self._skipped[index : index + 1] = [
            part for part in ((first, claim - 1), (claim + 1, last)) if part[0] <= part[1]
        ]
        self._forget_lowest()
        return True

    def _forget_lowest(self) -> None:
        if len(self._skipped) > _MAX_GAPS:
            self._forgotten_below = self._skipped.pop(0)[1] + 1


def _first(gap: tuple[int, int]) -> int:
    return gap[0]


MAX_RESULT_BYTES: Final = 1024 * 1024
MAX_RESULT_DEPTH: Final = 100
MAX_USAGE_BYTES: Final = 4 * 1024
"""The usage of a result that is recorded. It is not counted as queued data, so 4,096 queued results add 16 MiB."""
MAX_MESSAGE_PARTS: Final = 10_000
"""Items in a list of a message, such as its content. Only large results can have more, so only those are checked."""
MAX_TYPE_LENGTH: Final = 200
"""Characters of an unknown type that are recorded, after its secrets were masked."""
_MAX_INTEGER: Final = 2**63 - 1
TERMINAL_TYPES: Final = frozenset({ResultType.RUN_COMPLETED.value, ResultType.RUN_FAILED.value})
_KNOWN: Final = frozenset(str(kind) for kind in ResultType)

_HOST_TYPES: Final = frozenset({EntryKind.RUN_STARTED, EntryKind.RUN_STOPPED, EntryKind.RUN_FINISHED})
_HOST_PREFIXES: Final = frozenset(
    {"breakpoint", "call", "cancel", "output", "pause", "result", "runner", "steering", "warning"}
)

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
    memory: int = 0
    """About the bytes that the payload takes in memory."""
    usage: str | None = None
    """The usage that the result claims, as JSON."""


_Reading = tuple[str, object, dict[str, Any], str, object, int, str | None, str | None]
"""The reading of one result without the results before it; a plain tuple, because one is made for each result.

Its kind, its data, what is recorded, that as JSON, its sequence number, its memory, why it is recorded but not applied,
and its protocol error.
"""
_UNCHECKED: Final = "not checked yet"


class PreparedResult(NamedTuple):
    """A large result after all checks whose cost depends on its size."""

    result: Any
    """As the runner sent it."""
    kind: str
    reading: _Reading
    problem: str | None
    """The problem of its data."""
    usage: tuple[str | None, str | None]
    """Its usage, by `usage_text`."""


def prepare(result: Any, run_id: str, cover: Callable[[str], str]) -> PreparedResult:
    """Read and check a large result. Depends on nothing else, so it can be called in a thread.

    `cover` masks the secrets in JSON text.
    """
    kind, data, shown, text, sequence, memory, refusal, protocol_error = _read(result, run_id)
    problem = None
    if refusal is None and protocol_error is None and kind in _KNOWN:
        problem = _oversized(data) or validate_payload(kind, data)
    reading = (kind, data, shown, cover(text), sequence, memory, refusal, protocol_error)
    claim = cast("dict[str, Any]", result).get("usage") if isinstance(result, dict) else None
    return PreparedResult(result, kind, reading, problem, usage_text(claim))


def _read(result: Any, run_id: str) -> _Reading:
    if not isinstance(result, dict):
        return _untyped(result, None, f"a result must be an object, not {_json_name(result)}")
    envelope = cast("dict[str, Any]", result)
    kind, data, sequence = envelope.get("type"), envelope.get("data"), envelope.get("sequence")
    if not isinstance(kind, str) or not kind:
        return _untyped(data, sequence, "a result must have a type")
    if kind not in _KNOWN and _is_host_type(kind):
        # A reader of the journal must not take it for an entry of the host.
        kind = f"result.{kind}"
    text, size, memory, refusal = _encode({} if data is None else data)
    shown = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if refusal is not None:
        shown = {"size": size}
        text = orjson.dumps(shown).decode()
    elif "base64" in text or '"attachments"' in text:
        redacted = redact(data, with_digest)
        text = orjson.dumps(redacted).decode()
        shown = cast("dict[str, Any]", redacted) if isinstance(redacted, dict) else {}
    own = envelope.get("run_id")
    if own is not None and own != run_id:
        problem = f"run_id {_SHORT.repr(own):.80} is not this run's"
        return kind, None, shown, text, sequence, memory, refusal, problem
    return kind, data, shown, text, sequence, memory, refusal, None  # pyright: ignore[reportUnknownVariableType]


def _as_object(data: object) -> dict[str, Any]:
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _oversized(data: object) -> str | None:
    """Return which list of a message is too long to be checked: pydantic makes an object of each part."""
    for name in ("message", "chunk"):
        message = cast("dict[str, object]", data).get(name) if isinstance(data, dict) else None
        for key, value in cast("dict[str, object]", message).items() if isinstance(message, dict) else ():
            if isinstance(value, list) and len(cast("list[object]", value)) > MAX_MESSAGE_PARTS:
                return f"data.{name}.{key:.60}: more than {MAX_MESSAGE_PARTS} items"
    return None


def _untyped(value: object, sequence: object, problem: str) -> _Reading:
    shown = {"value": _shortened(redact(value))}
    return UNTYPED, None, shown, orjson.dumps(shown).decode(), sequence, 0, None, problem


class Normaliser:
    """Checks the results of one run in the order in which they come."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._sequence = SequenceTracker()
        self.final_type: ResultType | None = None
        """The type of the first terminal result, once it came."""

    def check(self, result: Any) -> CheckedResult:
        """Return what to record of this result and whether to apply it."""
        if type(result) is PreparedResult:
            reading, problem = result.reading, result.problem
        else:
            reading, problem = _read(result, self._run_id), _UNCHECKED
        kind, data, shown, text, sequence, memory, refusal, protocol_error = reading
        number = sequence if type(sequence) is int and abs(sequence) <= _MAX_INTEGER else None
        if protocol_error is not None:
            return self._refuse(kind, shown, text, number, protocol_error)
        outcome, reason, applies = self._decide_outcome(kind, data, sequence, refusal, problem)
        # The recorded data is another object only if something was left out of it.
        payload = shown if shown is data else _as_object(data)
        return CheckedResult(kind, shown, text, payload, outcome, reason, number, applies, None, memory)

    def _decide_outcome(
        self, kind: str, data: object, sequence: object, refusal: str | None, problem: str | None
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
        if problem is _UNCHECKED:
            problem = validate_payload(kind, data)
        if problem is not None:
            return Outcome.DROPPED, problem, False
        if kind in TERMINAL_TYPES:
            self.final_type = ResultType(kind)
        return None if remark is None else Outcome.WARNED, remark, True

    def _refuse(self, kind: str, shown: dict[str, Any], text: str, sequence: int | None, problem: str) -> CheckedResult:
        if self.final_type is not None:
            return CheckedResult(kind, shown, text, {}, Outcome.IGNORED, f"came after {self.final_type}", sequence)
        return CheckedResult(kind, shown, text, {}, Outcome.REFUSED, problem, sequence, protocol_error=problem)


def _is_host_type(kind: str) -> bool:
    """Whether only the host writes entries of this type."""
    return kind in _HOST_TYPES or kind.partition(".")[0] in _HOST_PREFIXES


def _encode(data: object) -> tuple[str, int, int, str | None]:
    """Return a result's data as JSON, its size without inline content, its memory, and why it is refused, if it is."""
    try:
        blob = orjson.dumps(data)
    except (TypeError, ValueError) as error:
        return "", 0, 0, f"cannot be written as JSON: {error}"
    size = len(blob)
    if size > MAX_RESULT_BYTES:
        inline = cast("dict[str, Any]", data).get("content_base64") if isinstance(data, dict) else None
        size -= len(inline.encode()) if isinstance(inline, str) else 0
        if size > MAX_RESULT_BYTES:
            return "", size, 0, f"{size} bytes exceed the limit of a result ({MAX_RESULT_BYTES})"
    # Counting brackets is a hundred times cheaper than walking the value, and enough for nearly every result.
    brackets = blob.count(b"{") + blob.count(b"[")
    if brackets > MAX_RESULT_DEPTH and nesting_depth(cast(object, data)) > MAX_RESULT_DEPTH:
        return "", size, 0, f"nested deeper than {MAX_RESULT_DEPTH} levels"
    return blob.decode(), size, len(blob) + _CONTAINER_BYTES * brackets, None


def usage_text(usage: object) -> tuple[str | None, str | None]:
    """Return the usage of a result as JSON, or why it is not recorded. Only an object is a usage."""
    if not isinstance(usage, dict):
        return None, None
    text, size, _, refusal = _encode(cast(object, usage))
    if refusal is None and size > MAX_USAGE_BYTES:
        refusal = f"{size} bytes exceed the limit of a usage ({MAX_USAGE_BYTES})"
    return (text, None) if refusal is None else (None, f"its usage is not recorded: {refusal}")


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
        return _SHORT.repr(value)[:200]
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
