"""Entry kinds: every kind has a payload class, and decoding never fails."""

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import events
from engine.events import EndReason, Entry, EntryKind, Outcome, Status, Usage
from engine.journal import delta_text, kinds
from engine.protocol.content import text_of
from engine.protocol.results import FailureCode, ResultType

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted(
    {"items", "chunk", "message", "context", "reply", "error", "text", "seconds", "usage", "parameters", "all_content"}
    | {"item_id", "call_id", "attachments", "warnings", "lines", "size", "status", "edit", "content", "role", "when"}
)


def entry(kind: str, data: str, outcome: str | None = None) -> Entry:
    return Entry("run_1", 1, 0, "runner", kind, data, outcome)


def test_every_kind_has_a_payload_class():
    assert set(kinds.PAYLOADS) == set(EntryKind)


def test_every_result_type_is_an_entry_kind():
    assert {kind.value for kind in ResultType} <= {kind.value for kind in EntryKind}
    assert {str(kind) for kind in kinds.TERMINAL_RESULTS} == {"run.completed", "run.failed"}


def test_every_failure_code_of_the_protocol_is_an_end_reason():
    assert {code.value for code in FailureCode} <= {reason.value for reason in EndReason}


@given(kind=st.sampled_from([*EntryKind, "something.else"]), data=JSON | st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_decoding_accepts_any_json(kind: str, data: Any):
    payload = events.payload_of(entry(kind, json.dumps(data)))

    assert isinstance(payload, kinds.PAYLOADS.get(kind, kinds.UnknownPayload))
    for name in dir(payload):
        getattr(payload, name)  # properties read nested data
    assert payload == payload  # noqa: PLR0124
    assert type(payload).__name__ in repr(payload)


@pytest.mark.parametrize("data", ["", "{", "[]", "7", "null"])
def test_data_that_is_no_json_object_counts_as_empty(data: str):
    finished = events.payload_as(events.RunFinished, entry(EntryKind.RUN_FINISHED, data))

    assert (finished.status, finished.reason, finished.error, finished.usage) == ("", "", "", Usage())


def test_times_of_a_context_that_was_recorded_as_text_are_read_as_numbers():
    context = {
        "trigger": {"type": "message.received", "timestamp": "2026-01-02T03:04:05.750000Z"},
        "event": {"event_time": "2026-01-02T03:04:05Z"},
        "runtime": {"deadline_at": "2026-01-02T03:09:05.500000Z"},
    }

    started = events.payload_as(events.RunStarted, entry("run.started", json.dumps({"context": context})))

    assert started.context == {
        "trigger": {"type": "message.received", "timestamp": 1_767_323_045},
        "event": {"event_time": 1_767_323_045},
        "runtime": {"deadline_at": 1_767_323_345.5},
    }


@pytest.mark.parametrize(("recorded", "read"), [(None, None), (5, 5), (5.5, 5.5), ("soon", None)])
def test_other_times_of_a_recorded_context_are_kept_and_nonsense_is_none(recorded: Any, read: Any):
    data = json.dumps({"context": {"runtime": {"deadline_at": recorded}}})

    assert events.payload_as(events.RunStarted, entry("run.started", data)).context["runtime"]["deadline_at"] == read


def test_payload_of_a_finished_run_has_status_and_reason():
    data = '{"status":"failed","reason":"runner.lost","error":"gone","retryable":true}'
    finished = events.payload_of(entry("run.finished", data))

    assert isinstance(finished, events.RunFinished)
    assert (finished.status, finished.reason, finished.error) == (Status.FAILED, EndReason.LOST, "gone")
    assert finished.retryable


@pytest.mark.parametrize(
    ("recorded", "read"),
    [
        ({"seen": {"tokens": 14}, "claimed": {"tokens": 9}}, Usage({"tokens": 14}, {"tokens": 9})),
        ({"claimed": {"tokens": 9}}, Usage(claimed={"tokens": 9})),
        ({"sum": {"tokens": 23}}, Usage(combined={"tokens": 23})),
        ({"tokens": 23, "seen": 1}, Usage(combined={"tokens": 23, "seen": 1})),
        ({}, Usage()),
        (None, Usage()),
    ],
)
def test_usage_is_read_by_origin_and_amounts_without_an_origin_are_a_sum(recorded: Any, read: Usage):
    finished = events.payload_as(events.RunFinished, entry("run.finished", json.dumps({"usage": recorded})))

    assert finished.usage == read
    assert Usage.read(read.as_data()) == read


def test_empty_figures_of_a_usage_are_not_recorded():
    assert Usage({"tokens": 1}).as_data() == {"seen": {"tokens": 1}}
    assert Usage().as_data() == {}


def test_text_field_that_holds_another_value_is_shown_as_json():
    assert events.payload_as(events.Warned, entry("warning", '{"message":{"a":"é"}}')).message == '{"a": "é"}'


@pytest.mark.parametrize(
    ("data", "is_assembled"),
    [
        ('{"message":"The run ended.","assembled_from":"deltas"}', True),
        ('{"message":"the run ended without a completed message; its line is put together from deltas"}', True),
        ('{"message":"its transcript line is assembled from deltas."}', True),
        ('{"message":"The runner responds again after 5 s."}', False),
    ],
)
def test_warning_says_whether_the_last_message_was_assembled_from_deltas(data: str, is_assembled: bool):
    assert events.payload_as(events.Warned, entry("warning", data)).is_assembled is is_assembled


def test_refused_call_has_its_effect_and_refused_result_has_none():
    assert not events.has_effect(entry(EntryKind.MESSAGE_DELTA, "{}", Outcome.REFUSED))
    assert events.has_effect(entry(EntryKind.CALL_DECIDED, "{}", Outcome.REFUSED))
    assert events.has_effect(entry(EntryKind.MESSAGE_DELTA, "{}", Outcome.WARNED))
    assert events.has_effect(entry(EntryKind.MESSAGE_DELTA, "{}"))


def test_only_run_completed_can_repeat_the_last_message():
    assert kinds.repeats_last_message(EntryKind.RUN_COMPLETED, "hi", "hi")
    assert not kinds.repeats_last_message(EntryKind.RUN_COMPLETED, "hi", "ho")
    assert not kinds.repeats_last_message(EntryKind.MESSAGE_COMPLETED, "hi", "hi")


@given(JSON)
def test_text_of_json_content_is_the_same_as_in_the_protocol(content: Any):
    for value in (content, [{"type": "text", "text": content}, {"type": "image", "text": "no"}, content]):
        assert kinds.content_text(value, " ") == text_of(value, " ")


@pytest.mark.parametrize("module", [kinds, delta_text])
def test_kinds_and_delta_text_use_the_standard_library_only(module: Any):
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    names = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }

    assert {name for name in names if name.split(".")[0] not in sys.stdlib_module_names} <= {
        "engine.journal.delta_text"
    }
