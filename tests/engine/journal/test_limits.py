"""The limits of results, journals and output."""

import base64
from types import SimpleNamespace

import pytest

from engine.events import Outcome
from engine.journal.recorder import ROW_BYTES, Recorder
from engine.journal.secret_mask import SecretMask
from engine.run.normalise import Normaliser
from tests.support.engines import FakeClock, ScriptRunner, artifact_created, delta, done

MEBIBYTE = 1_048_576
AROUND = len('{"chunk":{"role":"assistant","content":""}}')


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_a_result_has_at_most_a_mebibyte_of_json():
    judge = Normaliser("run").check

    assert judge(delta("x" * (MEBIBYTE - AROUND))).outcome is None
    refused = judge(delta("x" * (MEBIBYTE - AROUND + 1)))
    assert (refused.outcome, refused.data) == (Outcome.REFUSED, {"size": MEBIBYTE + 1})


def test_a_result_is_at_most_100_deep():
    judge = Normaliser("run").check

    assert judge({"type": "tool.call.started", "data": nested(100)}).outcome is None
    refused = judge({"type": "tool.call.started", "data": nested(101)})
    assert (refused.outcome, refused.reason) == (Outcome.REFUSED, "nested deeper than 100 levels")


async def test_an_inline_artifact_has_at_most_a_mebibyte(run_script: ScriptRunner):
    whole = base64.b64encode(b"x" * MEBIBYTE).decode()
    more = base64.b64encode(b"x" * (MEBIBYTE + 1)).decode()
    run = await run_script(
        artifact_created(artifact_id="a", content_base64=whole),
        artifact_created(artifact_id="b", content_base64=more),
        done(),
    )

    assert [entry.outcome for entry in run.all("artifact.created")] == [None, "dropped"]


def test_a_journal_has_at_most_a_gibibyte():
    pen = Recorder(None, FakeClock(), "run", SecretMask())
    pen._size = 1024 * MEBIBYTE - 2 - ROW_BYTES
    pen.entry("host", "warning", {})
    assert not pen.is_full
    pen.entry("host", "warning", {})
    assert pen.is_full


def test_entry_that_cannot_be_encoded_uses_no_position():
    written: list = []
    recorder = Recorder(SimpleNamespace(append=written.append), FakeClock(), "run", SecretMask())
    with pytest.raises(TypeError):
        recorder.record("host", "warning", {"message": 2**70})
    recorder.warn("fine")

    assert [entry.position for entry in written] == [1]
