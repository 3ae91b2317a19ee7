"""Grants before a run; calls, transcript, state, artifacts and search after it."""

import json
import os
import pty
from typing import Any

import pytest

from engine.api import VERSION, read_recording_header
from engine.events import RECORD_VERSION
from tests.support.commands import Trackside
from tests.support.older_record import make_record_older

HOSTILE = "\x1b[2J"
RUNNER = """
import asyncio
from engine.protocol import AgentAPIException, AgentRunResult, Message

capabilities = {"tool_calling": True}
permissions = {"models": ["invoke"], "tools": ["call"], "storage": ["plugin"]}
config = [{"name": "model", "type": "llm-model-selector", "label": {"en_US": "Model"}, "default": "parrot"}]

async def run(ctx):
    api = ctx.api
    slow, quick = api.call_tool("weather", {"city": "Berlin"}), api.call_tool("weather", {"city": "Paris"})
    await asyncio.gather(slow, quick)
    for wrong in (api.history_search("x"), api.call_tool("\\x1b[2J", {}), api.call_tool("weather", {"city": "Rome"})):
        try:
            await wrong
        except AgentAPIException:
            pass
    reply = await api.invoke_llm("parrot", [{"role": "user", "content": ctx.input.to_text()}])
    await api.state_set("conversation", "seen\\x1b[2J", {"city": "Berlin"})
    await api.state_set("actor", "name", "Ann")
    for name, kind, content in (("plan.md", "text/markdown", "I1BsYW4bWzJK"), ("x\\x1b[2J", None, "AP8C")):
        data = {"artifact_type": "file", "artifact_id": name[:4], "name": name, "mime_type": kind}
        yield AgentRunResult(type="artifact.created", run_id=ctx.run_id, data={**data, "content_base64": content})
    text = reply.content + "\\x1b[2J " + "long " * 1_000
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text + "tail"))
    yield AgentRunResult.run_completed(ctx.run_id)
"""
PROJECT: dict[str, Any] = {
    "runners": ["guide.py"],
    "agents": [{"id": "guide", "runner": "guide", "resources": {"allowed_tool_names": ["weather", "absent"]}}],
    "models": [{"id": "parrot", "kind": "scripted", "replies": [{"match": ".", "text": "Take an umbrella to 柏林."}]}],
    "tools": [
        {
            "name": "weather",
            "kind": "scripted",
            "answers": [
                {"match": {"city": "Berlin"}, "result": 9, "delay": 0.05},
                {"match": {"city": "Paris"}, "result": 17},
                {"match": {"city": "Rome"}, "error": "unknown city"},
            ],
        }
    ],
}


@pytest.fixture
def guide(trackside: Trackside) -> Trackside:
    """A project whose runner makes allowed and refused calls."""
    trackside.write("guide.py", RUNNER)
    trackside.write("trackside.yaml", json.dumps(PROJECT))
    return trackside


@pytest.fixture
def with_run(guide: Trackside) -> Trackside:
    """The project with one run in session `trip`."""
    done = guide("run", "-m", "What to take?", "--session", "trip")
    assert done.returncode == 0, done.stdout + done.stderr
    assert HOSTILE not in done.stdout
    return guide


def rows(text: str) -> list[list[str]]:
    """Return the cells of each line of a table."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_grants_are_printed_with_their_clauses_and_nothing_runs(guide: Trackside):
    done = guide("run", "--grants")
    cells = rows(done.stdout)
    as_json = json.loads(guide("run", "--grants", "--json", "--session", "trip").stdout)

    assert done.returncode == 0
    for row in (
        ["call_tool", "yes", 'permissions.tools has "call"'],
        ["history_search", "no", "history.search is not in the manifest's permissions"],
        ["model:parrot", "invoke", "permissions.models and the runner's config"],
        ["tool:weather", "call", "permissions.tools and resource_policy.allowed_tool_names"],
        ["actor", "on", "state_policy.state_scopes has actor"],
        ["subject", "off", "scope subject is not in state_policy.state_scopes"],
        ["plugin", "yes", "delete, get, keys, set: permissions.storage and resource_policy.allow_plugin_storage"],
        ["workspace", "no", "storage.workspace is not in the manifest's permissions"],
        ["!", "tool 'absent', named by resource_policy.allowed_tool_names, does not exist; left out"],
    ):
        assert row in cells
    assert as_json["apis"]["event_get"] == {
        "allowed": False,
        "clause": "events.get is not in the manifest's permissions",
    }
    assert as_json["operations"]["tool:weather"] == ["call"]
    assert (as_json["conversation_id"], as_json["agent_id"]) == ("trip", "guide")
    assert not guide.database.exists()
    assert guide.error("run", "-m", "hi", "--json") == (
        "--json needs --grants. For a run use --jsonl: one entry per line."
    )
    assert guide.error("run", "--grants", "--runner", "nobody").startswith("No runner called 'nobody'. ")


def test_recording_begins_with_its_format_run_and_grants(with_run: Trackside):
    shown = with_run("show", "last", "--jsonl").stdout
    run = json.loads(with_run("show", "last", "--json").stdout)

    first, second = (json.loads(line) for line in shown.splitlines()[:2])
    grants = run.pop("authorization")
    assert list(first) == ["format", "trackside", "run", "grants", "missing"]
    assert (first["format"], first["trackside"]) == (1, VERSION)
    assert run.pop("missing") == first["missing"] == []
    assert first["run"] == run
    assert first["grants"] == grants
    assert grants["operations"]["tool:weather"] == ["call"]
    assert (second["type"], second["data"]["record"]) == ("run.started", RECORD_VERSION)
    header = read_recording_header(shown.partition("\n")[0])
    assert header == (1, VERSION, run, grants, ())


def test_run_of_an_older_version_is_shown_and_says_what_it_lacks(with_run: Trackside):
    run_id = json.loads(with_run("show", "last", "--json").stdout)["run_id"]
    printed = with_run("show", "last")
    make_record_older(with_run.database, run_id)

    older = with_run("show", "last")
    missing = json.loads(with_run("show", "last", "--json").stdout)["missing"]

    assert (printed.stderr, older.stdout) == ("", printed.stdout)
    assert "The hash seed and the random seed are unknown." in missing
    assert older.stderr == (
        f"trackside: An older Trackside recorded this run, so {len(missing)} facts about it are missing. "
        f"List them: trackside show {run_id} --json\n"
    )
    jsonl = with_run("show", "last", "--jsonl")
    assert jsonl.stderr == ""
    assert json.loads(jsonl.stdout.partition("\n")[0])["missing"] == missing


def test_calls_are_listed_in_order_with_decision_clause_and_latency(with_run: Trackside):
    shown = with_run("show", "last", "--calls").stdout
    calls = json.loads(with_run("show", "last", "--calls", "--json").stdout)
    lines = [json.loads(line) for line in with_run("show", "last", "--calls", "--jsonl").stdout.splitlines()]

    assert [(call["number"], call["action"], call["resource"], call["decision"], call["code"]) for call in calls] == [
        (1, "call_tool", "tool:weather", "allowed", None),
        (2, "call_tool", "tool:weather", "allowed", None),
        (3, "history_search", None, "refused", "unauthorized"),
        (4, "call_tool", f"tool:{HOSTILE}", "refused", "unauthorized"),
        (5, "call_tool", "tool:weather", "allowed", "runtime_error"),
        (6, "invoke_llm", "model:parrot", "allowed", None),
        (7, "state_set", "state:conversation", "allowed", None),
        (8, "state_set", "state:actor", "allowed", None),
    ]
    assert calls == lines
    assert calls[2]["clause"] == "history.search is not in the manifest's permissions"
    assert calls[4]["message"] == "unknown city"
    assert calls[0]["latency_ms"] >= 50
    cells = rows(shown)
    assert cells[0] == ["#", "call", "resource", "decision", "latency", "code", "clause"]
    assert cells[4][:4] == ["4", "call_tool", "tool:␛[2J", "refused"]
    assert cells[-1] == ["8 calls, 2 refused."]
    assert HOSTILE not in shown


def test_transcript_is_printed_and_searched(with_run: Trackside):
    shown = with_run("transcript", "last").stdout
    newest = with_run("transcript", "trip", "--limit", "1").stdout
    lines = [json.loads(line) for line in with_run("transcript", "trip", "--jsonl").stdout.splitlines()]
    found = with_run("search", "umbrella", "take").stdout
    in_session = json.loads(with_run("search", "柏林", "--session", "trip", "--json").stdout)

    first, second = (line["seq"] for line in lines)
    assert shown.startswith(
        f"user  just now  line {first}\nWhat to take?\n\nassistant  just now  line {second}\nTake an"
    )
    assert " umbrella to 柏林.␛[2J long" in shown
    assert shown.endswith(" tail\n· artifact plan\n· artifact x␛[2\n")
    assert newest.startswith("… 1 earlier line; --limit shows more\n\nassistant")
    assert [line["role"] for line in lines] == ["user", "assistant"]
    assert found.startswith("trip  assistant  just now\n  Take an umbrella to 柏林.␛[2J long")
    assert (in_session["total_count"], in_session["items"][0]["role"]) == (1, "assistant")
    assert HOSTILE not in shown + found
    without_hits = with_run("search", "nothing%", "like_this")
    assert (without_hits.returncode, without_hits.stdout) == (
        1,
        "No message has 'nothing% like_this'. Try fewer words, or three or more letters of one.\n",
    )
    assert with_run("search", "nothing%", "--json").returncode == 1
    assert with_run.error("transcript", "nowhere") == "No session nowhere. `trackside sessions` lists them."


def test_state_of_all_scopes_is_listed_with_its_writer(with_run: Trackside):
    run_id = json.loads(with_run("show", "last", "--json").stdout)["run_id"]
    with_run("run", "--runner", "rehearsal", "--set", "pace=0", "--session", "other")

    of_trip = with_run("state", "trip").stdout
    everything = json.loads(with_run("state", "--json").stdout)

    who = f"runner {run_id[:17]}"
    assert rows(of_trip) == [
        ["actor local", "name", who, "just now", '"Ann"'],
        ["conversation trip", "seen␛[2J", who, "just now", '{"city": "Berlin"}'],
    ]
    mine = [(row["scope"], row["value"]) for row in everything if row["run_id"] == run_id]
    assert mine == [("actor", "Ann"), ("conversation", {"city": "Berlin"})]
    assert "other" in {row.get("conversation_id") for row in everything}
    assert all(row["created_at"] <= row["updated_at"] and row["created_at"].endswith("Z") for row in everything)


def test_artifacts_are_listed_printed_and_saved(with_run: Trackside):
    shown = rows(with_run("artifacts", "trip").stdout)
    of_run = json.loads(with_run("artifacts", "last", "--json").stdout)
    target = with_run.folder / "out.md"

    saved = with_run("artifacts", "get", "plan", "-o", "out.md")
    piped = with_run("artifacts", "get", "plan")

    assert [row[0] for row in shown] == ["x␛[2", "plan"]
    assert [row["artifact_id"] for row in of_run] == ["x\x1b[2", "plan"]
    assert (saved.stdout, target.read_bytes()) == ("Wrote 9 B to out.md.\n", b"#Plan\x1b[2J")
    assert piped.stdout == "#Plan\x1b[2J"
    assert with_run.error("artifacts", "get", "plan", "-o", "out.md") == (
        "out.md exists already. Add --force to overwrite it, or name another file."
    )
    assert with_run("artifacts", "get", "x\x1b[2", "-o", "out.md", "--force").returncode == 0
    assert target.read_bytes() == b"\x00\xff\x02"
    assert on_a_terminal(with_run, "artifacts", "get", "plan") == "#Plan␛[2J\r\n"
    assert on_a_terminal(with_run, "artifacts", "get", "x\x1b[2") == (
        "trackside: Artifact x␛[2 is not text, and this is a terminal. Save it with -o FILE.\r\n"
    )
    assert with_run.error("artifacts", "get", "none") == "No artifact none. It does not exist or has expired."
    assert with_run.error("artifacts", "get").startswith("`get` needs an ID, and an ID needs `get`: ")
    assert with_run.error("artifacts", "nowhere") == (
        "No run or session nowhere. `trackside runs` and `trackside sessions` list them."
    )


def test_empty_lists_say_how_to_fill_them(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "hi", "--session", "s")

    assert trackside("state").stdout.startswith("No state yet. ")
    assert trackside("state", "s").stdout == "No state for s.\n"
    assert trackside("artifacts").stdout.startswith("No artifacts yet. ")
    assert trackside("artifacts", "s").stdout == "No artifacts match.\n"
    assert trackside("show", "last", "--calls").stdout == "No calls.\n"
    assert trackside("show", "last", "--calls", "--json").stdout == "[]\n"


def on_a_terminal(trackside: Trackside, *typed: str) -> str:
    """Return what a command writes to a terminal, both streams together."""
    ours, theirs = pty.openpty()
    process = trackside.start_with(*typed, streams=(None, theirs, theirs), env={"TERM": "dumb"})
    os.close(theirs)
    pieces: list[bytes] = []
    try:
        while piece := os.read(ours, 65_536):
            pieces.append(piece)
    except OSError:  # Linux: the other end is closed
        pass
    finally:
        os.close(ours)
    process.wait(60)
    return b"".join(pieces).decode()
