"""`trackside transcript`: all threads and bots of a session, labelled, or some of them."""

import json
import re

from tests.support.commands import Trackside

PLACES = (
    {},
    {"thread_id": "t1"},
    {"bot_id": "b\x1b[2J"},
    {"thread_id": "t1", "bot_id": "b1", "workspace_id": "w1"},
)
FILTERED: dict[tuple[str, ...], list[str]] = {
    ("--thread", "t1"): ["hi 1", "hi 3"],
    ("--thread", ""): ["hi 0", "hi 2"],
    ("--bot", "b1"): ["hi 3"],
    ("--thread", "", "--bot", ""): ["hi 0"],
    ("--workspace", "w1"): ["hi 3"],
    ("--thread", "t%"): [],
}


def test_transcript_shows_all_threads_and_bots_with_labels_and_filters(trackside: Trackside):
    for number, place in enumerate(PLACES):
        event = {"event_type": "message.received", "conversation_id": "group", "input": {"text": f"hi {number}"}}
        trackside.write("event.json", json.dumps(event | place))
        done = trackside("run", "--runner", "echo", "--event", "event.json")
        assert done.returncode == 0, done.stdout + done.stderr

    shown = trackside("transcript", "group").stdout
    heads = re.findall(r"^(.+?)  (?:just now|\d+ \w+ ago)  line \d+$", shown, re.MULTILINE)
    exported = [json.loads(line) for line in trackside("transcript", "group", "--jsonl").stdout.splitlines()]
    places = [{name: line[name] for name in ("thread_id", "bot_id", "workspace_id") if line[name]} for line in exported]

    assert heads[::2] == ["user", "user  thread t1", "user  bot b␛[2J", "user  thread t1 · bot b1 · workspace w1"]
    assert places[::2] == list(PLACES)
    for filters, expected in FILTERED.items():
        lines = json.loads(trackside("transcript", "group", *filters, "--json").stdout)
        assert [line["content"] for line in lines if line["role"] == "user"] == expected
    assert trackside("transcript", "group", "--thread", "t%").stdout == "No messages match.\n"
    newest = trackside("transcript", "group", "--thread", "t1", "--limit", "1").stdout
    assert newest.startswith("… earlier lines; --limit shows more\n\nassistant  thread t1 · bot b1 · workspace w1  ")


def test_search_in_a_session_finds_the_lines_of_all_threads_and_bots_with_labels(trackside: Trackside):
    for conversation, place in [*(("group", place) for place in PLACES), ("other", {})]:
        event = {"event_type": "message.received", "conversation_id": conversation, "input": {"text": "hello"}}
        trackside.write("event.json", json.dumps(event | place))
        trackside("run", "--runner", "echo", "--event", "event.json")

    found = json.loads(trackside("search", "hello", "--session", "group", "--json").stdout)
    shown = trackside("search", "hello", "--session", "group").stdout

    users = [line for line in found["items"] if line["role"] == "user"]
    assert found["total_count"] == 2 * len(PLACES)
    assert [{name: line[name] for name in place} for line, place in zip(users[::-1], PLACES, strict=True)] == [*PLACES]
    assert shown.startswith("group  assistant  thread t1 · bot b1 · workspace w1  ")
