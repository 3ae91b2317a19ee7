"""A secret in every field that a user or a runner can write is readable only in the places where a runner needs it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.commands import Trackside
from tests.support.console.terminal import TRACKSIDE, Terminal

KEY = "planted-key-90210"
"""From the config in trackside.yaml: every command of the project knows it."""
TOKEN = "planted-token-4711"
"""From the environment of the run: the commands after it do not know it."""
BOTH = f"{KEY} {TOKEN}"
IN_CLEAR = {
    ("state", "value"),
    ("state", "masked"),
    ("state_changes", "value"),
    ("state_changes", "masked"),
    ("storage", "value"),
    ("storage_changes", "value"),
    ("artifact_blobs", "content"),
}
"""Columns that have it: what runners wrote."""

PLANTER = """
import base64
import os
import sys
from engine.protocol import AgentAPIException

capabilities = {"steering": True, "streaming": True, "tool_calling": True, "skill_authoring": True}
permissions = {
    "models": ["stream"],
    "tools": ["call"],
    "history": ["page", "search"],
    "events": ["get", "page"],
    "storage": ["plugin", "workspace"],
    "artifacts": ["metadata", "read"],
}
config = [{"name": "api_key", "type": "string", "label": {"en_US": "Key"}}]


async def attempt(call):
    try:
        return await call
    except AgentAPIException as error:
        return str(error)


async def run(ctx):
    both = ctx.config["api_key"] + " " + os.environ["PLANTED_TOKEN"]
    encoded = base64.b64encode(both.encode()).decode()
    print("printed", both)
    print("warned", both, file=sys.stderr)
    yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": both[:20]}}}
    yield {"type": "message.delta", "data": {"chunk": {"role": "assistant", "content": both[20:]}}}
    message = {"role": "assistant", "content": both, "name": both, "extra": {both: [both]}}
    message["tool_calls"] = [{"id": both, "function": {"name": both, "arguments": both}}]
    yield {"type": "message.completed", "data": {"message": message}, "usage": {both: 1}}
    artifact = {"artifact_type": both, "name": both, "mime_type": both, "metadata": {both: both}}
    yield {"type": "artifact.created", "data": {**artifact, "artifact_id": "planted", "content_base64": encoded}}
    yield {"type": "artifact.created", "data": {"artifact_type": "file", "artifact_id": both}}
    yield {"type": "state.updated", "data": {"scope": "conversation", "key": "result", "value": {both: [both]}}}
    yield {"type": "state.updated", "data": {"scope": "conversation", "key": both, "value": 1}}
    yield {"type": "x." + both, "data": {"text": both}, "sequence": both, both: both}
    yield {"type": "tool.call.started", "data": {"tool_call_id": both, "tool_name": both, "parameters": {both: both}}}
    await ctx.api.state_set("conversation", "call", {both: both})
    await attempt(ctx.api.state_set("conversation", both, 1))
    await attempt(ctx.api.call_tool(both, {both: both}))
    await ctx.api.call_tool("ask", {both: [both + "x" * 20_000]})
    async for _ in ctx.api.invoke_llm_stream("model", [{"role": "user", "content": both}], extra_args={both: both}):
        pass
    await ctx.api.set_plugin_storage("stored", both.encode())
    await attempt(ctx.api.set_plugin_storage(both, b"1"))
    found = await ctx.api.artifact_metadata("planted")
    await ctx.api.state_set("conversation", "sees its artifact", found.name == both)
    page = await ctx.api.history_page()
    texts = [item.content for item in page.items if item.role == "user"]
    await ctx.api.state_set("conversation", "sees the message", any(both in text for text in texts))
    pulled = await ctx.api.steering_pull()
    for item in pulled.items:
        await ctx.api.state_set("conversation", "sees the steering", both in item.input.to_text())
    if ctx.input.to_text().startswith("after"):
        yield {"data": both}
    yield {"type": "run.failed", "data": {"error": both, "code": both}}
"""
EVENT = {
    "event_type": "message.received",
    "source": "console",
    "source_event_type": BOTH,
    "conversation_id": "trip",
    "actor": {"actor_type": "user", "actor_id": "ann", "actor_name": BOTH, "metadata": {BOTH: BOTH}},
    "subject": {"subject_type": "group", "subject_id": "g", "data": {BOTH: BOTH}},
    "delivery": {"surface": "console", "reply_target": {BOTH: BOTH}, "platform_capabilities": {BOTH: BOTH}},
    "data": {BOTH: [BOTH]},
    "input": {
        "text": f"use {BOTH}",
        "contents": [{"type": "text", "text": f"use {BOTH}", "extra": BOTH}],
        "attachments": [
            {"artifact_id": "a1", "artifact_type": BOTH, "source": "user", "name": BOTH, "mime_type": BOTH},
            {"artifact_id": "a2", "artifact_type": "file", "source": "user", "url": f"https://x/{TOKEN}"},
        ],
    },
}
PROJECT = {
    "runners": ["planter.py"],
    "models": [{"id": "model", "kind": "scripted", "replies": [{"match": "", "pieces": ["the ", KEY]}]}],
    "tools": [{"name": "ask", "kind": "scripted", "description": KEY, "answers": [{"result": {KEY: KEY}}]}],
    "skills": ["packing"],
    "agents": [
        {
            "id": "plant",
            "runner": "planter",
            "config": {"api_key": KEY},
            "resources": {"allowed_model_uuids": ["model"], "allowed_tool_names": ["ask", f"no {KEY}"]},
        }
    ],
}
COMMANDS = (
    ("runs",),
    ("runs", "--json"),
    ("show", "last"),
    ("show", "last", "--json"),
    ("show", "last", "--calls"),
    ("show", "last", "--jsonl"),
    ("receipts", "last"),
    ("receipts", "last", "--json"),
    ("sessions",),
    ("sessions", "--json"),
    ("transcript", "trip"),
    ("transcript", "trip", "--json"),
    ("search", "use"),
    ("search", "use", "--json"),
    ("state",),
    ("state", "--json"),
    ("state", "history", "trip", "call"),
    ("state", "history", "trip", "call", "--json"),
    ("artifacts",),
    ("artifacts", "--json"),
    ("doctor",),
    ("run", "--grants", "-m", "hi"),
    ("run", "--grants", "--json", "-m", "hi"),
)


@pytest.fixture
def planted(trackside: Trackside) -> tuple[Trackside, str]:
    """A project whose runner has written the secrets everywhere, and the output of the command that ran it."""
    trackside.write("planter.py", PLANTER)
    trackside.write("event.json", json.dumps(EVENT))
    trackside.write("trackside.yaml", json.dumps(PROJECT))
    trackside.write("packing/SKILL.md", f"---\nname: packing\ndescription: {KEY}\n---\n{KEY}\n")
    steering = ("--steer", f"message.completed=steer {BOTH}", "--steer", f"run.failed=late {BOTH}")
    ran = trackside(
        *("run", "--event", "event.json", "--env", "PLANTED_TOKEN", "--after", f"after {BOTH}", *steering),
        *("--jsonl", "--log", "run.log"),
        env={"PLANTED_TOKEN": TOKEN},
    )
    assert json.loads(trackside("runs", "--json").stdout)[-1]["status"] == "failed", ran.stderr
    return trackside, ran.stdout + ran.stderr


_STORED = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'"
"""The tables with content. Those of the search index keep theirs in others."""


def columns_with(database: Path, words: tuple[str, ...]) -> set[tuple[str, str]]:
    """The columns of all tables, those of the search index too, that contain one of the words."""
    found = set()
    with closing(sqlite3.connect(database)) as conn:
        tables = [name for (name,) in conn.execute(_STORED)]
        for table in tables:
            cursor = conn.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor:
                for name, value in zip(names, row, strict=True):
                    data = value if isinstance(value, bytes) else str(value).encode()
                    if any(word.encode() in data for word in words):
                        found.add((table, name))
    return found


def draw_screens(trackside: Trackside) -> str:
    """Open the console on the session, visit its panes and browsers, and return everything that was drawn."""
    palette, escape, leave = "\x10", "\x1b", "\x11"
    command = [TRACKSIDE, "--session", "trip", "--db", trackside.database, "--log", trackside.folder / "screen.log"]
    with Terminal(command, trackside.folder, (160, 45)) as terminal:
        terminal.sees("f1 help", "‹secret api_key›")
        for number in "234":  # the stream, the inspector, the list of runs
            terminal.type(number)
        for words, seen in (("view and edit state", "‹secret"), ("artifacts", "planted"), ("browse sessions", "trip")):
            terminal.type(palette)
            terminal.sees("Search for commands")
            terminal.type(words + "\r")
            terminal.sees(seen, "esc back")
            terminal.type(escape)
            terminal.until(lambda: "esc back" not in terminal.text, "the main screen")
        terminal.type(leave)
        assert terminal.ends() == 0
        return bytes(terminal.sent).decode("utf-8", "replace")


def test_planted_secret_is_found_in_the_listed_places_and_nowhere_else(planted: tuple[Trackside, str]):
    trackside, printed = planted
    renamed = trackside("sessions", "rename", "trip", f"about {KEY}", "--log", "rename.log")
    assert renamed.returncode == 0, renamed.stderr
    assert trackside("state", "set", "trip", "by hand", json.dumps(KEY)).returncode == 0
    outputs = {("run",): printed, ("rename",): renamed.stdout + renamed.stderr}
    for number, command in enumerate(COMMANDS):
        done = trackside(*command, "--log", f"{number}.log")
        outputs[command] = done.stdout + done.stderr
    outputs["the console",] = draw_screens(trackside)
    leaks = [command for command, text in outputs.items() if KEY in text or TOKEN in text]
    assert leaks == []

    values = {row["key"]: row["value"] for row in json.loads(trackside("state", "trip", "--json").stdout)}
    assert values["sees its artifact"] is True
    assert values["sees the message"] is True
    assert values["sees the steering"] is True
    assert values["by hand"] == "‹secret api_key›"
    masks = "‹secret api_key› ‹secret PLANTED_TOKEN›"
    assert values["call"] == {masks: masks}

    assert columns_with(trackside.database, (KEY, TOKEN)) == IN_CLEAR
    files = [path for path in trackside.folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"run.log", "rename.log", "0.log", "screen.log"}
    sources = {"trackside.yaml", "event.json", "SKILL.md"}
    assert [path.name for path in files if path.name not in sources and _contains(path)] == []
    beside = [path for path in trackside.database.parent.iterdir() if path.is_file()]
    databases = {trackside.database.name + end for end in ("", "-wal", "-shm")}
    assert [path.name for path in beside if path.name not in databases | sources and _contains(path)] == []


def _contains(path: Path) -> bool:
    data = path.read_bytes()
    return KEY.encode() in data or TOKEN.encode() in data
