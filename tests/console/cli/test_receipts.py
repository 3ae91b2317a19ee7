"""`trackside receipts`, also of a run in another process; and `trackside stop`."""

import json
from datetime import datetime, timedelta
from typing import Any

from tests.support.commands import Trackside, entries
from tests.support.steerable_runners import deaf, forecast, listener


def receipts(trackside: Trackside, run: str = "last") -> list[dict[str, Any]]:
    return json.loads(trackside("receipts", run, "--json").stdout)


def test_receipt_has_times_positions_and_latency(trackside: Trackside):
    done = trackside("run", listener(trackside), "-m", "listen", "--steer", "tool.call.started#2=hi there", "--jsonl")

    by_position = {entry["position"]: entry for entry in entries(done.stdout)}
    (receipt,) = receipts(trackside)
    line = json.loads(trackside("receipts", "last", "--jsonl").stdout)
    positions = [receipt[f"{name}_position"] for name in ("queued", "pulled", "first_result")]
    times = [datetime.fromisoformat(receipt[name]) for name in ("queued_at", "pulled_at", "first_result_at")]
    assert line == receipt
    assert (receipt["text"], receipt["mode"], receipt["fate"], receipt["reason"]) == (
        "hi there",
        "steer",
        "injected",
        None,
    )
    assert [by_position[place]["type"] for place in positions] == [
        "steering.queued",
        "steering.pulled",
        "run.completed",
    ]
    assert receipt["first_result"] == "run.completed"
    assert receipt["id"] == by_position[positions[0]]["data"]["item_id"]
    assert positions == sorted(positions)
    assert times == sorted(times)
    assert receipt["latency_ms"] == (times[2] - times[1]) / timedelta(milliseconds=1)
    assert receipt["queued_at"].endswith("Z")


def test_receipts_are_printed_as_a_table(trackside: Trackside):
    project = forecast(trackside)
    typed = ("--break", "steering", "--break", "message.completed", "--after", "then this")
    trackside("run", project, "-m", "hi", *typed, stdin="steer in time\n\nsteer too late\n\n")
    newest, first = (run["run_id"] for run in json.loads(trackside("runs", "--json").stdout))

    rows = trackside("receipts", first).stdout.splitlines()
    none = trackside("receipts", newest).stdout.splitlines()

    assert [row.split("  ")[0] for row in rows[:-1]] == ["▸ own run", "▼ delivered", "✗ dropped"]
    assert [row.rsplit("  ", 1)[1] for row in rows[:-1]] == ["then this", "in time", "too late"]
    assert newest.startswith(rows[0].split()[5])
    assert ", message.completed " in rows[1]
    assert "run completed before it pulled" in rows[2]
    assert rows[3].startswith(f"{first}: last pull ")
    assert rows[3].endswith(" ago, 1 pull in all.")
    assert none[0] == "No steering messages."
    assert receipts(trackside, newest) == []
    assert trackside("receipts", newest, "--jsonl").stdout == ""


def test_queued_messages_of_another_process_are_listed(trackside: Trackside):
    runner = deaf(trackside)
    host = trackside.start("run", runner, "-m", "hi", "--after", "later", "--jsonl")
    assert host.stdout is not None
    run_id = json.loads(host.stdout.readline())["run_id"]
    while not (seen := receipts(trackside, run_id)):
        pass
    table = trackside("receipts", run_id[:20]).stdout.splitlines()
    trackside.write("go", "")
    host.communicate(timeout=30)

    assert [(one["text"], one["mode"], one["fate"]) for one in seen] == [("later", "after", "queued")]
    assert table[0].startswith("▲ queued")
    assert table[0].endswith("  later")
    assert table[1] == f"{run_id} cannot be steered: steering is not in the manifest's capabilities"
    assert [one["fate"] for one in receipts(trackside, run_id)] == ["own_run"]


def test_receipts_report_a_run_that_never_pulled(trackside: Trackside):
    runner = trackside.write("deaf.py", 'capabilities = {"steering": True}\nasync def run(ctx):\n    yield {}\n')
    trackside("run", str(runner), "-m", "hi")
    run_id = json.loads(trackside("show", "last", "--json").stdout)["run_id"]

    assert trackside("receipts", "last").stdout == (
        "No steering messages.\n"
        f"{run_id} never pulled. Steering messages are delivered when the runner calls steering_pull.\n"
    )
    assert trackside.error("receipts", "run_none") == "No run run_none. `trackside runs` lists them."


def test_stop_of_a_run_whose_host_is_gone_says_how_it_is_closed(trackside: Trackside):
    host = trackside.start("run", "--runner", "chaos", "-m", "hang", "--jsonl")
    assert host.stdout is not None
    run_id = json.loads(host.stdout.readline())["run_id"]
    host.kill()
    host.communicate()

    asked = trackside("stop", run_id)
    waited = trackside("stop", run_id, "--wait", "600")

    gone = (
        f"trackside: The host is gone: the process that hosted run {run_id} has ended. "
        "The next `trackside run` or console on this database closes what it left.\n"
    )
    assert (asked.returncode, asked.stderr) == (waited.returncode, waited.stderr) == (1, gone)
    trackside("run", "--runner", "echo", "-m", "hi")
    assert json.loads(trackside("show", run_id, "--json").stdout)["status_reason"] == "host_restarted"
