"""Streamed text as fragments, snapshots or both: shown and stored text is right for all."""

import tracemalloc

import pytest

from engine.journal.delta_text import TEXT_LIMIT, DeltaText
from engine.protocol.content import text_of
from tests.support.engines import ScriptRunner, delta, done, lines_of, message, said

STREAMS = {
    "fragments are joined": ([delta("Hel"), delta("lo "), delta("you")], "Hello you"),
    "snapshots replace": ([delta("Hel"), delta("Hello "), delta("Hello you")], "Hello you"),
    "all_content wins": ([delta("x", all_content="Hel"), delta("y", all_content="Hello you")], "Hello you"),
    "equal chunks are fragments": ([delta("ha"), delta("ha"), delta("ha")], "hahaha"),
    "a snapshot may repeat": ([delta("a"), delta("ab"), delta("ab"), delta("abc")], "abc"),
    "fragments that began like snapshots": ([delta("a"), delta("ab"), delta("c")], "aabc"),
    "one chunk is the text": ([delta("alone")], "alone"),
    "empty chunks say nothing": ([delta(""), delta("a"), delta(None), delta("b"), delta("", is_final=True)], "ab"),
    "parts of content": ([delta([{"type": "text", "text": "a"}]), delta([{"type": "text", "text": "b"}])], "ab"),
    "fragments after a whole": ([delta(all_content="Hello"), delta(" you")], "Hello you"),
    "a whole after fragments": ([delta("Hex"), delta("lo"), delta(all_content="Hello you")], "Hello you"),
}


@pytest.mark.parametrize(("deltas", "text"), STREAMS.values(), ids=STREAMS)
async def test_the_stored_text_is_what_was_streamed(run_script: ScriptRunner, deltas: list, text: str):
    await run_script(*deltas, done())

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", text)]


@pytest.mark.parametrize(("deltas", "text"), STREAMS.values(), ids=STREAMS)
async def test_the_shown_text_is_the_stored_text(deltas: list, text: str):
    shown = DeltaText()
    for result in deltas:
        chunk = result["data"]["chunk"]
        shown.add(text_of(chunk["content"]), chunk.get("all_content"))

    assert shown.text == text


async def test_a_completed_message_replaces_what_was_streamed(run_script: ScriptRunner):
    await run_script(delta("Hel"), delta("lo"), said("Goodbye"), done())

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "Goodbye")]


async def test_deltas_without_a_completed_message_make_one_line_and_a_warning(run_script: ScriptRunner):
    run = await run_script(delta("Hel"), delta("lo"), done())

    (line,) = [line for line in await run_script.engine.sessions.transcript("s") if line.role == "assistant"]
    assert (line.content, line.metadata) == ("Hello", {"assembled_from": "deltas"})
    assert run.warnings == ["The run ended without a completed message; its transcript line is assembled from deltas."]
    assert run.one("warning").data["assembled_from"] == "deltas"
    assert run.types[-2:] == ["warning", "run.finished"]


async def test_deltas_after_a_completed_message_make_a_line_of_their_own(run_script: ScriptRunner):
    await run_script(delta("o"), delta("ne"), said("one"), delta("t"), delta("wo"), done())

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "one"), ("assistant", "two")]


async def test_deltas_of_a_stream_without_terminal_result_make_a_line(run_script: ScriptRunner):
    run = await run_script(delta("Hel"), delta("lo"))

    assert run.row.status == "completed"
    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "Hello")]


async def test_deltas_without_a_conversation_make_no_line(run_script: ScriptRunner):
    run = await run_script(delta("Hello"), done(), event=message(session=None))

    assert run.row.status == "completed"
    assert run.row.conversation_id is None


async def test_dropped_and_ignored_deltas_are_not_part_of_the_text(run_script: ScriptRunner):
    await run_script(delta("a"), {"type": "message.delta", "data": {"chunk": "b"}}, delta("c"), done(), delta("d"))

    assert await lines_of(run_script.engine) == [("user", "hi"), ("assistant", "ac")]


def test_a_message_is_joined_up_to_a_limit():
    text = DeltaText()
    for _ in range(3):
        text.add("a" * (TEXT_LIMIT // 2))
        text.add("b")

    assert len(text.text) == TEXT_LIMIT
    assert text.was_cut


@pytest.mark.parametrize("last", [[], ["y"]], ids=["equal to the end", "then another chunk"])
def test_many_equal_chunks_take_no_more_memory_than_the_limit(last: list[str]):
    chunk = "x" * (TEXT_LIMIT // 8)
    text = DeltaText()
    tracemalloc.start()
    try:
        for part in [chunk] * 100 + last:
            text.add(part)
        assert text.text == "x" * TEXT_LIMIT
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert text.was_cut
    assert peak < 5 * TEXT_LIMIT


def test_bare_fragments_are_distinguished_from_snapshots():
    fragments, snapshots, single = DeltaText(), DeltaText(), DeltaText()
    for chunk in ("a", "b"):
        fragments.add(chunk)
    for chunk in ("a", "ab"):
        snapshots.add(chunk)
    single.add("a")

    assert (fragments.is_bare_fragments, snapshots.is_bare_fragments, single.is_bare_fragments) == (True, False, False)
