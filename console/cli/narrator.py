"""A run's journal told to a person, entry by entry, as it happens or again."""

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from console.cli.wrapping import Wrapping
from console.model.inspect.calls import OpenCalls
from console.model.safe import one_line, safe
from console.model.words import duration, latency, number, short_runner, size
from engine.api import DeltaText, Entry, text_of

if TYPE_CHECKING:
    from console.cli.asides import Asides

LONGEST_LINE: Final = 2_000
"""Characters of one printed line of a runner that are shown; the journal has all of it."""
_WITHOUT_EFFECT: Final = frozenset({"dropped", "refused", "ignored", "unknown"})

OUTCOMES: Final = {
    "created": ("◌", "dim"),
    "running": ("●", "cyan"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "timeout": ("✗", "red"),
    "cancelled": ("■", "yellow"),
}
"""Glyph and colour of a status; the word always stands beside them."""

Paint = Callable[[str, str], str]


class Narrator:
    """Turns entries into text for a terminal. Everything a runner said is made safe here."""

    def __init__(self, paint: Paint, width: int | None = None) -> None:
        """`width` is where messages are broken between words; none leaves their lines alone."""
        self._paint = paint
        self._wrapping = Wrapping(width)
        self._pieces: list[str] = []
        self._block = ""
        """What was written last: `text` of a message, `line` for all else."""
        self._is_open = False
        """The last line has no end yet."""
        self._open_tool: str | None = None
        self._tools: dict[str, int] = {}
        self._deltas = DeltaText()
        self._shown: list[str] = []
        self._last_message: str | None = None
        self._is_stale = False
        """Deltas came that are not shown yet."""
        self._began: int | None = None
        self._calls = OpenCalls()
        self._asides: Asides | None = None
        self._tellers: dict[str, Callable[[Entry, dict[str, Any]], None]] = {
            "run.started": self._started,
            "message.delta": self._delta,
            "message.completed": self._message,
            "run.completed": self._message,
            "run.failed": self._nothing,
            "tool.call.started": self._tool_started,
            "tool.call.completed": self._tool_completed,
            "state.updated": self._state,
            "artifact.created": self._artifact,
            "action.requested": self._action,
            "output": self._output,
            "warning": self._warning,
            "cancel.requested": self._cancel,
            "call.requested": self._call,
            "call.decided": self._call,
            "call.replied": self._call,
            "run.finished": self._finished,
        }

    def tell(self, entries: Iterable[Entry]) -> str:
        """What to print for these entries."""
        for entry in entries:
            if entry.outcome in _WITHOUT_EFFECT and entry.type != "call.decided":
                self._without_effect(entry)
                continue
            if entry.type != "message.delta":
                self._catch_up()
            parsed = json.loads(entry.data)
            data: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
            self._tellers.get(entry.type, self._other)(entry, data)
            if entry.outcome is not None and not entry.type.startswith("call."):
                self._remark(f"{one_line(entry.type)} {entry.outcome}: {one_line(entry.reason or '')}")
        self._catch_up()
        told = "".join(self._pieces)
        self._pieces.clear()
        return told

    # Messages

    def _delta(self, _entry: Entry, data: dict[str, Any]) -> None:
        chunk = data["chunk"]
        content, whole = text_of(chunk.get("content")), chunk.get("all_content")
        # Joined fragments are shown as they come; for all else the text so far is compared once a batch.
        if self._deltas.is_joined and not whole and not self._is_stale:
            self._deltas.add(content)
            self._shown_more(content)
        else:
            self._deltas.add(content, whole)
            self._is_stale = True

    def _catch_up(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._say(self._deltas.text)

    def _message(self, entry: Entry, data: dict[str, Any]) -> None:
        message = data.get("message")
        if not isinstance(message, dict):
            return
        text = text_of(message.get("content"), " ")
        is_repeat = entry.type == "run.completed" and text == self._last_message and not self._shown
        self._last_message = text
        is_shown = text.rstrip() == "".join(self._shown).rstrip()
        if text and not is_repeat and not is_shown:
            self._say(text)
        if self._block == "text":
            self._end_line()
            self._block = "message"
        self._deltas, self._shown = DeltaText(), []

    def _say(self, text: str) -> None:
        """Bring what is shown to this text; what does not go on from it is said anew."""
        shown = "".join(self._shown)
        self._shown = [shown]
        if text.startswith(shown):
            self._shown_more(text[len(shown) :])
        else:
            self._remark("the text so far is replaced:")
            self._shown = []
            self._shown_more(text)

    def _shown_more(self, piece: str) -> None:
        if not piece:
            return
        if self._block != "text":
            self._end_line()
            self._pieces.append("\n" if self._block else "")
            self._block = "text"
            self._wrapping.begin()
        self._shown.append(piece)
        self._pieces.append(self._wrapping.add(safe(piece)))
        self._is_open = not piece.endswith("\n")

    # Lines

    def _started(self, entry: Entry, data: dict[str, Any]) -> None:
        self._began = entry.at
        context = data.get("context") or {}
        session = (context.get("conversation") or {}).get("conversation_id") or "no session"
        runner = self._paint("bold", one_line(short_runner(str(data.get("runner_id")))))
        self._line(f"{self._paint('cyan', '▸')} {runner}  {one_line(session)}  {entry.run_id}", indent="")
        event = context.get("event") or {}
        text = str((context.get("input") or {}).get("text") or "")
        if event.get("event_type") != "message.received":
            text = f"{event.get('event_type')} {text}".strip()
        self._line(self._paint("dim", f"› {one_line(text)}"), indent="")

    def _tool_started(self, entry: Entry, data: dict[str, Any]) -> None:
        call_id = str(data.get("tool_call_id"))
        self._tools[call_id] = entry.at
        given = data.get("parameters")
        shown = ", ".join(f"{key}={_value(value)}" for key, value in given.items()) if isinstance(given, dict) else ""
        name = self._paint("bold", one_line(str(data.get("tool_name")), 80))
        self._line(f"{self._paint('cyan', '▸')} {name}({one_line(shown, 100)})", is_open=True)
        self._open_tool = call_id

    def _tool_completed(self, entry: Entry, data: dict[str, Any]) -> None:
        call_id = str(data.get("tool_call_id"))
        began = self._tools.pop(call_id, None)
        took = f" {duration(entry.at - began)}" if began is not None else ""
        error = data.get("error")
        if error:
            said = self._paint("red", f"✗{took}") + f"  {one_line(_value(error), 200)}"
        else:
            said = self._paint("green", f"✓{took}") + self._paint(
                "dim", f"  {one_line(_value(data.get('result')), 60)}"
            )
        if self._open_tool == call_id and self._is_open:
            self._pieces.append(f"  {said}")
            self._end_line()
        else:
            self._line(f"{one_line(str(data.get('tool_name')), 80)}  {said}")

    def _state(self, _entry: Entry, data: dict[str, Any]) -> None:
        value = one_line(_value(data.get("value")), 120)
        self._line(self._paint("dim", f"· state {data.get('scope')}: {one_line(str(data.get('key')), 80)} = {value}"))

    def _artifact(self, _entry: Entry, data: dict[str, Any]) -> None:
        name = one_line(str(data.get("name") or data.get("artifact_id") or data.get("artifact_type")), 80)
        details = [one_line(str(data["mime_type"]), 60)] if data.get("mime_type") else []
        if isinstance(data.get("size_bytes"), int):
            details.append(size(data["size_bytes"]))
        self._line(self._paint("dim", "  ".join((f"· artifact {name}", *details))))

    def _call(self, entry: Entry, _data: dict[str, Any]) -> None:
        """One line a call, when it has its reply."""
        call = self._calls.take(entry)
        if call is None:
            return
        named = " ".join(one_line(part, 80) for part in (call.action, call.resource or "") if part)
        took = latency(call.microseconds or 0)
        if call.code is None:
            self._line(self._paint("dim", f"· {named} ✓ {took}"))
        else:
            self._remark(f"{named} {one_line(call.code, 40)}: {one_line(call.message or call.clause)}")

    def _action(self, _entry: Entry, data: dict[str, Any]) -> None:
        self._line(f"? asks for {one_line(str(data.get('action')), 80)} (recorded, not done)")

    def _output(self, _entry: Entry, data: dict[str, Any]) -> None:
        stream, text = str(data.get("stream")), str(data.get("text", ""))
        if stream == "traceback":
            for line in text.splitlines():
                self._line(self._paint("red", "│ ") + _cut(line))
        else:
            self._line(self._paint("dim", f"{stream} │ {_cut(text)}"))

    def _warning(self, _entry: Entry, data: dict[str, Any]) -> None:
        self._remark(one_line(str(data.get("message")), 500))

    def _cancel(self, _entry: Entry, _data: dict[str, Any]) -> None:
        self._remark("cancel requested")

    def _aside(self, entry: Entry, data: dict[str, Any]) -> None:
        """What was said or done to the run while it worked."""
        if self._asides is None:
            from console.cli.asides import Asides  # most runs have none of it

            self._asides = Asides(self._paint)
        for line in self._asides.tell(entry, data):
            self._line(line)

    def _other(self, entry: Entry, data: dict[str, Any]) -> None:
        if entry.type.startswith(("steering.", "hold.")):
            self._aside(entry, data)
            return
        self._line(self._paint("dim", f"· {one_line(entry.type, 80)} {one_line(entry.data, 120)}"))

    def _nothing(self, _entry: Entry, _data: dict[str, Any]) -> None:
        """Told by `run.finished`, which comes after it."""

    def _finished(self, entry: Entry, data: dict[str, Any]) -> None:
        took = "" if self._began is None else f" in {duration(entry.at - self._began)}"
        status = str(data.get("status"))
        said = outcome(self._paint, status, str(data.get("reason")), str(data.get("error") or ""), took)
        usage = data.get("usage")
        used = ", ".join(f"{one_line(key, 40)} {value}" for key, value in usage.items()) if usage else ""
        told = [said, number(entry.position, "entry", "entries"), *([used] if used else [])]
        self._end_line()
        self._pieces.append("\n" + " · ".join(told) + "\n")

    def _without_effect(self, entry: Entry) -> None:
        self._catch_up()
        self._remark(f"{one_line(entry.type, 80)} {entry.outcome}: {one_line(entry.reason or '')}")

    def _remark(self, text: str) -> None:
        self._line(self._paint("yellow", f"! {text}"))

    def _line(self, text: str, *, indent: str = "  ", is_open: bool = False) -> None:
        self._end_line()
        if self._block in ("text", "message"):
            self._pieces.append("\n")
        self._pieces.append(indent + text + ("" if is_open else "\n"))
        self._is_open = is_open
        self._block = "line"

    def _end_line(self) -> None:
        if self._is_open:
            self._pieces.append("\n")
            self._is_open = False
        self._open_tool = None


def outcome(paint: Paint, status: str, reason: str, error: str, took: str) -> str:
    """How a run stands: glyph, word and why."""
    glyph, colour = OUTCOMES.get(status, ("?", "dim"))
    word = "completed with no output" if (status, reason) == ("completed", "no output") else status
    told = paint(colour, f"{glyph} {one_line(word)}{took}")
    if status in ("failed", "timeout"):
        told += f" · {one_line(reason, 80)}" + (f": {one_line(error, 400)}" if error else "")
    elif error:
        told += f" · {one_line(error, 400)}"
    return told


def _value(value: object) -> str:
    """A value in few characters: text as it is, the rest as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)[:2_000]


def _cut(text: str) -> str:
    left = len(text) - LONGEST_LINE
    return safe(text[:LONGEST_LINE]) + (f"… ({left:,} more characters; --jsonl has them)" if left > 0 else "")
