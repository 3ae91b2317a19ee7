"""`trackside run`: its output, its exit codes, signals and sessions; and `trackside show`."""

import json
import signal

from tests.support.commands import SPEAKER, Trackside, after_header, entries


def test_without_target_rehearsal_runs(trackside: Trackside):
    done = trackside("run", "--set", "pace=0")

    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert done.stderr == ""
    assert (
        lines[0] == "No target, so this is the bundled runner rehearsal. To run your own: trackside run FILE.py -m TEXT"
    )
    assert lines[1].startswith("▸ rehearsal  ses_")
    assert lines[2] == "› Plan a day in Kyoto"
    assert "\n\nA day in Kyoto, then. Before" in done.stdout
    assert done.stdout.count("A day in Kyoto, then.") == 1
    assert "  ▸ weather(city=Kyoto, day=tomorrow)" in done.stdout
    assert "  · artifact plan.md  text/markdown  188 B" in lines
    assert "  · state conversation: rehearsal.city = Kyoto" in lines
    assert any(line.startswith("✓ completed in ") for line in lines)
    assert f"Show it again: trackside show last --db {trackside.database}" in lines
    assert "\x1b" not in done.stdout


def test_jsonl_has_one_line_per_entry_and_show_prints_the_same_bytes(trackside: Trackside):
    first = trackside("run", "--runner", "chaos", "-m", "malformed results", "--jsonl")
    again = trackside("show", "last", "--jsonl")
    by_prefix = trackside("show", entries(first.stdout)[0]["run_id"][:20], "--jsonl")

    journal = entries(first.stdout)
    assert (first.returncode, first.stderr) == (0, "")
    assert after_header(again.stdout) == first.stdout == after_header(by_prefix.stdout)
    assert [entry["position"] for entry in journal] == list(range(1, len(journal) + 1))
    assert [journal[0]["type"], journal[-1]["type"]] == ["run.started", "run.finished"]
    assert list(journal[1]) == ["run_id", "position", "at", "source", "type", "data", "outcome", "reason"]


def test_show_prints_a_run_as_it_was_printed_first(trackside: Trackside):
    printed = trackside("run", "--runner", "echo", "-m", "one two").stdout

    again = trackside("show", "last").stdout

    assert printed.startswith(again)
    assert "\n\none two\n\n✓ completed in " in again
    assert json.loads(trackside("show", "last", "--json").stdout)["status"] == "completed"


def test_exit_code_is_the_status_of_the_run(trackside: Trackside):
    cases = (
        ("no output", 0, "✓ completed with no output in "),
        ("raise", 1, "runner.exception: RuntimeError: chaos was asked to raise"),
        ("exit", 1, "runner.lost: the runner exited with code 3"),
        ("hang", 3, "runner.timeout: the run took longer than 0.5 s"),
    )
    for message, code, words in cases:
        done = trackside("run", "--runner", "chaos", "-m", message, "--timeout", "0.5" if code == 3 else "30")
        assert (done.returncode, done.stderr) == (code, ""), message
        assert words in done.stdout


def test_control_characters_of_a_runner_do_not_reach_the_terminal(trackside: Trackside):
    done = trackside("run", "--runner", "chaos", "-m", "terminal escapes")

    obeyed = [code for code in (*range(32), *range(0x7F, 0xA0), 0x202E, 0x202C) if chr(code) in done.stdout]
    assert obeyed == [ord("\n")]
    assert "␛]0;owned␇" in done.stdout
    assert "\\u202eright to left" in done.stdout


def test_fragments_and_snapshots_are_printed_once(trackside: Trackside):
    for message, text in (
        ("delta fragments", "The whole is the sum of its parts."),
        ("delta snapshots", "The whole is here."),
        ("delta all content", "The whole is the sum of its parts."),
    ):
        shown = trackside("run", "--runner", "chaos", "-m", message).stdout
        assert f"\n\n{text}\n\n" in shown


def test_message_is_read_from_standard_input(trackside: Trackside):
    done = trackside("run", "--runner", "echo", "-m", "-", "--jsonl", stdin="ein Wort\nzwei\n")

    context = entries(done.stdout)[0]["data"]["context"]
    assert context["input"]["text"] == "ein Wort\nzwei"


def test_every_event_type_is_read_from_a_file(trackside: Trackside):
    runner = trackside.write("speaker.py", SPEAKER)
    reason = {"input": {"text": "let me in"}}
    events = {
        "message.received": {"input": {"text": "hello"}},
        "message.recalled": {"subject": {"subject_type": "message", "subject_id": "m1"}},
        "group.member_joined": {"actor": {"actor_type": "user", "actor_id": "u1"}},
        "friend.request_received": reason,
        "schedule.triggered": {"source": "scheduler", "conversation_id": None},
        "api.invoked": {"source": "api", "data": {"path": "/go"}},
    }
    for kind, rest in events.items():
        event = json.dumps({"event_type": kind, **rest})
        file = trackside.write("event.json", event) if kind != "api.invoked" else "-"
        done = trackside("run", str(runner), "--event", str(file), "--jsonl", stdin=event)

        journal = entries(done.stdout)
        context = journal[0]["data"]["context"]
        said = next(entry for entry in journal if entry["type"] == "message.completed")
        assert done.returncode == 0
        assert context["event"]["event_type"] == kind
        assert said["data"]["message"]["content"].startswith(kind)
        assert bool(context["conversation"] and context["conversation"]["conversation_id"]) == (
            kind != "schedule.triggered"
        )
    assert (
        "speaker"
        in trackside("run", str(runner), "--event", str(trackside.write("e.yaml", "event_type: api.invoked"))).stdout
    )


def test_repeated_event_id_prints_its_first_run(trackside: Trackside):
    event = trackside.write("event.yaml", "event_type: message.received\nevent_id: once\ninput: {text: hello}\n")
    first = trackside("run", "--runner", "echo", "--event", str(event), "--jsonl")

    second = trackside("run", "--runner", "echo", "--event", str(event), "--jsonl")

    assert second.stdout == first.stdout
    assert second.stderr == (
        "trackside: Event once was submitted before. This is its first run; nothing was started.\n"
    )


def test_repeated_event_exits_as_its_first_run_did(trackside: Trackside):
    event = trackside.write("event.yaml", "event_type: message.received\nevent_id: once\ninput: {text: raise}\n")
    codes = [trackside("run", "--runner", "chaos", "--event", str(event)).returncode for _ in range(2)]

    assert codes == [1, 1]


def test_set_options_are_converted_by_the_config_form(trackside: Trackside):
    runner = trackside.write("speaker.py", SPEAKER)

    done = trackside("run", str(runner), "-m", "hi", "--set", "words=3", "--set", "odd=1", "--timeout", "9", "--jsonl")

    journal = entries(done.stdout)
    assert journal[0]["data"]["context"]["config"] == {"words": 3, "odd": 1, "timeout": 9}
    assert journal[1]["data"] == {"message": "config: odd is not in the runner's form"}


def test_parameters_are_json_or_text_and_reach_the_runner(trackside: Trackside):
    given = ("--param", "n=[1, 2]", "--param", "city=Kyoto", "--param", "zip=007")

    done = trackside("run", "--runner", "echo", "-m", "hi", "--jsonl", *given, "--after", "more")

    contexts = [entry["data"]["context"] for entry in entries(done.stdout) if entry["type"] == "run.started"]
    params = [context["adapter"] and context["adapter"]["extra"]["params"] for context in contexts]
    assert params == [{"n": [1, 2], "city": "Kyoto", "zip": "007"}, None]


def test_parameters_that_a_runner_never_sees_are_refused(trackside: Trackside):
    for name in ("_internal", "api_key"):
        done = trackside("run", "--runner", "echo", "-m", "hi", "--param", f"{name}=planted")

        assert (done.returncode, done.stdout) == (2, "")
        assert f"--param: {name!r} cannot be a parameter: names that " in done.stderr
        assert ".." not in done.stderr
        assert "planted" not in done.stderr
    assert not trackside.database.exists()


def test_timeout_that_is_not_a_number_gives_a_warning_and_no_deadline(trackside: Trackside):
    done = trackside("run", "--runner", "echo", "-m", "hi", "--set", "timeout=soon", "--jsonl")

    warned = [entry["data"] for entry in entries(done.stdout) if "timeout" in entry["data"].get("message", "")]
    assert done.returncode == 0
    assert warned == [
        {"message": "config: timeout must be a number of seconds; with this value the run has no deadline"}
    ]


def test_named_session_is_continued(trackside: Trackside):
    for message in ("one", "two"):
        trackside("run", "--runner", "echo", "-m", message, "--session", "demo")

    sessions = json.loads(trackside("sessions", "--json").stdout)
    runs = [json.loads(line) for line in trackside("runs", "--session", "demo", "--jsonl").stdout.splitlines()]
    assert [(session["session_id"], session["message_count"]) for session in sessions] == [("demo", 2)]
    assert [run["metadata"]["input"] for run in runs] == ["two", "one"]


def test_new_session_name_is_reported_with_a_suggestion(trackside: Trackside):
    def run(session: str) -> str:
        return trackside("run", "--runner", "echo", "-m", "hi", "--session", session).stderr

    assert run("demo-7") == "", "the first session cannot be a typing error"
    assert run("demo-7") == ""
    assert run("dmeo-7") == "trackside: Session dmeo-7 is new. Did you mean demo-7?\n"
    assert run("quite.other") == "trackside: Session quite.other is new.\n"
    assert run("last") == ""

    sessions = json.loads(trackside("sessions", "--json").stdout)
    assert [(session["session_id"], session["message_count"]) for session in sessions] == [
        ("quite.other", 2),
        ("dmeo-7", 1),
        ("demo-7", 2),
    ]


def test_runner_sees_only_named_variables_and_secrets_are_masked(trackside: Trackside):
    runner = trackside.write("speaker.py", SPEAKER)
    secret = {"SHOP_API_KEY": "sesame-0815"}

    without = trackside("run", str(runner), "-m", "hi", "--jsonl", env=secret)
    given = trackside("run", str(runner), "-m", "hi", "--env", "SHOP_API_KEY", "--set", "api_key=hunter22", env=secret)
    recorded = trackside("show", "last", "--jsonl").stdout

    assert "key of 0 letters:" in without.stdout
    assert "key of 11 letters: ‹secret SHOP_API_KEY›" in given.stdout
    for text in (given.stdout, recorded):
        assert "sesame-0815" not in text
        assert "hunter22" not in text
    assert b"sesame-0815" not in trackside.database.read_bytes()


def test_interrupt_stops_the_run_and_is_recorded(trackside: Trackside):
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130)):
        process = trackside.start("run", "--runner", "chaos", "-m", "hang", "--jsonl")
        assert process.stdout is not None
        while json.loads(process.stdout.readline())["type"] != "message.delta":
            pass
        process.send_signal(number)
        rest, complaint = process.communicate(timeout=30)

        assert (process.returncode, complaint) == (code, "")
        assert [entry["type"] for entry in entries(rest)] == ["cancel.requested", "run.finished"]
        assert entries(rest)[-1]["data"]["status"] == "cancelled"


def test_second_interrupt_exits_at_once(trackside: Trackside):
    process = trackside.start("run", "--runner", "chaos", "-m", "ignore cancel", "--jsonl")
    assert process.stdout is not None
    while json.loads(process.stdout.readline())["type"] != "message.delta":
        pass
    process.send_signal(signal.SIGINT)
    while json.loads(process.stdout.readline())["type"] != "cancel.requested":
        pass
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=30)

    trackside("run", "--runner", "echo", "-m", "hi")
    newest, first = json.loads(trackside("runs", "--json").stdout)
    assert process.returncode == 130
    assert (
        complaint
        == "trackside: Exited without waiting for the run. The next `trackside run` on this database closes it.\n"
    )
    # On a busy machine the runner may be killed just before the second interrupt.
    assert (first["status"], first["status_reason"]) in {("failed", "host_restarted"), ("cancelled", "cancelled")}
    assert newest["status"] == "completed"


def test_run_completes_if_the_reader_of_its_output_leaves(trackside: Trackside):
    process = trackside.start("run", "--set", "pace=0.01")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        complaint = process.stderr.read()

    assert (process.wait(timeout=30), complaint) == (0, "")
    assert json.loads(trackside("show", "last", "--json").stdout)["status"] == "completed"


def test_run_waits_for_its_session_and_is_stopped_by_another_process(trackside: Trackside):
    working = trackside.start("run", "--runner", "chaos", "-m", "hang", "--session", "demo", "--jsonl")
    assert working.stdout is not None
    run_id = json.loads(working.stdout.readline())["run_id"]
    waiting = trackside.start("run", "--runner", "echo", "-m", "me too", "--session", "demo")
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == f"trackside: Session demo is busy with {run_id}; waiting for its end.\n"

    cancel = trackside("stop", run_id, "--wait", "30")

    working.communicate(timeout=30)
    said, _ = waiting.communicate(timeout=30)
    assert (cancel.returncode, cancel.stdout) == (0, f"{run_id} is cancelled.\n")
    assert working.returncode == 4
    assert waiting.returncode == 0
    assert "\n\nme too\n\n" in said
