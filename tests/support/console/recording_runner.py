"""A runner that records its input."""

from typing import Any

from tests.support.engines import said


class RecordingRunner:
    """Keeps text and file names of every message, and answers with their number."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, list[str]]] = []

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.messages]

    @property
    def runner(self) -> Any:
        async def record(ctx: Any):
            self.messages.append((ctx.input.to_text(), [file.name for file in ctx.input.attachments]))
            yield said(f"That was number {len(self.messages)}.")

        return record
