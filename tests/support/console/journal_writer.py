"""A journal for tests of the conversation, written entry by entry."""

import json
from typing import Any

from console.model.conversation.conversation import ConversationModel
from engine.api import Entry

SECOND = 1_000_000
OUTLINE_LEAVES_OUT = ("message.delta", "output", "call.requested", "call.decided", "call.replied")


class Journal:
    """Writes the entries of a run, one second apart."""

    def __init__(self, run_id: str = "run", start: int = 0) -> None:
        self.run_id = run_id
        self.entries: list[Entry] = []
        self._start = start

    def __call__(self, kind: str, data: Any = None, *, turn: int = 1, after: float = 1.0, **fields: Any) -> Entry:
        at = self.entries[-1].at + int(after * SECOND) if self.entries else self._start
        text = data if isinstance(data, str) else json.dumps(data or {}, separators=(",", ":"))
        entry = Entry(self.run_id, len(self.entries) + 1, at, "runner", kind, text, turn=turn, **fields)
        self.entries.append(entry)
        return entry

    def began(self, text: str = "plan a day") -> "Journal":
        self("run.started", {"context": {"event": {"event_type": "message.received"}, "input": {"text": text}}})
        return self

    def delta(self, content: str = "", whole: str | None = None, **fields: Any) -> "Journal":
        chunk = {"role": "assistant", "content": content, **({} if whole is None else {"all_content": whole})}
        self("message.delta", {"chunk": chunk}, **fields)
        return self

    def said(self, text: Any) -> "Journal":
        self("message.completed", {"message": {"role": "assistant", "content": text}})
        return self

    def tool(self, name: str = "weather", call_id: str = "1", **parameters: Any) -> "Journal":
        self("tool.call.started", {"tool_call_id": call_id, "tool_name": name, "parameters": parameters})
        return self

    def answered(self, result: Any = None, error: Any = None, call_id: str = "1") -> "Journal":
        self("tool.call.completed", {"tool_call_id": call_id, "tool_name": "weather", "result": result, "error": error})
        return self

    def finished(self, status: str = "completed", reason: str = "stop", error: str = "", turn: int = 1) -> "Journal":
        self("run.finished", {"status": status, "reason": reason, **({"error": error} if error else {})}, turn=turn)
        return self

    def talk(self) -> ConversationModel:
        talk = ConversationModel()
        talk.apply(self.entries)
        return talk
