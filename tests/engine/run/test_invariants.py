"""For any results of a runner the journal is consistent, and the shown text is the sent text."""

import json
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.journal.delta_text import DeltaText
from engine.protocol.content import text_of
from engine.run.normalise import Normaliser
from tests.support.engines import (
    Engines,
    FinishedRun,
    ScriptRunner,
    artifact_created,
    delta,
    done,
    failed,
    lines_of,
    message,
    open_script_runner,
    said,
    state_updated,
)

shared = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
words = st.text(max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words
junk = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4), max_leaves=12
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
TYPES = [
    "message.delta",
    "message.completed",
    "tool.call.started",
    "tool.call.completed",
    "artifact.created",
    "state.updated",
    "action.requested",
    "run.completed",
    "run.failed",
    "made.up",
    "",
]
KEYS = ["chunk", "message", "role", "content", "all_content", "artifact_type", "artifact_id", "scope", "key", "value"]
KEYS += ["size_bytes", "content_base64", "metadata", "tool_call_id", "code", "error", "retryable", "finish_reason"]
near_misses = st.recursive(
    scalars | st.sampled_from(["assistant", "conversation", "actor", "aGVsbG8=", 2**63, 2**64]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=10,
)
envelopes = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES)},
    optional={
        "data": near_misses | junk,
        "sequence": st.integers(-2, 5) | junk,
        "usage": st.dictionaries(words, scalars, max_size=2) | junk,
        "run_id": st.none() | st.just("run_other"),
        "timestamp": junk,
    },
)
sound = st.one_of(
    words.map(delta),
    words.map(said),
    st.builds(
        state_updated,
        st.text(min_size=1, max_size=5),
        json_values,
        st.sampled_from(["conversation", "actor", "runner"]),
    ),
    st.builds(artifact_created, artifact_id=st.none() | st.sampled_from(["a", "b"])),
    st.builds(lambda name, ident: {"type": f"tool.call.{name}", "data": {"tool_call_id": ident}},
              st.sampled_from(["started", "completed"]), st.sampled_from("12")),
)  # fmt: skip
ends = st.none() | st.just(done()) | words.map(done) | st.just(failed())


@pytest.fixture
async def runner(open_engine: Engines) -> ScriptRunner:
    return await open_script_runner(open_engine)


def assert_holds(run: FinishedRun) -> None:
    assert [entry.position for entry in run.journal] == list(range(1, len(run.journal) + 1))
    assert run.types[0] == "run.started"
    assert run.types.count("run.finished") == 1
    assert run.types[-1] == "run.finished"
    assert run.row.status in {"completed", "failed", "timeout", "cancelled"}
    assert run.finished["status"] == run.row.status


def count_runner_entries(run: FinishedRun) -> int:
    """Entries of results that the runner yielded."""
    return len([entry for entry in run.journal if entry.source == "runner" and entry.type != "output"])


@shared
@given(results=st.lists(envelopes | junk, max_size=8))
async def test_journal_is_consistent_for_any_invalid_results(runner: ScriptRunner, results: list[Any]):
    run = await runner(*results, event=message(session=None))

    assert_holds(run)
    assert runner.engine.last_error is None


@shared
@given(results=st.lists(sound, max_size=12), end=ends, late=st.lists(sound, max_size=3))
async def test_every_valid_result_has_its_entry_in_order(
    runner: ScriptRunner, results: list[dict], end: dict | None, late: list[dict]
):
    sent = [*results, *([end] if end else []), *late]
    run = await runner(*sent, event=message(session=f"s{next(_sessions)}"))

    assert_holds(run)
    assert count_runner_entries(run) == len(sent)
    assert [entry.type for entry in run.journal if entry.source == "runner"] == [result["type"] for result in sent]
    if end:
        after = [entry for entry in run.journal if entry.source == "runner"][len(results) + 1 :]
        assert {entry.outcome for entry in after} <= {"ignored"}


@shared
@given(
    text=st.lists(st.text(string.ascii_letters + " éß🙂\n", min_size=1, max_size=6), min_size=1, max_size=8),
    way=st.sampled_from(["fragments", "snapshots", "all_content"]),
)
async def test_the_shown_text_is_the_text_that_was_sent(runner: ScriptRunner, text: list[str], way: str):
    sofar = ["".join(text[: count + 1]) for count in range(len(text))]
    if way == "fragments":
        # Fragments of which each starts with the one before look like snapshots; the host cannot distinguish them.
        text = text if len(text) < 2 or not text[1].startswith(text[0]) else [*text[:1], "|", *text[1:]]
        chunks, whole = [delta(part) for part in text], "".join(text)
    elif way == "snapshots":
        chunks, whole = [delta(part) for part in sofar], sofar[-1]
    else:
        chunks, whole = [delta(part, all_content=all_) for part, all_ in zip(text, sofar, strict=True)], sofar[-1]
    session = f"s{next(_sessions)}"

    run = await runner(*chunks, done(), event=message(session=session))

    shown = DeltaText()
    for entry in run.all("message.delta"):
        chunk = entry.data["chunk"]
        shown.add(text_of(chunk["content"]), chunk.get("all_content"))
    assert shown.text == whole
    stored = (await runner.engine.sessions.transcript(session))[0]
    assert (stored.role, stored.content) == ("assistant", whole)


async def test_next_run_is_normal_and_the_database_consistent_afterwards(runner: ScriptRunner):
    for result in (None, [], {"type": []}, {"type": "run.failed", "data": {"error": "x", "code": ""}}):
        assert_holds(await runner(result))

    run = await runner(said("fine"), done())

    assert run.row.status == "completed"
    assert (await lines_of(runner.engine))[-1] == ("assistant", "fine")
    assert await runner.engine.integrity() == []


@given(results=st.lists(envelopes | junk, max_size=10))
@settings(max_examples=150, deadline=None)
def test_normalising_never_raises_and_always_returns_json(results: list[Any]):
    normaliser = Normaliser("run_1")
    for result in results:
        judged = normaliser.check(result)
        json.loads(judged.text)
        assert judged.applies or judged.outcome is not None


_sessions = iter(range(10**9))
