"""How entries are printed: visible control characters, both kinds of deltas, drops with their reason."""

import io
import json
import os

import pytest

from console.cli.narrator import Narrator
from console.cli.terminal import Output, TextWrapper
from console.model.text.safe import one_line, safe
from console.model.text.units import age, ago, duration, number, short_runner, size
from engine.api import Entry


def printed(*steps: tuple[str, object], outcome: str | None = None, reason: str | None = None) -> str:
    narrator = Narrator(lambda _style, text: text)
    entries = [
        Entry("run_1", place, place * 1_000, "runner", kind, json.dumps(data), outcome, reason)
        for place, (kind, data) in enumerate(steps, start=1)
    ]
    return "".join(narrator.format([entry]) for entry in entries)


def delta(content: str, **more: str) -> tuple[str, object]:
    return "message.delta", {"chunk": {"role": "assistant", "content": content, **more}}


def completed(content: object, kind: str = "message.completed") -> tuple[str, object]:
    return kind, {"message": {"role": "assistant", "content": content}}


def test_fragments_and_snapshots_give_the_same_text():
    assert printed(delta("a"), delta("b"), delta("c")) == "abc"
    assert printed(delta("a"), delta("ab"), delta("abc")) == "abc"
    assert printed(delta("a", all_content="a"), delta("b", all_content="ab")) == "ab"


def test_text_is_wrapped_between_words():
    def wrapped(*pieces: str) -> str:
        wrapping = TextWrapper(10)
        return "".join(wrapping.add(piece) for piece in pieces)

    assert wrapped("one", " two", " three", " four") == "one two\nthree four"
    assert wrapped("one two three\n  four five six") == "one two\nthree\n  four\nfive six"
    assert wrapped("a" * 12, " bb") == "a" * 12 + " bb"
    assert wrapped("日本語 日本語") == "日本語\n日本語"
    assert TextWrapper(None).add("one  two three four") == "one  two three four"


def test_completed_message_replaces_streamed_text():
    assert printed(delta("half"), completed("half a word")) == "half a word\n"
    assert printed(delta("one"), completed("two")) == "one\n\n  ! the text above is replaced by:\n\ntwo\n"
    assert printed(delta("same "), completed("same")) == "same \n"


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        ({"seen": {"total_tokens": 14}, "claimed": {"total_tokens": 9}}, "seen 14 tokens, claimed 9 tokens"),
        ({"seen": {"prompt_tokens": 96, "total_tokens": 1_110}}, "seen 1,110 tokens (prompt_tokens 96)"),
        ({"claimed": {"cost": 0.5, "in\x1b": 3}}, "claimed cost 0.5 and in␛ 3"),
        ({"tokens": 23}, "seen and claimed together 23 tokens"),
        ({"claimed": {"tokens": "‹secret pin›", "details": {"a": [1]}}},
         'claimed ‹secret pin› tokens (details {"a":[1]})'),
    ],
)  # fmt: skip
def test_end_of_a_run_has_both_figures_of_its_usage(usage: object, words: str):
    end = printed(("run.finished", {"status": "completed", "usage": usage}))

    assert end == f"\n✓ completed · 1 entry · {words}\n"


def test_message_repeated_by_run_completed_is_printed_once():
    assert printed(completed("bye"), completed("bye", "run.completed")) == "bye\n"
    assert printed(completed([{"type": "text", "text": "parts"}])) == "parts\n"


def test_dropped_result_is_printed_with_its_reason():
    shown = printed(("state.updated", "odd\x1b"), outcome="dropped", reason="data: should be an object\x1b[2J")
    assert shown == "  ! state.updated dropped: data: should be an object␛[2J\n"


def test_tool_call_and_its_result_share_a_line():
    start = ("tool.call.started", {"tool_call_id": "1", "tool_name": "look", "parameters": {"at": "sky"}})
    end = ("tool.call.completed", {"tool_call_id": "1", "tool_name": "look", "error": "too\ndark"})

    assert printed(start, end) == "  ▸ look(at=sky)  ✗ 1 ms  too␊dark\n"
    assert printed(start, delta("hm"), end) == "  ▸ look(at=sky)\n\nhm\n\n  look  ✗ 2 ms  too␊dark\n"


@pytest.mark.parametrize("data", [None, [], "text", {}, {"parameters": 5, "tool_name": None}])
def test_malformed_data_of_a_runner_raises_no_error(data: object):
    for kind in ("tool.call.started", "tool.call.completed", "action.requested", "telepathy", "run.completed"):
        assert isinstance(printed((kind, data)), str)


def test_steering_entries_are_printed_with_the_text_of_the_message():
    first, second = {"item_id": "i1"}, {"item_id": "i2"}
    shown = printed(
        ("steering.queued", first | {"text": "use metric"}),
        ("steering.queued", second | {"text": "hurry\x1b[2J"}),
        ("steering.moved", second | {"before": "i1"}),
        ("steering.edited", first | {"before": "use metric", "after": "use miles"}),
        ("steering.paused", first),
        ("steering.resumed", first),
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
        "  ▲ steer  hurry␛[2J  moved in the queue",
        "  ▲ steer  use miles  edited; before: use metric",
        "  ‖ steer  use miles  paused",
        "  ▲ steer  use miles  queued again",
        "  ▲ steer  hurry␛[2J  will be sent after the run",
        "  ▲ steer  use miles  queued again: the pull was cancelled",
        "  ▼ steer  use miles  delivered at turn 1",
        "  ✗ steer  hurry␛[2J  withdrawn",
        "  ✗ steer  bye  dropped: run timed out before it pulled",
        "  ▼ steer  i4  delivered at turn 1",
    ]


def test_pauses_are_printed_with_the_paused_call_or_result():
    call, result = {"call_id": "c", "action": "call_tool"}, {"type": "message.completed"}
    shown = printed(
        ("breakpoint.set", {"when": "tool", "once": False}),
        ("pause.started", {"when": "tool", "stage": "before"} | call),
        ("pause.ended", {"when": "tool", "stage": "before", "seconds": 1.25, "how": "step"} | call),
        ("pause.started", {"when": "step", "stage": "reply"} | call),
        ("pause.edited", {"call_id": "c", "original": {"result": 1}, "edit": {"result": "\x07"}, "editor": "ann"}),
        ("pause.edited", {"call_id": "c", "edit_ref": "art_1", "edit_size": 99_999, "editor": "ann"}),
        ("pause.ended", {"when": "step", "stage": "reply", "seconds": 90.0, "how": "continue"} | call),
        ("pause.started", {"when": "message.completed", "stage": "result"} | result),
        ("breakpoint.removed", {"when": "tool", "once": False}),
    )

    assert shown.splitlines() == [
        "  · breakpoint set: tool",
        "  ‖ paused  before call_tool  (tool)",
        "  ▸ stepped  after 1.2 s",
        "  ‖ paused  with the reply of call_tool  (step)",
        '  ‖ edit  {"result": "\\u0007"}',
        '  ‖ edit  {"artifact": "art_1"}',
        "  ▸ continued  after 1 min 30 s",
        "  ‖ paused  before message.completed  (message.completed)",
        "  · breakpoint removed: tool",
    ]


def test_control_characters_and_text_directions_are_made_visible():
    assert safe("a\x1b[2J\x00\x7f\x9b\u202e\u2066\u2028b\r\n\tc\r") == "a␛[2J␀␡\\x9b\\u202e\\u2066\\u2028b\n\tc␍"
    assert one_line("a\nb" * 200, 10) == "a␊ba␊ba␊ba…"


def test_no_colour_without_terminal_or_with_no_color(monkeypatch: pytest.MonkeyPatch):
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


def test_output_without_reader_is_discarded(capfd: pytest.CaptureFixture[str]):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        out = Output(stream)
        out.line("anyone?")
        assert out.is_gone
        out.line("no one")
    assert capfd.readouterr().err == ""


def test_durations_sizes_and_ages_are_formatted():
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
