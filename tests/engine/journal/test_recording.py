"""The first line of a recording: it is read back, and a newer or missing format is refused."""

import json

import pytest

from engine.api import VERSION
from engine.journal.recording import FORMAT, RecordingHeader, read_recording_header, recording_header
from engine.store.errors import RecordingError


def test_header_is_read_back():
    line = json.dumps(recording_header({"run_id": "run_1"}, {"apis": {}}, ["No seeds."]))

    assert read_recording_header(line) == RecordingHeader(
        FORMAT, VERSION, {"run_id": "run_1"}, {"apis": {}}, ("No seeds.",)
    )
    assert read_recording_header(b'{"format":1}') == RecordingHeader(1, "", {}, {}, ())


def test_recording_of_a_newer_format_is_refused():
    newer = recording_header({}, None, ()) | {"format": FORMAT + 1, "trackside": "9.0"}

    with pytest.raises(RecordingError) as refused:
        read_recording_header(json.dumps(newer))

    assert str(refused.value) == (
        f"the recording has format {FORMAT + 1}, and Trackside {VERSION} reads up to format {FORMAT}. "
        "Update Trackside to read it."
    )


@pytest.mark.parametrize(
    "line",
    ["", "{", "[1]", "{}", '{"format":"1"}', '{"format":true}', '{"format":0}', '{"type":"run.started"}', b"\xff"],
)
def test_line_without_a_format_is_no_recording(line: str | bytes):
    with pytest.raises(RecordingError, match=r"its first line has no format number\. `trackside show RUN --jsonl`"):
        read_recording_header(line)
