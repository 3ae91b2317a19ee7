"""LangBot's plugin wire: one JSON object per line, large ones split into fragments.

Both ends use this module, and one of them is the user's interpreter: standard library only.
"""

import json
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from reprlib import repr as short_repr
from typing import Any, Final, TypeAlias, cast

try:
    from orjson import loads as _quick_loads
except ImportError:  # the user's interpreter need not have it
    _quick_loads: Callable[[bytes], Any] | None = None

FRAGMENT: Final = 16 * 1024
"""A longer line is sent in fragments of this many bytes, so that readers with a 64 KiB limit work."""
MAX_FRAME: Final = 2 * 1024 * 1024
MAX_REPLY: Final = 16 * 1024 * 1024
"""Limit of a frame from the host: an artifact of 10 MiB in base64 fits."""
MAX_FRAGMENTS: Final = 4096
MAX_CONTAINERS: Final = 100_000
"""Objects and arrays in a frame from a child: decoded, each takes up to 230 bytes."""
MAX_DEPTH: Final = 100
"""Nesting of a frame's content; the frame itself is one level more."""

TOO_WIDE: Final = f"more than {MAX_CONTAINERS} objects and arrays"

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_STRING_OR_BRACKET: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
"""A string without an end goes to the end of the text, so that the time is linear for any text."""
_FRAGMENT_TYPES: Final = frozenset({"chunk_start", "chunk_data", "chunk_end"})

Frame: TypeAlias = dict[str, Any]


class Unencodable(ValueError):
    """A value that JSON cannot carry, or that exceeds our limits."""


class TooLarge(Unencodable):
    """JSON that is larger than a frame may be."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Input on the wire that is not a frame."""

    reason: str
    size: int


def dumps(value: object) -> bytes:
    """Encode strict JSON: no NaN, at most 100 levels; half surrogate pairs become U+FFFD."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise Unencodable(f"nested deeper than {MAX_DEPTH}") from None
    except (TypeError, ValueError) as error:
        raise Unencodable(f"not JSON: {error}") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and too_deep(value, MAX_DEPTH):
        raise Unencodable(f"nested deeper than {MAX_DEPTH}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("�", text).encode()


def encode(frame: Frame, limit: int = MAX_REPLY) -> bytes:
    """Encode one frame, split if it is long."""
    data: object = frame.get("data")
    head = {key: value for key, value in frame.items() if key != "data"}
    line = dumps(head)
    if "data" in frame:
        line = b'%b,"data":%b}' % (line[:-1], dumps(data))
    if len(line) > limit:
        raise TooLarge(f"{len(line)} bytes, more than the {limit} that fit into a frame")
    return split(line)


def encode_reply(number: int, text: bytes, limit: int = MAX_REPLY) -> bytes:
    """Encode a successful reply whose data is JSON text already. Takes about 10 ms for 1 MiB."""
    if text.count(b"{") + text.count(b"[") > MAX_DEPTH and text_too_deep(text, MAX_DEPTH):
        raise Unencodable(f"nested deeper than {MAX_DEPTH}")
    head = b'{"seq_id":%d,"code":0,"message":"success","chunk_status":"continue","data":' % number
    if len(head) + len(text) + 1 > limit:
        raise TooLarge(f"{len(head) + len(text) + 1} bytes, more than the {limit} that fit into a frame")
    return split(b"%b%b}" % (head, text))


def split(line: bytes) -> bytes:
    """Return the line with its newline, or its fragments if it is longer than 16 KiB."""
    if len(line) <= FRAGMENT:
        return line + b"\n"
    parts = [b'{"type":"chunk_start","total_size":%d}\n' % len(line)]
    start = 0
    while start < len(line):
        end = min(start + FRAGMENT, len(line))
        while end < len(line) and line[end] & 0xC0 == 0x80:  # never inside a character
            end -= 1
        text = json.dumps(line[start:end].decode())
        parts.append(b'{"type":"chunk_data","data":%b,"offset":%d}\n' % (text.encode(), start))
        start = end
    parts.append(b'{"type":"chunk_end"}\n')
    return b"".join(parts)


def too_deep(value: object, limit: int) -> bool:
    """Whether containers nest deeper than this. Walks level by level, so it cannot overflow the stack."""
    level: list[object] = [value]
    for _ in range(limit):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(cast("dict[object, object]", item).values())
            elif isinstance(item, list | tuple):
                inner.extend(cast("list[object]", item))
        level = [item for item in inner if isinstance(item, dict | list | tuple)]
        if not level:
            return False
    return True


def text_too_deep(text: bytes, limit: int) -> bool:
    """Whether containers in JSON text nest deeper than this. Decoded JSON may take 40 times as much memory."""
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        match text[token.start()]:
            case 0x5B | 0x7B:  # [ {
                depth += 1
                if depth > limit:
                    return True
            case 0x5D | 0x7D:  # ] }
                depth -= 1
            case _:
                pass
    return False


def too_wide(text: bytes) -> bool:
    """Whether JSON text has more containers than a child may send. Does not decode it."""
    if text.count(b"{") + text.count(b"[") <= MAX_CONTAINERS:
        return False
    containers = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        containers += text[token.start()] in b"[{"
        if containers > MAX_CONTAINERS:
            return True
    return False


def parse(line: bytes, depth: int = MAX_DEPTH + 1) -> object:
    """Decode one line to a value or a fault. A line of plain results costs 1 to 2 µs."""
    if _quick_loads is not None:
        try:
            value = _quick_loads(line)
        except ValueError:
            value = _careful_loads(line)
    else:
        value = _careful_loads(line)
    # Each level needs a bracket, so most frames are cleared by counting them.
    if type(value) is not Fault and line.count(b"{") + line.count(b"[") > depth and too_deep(value, depth):
        return Fault(f"nested deeper than {MAX_DEPTH}", len(line))
    return value


class Decoder:
    """Turns bytes into frames and faults. Never raises, and never holds more than one frame.

    If a line is longer than `max_parsed`, decoding stops there: `unparsed` has the line, and `resume` continues with
    its value, which the caller has parsed elsewhere. Until then nothing may be fed.
    """

    def __init__(self, limit: int = MAX_FRAME, max_parsed: int = sys.maxsize) -> None:
        self._limit = limit
        self._max_parsed = max_parsed
        self.unparsed: bytes | None = None
        self._is_unparsed_joined = False
        self._next_lines: list[bytes] = []
        """Lines after the unparsed one."""
        self._tail = bytearray()
        self._skipped = 0
        """Bytes seen of a line that is too long to be kept; 0 if none is being skipped."""
        self._joining: _Joining | None = None
        self._ignores_fragments = False

    def feed(self, data: bytes) -> list[tuple[Frame, int] | Fault]:
        """Return what these bytes complete: each frame with its encoded size, and each fault in its place."""
        found: list[tuple[Frame, int] | Fault] = []
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and (self._tail or self._skipped):
            lines[0] = self._end_of_line(lines[0], found)
        self._take_all(lines, found)
        if self._skipped:
            self._skipped += len(rest)
        elif rest:
            self._tail += rest
            if len(self._tail) > self._limit:
                self._skipped = len(self._tail)
                self._tail.clear()
        return found

    def resume(self, value: object) -> list[tuple[Frame, int] | Fault]:
        """Continue with the parsed value of `unparsed`, and return what it and the lines after it complete."""
        found: list[tuple[Frame, int] | Fault] = []
        line, self.unparsed = self.unparsed or b"", None
        if self._is_unparsed_joined:
            found.append(_as_frame(value, len(line)))
        else:
            self._take_value(value, line, found)
        lines, self._next_lines = self._next_lines, []
        self._take_all(lines, found)
        return found

    def finish(self) -> list[Fault]:
        """Return what the end of the wire cut off."""
        size = self._skipped or len(self._tail)
        if self._joining is not None:
            size += self._joining.size
        self._tail.clear()
        self._skipped = 0
        self._joining = None
        return [Fault("the wire ended inside a frame", size)] if size else []

    def _end_of_line(self, start: bytes, found: list[tuple[Frame, int] | Fault]) -> bytes:
        if self._skipped:
            found.append(self._too_large(self._skipped + len(start)))
            self._skipped = 0
            return b""
        line = bytes(self._tail + start)
        self._tail.clear()
        return line

    def _take_all(self, lines: list[bytes], found: list[tuple[Frame, int] | Fault]) -> None:
        max_parsed = min(self._limit, self._max_parsed)
        for place, line in enumerate(lines):
            if not line:
                continue
            size = len(line)
            if size <= max_parsed:
                value = parse(line)
                # The hot path: a whole frame, and none is being joined.
                if self._joining is None and _is_frame(value):
                    self._ignores_fragments = False
                    found.append((value, size))  # pyright: ignore[reportArgumentType] - a cast takes as long as the rest
                    continue
                self._take_value(value, line, found)
            elif size > self._limit:
                found.append(self._too_large(size))
            else:
                self.unparsed, self._is_unparsed_joined = line, False
            if self.unparsed is not None:
                self._next_lines = lines[place + 1 :]
                return

    def _take_value(self, value: object, line: bytes, found: list[tuple[Frame, int] | Fault]) -> None:
        if type(value) is Fault:
            if line.strip():
                found.append(value)
        elif _is_frame(value):
            if self._joining is not None:
                found.append(self._give_up("a split frame was broken off"))
            self._ignores_fragments = False
            found.append((cast("Frame", value), len(line)))
        elif type(value) is dict and _is_fragment(cast("Frame", value).get("type")):
            self._join(cast("Frame", value), found)
        else:
            found.append(Fault("not a frame of the wire", len(line)))

    def _join(self, fragment: Frame, found: list[tuple[Frame, int] | Fault]) -> None:
        kind = fragment["type"]
        if kind == "chunk_start":
            if self._joining is not None:
                found.append(self._give_up("a split frame was broken off"))
            self._start_joining(fragment.get("total_size"), found)
        elif self._joining is None:
            # Report one fault for the whole unusable sequence, not one for each fragment.
            if not self._ignores_fragments:
                found.append(Fault("a fragment of no frame", 0))
            self._ignores_fragments = kind != "chunk_end"
        elif kind == "chunk_data":
            wrong = self._joining.add(fragment.get("data"), fragment.get("offset"))
            if wrong is not None:
                self._ignores_fragments = True
                found.append(self._give_up(wrong))
        else:
            self._end_joining(self._joining, found)

    def _start_joining(self, total: object, found: list[tuple[Frame, int] | Fault]) -> None:
        self._ignores_fragments = True
        if type(total) is not int or total < 0:
            found.append(Fault("a split frame without a size", 0))
        elif total > self._limit:
            found.append(self._too_large(total))
        else:
            self._ignores_fragments = False
            self._joining = _Joining(total)

    def _end_joining(self, joining: "_Joining", found: list[tuple[Frame, int] | Fault]) -> None:
        self._joining = None
        if joining.size != joining.total:
            found.append(Fault("a split frame ended too early", joining.size))
            return
        line = b"".join(joining.parts)
        if len(line) > self._max_parsed:
            self.unparsed, self._is_unparsed_joined = line, True
        else:
            found.append(_as_frame(parse(line), len(line)))

    def _give_up(self, reason: str) -> Fault:
        size = 0 if self._joining is None else self._joining.size
        self._joining = None
        return Fault(reason, size)

    def _too_large(self, size: int) -> Fault:
        return Fault(f"larger than {self._limit} bytes", size)


class _Joining:
    """A split frame that is being received."""

    __slots__ = ("parts", "size", "total")

    def __init__(self, total: int) -> None:
        self.total = total
        self.size = 0
        self.parts: list[bytes] = []

    def add(self, text: object, offset: object) -> str | None:
        """Take one fragment. Returns the problem if it is wrong."""
        if type(text) is not str or offset != self.size:
            return f"a fragment at {short_repr(offset):.40} where {self.size} was due"
        if len(self.parts) >= MAX_FRAGMENTS:
            return f"more than {MAX_FRAGMENTS} fragments"
        part = text.encode("utf-8", "surrogatepass")
        if self.size + len(part) > self.total:
            return "more bytes than the split frame had announced"
        self.parts.append(part)
        self.size += len(part)
        return None


def _is_fragment(kind: object) -> bool:
    return type(kind) is str and kind in _FRAGMENT_TYPES


def _as_frame(value: object, size: int) -> tuple[Frame, int] | Fault:
    """Return the value of a joined line as a frame, or the fault."""
    if type(value) is Fault:
        return value
    return (cast("Frame", value), size) if _is_frame(value) else Fault("not a frame of the wire", size)


def _is_frame(value: object) -> bool:
    if type(value) is not dict:
        return False
    frame = cast("Frame", value)
    return type(frame.get("seq_id")) is int and (type(frame.get("code")) is int or type(frame.get("action")) is str)


def _careful_loads(line: bytes) -> object:
    """Decode a line that the fast parser refused: repair half surrogate pairs, or return the reason."""
    try:
        value = json.loads(
            line.decode("utf-8", "surrogatepass"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
        return _without_surrogates(value)
    except RecursionError:
        return Fault(f"nested deeper than {MAX_DEPTH}", len(line))
    except UnicodeDecodeError:
        return Fault("not UTF-8", len(line))
    except _NotFinite as error:
        return Fault(f"not JSON: {error}", len(line))
    except ValueError:
        return Fault("not JSON", len(line))


class _NotFinite(ValueError):
    """Refuse NaN and Infinity, which are not JSON."""


def _refuse_constant(name: str) -> object:
    raise _NotFinite(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _NotFinite("a number is too large")
    return number


def _whole(text: str) -> int | float:
    # As the quick parser reads them: beyond 64 bits a whole number becomes a float.
    if len(text) < 19:
        return int(text)
    if len(text) > 20 or not -(1 << 63) <= (number := int(text)) < 1 << 64:
        return _finite(text)
    return number


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("�", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in cast("Frame", value).items()}
    return value
