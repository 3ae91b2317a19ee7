"""How a journal is told: text made safe, deltas of both kinds, and every drop with its reason."""

import io
import json
import os

import pytest

from console.cli.narrator import Narrator
from console.cli.terminal import Output
from console.cli.wrapping import Wrapping
from console.model.safe import one_line, safe
from console.model.words import age, ago, duration, number, short_runner, size
from engine.api import Entry


def told(*steps: tuple[str, object], outcome: str | None = None, reason: str | None = None) -> str:
    narrator = Narrator(lambda _style, text: text)
    entries = [
        Entry("run_1", place, place * 1_000, "runner", kind, json.dumps(data), outcome, reason)
        for place, (kind, data) in enumerate(steps, start=1)
    ]
    return "".join(narrator.tell([entry]) for entry in entries)


def delta(content: str, **more: str) -> tuple[str, object]:
    return "message.delta", {"chunk": {"role": "assistant", "content": content, **more}}


def completed(content: object, kind: str = "message.completed") -> tuple[str, object]:
    return kind, {"message": {"role": "assistant", "content": content}}


def test_text_grows_whichever_way_its_chunks_are_meant():
    assert told(delta("a"), delta("b"), delta("c")) == "abc"
    assert told(delta("a"), delta("ab"), delta("abc")) == "abc"
    assert told(delta("a", all_content="a"), delta("b", all_content="ab")) == "ab"


def test_on_a_terminal_text_is_broken_between_words():
    def wrapped(*pieces: str) -> str:
        wrapping = Wrapping(10)
        return "".join(wrapping.add(piece) for piece in pieces)

    assert wrapped("one", " two", " three", " four") == "one two\nthree four"
    assert wrapped("one two three\n  four five six") == "one two\nthree\n  four\nfive six"
    assert wrapped("a" * 12, " bb") == "a" * 12 + " bb"
    assert wrapped("日本語 日本語") == "日本語\n日本語"
    assert Wrapping(None).add("one  two three four") == "one  two three four"


def test_a_completed_message_replaces_what_was_streamed():
    assert told(delta("half"), completed("half a word")) == "half a word\n"
    assert told(delta("one"), completed("two")) == "one\n\n  ! the text so far is replaced:\n\ntwo\n"
    assert told(delta("same "), completed("same")) == "same \n"


def test_a_message_that_is_repeated_at_the_end_is_told_once():
    assert told(completed("bye"), completed("bye", "run.completed")) == "bye\n"
    assert told(completed([{"type": "text", "text": "parts"}])) == "parts\n"


def test_what_had_no_effect_is_told_with_its_reason():
    shown = told(("state.updated", "odd\x1b"), outcome="dropped", reason="data: should be an object\x1b[2J")
    assert shown == "  ! state.updated dropped: data: should be an object␛[2J\n"


def test_a_tool_that_ends_before_anything_else_is_said_stays_on_its_line():
    start = ("tool.call.started", {"tool_call_id": "1", "tool_name": "look", "parameters": {"at": "sky"}})
    end = ("tool.call.completed", {"tool_call_id": "1", "tool_name": "look", "error": "too\ndark"})

    assert told(start, end) == "  ▸ look(at=sky)  ✗ 1 ms  too␊dark\n"
    assert told(start, delta("hm"), end) == "  ▸ look(at=sky)\n\nhm\n\n  look  ✗ 2 ms  too␊dark\n"


@pytest.mark.parametrize("data", [None, [], "text", {}, {"parameters": 5, "tool_name": None}])
def test_no_data_of_a_runner_can_break_the_telling(data: object):
    for kind in ("tool.call.started", "tool.call.completed", "action.requested", "telepathy", "run.completed"):
        assert isinstance(told((kind, data)), str)


def test_what_is_said_to_a_run_is_told_by_its_words_though_entries_name_it_by_its_id():
    first, second = {"item_id": "i1"}, {"item_id": "i2"}
    shown = told(
        ("steering.queued", first | {"text": "use metric"}),
        ("steering.queued", second | {"text": "hurry\x1b[2J"}),
        ("steering.moved", second | {"before": "i1"}),
        ("steering.edited", first | {"before": "use metric", "after": "use miles"}),
        ("steering.held", first),
        ("steering.released", first),
        ("steering.turned", second | {"mode": "after"}),
        ("steering.pulled", {"items": []}),
        ("steering.pulled", {"items": ["i1"]}),
        ("steering.returned", {"items": ["i1"]}),
        ("steering.injected", first),
        ("steering.withdrawn", second),
        ("steering.dropped", {"item_id": "i3", "text": "bye", "reason": "timeout"}),
        ("steering.injected", {"item_id": "i4"}),
    )

    assert shown.splitlines() == [
        "  ▲ steer  use metric  queued",
        "  ▲ steer  hurry␛[2J  queued",
        "  ▲ steer  hurry␛[2J  has another place in the queue",
        "  ▲ steer  use miles  edited; it was: use metric",
        "  ‖ steer  use miles  held back",
        "  ▲ steer  use miles  queued again",
        "  ▲ steer  hurry␛[2J  waits for the run's end now",
        "  ▲ steer  use miles  queued again: the pull was cancelled",
        "  ▼ steer  use miles  injected at turn 1",
        "  ✗ steer  hurry␛[2J  withdrawn",
        "  ✗ steer  bye  dropped: run ran out of time before it pulled",
        "  ▼ steer  i4  injected at turn 1",
    ]


def test_holds_are_told_with_what_is_held():
    call, result = {"call_id": "c", "action": "call_tool"}, {"type": "message.completed"}
    shown = told(
        ("hold.armed", {"when": "tool", "once": False}),
        ("hold.reached", {"when": "tool", "stage": "before"} | call),
        ("hold.released", {"when": "tool", "stage": "before", "seconds": 1.25, "how": "step"} | call),
        ("hold.reached", {"when": "step", "stage": "reply"} | call),
        ("hold.edited", {"call_id": "c", "original": {"result": 1}, "edit": {"result": "\x07"}, "editor": "ann"}),
        ("hold.edited", {"call_id": "c", "edit_ref": "art_1", "edit_size": 99_999, "editor": "ann"}),
        ("hold.released", {"when": "step", "stage": "reply", "seconds": 90.0, "how": "release"} | call),
        ("hold.reached", {"when": "message.completed", "stage": "result"} | result),
        ("hold.disarmed", {"when": "tool", "once": False}),
    )

    assert shown.splitlines() == [
        "  · hold armed: tool",
        "  ‖ held  before call_tool  (tool)",
        "  ▸ step  after 1.2 s",
        "  ‖ held  the reply of call_tool  (step)",
        '  ‖ edit  {"result": "\\u0007"}',
        '  ‖ edit  {"artifact": "art_1"}',
        "  ▸ released  after 1 min 30 s",
        "  ‖ held  before message.completed  (message.completed)",
        "  · hold disarmed: tool",
    ]


def test_control_characters_and_directions_are_made_visible():
    assert safe("a\x1b[2J\x00\x7f\x9b\u202e\u2066\u2028b\r\n\tc\r") == "a␛[2J␀␡\\x9b\\u202e\\u2066\\u2028b\n\tc␍"
    assert one_line("a\nb" * 200, 10) == "a␊ba␊ba␊ba…"


def test_no_colour_without_a_terminal_or_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch):
    class Screen(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    def painted() -> str:
        return Output(Screen(io.BytesIO())).paint("red", "x")

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert painted() == "\x1b[31mx\x1b[0m"
    assert Output(io.TextIOWrapper(io.BytesIO())).paint("red", "x") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted() == "x"


def test_output_that_nobody_reads_is_thrown_away_in_silence(capfd: pytest.CaptureFixture[str]):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        out = Output(stream)
        out.line("anyone?")
        assert out.is_gone
        out.line("no one")
    assert capfd.readouterr().err == ""


def test_numbers_are_said_as_people_say_them():
    second = 1_000_000
    assert [duration(n) for n in (0, 999_000, 9_240_000, 200 * second, 3_840 * second)] == [
        "0 ms", "999 ms", "9.2 s", "3 min 20 s", "1 h 4 min",
    ]  # fmt: skip
    assert [ago(n * second) for n in (3, 30, 300, 30_000, 3_000_000)] == [
        "just now", "30 s ago", "5 min ago", "8 h ago", "34 days ago",
    ]  # fmt: skip
    assert [size(n) for n in (5, 3_482, 125_829_120, 5 << 40)] == ["5 B", "3.4 KiB", "120 MiB", "5120 GiB"]
    assert (number(1, "run"), number(2_000, "run")) == ("1 run", "2,000 runs")
    assert [age("30d"), age("2 w")] == [30 * 86_400 * second, 14 * 86_400 * second]
    assert [short_runner(text) for text in ("plugin:a/echo/default", "plugin:local/f/Class", "odd")] == [
        "echo", "f/Class", "odd",
    ]  # fmt: skip
