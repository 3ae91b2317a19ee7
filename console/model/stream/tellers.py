"""What each kind of entry says in one line: one function a kind."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from console.model.stream.names import LONGEST, Names
from console.model.talk.ends import ended, why_dropped
from console.model.talk.loose import arguments, items, mapping, text_of, words
from console.model.words import duration, number, short_runner, size

Data = Mapping[str, Any]
_MESSAGE: Final = "message.received"


class Said(NamedTuple):
    """What a kind of entry makes of its data."""

    text: str
    glyph: str = ""
    tone: str = ""
    """Where it is not that of its kind."""


def _quoted(text: str | None) -> str:
    return f"“{text}”" if text else ""


def _item(data: Data, names: Names) -> str:
    item_id = words(data.get("item_id"))
    return _quoted(words(data.get("text"))[:LONGEST] or names.name_of(item_id)) or item_id


def _started(data: Data, _names: Names) -> Said:
    context = mapping(data.get("context"))
    text = words(mapping(context.get("input")).get("text"))
    kind = words(mapping(context.get("event")).get("event_type"))
    is_message = kind in ("", _MESSAGE)
    told = ("" if is_message else kind, short_runner(words(data.get("runner_id"))), _quoted(text[:LONGEST]))
    return Said(" ".join(filter(None, told)), "running" if is_message else "event")


def _delta(data: Data, _names: Names) -> Said:
    chunk = mapping(data.get("chunk"))
    return Said(text_of(chunk.get("content")) or text_of(chunk.get("all_content")))


def _message(data: Data, _names: Names) -> Said:
    return Said(text_of(mapping(data.get("message")).get("content")))


def _tool_started(data: Data, _names: Names) -> Said:
    return Said(f"{words(data.get('tool_name'))}({arguments(data.get('parameters'))})")


def _tool_completed(data: Data, _names: Names) -> Said:
    name = words(data.get("tool_name"))
    if error := data.get("error"):
        return Said(f"{name} {words(error)}", "failed", "error")
    return Said(f"{name} {words(data.get('result'))}", "completed")


def _state(data: Data, _names: Names) -> Said:
    return Said(f"{words(data.get('scope'))} {words(data.get('key'))} = {words(data.get('value'))}")


def _artifact(data: Data, _names: Names) -> Said:
    name = words(data.get("name") or data.get("artifact_id") or data.get("artifact_type"))
    length = data.get("size_bytes")
    return Said(f"{name}  {size(length)}" if isinstance(length, int) else name)


def _action(data: Data, _names: Names) -> Said:
    return Said(f"asks for {words(data.get('action'))} (recorded, not done)")


def _completed(data: Data, names: Names) -> Said:
    text = _message(data, names).text
    return Said(f"{words(data.get('finish_reason'))} {_quoted(text[:LONGEST])}".strip(), "completed")


def _failed(data: Data, _names: Names) -> Said:
    return Said(f"{words(data.get('code'))}: {words(data.get('error'))}", "failed", "error")


def _finished(data: Data, _names: Names) -> Said:
    status, reason = words(data.get("status")), words(data.get("reason"))
    end = ended(status, reason, words(data.get("error")), took=None, by_person=False, by_runner=False)
    told = f"{end.words}: {end.error}" if end.error else end.words
    return Said(told, end.state, "error" if end.is_failure else "")


def _requested(data: Data, _names: Names) -> Said:
    return Said(f"{words(data.get('action'))}({arguments(data.get('arguments'))})")


def _decided(data: Data, names: Names) -> Said:
    action = names.name_of(data.get("call_id")) or words(data.get("call_id"))
    what = f"{action} {words(data.get('resource'))}".strip()
    if data.get("allowed"):
        return Said(f"{what} allowed: {words(data.get('clause'))}", "completed")
    return Said(f"{what} refused: {words(data.get('clause'))}", "failed", "error")


def _replied(data: Data, names: Names) -> Said:
    action = names.name_of(data.get("call_id")) or words(data.get("call_id"))
    if error := mapping(data.get("error")):
        return Said(f"{action} {words(error.get('code'))}: {words(error.get('message'))}", "failed", "error")
    return Said(f"{action} {words(data.get('reply'))}", "completed")


def _pulled(data: Data, _names: Names) -> Said:
    pulled = items(data.get("items"))
    return Said(number(len(pulled), "item"), "pulled") if pulled else Said("nothing waits")


def _returned(data: Data, _names: Names) -> Said:
    return Said(f"{number(len(items(data.get('items'))), 'item')} queued again: the pull was cancelled", "queued")


def _edited(data: Data, _names: Names) -> Said:
    after = words(data.get("after", data.get("text")))
    return Said(f"{_quoted(after[:LONGEST])} was {_quoted(words(data.get('before')))}", "queued")


def _dropped(data: Data, names: Names) -> Said:
    return Said(f"{_item(data, names)} dropped: {why_dropped(words(data.get('reason')))}", "dropped", "error")


def _turned(data: Data, names: Names) -> Said:
    return Said(f"{_item(data, names)} {'waits for the end' if data.get('mode') == 'after' else 'steers'}", "after")


def _steering(glyph: str, word: str = "") -> Callable[[Data, Names], Said]:
    return lambda data, names: Said(f"{_item(data, names)} {word}".strip(), glyph)


def _hold(data: Data, _names: Names) -> Said:
    return Said(f"at {words(data.get('when'))}{' once' if data.get('once') else ''}")


def _reached(data: Data, _names: Names) -> Said:
    what = words(data.get("type") or data.get("action"))
    held = f"the reply of {what}" if data.get("stage") == "reply" else f"before {what}"
    return Said(f"held {held}", "held")


def _hold_edited(data: Data, _names: Names) -> Said:
    return Said(f"answer edited: {words(data.get('edit', data.get('edit_ref')))}", "held")


def _released(data: Data, _names: Names) -> Said:
    seconds = data.get("seconds")
    after = f" after {duration(int(seconds * 1_000_000))}" if isinstance(seconds, int | float) else ""
    return Said(f"{'one step' if data.get('how') == 'step' else 'released'}{after}", "running")


def _output(data: Data, _names: Names) -> Said:
    stream = words(data.get("stream"))
    if stream == "cut":
        return Said(f"{data.get('lines')} lines not kept")
    return Said(f"{stream} {words(data.get('text'))}", tone="error" if stream == "traceback" else "")


def _warning(data: Data, _names: Names) -> Said:
    return Said(words(data.get("message")), "lost")


TELLERS: Final[Mapping[str, Callable[[Data, Names], Said]]] = {
    "run.started": _started,
    "message.delta": _delta,
    "message.completed": _message,
    "tool.call.started": _tool_started,
    "tool.call.completed": _tool_completed,
    "state.updated": _state,
    "artifact.created": _artifact,
    "action.requested": _action,
    "run.completed": _completed,
    "run.failed": _failed,
    "run.finished": _finished,
    "call.requested": _requested,
    "call.decided": _decided,
    "call.replied": _replied,
    "steering.queued": _steering("queued"),
    "steering.edited": _edited,
    "steering.moved": _steering("queued", "has another place"),
    "steering.held": _steering("held", "held back"),
    "steering.released": _steering("queued", "queued again"),
    "steering.withdrawn": _steering("dropped", "withdrawn"),
    "steering.turned": _turned,
    "steering.pulled": _pulled,
    "steering.returned": _returned,
    "steering.injected": _steering("injected"),
    "steering.dropped": _dropped,
    "hold.armed": _hold,
    "hold.disarmed": _hold,
    "hold.reached": _reached,
    "hold.edited": _hold_edited,
    "hold.released": _released,
    "output": _output,
    "warning": _warning,
}
