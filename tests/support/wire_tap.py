"""Records what the host writes to the processes of runners, as the runner receives it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from engine.runtimes import wire
from engine.runtimes.answers import Answers
from engine.runtimes.pipes import WritePipe


class Received(NamedTuple):
    """One payload that a runner received: the context of a run, or a reply to one of its calls."""

    action: str
    """`run_agent` for a context."""
    payload: Any
    is_error: bool = False


class WireTap:
    """Decodes every frame for every child, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.received: list[Received] = []
        self._calls: dict[tuple[Any, int], str] = {}
        """The action of each call, by the pipe of its child and its number."""
        self._decoders: dict[Any, wire.Decoder] = {}
        monkeypatch.setattr(Answers, "take", self._tap_calls(Answers.take))
        monkeypatch.setattr(WritePipe, "write", self._tap_frames(WritePipe.write))

    def payloads(self, action: str) -> list[Any]:
        """Return the replies to a call that were no errors; the contexts for `run_agent`."""
        return [one.payload for one in self.received if one.action == action and not one.is_error]

    def _tap_calls(self, take: Callable[..., None]) -> Callable[..., None]:
        def tapped(answers: Any, number: int, action: str, data: object) -> None:
            self._calls[answers._write.__self__, number] = action
            take(answers, number, action, data)

        return tapped

    def _tap_frames(self, write: Callable[..., bool]) -> Callable[..., bool]:
        def tapped(pipe: Any, data: bytes) -> bool:
            decoder = self._decoders.setdefault(pipe, wire.Decoder(wire.MAX_REPLY))
            for found in decoder.feed(data):
                assert not isinstance(found, wire.Fault), found
                self._note(pipe, found[0])
            return write(pipe, data)

        return tapped

    def _note(self, pipe: Any, frame: Any) -> None:
        if frame.get("action") == "run_agent":
            self.received.append(Received("run_agent", frame["data"]["context"]))
        elif "action" not in frame and frame.get("chunk_status") != "end":
            action = self._calls[pipe, frame["seq_id"]]
            self.received.append(Received(action, frame["data"], is_error=frame["code"] != 0))
