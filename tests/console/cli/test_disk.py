"""Sizes of sessions in `sessions` and `doctor`, and the warning of a large database."""

import json
import re
from typing import Any

import pytest

from tests.support.commands import Trackside

MAKER = """
import base64
from engine.protocol import AgentRunResult, Message

async def run(ctx):
    sizes = range(300_000, 300_005) if ctx.input.to_text() == "big" else [40_000]
    for size in sizes:
        content = base64.b64encode(b"x" * size).decode()
        yield AgentRunResult.artifact_created(ctx.run_id, "file", content_base64=content)
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content="made"))
    yield AgentRunResult.run_completed(ctx.run_id)
"""
PIECES = ("journal_bytes", "artifact_bytes", "part_bytes", "transcript_bytes", "index_bytes")


@pytest.fixture
def with_files(trackside: Trackside) -> Trackside:
    """Sessions `large`, with blobs of 1.5 MB and one of 40 kB, and `small`, which shares the smaller one."""
    trackside.write("maker.py", MAKER)
    for session, text in (("large", "big"), ("large", "shared"), ("small", "shared")):
        done = trackside("run", "maker.py", "-m", text, "--session", session)
        assert done.returncode == 0, done.stdout + done.stderr
    return trackside


def findings(trackside: Trackside) -> list[dict[str, Any]]:
    return json.loads(trackside("doctor", "--json").stdout)["findings"]


def test_sessions_are_listed_with_their_size_and_what_they_share(with_files: Trackside):
    shown = with_files("sessions").stdout
    small, large = json.loads(with_files("sessions", "--json").stdout)
    details = with_files("sessions", "show", "small").stdout
    facts = json.loads(with_files("sessions", "show", "small", "--json").stdout)
    tree = json.loads(with_files("sessions", "tree", "small", "--jsonl").stdout)

    assert re.search(r"^small  1 event   [\d.]+ KiB, 39 KiB shared +just now", shown, re.MULTILINE)
    assert re.search(r"^large  2 events  [\d.]+ MiB, 39 KiB shared  just now", shown, re.MULTILINE)
    assert (large["artifact_bytes"], large["shared_bytes"]) == (1_540_010, 40_000)
    assert (small["artifact_bytes"], small["shared_bytes"]) == (40_000, 40_000)
    for row in (small, large, facts, tree):
        assert row["total_bytes"] == sum(row[name] for name in PIECES)
        assert row["journal_bytes"] > 0
    assert facts["total_bytes"] == tree["total_bytes"] == small["total_bytes"]
    pieces = r"\(journal [\d.]+ KiB, artifacts 39 KiB, transcript about \d+ B, search index about \d+ B\)"
    assert re.search(rf"^size +[\d.]+ KiB, 39 KiB shared {pieces}$", details, re.MULTILINE)


def test_doctor_shows_the_total_and_the_largest_sessions(with_files: Trackside):
    done = with_files("doctor")
    total, large, small = [finding["figures"] for finding in findings(with_files) if "figures" in finding]

    lines = done.stdout.partition("\nDisk\n")[2].splitlines()
    assert re.match(r"  ✓ all data: 1\.\d MiB \(journal [\d.]+ [KM]iB, artifacts 1\.5 MiB, transcript about ", lines[0])
    assert re.match(r"  ✓ session large \(big\): [\d.]+ MiB, 39 KiB shared \(journal ", lines[1])
    assert re.match(r"  ✓ session small \(shared\): [\d.]+ KiB, 39 KiB shared \(journal ", lines[2])
    assert done.stdout.endswith("\nNo problems found.\n")
    assert (total["artifact_bytes"], total["warn_above_bytes"]) == (1_540_010, 2_048 << 20)
    assert total["total_bytes"] == large["total_bytes"] + small["total_bytes"] - 40_000
    assert total["file_bytes"] >= total["total_bytes"]
    assert (large["session_id"], large["title"], large["shared_bytes"]) == ("large", "big", 40_000)


def test_doctor_warns_above_the_limit_with_the_commands_that_make_room(with_files: Trackside):
    with_files.write("trackside.yaml", "disk: {warn_above_mib: 1}\n")

    done = with_files("doctor")
    (warning,) = [finding for finding in findings(with_files) if finding["severity"] == "warning"]

    where = f"--db {with_files.database}"
    assert done.returncode == 0
    assert done.stdout.endswith("\nNo problems found, 1 warning.\n")
    assert re.fullmatch(r"the database has [\d.]+ MiB, more than 1\.0 MiB \(disk\.warn_above_mib\)\.", warning["text"])
    assert re.fullmatch(
        r"Largest sessions: large \(big\) \([\d.]+ MiB, 39 KiB shared\), small \(shared\) \(.+ shared\)\. "
        rf"Make room: trackside prune --older-than 30d {where}, or trackside sessions delete {where} large",
        warning["fix"],
    )


@pytest.mark.parametrize("limit", [0, 4])
def test_doctor_does_not_warn_below_the_limit_or_without_one(with_files: Trackside, limit: int):
    with_files.write("trackside.yaml", f"disk: {{warn_above_mib: {limit}}}\n")

    assert with_files("doctor").stdout.endswith("\nNo problems found.\n")


def test_doctor_names_the_line_and_key_of_a_limit_that_is_no_number(trackside: Trackside):
    path = trackside.write("trackside.yaml", "env: []\ndisk:\n  warn_above_mib: lots\n")

    done = trackside("doctor")

    assert done.returncode == 1
    assert f"  ✗ {path}:3: disk.warn_above_mib: must be an integer" in done.stdout.splitlines()
