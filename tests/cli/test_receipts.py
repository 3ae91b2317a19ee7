"""`trackside steering`: receipts of what was said to a run, also while it works in another process."""

import json
from datetime import datetime, timedelta
from typing import Any

from .conftest import Trackside, entries
from .stages import deaf, forecast, listener


def receipts(trackside: Trackside, run: str = "last") -> list[dict[str, Any]]:
    return json.loads(trackside("steering", run, "--json").stdout)


def test_a_receipt_tells_times_positions_and_latency_of_a_message(trackside: Trackside):
    done = trackside("run", listener(trackside), "-m", "listen", "--steer", "tool.call.started#2=hi there", "--jsonl")

    by_position = {entry["position"]: entry for entry in entries(done.stdout)}
    (receipt,) = receipts(trackside)
    line = json.loads(trackside("steering", "last", "--jsonl").stdout)
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


def test_receipts_are_a_table_for_people(trackside: Trackside):
    project = forecast(trackside)
    typed = ("--hold", "pull", "--hold", "message.completed", "--after", "then this")
    trackside("run", project, "-m", "hi", *typed, stdin="steer in time\n\nsteer too late\n\n")
    newest, first = (run["run_id"] for run in json.loads(trackside("runs", "--json").stdout))

    rows = trackside("steering", first).stdout.splitlines()
    none = trackside("steering", newest).stdout.splitlines()

    assert [row.split("  ")[0] for row in rows[:-1]] == ["▸ own run", "▼ injected", "✗ dropped"]
    assert [row.rsplit("  ", 1)[1] for row in rows[:-1]] == ["then this", "in time", "too late"]
    assert newest.startswith(rows[0].split()[5])
    assert ", message.completed " in rows[1]
    assert "run completed before it pulled" in rows[2]
    assert rows[3].startswith(f"{first}: last pull ")
    assert rows[3].endswith(" ago, 1 pull in all.")
    assert none[0] == "Nothing was said to it while it worked."
    assert receipts(trackside, newest) == []
    assert trackside("steering", newest, "--jsonl").stdout == ""


def test_what_waits_in_a_run_of_another_process_is_seen(trackside: Trackside):
    runner = deaf(trackside)
    host = trackside.start("run", runner, "-m", "hi", "--after", "later", "--jsonl")
    assert host.stdout is not None
    run_id = json.loads(host.stdout.readline())["run_id"]
    while not (seen := receipts(trackside, run_id)):
        pass
    table = trackside("steering", run_id[:20]).stdout.splitlines()
    trackside.write("go", "")
    host.communicate(timeout=30)

    assert [(one["text"], one["mode"], one["fate"]) for one in seen] == [("later", "after", "queued")]
    assert table[0].startswith("▲ queued")
    assert table[0].endswith("  later")
    assert table[1] == f"{run_id} cannot be steered: steering is not in the manifest's capabilities"
    assert [one["fate"] for one in receipts(trackside, run_id)] == ["own_run"]


def test_a_run_that_never_pulled_says_so(trackside: Trackside):
    runner = trackside.write("deaf.py", 'capabilities = {"steering": True}\nasync def run(ctx):\n    yield {}\n')
    trackside("run", str(runner), "-m", "hi")
    run_id = json.loads(trackside("show", "last", "--json").stdout)["run_id"]

    assert trackside("steering", "last").stdout == (
        "Nothing was said to it while it worked.\n"
        f"{run_id} never pulled: what is said to a run reaches it when it calls steering_pull.\n"
    )
    assert trackside.error("steering", "run_none") == "no run run_none. `trackside runs` lists them."


def test_a_cancel_of_a_run_whose_host_is_gone_says_who_closes_it(trackside: Trackside):
    host = trackside.start("run", "--runner", "chaos", "-m", "hang", "--jsonl")
    assert host.stdout is not None
    run_id = json.loads(host.stdout.readline())["run_id"]
    host.kill()
    host.communicate()

    asked = trackside("cancel", run_id)
    waited = trackside("cancel", run_id, "--wait", "600")

    gone = f"The process that hosted {run_id} is gone: the next `trackside run` on this database closes the run.\n"
    assert (asked.returncode, asked.stdout) == (0, gone)
    assert (waited.returncode, waited.stdout) == (1, gone)
    trackside("run", "--runner", "echo", "-m", "hi")
    assert json.loads(trackside("show", run_id, "--json").stdout)["status_reason"] == "host_restarted"
