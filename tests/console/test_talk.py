import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.model.talk.blocks import (
    Answer,
    Artifact,
    Block,
    End,
    Event,
    Failure,
    Filed,
    Landing,
    Note,
    Said,
    Standing,
    Steered,
    Tool,
    You,
)
from console.model.talk.flow import ENOUGH, LONG, MOST, Flow
from console.model.talk.gaps import missing
from console.model.talk.talk import Talk
from engine.api import Entry
from tests.console.talking import OUTLINE_LEAVES_OUT, SECOND, Journal
from tests.support import Engines, delta, done, failed, open_stage, said


def kinds(talk: Talk) -> list[type[Block]]:
    return [type(block) for block in talk.blocks if not block.is_gone]


def texts(talk: Talk) -> list[str]:
    return [block.flow.text for block in talk.blocks if isinstance(block, Said)]


def only(talk: Talk, kind: type[Block]) -> Any:
    [found] = [block for block in talk.blocks if isinstance(block, kind)]
    return found


# What is said


def test_a_run_begins_with_what_was_said_to_it() -> None:
    journal = Journal()
    context = {
        "event": {"event_type": "message.received"},
        "actor": {"actor_name": "Ada"},
        "input": {"text": "hello", "attachments": [{"name": "map.png"}, {"artifact_type": "voice"}]},
    }
    journal("run.started", {"context": context})

    said = only(journal.talk(), You)

    assert (said.text, said.who, said.attachments) == ("hello", "Ada", (Filed("map.png"), Filed("voice")))
    assert (said.key, said.turn, said.since) == ("run:1", 1, 0)


def test_an_event_that_is_no_message_is_shown_as_what_it_is() -> None:
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
def test_both_kinds_of_delta_give_the_text(chunks: list[tuple[str, str | None]], batch: int) -> None:
    journal = Journal().began()
    for content, whole in chunks:
        journal.delta(content, whole)
    talk = Talk()

    for start in range(0, len(journal.entries), batch):
        talk.apply(journal.entries[start : start + batch])

    said = only(talk, Said)
    assert said.flow.text == "The whole text"
    assert said.standing is Standing.STREAMING
    assert said.position == 2


def test_a_completed_message_replaces_its_pieces_in_place() -> None:
    talk = Journal().began().delta("Helo").delta(" wrld").said("Hello world").talk()

    assert texts(talk) == ["Hello world"]
    assert only(talk, Said).standing is Standing.DONE
    assert only(talk, Said).position == 2


def test_each_completed_message_is_a_block_and_one_that_the_end_repeats_is_not() -> None:
    journal = Journal().began().said("one").said("two")
    journal("run.completed", {"message": {"role": "assistant", "content": "two"}})

    assert texts(journal.talk()) == ["one", "two"]


def test_a_message_that_only_the_end_brings_is_shown() -> None:
    journal = Journal().began()
    journal("run.completed", {"message": {"role": "assistant", "content": "all of it"}})

    assert texts(journal.talk()) == ["all of it"]


def test_parts_that_are_no_text_are_named() -> None:
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "http://x"}},
        {"type": "file_base64", "file_name": "a.pdf"},
    ]

    said = only(Journal().began().said(content).talk(), Said)

    assert (said.flow.text, said.extras) == ("look", ("image", "file a.pdf"))


def test_a_message_with_nothing_in_it_has_no_block() -> None:
    assert kinds(Journal().began().said(None).said("").talk()) == [You]


# What is said around tools


@pytest.mark.parametrize("snapshots", [False, True])
def test_what_is_said_after_a_tool_call_stands_below_it(snapshots: bool) -> None:
    journal = Journal().began().delta("Let me look.", "Let me look." if snapshots else None).tool().answered("sun")
    journal.delta(" It is sunny.", "Let me look. It is sunny." if snapshots else None)

    talk = journal.talk()

    assert kinds(talk) == [You, Said, Tool, Said]
    assert texts(talk) == ["Let me look.", " It is sunny."]
    journal.said("Let me look. It is sunny.")
    assert texts(journal.talk()) == ["Let me look.", " It is sunny."]


def test_a_message_after_a_tool_call_need_not_repeat_what_stood_before() -> None:
    journal = Journal().began().delta("Let me ").delta("look.").tool().answered().delta("Sun").delta("ny.")

    assert texts(journal.said("Sunny.").talk()) == ["Let me look.", "Sunny."]


def test_a_message_completed_after_its_tool_began_stays_above_it() -> None:
    talk = Journal().began().delta("Let me look.").tool().said("Let me look.").talk()

    assert kinds(talk) == [You, Said, Tool]
    assert only(talk, Said).standing is Standing.DONE


def test_a_new_beginning_after_a_tool_that_sounds_like_the_old_one_is_kept_whole() -> None:
    journal = Journal().began().delta("Hmm").tool().answered().delta("Hmm, ").delta("so ").delta("it is")

    assert texts(journal.talk()) == ["Hmm", "Hmm, so it is"]


# Tools


def test_a_tool_call_is_open_until_it_is_answered() -> None:
    journal = Journal().began().tool("weather", city="Kyoto", days=[1, 2])
    tool = only(journal.talk(), Tool)
    assert (tool.name, tool.arguments, tool.answer) == ("weather", "city=Kyoto, days=[1,2]", Answer.OPEN)

    tool = only(journal.answered({"sky": "clear"}).talk(), Tool)

    assert (tool.answer, tool.microseconds, tool.summary) == (Answer.OK, SECOND, '{"sky":"clear"}')
    assert tool.output == '{\n  "sky": "clear"\n}'


def test_a_tool_that_failed_says_why() -> None:
    tool = only(Journal().began().tool().answered(error="rate limit").talk(), Tool)

    assert (tool.answer, tool.summary) == (Answer.FAILED, "rate limit")


def test_answers_find_their_calls_in_any_order() -> None:
    journal = Journal().began().tool("a", "1").tool("b", "2").answered("two", call_id="2").answered("one", call_id="1")

    assert [(tool.name, tool.output) for tool in journal.talk().blocks if isinstance(tool, Tool)] == [
        ("a", "one"),
        ("b", "two"),
    ]


def test_an_answer_without_a_call_is_shown_where_it_came() -> None:
    tool = only(Journal().began().answered("sun").talk(), Tool)

    assert (tool.answer, tool.microseconds) == (Answer.OK, None)


def test_a_tool_keeps_only_the_beginning_of_a_large_output() -> None:
    tool = only(Journal().began().tool().answered("x" * 100_000).talk(), Tool)

    assert len(tool.output) == 4_000
    assert tool.is_cut


# Steering


def steered(journal: Journal, *, turn: int = 2) -> Journal:
    journal("steering.queued", {"item_id": "i1", "event_id": "e1", "text": "use metrc"})
    journal("steering.edited", {"item_id": "i1", "before": "use metrc", "after": "use metric"})
    journal("steering.pulled", {"items": ["i1"]}, turn=turn)
    return journal


def test_a_queued_message_is_no_part_of_the_talk_yet() -> None:
    journal = Journal().began()
    journal("steering.queued", {"item_id": "i1", "text": "hello"})
    journal("steering.withdrawn", {"item_id": "i1", "text": "hello"})

    assert kinds(journal.talk()) == [You]


def test_a_pulled_message_is_shown_and_then_where_it_landed() -> None:
    journal = steered(Journal().began())
    block = only(journal.talk(), Steered)
    assert (block.text, block.landing) == ("use metric", Landing.PULLED)

    journal("steering.injected", {"item_id": "i1", "event_id": "e1"}, turn=2)

    block = only(journal.talk(), Steered)
    assert (block.landing, block.landed_turn, block.item_id) == (Landing.INJECTED, 2, "i1")


def test_a_pull_that_was_taken_back_is_gone() -> None:
    journal = steered(Journal().began())
    journal("steering.returned", {"items": ["i1"]})
    talk = journal.talk()
    assert kinds(talk) == [You]
    assert [block.number for block in talk.blocks] == [0, 1]

    journal("steering.pulled", {"items": ["i1"]}, turn=3)

    assert kinds(journal.talk()) == [You, Steered]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("completed", "run completed before T2"),
        ("cancelled", "run was stopped before T2"),
        ("something new", "something new"),
    ],
)
def test_a_dropped_message_says_why(reason: str, words: str) -> None:
    journal = Journal().began()
    journal("steering.dropped", {"item_id": "i1", "text": "hello", "reason": reason})

    block = only(journal.talk(), Steered)

    assert (block.text, block.landing, block.reason) == ("hello", Landing.DROPPED, words)


def test_a_message_that_was_turned_has_its_text_from_the_reply() -> None:
    journal = Journal().began()
    journal("steering.turned", {"item_id": "i1", "mode": "steer"})
    journal("steering.pulled", {"items": ["i1"]})
    journal("call.replied", {"reply": {"items": [{"event": {"event_id": "e1"}, "input": {"text": "hello"}}]}})
    journal("steering.injected", {"item_id": "i1", "event_id": "e1"})

    assert only(journal.talk(), Steered).text == "hello"


def test_what_is_said_after_a_steered_message_stands_below_it() -> None:
    journal = steered(Journal().began().delta("on it"))
    journal("steering.injected", {"item_id": "i1"})
    journal.delta("metric then")

    assert kinds(journal.talk()) == [You, Said, Steered, Said]


# Lines


def test_files_come_with_what_is_said_to_a_run_at_work_also_alone_and_also_where_only_its_reply_is_loaded() -> None:
    file = {"artifact_id": "a", "name": "map.png", "mime_type": "image/png", "size": 9}
    filed = Filed("map.png", "image/png", 9, "a")
    journal = Journal().began()
    journal("steering.queued", {"item_id": "i1", "event_id": "e1", "text": "", "attachments": [file]})
    journal("steering.edited", {"item_id": "i1", "before": "", "after": "see this"})
    journal("steering.pulled", {"items": ["i1"]})
    journal("call.replied", {"reply": {"items": [{"event": {"event_id": "e1"}, "input": {"attachments": [file]}}]}})
    journal("steering.injected", {"item_id": "i1", "event_id": "e1"})

    whole, later = only(journal.talk(), Steered), only(Talk.of(journal.entries[3:]), Steered)

    assert (whole.text, whole.attachments) == ("see this", (filed,))
    assert whole.markdown() == "see this\n[map.png · image/png · 9 B]"
    assert (later.text, later.attachments) == ("", (filed,))


def test_an_artifact_is_a_line_with_its_size() -> None:
    journal = Journal().began()
    journal(
        "artifact.created",
        {"artifact_type": "file", "name": "plan.md", "mime_type": "text/markdown", "size_bytes": 2048},
    )

    artifact = only(journal.talk(), Artifact)

    assert artifact.file == Filed("plan.md", "text/markdown", 2048)
    assert artifact.markdown() == "plan.md · text/markdown · 2.0 KiB"


def test_results_without_effect_are_remarked_once_however_often_they_come() -> None:
    journal = Journal().began()
    for _ in range(1_000):
        journal("message.delta", {"chunk": None}, outcome="dropped", reason="chunk: must be an object")
    journal("warning", {"message": "the runner has not answered for 5 s"})

    dropped, warned = (block for block in journal.talk().blocks if isinstance(block, Note))

    assert (dropped.text, dropped.count) == ("message.delta dropped: chunk: must be an object", 1_000)
    assert (warned.text, warned.is_warning) == ("the runner has not answered for 5 s", True)


def test_what_only_stream_shows_makes_no_block() -> None:
    journal = Journal().began()
    for kind in ("state.updated", "call.requested", "call.decided", "call.replied", "hold.reached", "something.else"):
        journal(kind, {})
    journal("output", {"stream": "stdout", "text": "hello"})

    assert kinds(journal.talk()) == [You]


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
def test_an_end_is_told_in_words(status: str, reason: str, error: str, state: str, words: str) -> None:
    end = only(Journal().began().finished(status, reason, error, turn=2).talk(), End)

    assert (end.state, end.words, end.details) == (state, words, ("1.0 s", "2 turns"))


@pytest.mark.parametrize(
    ("status", "reason", "error", "state", "words", "left"),
    [
        ("timeout", "runner.timeout", "the run took longer than 30 s", "timeout", "ran out of time after 30 s", ""),
        ("failed", "runner.lost", "the runner exited with code 1", "lost", "runner exited (code 1)", ""),
        ("failed", "runner.lost", "the runner was killed by SIGKILL", "lost", "runner killed (SIGKILL)", ""),
        ("failed", "runner.lost", "the runner was killed", "lost", "runner lost", "the runner was killed"),
        ("failed", "protocol.error", "no type", "failed", "failed: the runner broke the protocol", "no type"),
        ("failed", "new.code", "oh", "failed", "failed", "oh"),
        ("", "", "", "failed", "failed", ""),
    ],
)
def test_a_failure_is_told_in_words(status: str, reason: str, error: str, state: str, words: str, left: str) -> None:
    end = only(Journal().began().finished(status, reason, error).talk(), Failure)

    assert (end.state, end.words, end.error, end.reason) == (state, words, left, reason)


def test_whoever_asked_for_the_stop_stopped_it() -> None:
    journal = Journal().began()
    journal("cancel.requested", {})

    assert only(journal.finished("cancelled", "cancelled").talk(), End).words == "stopped by you"


def test_a_runner_that_says_it_failed_is_taken_at_its_word() -> None:
    journal = Journal().began()
    journal("run.failed", {"code": "tool.timeout", "error": "the tool took too long"})

    failure = only(journal.finished("failed", "tool.timeout", "the tool took too long").talk(), Failure)

    assert (failure.words, failure.error) == ("failed: the runner says so", "the tool took too long")


def test_a_failure_has_the_last_lines_of_the_traceback() -> None:
    journal = Journal().began().delta("half a sen")
    trace = "Traceback (most recent call last):\n  File 'a.py'\n    f()\n\n  File 'b.py'\nRuntimeError: oh\n"
    journal("output", {"stream": "traceback", "text": trace})

    talk = journal.finished("failed", "runner.exception", "RuntimeError: oh").talk()

    failure = only(talk, Failure)
    assert failure.lines == ("    f()", "  File 'b.py'", "RuntimeError: oh")
    assert trace.rstrip() in failure.markdown()
    assert only(talk, Said).standing is Standing.CUT


def test_without_a_traceback_the_last_printed_errors_tell() -> None:
    journal = Journal().began()
    for number in range(5):
        journal("output", {"stream": "stderr", "text": f"line {number}"})

    assert only(journal.finished("failed", "runner.lost", "").talk(), Failure).lines == ("line 2", "line 3", "line 4")


def test_the_end_answers_for_tools_that_were_never_answered() -> None:
    assert only(Journal().began().tool().finished("failed").talk(), Tool).answer is Answer.NONE


# Sessions


def test_runs_follow_each_other_in_one_talk() -> None:
    first, second = Journal("a").began("one").said("1").finished(), Journal("b", 99 * SECOND).began("two")

    talk = first.talk()
    talk.apply(second.entries)

    assert talk.run_ids == ("a", "b")
    assert kinds(talk) == [You, Said, End, You]


def test_earlier_runs_are_put_above_and_numbers_still_rise_by_one() -> None:
    talk = Journal("b", 99 * SECOND).began("two").talk()
    before = talk.blocks[0].number

    talk.put_above(Journal("a").began("one").said("1").finished().talk())
    talk.apply(Journal("b", 99 * SECOND).began("two").said("2").entries)

    assert [block.run_id for block in talk.blocks] == ["a", "a", "a", "b", "b"]
    numbers = [block.number for block in talk.blocks]
    assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert talk.block(before) is talk.blocks[3]
    assert talk.run_ids == ("a", "b")


def test_pages_that_overlap_and_come_in_any_order_make_one_talk() -> None:
    run = Journal().began().delta("a").delta("b").tool().answered().said("c").finished()
    other = Journal("later", 99 * SECOND).began()

    talk = Talk.of(other.entries, run.entries[3:], run.entries[:5])

    assert [block.markdown() for block in talk.blocks][:-1] == [block.markdown() for block in run.talk().blocks]
    assert talk.run_ids == ("run", "later")


def test_an_entry_that_came_twice_counts_once() -> None:
    journal = Journal().began().delta("a").delta("b")
    talk = journal.talk()

    talk.apply(journal.entries)

    assert texts(talk) == ["ab"]
    assert talk.last_position("run") == 3


def test_blocks_after_a_moment_are_known() -> None:
    talk = Journal("a").began().said("1").finished().talk()
    talk.apply(Journal("b", 99 * SECOND).began().tool().answered().entries)

    assert talk.first_after("a", 1) == 1
    assert talk.first_after("a", 3) == 3
    assert talk.first_after("b", 0) == 3
    assert talk.first_after("c", 1) is None


# What an outline leaves out


def outline(journal: Journal) -> list[Entry]:
    return [entry for entry in journal.entries if entry.type not in OUTLINE_LEAVES_OUT]


def test_an_outline_of_a_run_that_went_well_is_enough() -> None:
    journal = Journal().began().delta("a").said("a").finished()

    assert missing(outline(journal)) is None
    assert texts(Talk.of(outline(journal))) == ["a"]


@pytest.mark.parametrize("status", ["failed", "timeout", "cancelled"])
def test_of_a_run_that_ended_badly_the_tail_is_wanted(status: str) -> None:
    journal = Journal().began().delta("x").said("x").delta("half")
    journal("output", {"stream": "traceback", "text": "Oh"})
    journal.finished(status)

    wanted = missing(outline(journal))

    assert wanted == (3, 6)
    tail = [entry for entry in journal.entries if wanted[0] < entry.position < wanted[1]]
    assert texts(Talk.of(outline(journal), tail)) == ["x", "half"]


def test_of_a_message_that_was_never_completed_the_deltas_are_wanted() -> None:
    journal = Journal().began().delta("half")
    journal("run.completed", {"finish_reason": "stop"})
    journal("warning", {"message": "the run ended without a completed message; its line is put together from deltas"})

    assert missing(outline(journal.finished())) == (1, 5)


def test_of_a_run_at_work_all_since_its_last_message_is_wanted() -> None:
    journal = Journal().began().delta("a").said("a").delta("b")

    after, before = missing(outline(journal)) or (0, 0)

    assert after == 3
    assert before > 10**9


def test_nothing_is_missing_of_nothing() -> None:
    assert missing([]) is None


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
async def test_a_past_run_reads_as_it_did_when_it_was_live(open_engine: Engines, results: list[Any]) -> None:
    play = await open_stage(open_engine)
    run_id = (await play(*results)).run_id
    engine = play.engine
    live = Talk()
    async for entry in engine.entries(run_id):
        live.apply([entry])

    found = await engine.outline(run_id)
    wanted = missing(found)
    tail = [] if wanted is None else await engine.journal(run_id, before=wanted[1], limit=100)
    past = Talk.of(found, [entry for entry in tail if wanted and entry.position > wanted[0]])

    assert [block.markdown() for block in past.blocks] == [block.markdown() for block in live.blocks]
    assert len(past.blocks) > 1


# Parts of a long text


PARAGRAPH = "A sentence that is neither long nor short. " * 8 + "\n\n"


def test_a_text_is_in_parts_that_end_at_blank_lines() -> None:
    flow = Flow(PARAGRAPH * 20)

    assert flow.parts > 5
    assert flow.text == PARAGRAPH * 20
    assert all(part.text.endswith("\n\n") and ENOUGH < len(part.text) <= LONG for part in flow.sealed)


@pytest.mark.parametrize("text", ['{"a": "__none__"}', ' [1, "*x*"]\n', json.dumps({"a": ["__b__"] * 900}, indent=1)])
def test_a_whole_text_that_is_json_is_code_and_says_the_same(text: str) -> None:
    flow = Flow(text)
    flow.settle()
    assert all(flow.part(place).markdown.startswith("```json\n") for place in range(flow.parts))
    assert flow.text == text
    flow.become(f"{text} and more")
    flow.settle()
    assert flow.part(0).opener == "", "it is prose after all"
    assert flow.text == f"{text} and more"


@pytest.mark.parametrize("text", ['{"a": ', "12", "see {}", f"[{'1,' * 40_000}1]", ""])
def test_all_else_is_markdown(text: str) -> None:
    flow = Flow(text)
    flow.settle()
    assert all(not flow.part(place).opener for place in range(flow.parts))


def test_a_part_that_is_sealed_stays_the_same() -> None:
    flow = Flow(PARAGRAPH * 5)
    sealed = list(flow.sealed)

    flow.grow(PARAGRAPH * 5)
    flow.become(PARAGRAPH * 12)

    assert flow.sealed[: len(sealed)] == sealed
    assert flow.text == PARAGRAPH * 12


def test_no_part_ends_inside_a_fence_unless_it_is_reopened() -> None:
    code = "```python\n" + "\n\n".join(f"x = {number}" for number in range(500)) + "\n```\n\n" + PARAGRAPH * 3

    flow = Flow(code)

    assert flow.text == code
    first, *rest = flow.sealed
    assert len(rest) > 2
    assert first.opener == ""
    inside = [part for part in rest if part.opener]
    assert inside
    assert all(part.opener == "```python" and part.markdown.startswith("```python\n") for part in inside)
    assert flow.tail.opener == ""


def test_items_of_a_list_keep_what_belongs_to_them() -> None:
    items = ("- item " + "x" * 200 + "\n\n  goes on\n\n") * 10

    assert all(part.text.startswith("- item") for part in Flow(items).sealed)


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 10_000, "| a | b |\n" * 5_000, "    indented\n" * 5_000])
def test_no_part_is_longer_than_can_be_drawn_at_once(text: str) -> None:
    flow = Flow(text)

    assert flow.text == text
    assert max(len(flow.part(place).text) for place in range(flow.parts)) <= MOST + LONG


def test_a_text_that_turns_into_another_is_that_other() -> None:
    flow = Flow(PARAGRAPH * 5)
    changed = PARAGRAPH + "Something else. " * 50 + "\n\n" + PARAGRAPH

    flow.become(changed)
    assert flow.text == changed
    flow.become("")
    assert flow.text == ""


WORDS = st.sampled_from(["a ", "\n", "\n\n", "```", "~~~~\n", "    ", "- b\n", "| c |", "x" * 700, PARAGRAPH])


@given(st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=12))
def test_however_a_text_grows_its_parts_are_the_text(pieces: list[str]) -> None:
    flow, said = Flow(), ""
    for piece in pieces:
        flow.grow(piece)
        said += piece
        assert flow.text == said


@given(st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=6))
def test_whatever_a_text_becomes_it_is(versions: list[str]) -> None:
    flow = Flow()
    for version in versions:
        flow.become(version)
        assert flow.text == version


# Whatever comes

KINDS = (
    "run.started", "message.delta", "message.completed", "tool.call.started", "tool.call.completed", "state.updated",
    "artifact.created", "action.requested", "run.completed", "run.failed", "steering.queued", "steering.edited",
    "steering.moved", "steering.held", "steering.released", "steering.withdrawn", "steering.turned", "steering.pulled",
    "steering.returned", "steering.injected", "steering.dropped", "hold.reached", "cancel.requested", "warning",
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
def test_no_stream_of_entries_breaks_a_talk_and_versions_only_grow(
    given_entries: list[tuple[str, str, str, str | None]], batch: int
) -> None:
    positions = count(1)
    entries = [
        Entry(run_id, position, position * 1_000, "runner", kind, data, outcome, "why" if outcome else None)
        for run_id, kind, data, outcome in given_entries
        for position in [next(positions)]
    ]
    talk, versions = Talk(), dict[str, int]()

    for start in range(0, len(entries), batch):
        talk.apply(entries[start : start + batch])
        for block in talk.blocks:
            assert block.version >= versions.get(block.key, 0)
            versions[block.key] = block.version
            block.markdown()

    assert [block.number for block in talk.blocks] == list(range(len(talk.blocks)))
    assert len(versions) == len(talk.blocks)
