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
from console.model.conversation.text_parts import ENOUGH, LONG, MAX_PART_CHARS, TextParts
from console.model.conversation.window_join import find_missing_range
from engine.api import Entry
from engine.events import Fate
from tests.support.console.journal_writer import OUTLINE_LEAVES_OUT, SECOND, Journal
from tests.support.engines import Engines, delta, done, failed, open_stage, said


def kinds(talk: ConversationModel) -> list[type[Block]]:
    return [type(block) for block in talk.blocks if not block.is_hidden]


def texts(talk: ConversationModel) -> list[str]:
    return [block.text_parts.text for block in talk.blocks if isinstance(block, AgentMessage)]


def only(talk: ConversationModel, kind: type[Block]) -> Any:
    [found] = [block for block in talk.blocks if isinstance(block, kind)]
    return found


# What is said


def test_run_begins_with_the_message_of_the_user() -> None:
    journal = Journal()
    context = {
        "event": {"event_type": "message.received"},
        "actor": {"actor_name": "Ada"},
        "input": {"text": "hello", "attachments": [{"name": "map.png"}, {"artifact_type": "voice"}]},
    }
    journal("run.started", {"context": context})

    said = only(journal.talk(), UserMessage)

    assert (said.text, said.who, said.attachments) == ("hello", "Ada", (AttachedFile("map.png"), AttachedFile("voice")))
    assert (said.key, said.turn, said.since) == ("run:1", 1, 0)


def test_event_that_is_not_a_message_is_shown_with_its_type() -> None:
    journal = Journal()
    event = {"event_type": "member.joined", "source": "telegram", "data": {"member": "ada"}}
    journal("run.started", {"context": {"event": event, "input": {"text": None}}})

    block = only(journal.talk(), Event)

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
    talk = ConversationModel()

    for start in range(0, len(journal.entries), batch):
        talk.apply(journal.entries[start : start + batch])

    said = only(talk, AgentMessage)
    assert said.text_parts.text == "The whole text"
    assert said.progress is MessageProgress.STREAMING
    assert said.position == 2


def test_completed_message_replaces_its_deltas_in_place() -> None:
    talk = Journal().began().delta("Helo").delta(" wrld").said("Hello world").talk()

    assert texts(talk) == ["Hello world"]
    assert only(talk, AgentMessage).progress is MessageProgress.DONE
    assert only(talk, AgentMessage).position == 2


def test_each_completed_message_is_a_block_unless_the_end_repeats_it() -> None:
    journal = Journal().began().said("one").said("two")
    journal("run.completed", {"message": {"role": "assistant", "content": "two"}})

    assert texts(journal.talk()) == ["one", "two"]


def test_message_of_run_completed_is_shown() -> None:
    journal = Journal().began()
    journal("run.completed", {"message": {"role": "assistant", "content": "all of it"}})

    assert texts(journal.talk()) == ["all of it"]


def test_content_parts_without_text_are_named() -> None:
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "http://x"}},
        {"type": "file_base64", "file_name": "a.pdf"},
    ]

    said = only(Journal().began().said(content).talk(), AgentMessage)

    assert (said.text_parts.text, said.extras) == ("look", ("image", "file a.pdf"))


def test_empty_message_has_no_block() -> None:
    assert kinds(Journal().began().said(None).said("").talk()) == [UserMessage]


# What is said around tools


@pytest.mark.parametrize("snapshots", [False, True])
def test_text_after_a_tool_call_is_below_it(snapshots: bool) -> None:
    journal = Journal().began().delta("Let me look.", "Let me look." if snapshots else None).tool().answered("sun")
    journal.delta(" It is sunny.", "Let me look. It is sunny." if snapshots else None)

    talk = journal.talk()

    assert kinds(talk) == [UserMessage, AgentMessage, ToolCall, AgentMessage]
    assert texts(talk) == ["Let me look.", " It is sunny."]
    journal.said("Let me look. It is sunny.")
    assert texts(journal.talk()) == ["Let me look.", " It is sunny."]


def test_message_after_a_tool_call_may_omit_the_text_before() -> None:
    journal = Journal().began().delta("Let me ").delta("look.").tool().answered().delta("Sun").delta("ny.")

    assert texts(journal.said("Sunny.").talk()) == ["Let me look.", "Sunny."]


def test_message_completed_after_its_tool_call_began_stays_above() -> None:
    talk = Journal().began().delta("Let me look.").tool().said("Let me look.").talk()

    assert kinds(talk) == [UserMessage, AgentMessage, ToolCall]
    assert only(talk, AgentMessage).progress is MessageProgress.DONE


def test_new_message_with_the_same_beginning_is_kept_whole() -> None:
    journal = Journal().began().delta("Hmm").tool().answered().delta("Hmm, ").delta("so ").delta("it is")

    assert texts(journal.talk()) == ["Hmm", "Hmm, so it is"]


# Tools


def test_tool_call_is_open_until_its_result() -> None:
    journal = Journal().began().tool("weather", city="Kyoto", days=[1, 2])
    tool = only(journal.talk(), ToolCall)
    assert (tool.name, tool.arguments, tool.answer) == ("weather", "city=Kyoto, days=[1,2]", ToolResult.OPEN)

    tool = only(journal.answered({"sky": "clear"}).talk(), ToolCall)

    assert (tool.answer, tool.microseconds, tool.summary) == (ToolResult.OK, SECOND, '{"sky":"clear"}')
    assert tool.output == '{\n  "sky": "clear"\n}'


def test_failed_tool_call_shows_its_error() -> None:
    tool = only(Journal().began().tool().answered(error="rate limit").talk(), ToolCall)

    assert (tool.answer, tool.summary) == (ToolResult.FAILED, "rate limit")


def test_tool_results_match_their_calls_in_any_order() -> None:
    journal = Journal().began().tool("a", "1").tool("b", "2").answered("two", call_id="2").answered("one", call_id="1")

    assert [(tool.name, tool.output) for tool in journal.talk().blocks if isinstance(tool, ToolCall)] == [
        ("a", "one"),
        ("b", "two"),
    ]


def test_tool_result_without_a_call_is_shown_at_its_place() -> None:
    tool = only(Journal().began().answered("sun").talk(), ToolCall)

    assert (tool.answer, tool.microseconds) == (ToolResult.OK, None)


def test_tool_block_keeps_the_beginning_of_a_large_result() -> None:
    tool = only(Journal().began().tool().answered("x" * 100_000).talk(), ToolCall)

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

    assert kinds(journal.talk()) == [UserMessage]


def test_pulled_message_is_shown_and_then_its_delivery() -> None:
    journal = steered(Journal().began())
    block = only(journal.talk(), SteeringMessage)
    assert (block.text, block.fate) == ("use metric", Fate.PULLED)

    journal("steering.injected", {"item_id": "i1", "event_id": "e1"}, turn=2)

    block = only(journal.talk(), SteeringMessage)
    assert (block.fate, block.landed_turn, block.item_id) == (Fate.INJECTED, 2, "i1")


def test_returned_pull_removes_its_block() -> None:
    journal = steered(Journal().began())
    journal("steering.returned", {"items": ["i1"]})
    talk = journal.talk()
    assert kinds(talk) == [UserMessage]
    assert [block.number for block in talk.blocks] == [0, 1]

    journal("steering.pulled", {"items": ["i1"]}, turn=3)

    assert kinds(journal.talk()) == [UserMessage, SteeringMessage]


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

    block = only(journal.talk(), SteeringMessage)

    assert (block.text, block.fate, block.reason) == ("hello", Fate.DROPPED, words)


def test_switched_message_gets_its_text_from_the_reply() -> None:
    journal = Journal().began()
    journal("steering.turned", {"item_id": "i1", "mode": "steer"})
    journal("steering.pulled", {"items": ["i1"]})
    journal("call.replied", {"reply": {"items": [{"event": {"event_id": "e1"}, "input": {"text": "hello"}}]}})
    journal("steering.injected", {"item_id": "i1", "event_id": "e1"})

    assert only(journal.talk(), SteeringMessage).text == "hello"


def test_text_after_a_steering_message_is_below_it() -> None:
    journal = steered(Journal().began().delta("on it"))
    journal("steering.injected", {"item_id": "i1"})
    journal.delta("metric then")

    assert kinds(journal.talk()) == [UserMessage, AgentMessage, SteeringMessage, AgentMessage]


# Lines


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
        only(journal.talk(), SteeringMessage),
        only(ConversationModel.of(journal.entries[3:]), SteeringMessage),
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

    artifact = only(journal.talk(), Artifact)

    assert artifact.file == AttachedFile("plan.md", "text/markdown", 2048)
    assert artifact.markdown() == "plan.md · text/markdown · 2.0 KiB"


def test_repeated_results_without_effect_share_one_remark() -> None:
    journal = Journal().began()
    for _ in range(1_000):
        journal("message.delta", {"chunk": None}, outcome="dropped", reason="chunk: must be an object")
    journal("warning", {"message": "the runner has not answered for 5 s"})

    dropped, warned = (block for block in journal.talk().blocks if isinstance(block, Note))

    assert (dropped.text, dropped.count) == ("message.delta dropped: chunk: must be an object", 1_000)
    assert (warned.text, warned.is_warning) == ("the runner has not answered for 5 s", True)


def test_entries_that_only_stream_shows_have_no_block() -> None:
    journal = Journal().began()
    for kind in ("state.updated", "call.requested", "call.decided", "call.replied", "pause.started", "something.else"):
        journal(kind, {})
    journal("output", {"stream": "stdout", "text": "hello"})

    assert kinds(journal.talk()) == [UserMessage]


# Ends


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
    end = only(Journal().began().finished(status, reason, error, turn=2).talk(), RunEnd)

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
    end = only(Journal().began().finished(status, reason, error).talk(), RunFailure)

    assert (end.state, end.words, end.error, end.reason) == (state, words, left, reason)


def test_stopped_run_names_who_stopped_it() -> None:
    journal = Journal().began()
    journal("cancel.requested", {})

    assert only(journal.finished("cancelled", "cancelled").talk(), RunEnd).words == "stopped by you"


def test_failure_reported_by_the_runner_is_shown_as_such() -> None:
    journal = Journal().began()
    journal("run.failed", {"code": "tool.timeout", "error": "the tool took too long"})

    failure = only(journal.finished("failed", "tool.timeout", "the tool took too long").talk(), RunFailure)

    assert (failure.words, failure.error) == ("failed: reported by the runner", "the tool took too long")


def test_failure_has_the_last_lines_of_the_traceback() -> None:
    journal = Journal().began().delta("half a sen")
    trace = "Traceback (most recent call last):\n  File 'a.py'\n    f()\n\n  File 'b.py'\nRuntimeError: oh\n"
    journal("output", {"stream": "traceback", "text": trace})

    talk = journal.finished("failed", "runner.exception", "RuntimeError: oh").talk()

    failure = only(talk, RunFailure)
    assert failure.lines == ("    f()", "  File 'b.py'", "RuntimeError: oh")
    assert trace.rstrip() in failure.markdown()
    assert only(talk, AgentMessage).progress is MessageProgress.CUT


def test_failure_without_a_traceback_has_the_last_lines_of_stderr() -> None:
    journal = Journal().began()
    for number in range(5):
        journal("output", {"stream": "stderr", "text": f"line {number}"})

    assert only(journal.finished("failed", "runner.lost", "").talk(), RunFailure).lines == (
        "line 2",
        "line 3",
        "line 4",
    )


def test_end_of_the_run_closes_open_tool_calls() -> None:
    assert only(Journal().began().tool().finished("failed").talk(), ToolCall).answer is ToolResult.NONE


# Sessions


def test_runs_follow_each_other_in_one_conversation() -> None:
    first, second = Journal("a").began("one").said("1").finished(), Journal("b", 99 * SECOND).began("two")

    talk = first.talk()
    talk.apply(second.entries)

    assert talk.run_ids == ("a", "b")
    assert kinds(talk) == [UserMessage, AgentMessage, RunEnd, UserMessage]


def test_block_numbers_rise_by_one_after_earlier_runs_are_added() -> None:
    talk = Journal("b", 99 * SECOND).began("two").talk()
    before = talk.blocks[0].number

    talk.put_above(Journal("a").began("one").said("1").finished().talk())
    talk.apply(Journal("b", 99 * SECOND).began("two").said("2").entries)

    assert [block.run_id for block in talk.blocks] == ["a", "a", "a", "b", "b"]
    numbers = [block.number for block in talk.blocks]
    assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert talk.block(before) is talk.blocks[3]
    assert talk.run_ids == ("a", "b")


def test_overlapping_pages_in_any_order_make_one_conversation() -> None:
    run = Journal().began().delta("a").delta("b").tool().answered().said("c").finished()
    other = Journal("later", 99 * SECOND).began()

    talk = ConversationModel.of(other.entries, run.entries[3:], run.entries[:5])

    assert [block.markdown() for block in talk.blocks][:-1] == [block.markdown() for block in run.talk().blocks]
    assert talk.run_ids == ("run", "later")


def test_repeated_entry_is_applied_once() -> None:
    journal = Journal().began().delta("a").delta("b")
    talk = journal.talk()

    talk.apply(journal.entries)

    assert texts(talk) == ["ab"]
    assert talk.last_position("run") == 3


def test_first_block_after_an_entry_is_found() -> None:
    talk = Journal("a").began().said("1").finished().talk()
    talk.apply(Journal("b", 99 * SECOND).began().tool().answered().entries)

    assert talk.first_after("a", 1) == 1
    assert talk.first_after("a", 3) == 3
    assert talk.first_after("b", 0) == 3
    assert talk.first_after("c", 1) is None


# What an outline leaves out


def outline(journal: Journal) -> list[Entry]:
    return [entry for entry in journal.entries if entry.type not in OUTLINE_LEAVES_OUT]


def test_completed_run_needs_only_its_outline() -> None:
    journal = Journal().began().delta("a").said("a").finished()

    assert find_missing_range(outline(journal)) is None
    assert texts(ConversationModel.of(outline(journal))) == ["a"]


@pytest.mark.parametrize("status", ["failed", "timeout", "cancelled"])
def test_failed_run_needs_its_last_entries(status: str) -> None:
    journal = Journal().began().delta("x").said("x").delta("half")
    journal("output", {"stream": "traceback", "text": "Oh"})
    journal.finished(status)

    wanted = find_missing_range(outline(journal))

    assert wanted == (3, 6)
    tail = [entry for entry in journal.entries if wanted[0] < entry.position < wanted[1]]
    assert texts(ConversationModel.of(outline(journal), tail)) == ["x", "half"]


def test_incomplete_message_needs_its_deltas() -> None:
    journal = Journal().began().delta("half")
    journal("run.completed", {"finish_reason": "stop"})
    journal(
        "warning",
        {"message": "The run ended without a completed message; its transcript line is assembled from deltas."},
    )

    assert find_missing_range(outline(journal.finished())) == (1, 5)


def test_run_in_progress_needs_all_entries_since_its_last_message() -> None:
    journal = Journal().began().delta("a").said("a").delta("b")

    after, before = find_missing_range(outline(journal)) or (0, 0)

    assert after == 3
    assert before > 10**9


def test_empty_outline_needs_nothing() -> None:
    assert find_missing_range([]) is None


@pytest.mark.parametrize(
    "results",
    [
        pytest.param([delta("one "), delta("two"), said("one two"), done()], id="completed"),
        pytest.param([delta("one "), delta("two"), done()], id="never completed"),
        pytest.param([said("one"), delta("half a "), failed("no", code="tool.timeout")], id="failed"),
        pytest.param([delta("half a "), "not an object"], id="broken"),
        pytest.param([done("all of it")], id="at its end"),
        pytest.param([done()], id="no output"),
    ],
)
async def test_past_run_has_the_same_blocks_as_the_live_run(open_engine: Engines, results: list[Any]) -> None:
    play = await open_stage(open_engine)
    run_id = (await play(*results)).run_id
    engine = play.engine
    live = ConversationModel()
    async for entry in engine.runs.entries(run_id):
        live.apply([entry])

    found = await engine.runs.outline(run_id)
    wanted = find_missing_range(found)
    tail = [] if wanted is None else await engine.runs.journal(run_id, before=wanted[1], limit=100)
    past = ConversationModel.of(found, [entry for entry in tail if wanted and entry.position > wanted[0]])

    assert [block.markdown() for block in past.blocks] == [block.markdown() for block in live.blocks]
    assert len(past.blocks) > 1


# Parts of a long text


PARAGRAPH = "A sentence that is neither long nor short. " * 8 + "\n\n"


def test_parts_end_at_blank_lines() -> None:
    text_parts = TextParts(PARAGRAPH * 20)

    assert text_parts.parts > 5
    assert text_parts.text == PARAGRAPH * 20
    assert all(part.text.endswith("\n\n") and ENOUGH < len(part.text) <= LONG for part in text_parts.sealed)


@pytest.mark.parametrize("text", ['{"a": "__none__"}', ' [1, "*x*"]\n', json.dumps({"a": ["__b__"] * 900}, indent=1)])
def test_complete_json_text_becomes_a_code_block(text: str) -> None:
    text_parts = TextParts(text)
    text_parts.settle()
    assert all(text_parts.part(place).markdown.startswith("```json\n") for place in range(text_parts.parts))
    assert text_parts.text == text
    text_parts.become(f"{text} and more")
    text_parts.settle()
    assert text_parts.part(0).opener == "", "it is prose after all"
    assert text_parts.text == f"{text} and more"


@pytest.mark.parametrize("text", ['{"a": ', "12", "see {}", f"[{'1,' * 40_000}1]", ""])
def test_text_that_is_not_json_stays_markdown(text: str) -> None:
    text_parts = TextParts(text)
    text_parts.settle()
    assert all(not text_parts.part(place).opener for place in range(text_parts.parts))


def test_finished_part_does_not_change() -> None:
    text_parts = TextParts(PARAGRAPH * 5)
    sealed = list(text_parts.sealed)

    text_parts.grow(PARAGRAPH * 5)
    text_parts.become(PARAGRAPH * 12)

    assert text_parts.sealed[: len(sealed)] == sealed
    assert text_parts.text == PARAGRAPH * 12


def test_part_that_ends_inside_a_fence_is_reopened() -> None:
    code = "```python\n" + "\n\n".join(f"x = {number}" for number in range(500)) + "\n```\n\n" + PARAGRAPH * 3

    text_parts = TextParts(code)

    assert text_parts.text == code
    first, *rest = text_parts.sealed
    assert len(rest) > 2
    assert first.opener == ""
    inside = [part for part in rest if part.opener]
    assert inside
    assert all(part.opener == "```python" and part.markdown.startswith("```python\n") for part in inside)
    assert text_parts.tail.opener == ""


def test_list_items_keep_their_continuation_lines() -> None:
    items = ("- item " + "x" * 200 + "\n\n  goes on\n\n") * 10

    assert all(part.text.startswith("- item") for part in TextParts(items).sealed)


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 10_000, "| a | b |\n" * 5_000, "    indented\n" * 5_000])
def test_parts_have_a_maximum_length(text: str) -> None:
    text_parts = TextParts(text)

    assert text_parts.text == text
    assert max(len(text_parts.part(place).text) for place in range(text_parts.parts)) <= MAX_PART_CHARS + LONG


def test_replaced_text_is_the_new_text() -> None:
    text_parts = TextParts(PARAGRAPH * 5)
    changed = PARAGRAPH + "Something else. " * 50 + "\n\n" + PARAGRAPH

    text_parts.become(changed)
    assert text_parts.text == changed
    text_parts.become("")
    assert text_parts.text == ""


WORDS = st.sampled_from(["a ", "\n", "\n\n", "```", "~~~~\n", "    ", "- b\n", "| c |", "x" * 700, PARAGRAPH])


@given(st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=12))
def test_joined_parts_equal_the_text_however_it_grows(pieces: list[str]) -> None:
    text_parts, said = TextParts(), ""
    for piece in pieces:
        text_parts.grow(piece)
        said += piece
        assert text_parts.text == said


@given(st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=6))
def test_joined_parts_equal_any_replaced_text(versions: list[str]) -> None:
    text_parts = TextParts()
    for version in versions:
        text_parts.become(version)
        assert text_parts.text == version


# Whatever comes

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
    talk, versions = ConversationModel(), dict[str, int]()

    for start in range(0, len(entries), batch):
        talk.apply(entries[start : start + batch])
        for block in talk.blocks:
            assert block.version >= versions.get(block.key, 0)
            versions[block.key] = block.version
            block.markdown()

    assert [block.number for block in talk.blocks] == list(range(len(talk.blocks)))
    assert len(versions) == len(talk.blocks)
