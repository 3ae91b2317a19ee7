"""A journal becomes blocks: messages, tool calls, steering messages, notes and ends of runs."""

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.conversation.blocks import (
    AgentMessage,
    Artifact,
    AttachedFile,
    Block,
    Event,
    MessageProgress,
    Note,
    RunEnd,
    RunFailure,
    SteeringMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from console.model.conversation.conversation import ConversationModel
from engine.api import Entry
from engine.events import Fate
from tests.support.console.journal_writer import SECOND, Journal, conversation_of


def kinds(conversation: ConversationModel) -> list[type[Block]]:
    return [type(block) for block in conversation.blocks if not block.is_hidden]


def texts(conversation: ConversationModel) -> list[str]:
    return [block.text_parts.text for block in conversation.blocks if isinstance(block, AgentMessage)]


def only(conversation: ConversationModel, kind: type[Block]) -> Any:
    [found] = [block for block in conversation.blocks if isinstance(block, kind)]
    return found


# Messages


def test_run_starts_with_the_message_of_the_user() -> None:
    journal = Journal()
    context = {
        "event": {"event_type": "message.received"},
        "actor": {"actor_name": "Ada"},
        "input": {"text": "hello", "attachments": [{"name": "map.png"}, {"artifact_type": "voice"}]},
    }
    journal("run.started", {"context": context})

    message = only(journal.conversation(), UserMessage)

    assert (message.text, message.author, message.attachments) == (
        "hello",
        "Ada",
        (AttachedFile("map.png"), AttachedFile("voice")),
    )
    assert (message.key, message.turn, message.since) == ("run:1", 1, 0)


def test_event_that_is_not_a_message_is_shown_with_its_type() -> None:
    journal = Journal()
    event = {"event_type": "member.joined", "source": "telegram", "data": {"member": "ada"}}
    journal("run.started", {"context": {"event": event, "input": {"text": None}}})

    block = only(journal.conversation(), Event)

    assert (block.kind, block.source, block.details) == ("member.joined", "telegram", '{"member":"ada"}')


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([("The ", None), ("whole ", None), ("text", None)], id="fragments"),
        pytest.param([("The ", None), ("The whole ", None), ("The whole text", None)], id="snapshots"),
        pytest.param([("The ", "The "), ("whole ", "The whole "), ("text", "The whole text")], id="all_content"),
        pytest.param([("", "The whole "), ("text", None)], id="both"),
    ],
)
@pytest.mark.parametrize("batch", [1, 10])
def test_fragments_and_snapshots_give_the_same_text(chunks: list[tuple[str, str | None]], batch: int) -> None:
    journal = Journal().began()
    for content, whole in chunks:
        journal.delta(content, whole)
    conversation = ConversationModel()

    for start in range(0, len(journal.entries), batch):
        conversation.apply(journal.entries[start : start + batch])

    message = only(conversation, AgentMessage)
    assert message.text_parts.text == "The whole text"
    assert message.progress is MessageProgress.STREAMING
    assert message.position == 2


def test_completed_message_replaces_its_deltas_in_place() -> None:
    conversation = Journal().began().delta("Helo").delta(" wrld").said("Hello world").conversation()

    assert texts(conversation) == ["Hello world"]
    assert only(conversation, AgentMessage).progress is MessageProgress.DONE
    assert only(conversation, AgentMessage).position == 2


def test_each_completed_message_is_a_block_unless_the_end_repeats_it() -> None:
    journal = Journal().began().said("one").said("two")
    journal("run.completed", {"message": {"role": "assistant", "content": "two"}})

    assert texts(journal.conversation()) == ["one", "two"]


def test_message_of_run_completed_is_shown() -> None:
    journal = Journal().began()
    journal("run.completed", {"message": {"role": "assistant", "content": "all of it"}})

    assert texts(journal.conversation()) == ["all of it"]


def test_content_parts_without_text_are_named() -> None:
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "http://x"}},
        {"type": "file_base64", "file_name": "a.pdf"},
    ]

    message = only(Journal().began().said(content).conversation(), AgentMessage)

    assert (message.text_parts.text, message.extras) == ("look", ("image", "file a.pdf"))


def test_empty_message_has_no_block() -> None:
    assert kinds(Journal().began().said(None).said("").conversation()) == [UserMessage]


# Messages around tool calls


@pytest.mark.parametrize("snapshots", [False, True])
def test_text_after_a_tool_call_is_below_it(snapshots: bool) -> None:
    journal = Journal().began().delta("Let me look.", "Let me look." if snapshots else None).tool().answered("sun")
    journal.delta(" It is sunny.", "Let me look. It is sunny." if snapshots else None)

    conversation = journal.conversation()

    assert kinds(conversation) == [UserMessage, AgentMessage, ToolCall, AgentMessage]
    assert texts(conversation) == ["Let me look.", " It is sunny."]
    journal.said("Let me look. It is sunny.")
    assert texts(journal.conversation()) == ["Let me look.", " It is sunny."]


def test_message_after_a_tool_call_may_omit_the_text_before() -> None:
    journal = Journal().began().delta("Let me ").delta("look.").tool().answered().delta("Sun").delta("ny.")

    assert texts(journal.said("Sunny.").conversation()) == ["Let me look.", "Sunny."]


def test_message_completed_after_its_tool_call_began_stays_above() -> None:
    conversation = Journal().began().delta("Let me look.").tool().said("Let me look.").conversation()

    assert kinds(conversation) == [UserMessage, AgentMessage, ToolCall]
    assert only(conversation, AgentMessage).progress is MessageProgress.DONE


def test_new_message_with_the_same_beginning_is_kept_whole() -> None:
    journal = Journal().began().delta("Hmm").tool().answered().delta("Hmm, ").delta("so ").delta("it is")

    assert texts(journal.conversation()) == ["Hmm", "Hmm, so it is"]


# Tool calls


def test_tool_call_is_open_until_its_result() -> None:
    journal = Journal().began().tool("weather", city="Kyoto", days=[1, 2])
    tool = only(journal.conversation(), ToolCall)
    assert (tool.name, tool.arguments, tool.result) == ("weather", "city=Kyoto, days=[1,2]", ToolResult.OPEN)

    tool = only(journal.answered({"sky": "clear"}).conversation(), ToolCall)

    assert (tool.result, tool.microseconds, tool.summary) == (ToolResult.OK, SECOND, '{"sky":"clear"}')
    assert tool.output == '{\n  "sky": "clear"\n}'


def test_failed_tool_call_shows_its_error() -> None:
    tool = only(Journal().began().tool().answered(error="rate limit").conversation(), ToolCall)

    assert (tool.result, tool.summary) == (ToolResult.FAILED, "rate limit")


def test_tool_results_match_their_calls_in_any_order() -> None:
    journal = Journal().began().tool("a", "1").tool("b", "2").answered("two", call_id="2").answered("one", call_id="1")

    assert [(tool.name, tool.output) for tool in journal.conversation().blocks if isinstance(tool, ToolCall)] == [
        ("a", "one"),
        ("b", "two"),
    ]


def test_tool_result_without_a_call_is_shown_at_its_place() -> None:
    tool = only(Journal().began().answered("sun").conversation(), ToolCall)

    assert (tool.result, tool.microseconds) == (ToolResult.OK, None)


def test_tool_block_keeps_the_beginning_of_a_large_result() -> None:
    tool = only(Journal().began().tool().answered("x" * 100_000).conversation(), ToolCall)

    assert len(tool.output) == 4_000
    assert tool.is_cut


# Steering


def steered(journal: Journal, *, turn: int = 2) -> Journal:
    journal("steering.queued", {"item_id": "i1", "event_id": "e1", "text": "use metrc"})
    journal("steering.edited", {"item_id": "i1", "before": "use metrc", "after": "use metric"})
    journal("steering.pulled", {"items": ["i1"]}, turn=turn)
    return journal


def test_queued_message_has_no_block() -> None:
    journal = Journal().began()
    journal("steering.queued", {"item_id": "i1", "text": "hello"})
    journal("steering.withdrawn", {"item_id": "i1", "text": "hello"})

    assert kinds(journal.conversation()) == [UserMessage]


def test_pulled_message_is_shown_and_then_its_delivery() -> None:
    journal = steered(Journal().began())
    block = only(journal.conversation(), SteeringMessage)
    assert (block.text, block.fate) == ("use metric", Fate.PULLED)

    journal("steering.injected", {"item_id": "i1", "event_id": "e1"}, turn=2)

    block = only(journal.conversation(), SteeringMessage)
    assert (block.fate, block.fate_turn, block.item_id) == (Fate.INJECTED, 2, "i1")


def test_returned_pull_removes_its_block() -> None:
    journal = steered(Journal().began())
    journal("steering.returned", {"items": ["i1"]})
    conversation = journal.conversation()
    assert kinds(conversation) == [UserMessage]
    assert [block.number for block in conversation.blocks] == [0, 1]

    journal("steering.pulled", {"items": ["i1"]}, turn=3)

    assert kinds(journal.conversation()) == [UserMessage, SteeringMessage]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("completed", "run completed before T2"),
        ("cancelled", "run was stopped before T2"),
        ("something new", "something new"),
    ],
)
def test_dropped_message_shows_its_reason(reason: str, words: str) -> None:
    journal = Journal().began()
    journal("steering.dropped", {"item_id": "i1", "text": "hello", "reason": reason})

    block = only(journal.conversation(), SteeringMessage)

    assert (block.text, block.fate, block.reason) == ("hello", Fate.DROPPED, words)


def test_switched_message_gets_its_text_from_the_reply() -> None:
    journal = Journal().began()
    journal("steering.turned", {"item_id": "i1", "mode": "steer"})
    journal("steering.pulled", {"items": ["i1"]})
    journal("call.replied", {"reply": {"items": [{"event": {"event_id": "e1"}, "input": {"text": "hello"}}]}})
    journal("steering.injected", {"item_id": "i1", "event_id": "e1"})

    assert only(journal.conversation(), SteeringMessage).text == "hello"


def test_text_after_a_steering_message_is_below_it() -> None:
    journal = steered(Journal().began().delta("on it"))
    journal("steering.injected", {"item_id": "i1"})
    journal.delta("metric then")

    assert kinds(journal.conversation()) == [UserMessage, AgentMessage, SteeringMessage, AgentMessage]


# Files, artifacts and notes


def test_steering_message_shows_its_files_even_without_text_or_if_only_the_reply_is_loaded() -> None:
    file = {"artifact_id": "a", "name": "map.png", "mime_type": "image/png", "size": 9}
    filed = AttachedFile("map.png", "image/png", 9, "a")
    journal = Journal().began()
    journal("steering.queued", {"item_id": "i1", "event_id": "e1", "text": "", "attachments": [file]})
    journal("steering.edited", {"item_id": "i1", "before": "", "after": "see this"})
    journal("steering.pulled", {"items": ["i1"]})
    journal("call.replied", {"reply": {"items": [{"event": {"event_id": "e1"}, "input": {"attachments": [file]}}]}})
    journal("steering.injected", {"item_id": "i1", "event_id": "e1"})

    whole, later = (
        only(journal.conversation(), SteeringMessage),
        only(conversation_of(journal.entries[3:]), SteeringMessage),
    )

    assert (whole.text, whole.attachments) == ("see this", (filed,))
    assert whole.markdown() == "see this\n[map.png · image/png · 9 B]"
    assert (later.text, later.attachments) == ("", (filed,))


def test_artifact_is_a_line_with_its_size() -> None:
    journal = Journal().began()
    journal(
        "artifact.created",
        {"artifact_type": "file", "name": "plan.md", "mime_type": "text/markdown", "size_bytes": 2048},
    )

    artifact = only(journal.conversation(), Artifact)

    assert artifact.file == AttachedFile("plan.md", "text/markdown", 2048)
    assert artifact.markdown() == "plan.md · text/markdown · 2.0 KiB"


def test_repeated_results_without_effect_share_one_note() -> None:
    journal = Journal().began()
    for _ in range(1_000):
        journal("message.delta", {"chunk": None}, outcome="dropped", reason="chunk: must be an object")
    journal("warning", {"message": "the runner has not answered for 5 s"})

    dropped, warned = (block for block in journal.conversation().blocks if isinstance(block, Note))

    assert (dropped.text, dropped.count) == ("message.delta dropped: chunk: must be an object", 1_000)
    assert (warned.text, warned.is_warning) == ("the runner has not answered for 5 s", True)


def test_entries_that_only_stream_shows_have_no_block() -> None:
    journal = Journal().began()
    for kind in ("state.updated", "call.requested", "call.decided", "call.replied", "pause.started", "something.else"):
        journal(kind, {})
    journal("output", {"stream": "stdout", "text": "hello"})

    assert kinds(journal.conversation()) == [UserMessage]


# Ends of runs


@pytest.mark.parametrize(
    ("status", "reason", "error", "state", "words"),
    [
        ("completed", "stop", "", "completed", "completed"),
        ("completed", "length", "", "completed", "completed (length)"),
        ("completed", "no output", "", "completed", "completed with no output"),
        ("cancelled", "cancelled", "", "cancelled", "stopped"),
    ],
)
def test_end_of_a_run_is_shown_in_words(status: str, reason: str, error: str, state: str, words: str) -> None:
    end = only(Journal().began().finished(status, reason, error, turn=2).conversation(), RunEnd)

    assert (end.state, end.words, end.details) == (state, words, ("1.0 s", "2 turns"))


@pytest.mark.parametrize(
    ("status", "reason", "error", "state", "words", "left"),
    [
        ("timeout", "runner.timeout", "the run took longer than 30 s", "timeout", "timed out after 30 s", ""),
        ("failed", "runner.lost", "the runner exited with code 1", "lost", "runner exited (code 1)", ""),
        ("failed", "runner.lost", "the runner was killed by SIGKILL", "lost", "runner killed (SIGKILL)", ""),
        ("failed", "runner.lost", "the runner was killed", "lost", "runner lost", "the runner was killed"),
        ("failed", "protocol.error", "no type", "failed", "failed: the runner broke the protocol", "no type"),
        ("failed", "new.code", "oh", "failed", "failed", "oh"),
        ("", "", "", "failed", "failed", ""),
    ],
)
def test_failure_is_shown_in_words(status: str, reason: str, error: str, state: str, words: str, left: str) -> None:
    end = only(Journal().began().finished(status, reason, error).conversation(), RunFailure)

    assert (end.state, end.words, end.error, end.reason) == (state, words, left, reason)


def test_stopped_run_names_who_stopped_it() -> None:
    journal = Journal().began()
    journal("cancel.requested", {})

    assert only(journal.finished("cancelled", "cancelled").conversation(), RunEnd).words == "stopped by you"


def test_failure_reported_by_the_runner_is_shown_as_such() -> None:
    journal = Journal().began()
    journal("run.failed", {"code": "tool.timeout", "error": "the tool took too long"})

    failure = only(journal.finished("failed", "tool.timeout", "the tool took too long").conversation(), RunFailure)

    assert (failure.words, failure.error) == ("failed: reported by the runner", "the tool took too long")


def test_failure_has_the_last_lines_of_the_traceback() -> None:
    journal = Journal().began().delta("half a sen")
    trace = "Traceback (most recent call last):\n  File 'a.py'\n    f()\n\n  File 'b.py'\nRuntimeError: oh\n"
    journal("output", {"stream": "traceback", "text": trace})

    conversation = journal.finished("failed", "runner.exception", "RuntimeError: oh").conversation()

    failure = only(conversation, RunFailure)
    assert failure.last_lines == ("    f()", "  File 'b.py'", "RuntimeError: oh")
    assert trace.rstrip() in failure.markdown()
    assert only(conversation, AgentMessage).progress is MessageProgress.CUT


def test_failure_without_a_traceback_has_the_last_lines_of_stderr() -> None:
    journal = Journal().began()
    for number in range(5):
        journal("output", {"stream": "stderr", "text": f"line {number}"})

    assert only(journal.finished("failed", "runner.lost", "").conversation(), RunFailure).last_lines == (
        "line 2",
        "line 3",
        "line 4",
    )


def test_end_of_the_run_closes_open_tool_calls() -> None:
    assert only(Journal().began().tool().finished("failed").conversation(), ToolCall).result is ToolResult.NONE


# Sessions


def test_runs_follow_each_other_in_one_conversation() -> None:
    first, second = Journal("a").began("one").said("1").finished(), Journal("b", 99 * SECOND).began("two")

    conversation = first.conversation()
    conversation.apply(second.entries)

    assert conversation.run_ids == ("a", "b")
    assert kinds(conversation) == [UserMessage, AgentMessage, RunEnd, UserMessage]


def test_block_numbers_rise_by_one_after_earlier_runs_are_added() -> None:
    conversation = Journal("b", 99 * SECOND).began("two").conversation()
    before = conversation.blocks[0].number

    conversation.prepend(Journal("a").began("one").said("1").finished().conversation())
    conversation.apply(Journal("b", 99 * SECOND).began("two").said("2").entries)

    assert [block.run_id for block in conversation.blocks] == ["a", "a", "a", "b", "b"]
    numbers = [block.number for block in conversation.blocks]
    assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert conversation.block(before) is conversation.blocks[3]
    assert conversation.run_ids == ("a", "b")


def test_repeated_entry_is_applied_once() -> None:
    journal = Journal().began().delta("a").delta("b")
    conversation = journal.conversation()

    conversation.apply(journal.entries)

    assert texts(conversation) == ["ab"]
    assert conversation.last_position("run") == 3


def test_first_block_after_an_entry_is_found() -> None:
    conversation = Journal("a").began().said("1").finished().conversation()
    conversation.apply(Journal("b", 99 * SECOND).began().tool().answered().entries)

    assert conversation.number_after("a", 1) == 1
    assert conversation.number_after("a", 3) == 3
    assert conversation.number_after("b", 0) == 3
    assert conversation.number_after("c", 1) is None


# Any entries

KINDS = (
    "run.started", "message.delta", "message.completed", "tool.call.started", "tool.call.completed", "state.updated",
    "artifact.created", "action.requested", "run.completed", "run.failed", "steering.queued", "steering.edited",
    "steering.moved", "steering.paused", "steering.resumed", "steering.withdrawn", "steering.turned", "steering.pulled",
    "steering.returned", "steering.injected", "steering.dropped", "pause.started", "cancel.requested", "warning",
    "output", "call.replied", "run.finished", "unheard.of",
)  # fmt: skip
KEYS = (
    "context", "event", "event_type", "input", "text", "attachments", "chunk", "content", "all_content", "message",
    "role", "tool_call_id", "tool_name", "parameters", "result", "error", "items", "item_id", "reply", "reason",
    "status", "stream", "name", "size_bytes", "actor", "type", "event_id",
)  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["i1", "traceback"]))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
)
DATA = st.one_of(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6).map(json.dumps),
    VALUES.map(json.dumps),
    st.text(max_size=10),
)
OUTCOMES = st.sampled_from([None, None, None, "warned", "dropped", "ignored"])
ENTRIES = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(KINDS), DATA, OUTCOMES), max_size=25)


@settings(max_examples=300)
@given(ENTRIES, st.integers(1, 5))
def test_any_stream_of_entries_is_accepted_and_versions_only_grow(
    given_entries: list[tuple[str, str, str, str | None]], batch: int
) -> None:
    positions = count(1)
    entries = [
        Entry(run_id, position, position * 1_000, "runner", kind, data, outcome, "why" if outcome else None)
        for run_id, kind, data, outcome in given_entries
        for position in [next(positions)]
    ]
    conversation, versions = ConversationModel(), dict[str, int]()

    for start in range(0, len(entries), batch):
        conversation.apply(entries[start : start + batch])
        for block in conversation.blocks:
            assert block.version >= versions.get(block.key, 0)
            versions[block.key] = block.version
            block.markdown()

    assert [block.number for block in conversation.blocks] == list(range(len(conversation.blocks)))
    assert len(versions) == len(conversation.blocks)
