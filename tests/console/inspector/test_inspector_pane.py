"""The inspector pane: every tab with real runs, keys and mouse, requests for data, and hostile text."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.events import MouseScrollDown
from textual.pilot import Pilot
from textual.widgets import Input

from console.model.inspector.call_log import Call
from console.model.inspector.data import (
    CallData,
    CallsData,
    ContextData,
    EventData,
    OutputData,
    OutputLine,
    Permission,
    ReceiptsData,
    ScopeData,
    StateData,
    StateKey,
    TranscriptData,
    TranscriptRow,
    Unknown,
)
from console.model.sessions.line_place import LinePlace
from console.ui.inspector.pane import Inspector
from console.ui.inspector.tab_strip import TabStrip
from console.ui.terminal.ascii_filter import ASCII
from engine.api import Engine, Entry, Receipt, SteeringReport
from engine.events import RunProcess
from tests.support.console.inspector_app import SESSION, InspectorApp, RecordedRuns

TABS = ("event", "state", "transcript", "context", "calls", "receipts", "output")
SIZES = [(42, 24), (66, 24), (80, 24)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedRuns:
    return RecordedRuns(tmp_path_factory.mktemp("recorded"))


@asynccontextmanager
async def looking(
    recorded: RecordedRuns, size: tuple[int, int] = (66, 24)
) -> AsyncIterator[tuple[InspectorApp, Pilot[None]]]:
    async with await Engine.open(recorded.folder, db=recorded.db, mode="read") as engine:
        app = InspectorApp(engine)
        async with app.run_test(size=size) as pilot:
            yield app, pilot


async def position_of(app: InspectorApp, run_id: str, kind: str, nth: int = 0) -> int:
    assert app.loader is not None
    entries = [entry async for entry in app.loader._engine.runs.entries(run_id) if entry.type == kind]
    return entries[nth].position


# Tabs with real runs


@pytest.mark.parametrize("size", SIZES)
async def test_event_tab_shows_entry_links_and_data(recorded: RecordedRuns, size: tuple[int, int]):
    async with looking(recorded, size) as (app, pilot):
        started = await position_of(app, recorded.rehearsal, "tool.call.started")
        await app.look(pilot, recorded.rehearsal, started)
        shown = app.text()
        assert f"#{started}  tool.call.started" in shown
        assert "by the runner" in shown
        assert "closed by" in shown
        assert "tool.call.completed" in shown
        assert 'tool_name     "weather"' in shown

        await app.look(pilot, recorded.rehearsal, await position_of(app, recorded.rehearsal, "tool.call.completed"))
        assert f"caused by  #{started} tool.call.started" in app.text()


async def test_unclosed_tool_call_is_shown_as_open(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.noisy, await position_of(app, recorded.noisy, "tool.call.started"))
        assert "closed by  nothing (the run ended first)" in app.text()


async def test_outcome_and_reason_are_shown_in_words(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.noisy, await position_of(app, recorded.noisy, "state.updated", 2))
        assert "Recorded, without effect: scope runner is not in" in app.text()


async def test_event_tab_shows_what_a_result_claims_and_what_the_run_used(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.noisy, await position_of(app, recorded.noisy, "tool.call.started"))
        assert "usage  claimed 9 tokens (cached_tokens 4)" in app.text()

        await app.look(pilot, recorded.noisy, await position_of(app, recorded.noisy, "run.finished"))
        assert "usage  claimed 9 tokens (cached_tokens 4)" in app.text()

        await app.look(pilot, recorded.noisy, await position_of(app, recorded.noisy, "run.started"))
        assert "usage  " not in app.text()


async def test_context_tab_lists_what_an_older_record_lacks(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.noisy, None, "context")
        assert "Not recorded" in app.rows()[0]
        assert "by an older Trackside" in app.rows()[0]
        assert "The hash seed and the random seed are unknown." in app.all_text()

        await app.look(pilot, recorded.rehearsal, None)
        assert "Not recorded" not in app.all_text()


async def test_event_tab_shows_the_state_changes_of_an_entry(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.noisy, await position_of(app, recorded.noisy, "state.updated", 1))
        shown = app.text()
        assert "~ conversation trip" in shown
        assert "~ $.hotels[0].price  40 → 45" in shown
        assert "+ $.hotels[1]  {id: 9}" in shown


async def test_state_tab_shows_the_state_as_of_an_entry(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        first = await position_of(app, recorded.rehearsal, "state.updated")
        await app.look(pilot, recorded.rehearsal, first - 1, "state")
        assert ["conversation", "empty"] in [row.split() for row in app.rows()]
        assert "No changes." in app.text()

        await app.look(pilot, recorded.rehearsal, first)
        assert '+ conversation rehearsal.city  "Kyoto"' in app.text()
        assert f"by this run at #{first}" in app.text()
        assert "scope subject is not in state_policy.state_scopes" in app.text()

        second = await position_of(app, recorded.rehearsal, "state.updated", 2)
        await app.look(pilot, recorded.rehearsal, second)
        assert "~ conversation rehearsal.turn  1 → 2" in app.text()


async def test_current_state_has_no_changes(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.rehearsal, None, "state")
        assert "At this entry" not in app.text()
        assert "rehearsal.turn  3" in app.text()


async def test_transcript_tab_shows_lines_up_to_the_entry(recorded: RecordedRuns):
    async with looking(recorded, (66, 60)) as (app, pilot):
        first = await position_of(app, recorded.rehearsal, "message.completed")
        await app.look(pilot, recorded.rehearsal, first, "transcript")
        lines = app.text()
        assert "1 user" in lines
        assert "A day in Kyoto, then." in lines
        assert "use Fahrenheit" not in lines
        assert "came later" in lines

        await app.look(pilot, recorded.rehearsal, None)
        assert "came later" not in app.all_text()
        assert "another run" in app.all_text()


async def test_context_tab_shows_grants_with_clauses_and_the_context(recorded: RecordedRuns):
    async with looking(recorded, (66, 60)) as (app, pilot):
        await app.look(pilot, recorded.rehearsal, None, "context")
        assert "Calls" in app.rows()[0]
        assert "conversation_id" in app.text()
        assert SESSION in app.text()

        await pilot.press("enter")
        assert "steering_pull" in app.text()
        assert "capabilities.steering is true" in app.text()
        assert "✗ history_page  no" in app.text()


@pytest.mark.parametrize("size", SIZES)
async def test_calls_tab_shows_decisions_and_unfolds_to_request_and_reply(
    recorded: RecordedRuns, size: tuple[int, int]
):
    async with looking(recorded, size) as (app, pilot):
        await app.look(pilot, recorded.prober, None, "calls")
        assert "refused" in app.rows()[0]
        assert "✗" in app.all_text()
        assert "was not granted to this run" in " ".join(app.all_text().split())

        await pilot.press("j", *(["j"] if "refused first" in app.rows()[1] else []), "enter")
        await app.settled(pilot)
        (need,) = app.posted(Inspector.NeedCall)
        assert need.call.number == 1
        assert "▾ arguments" in app.text()
        assert "Reading" not in app.text()


async def test_calls_tab_shows_calls_up_to_the_entry(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.prober, await position_of(app, recorded.prober, "call.requested", 1), "calls")
        assert "2 calls, " in app.text()
        assert "undecided" in app.text()
        assert "came later." in app.text()


async def test_calls_tab_can_list_refused_calls_first(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.prober, None, "calls")
        await pilot.press("r")
        assert "✗" in app.rows()[1]
        assert "r by number" in app.rows()[0]


async def test_receipts_tab_shows_the_steps_of_each_message(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.rehearsal, None, "receipts")
        shown = " ".join(app.text().split())
        assert "before its end" in shown
        assert "▼ delivered use Fahrenheit" in shown
        assert "queued at #" in shown
        assert "→ pulled at #" in shown
        assert "→ first result message.delta #" in shown

        queued = await position_of(app, recorded.rehearsal, "steering.queued")
        await app.look(pilot, recorded.rehearsal, queued)
        assert "▲ queued" in app.text()
        assert "waits for a pull" in app.text()


async def test_receipts_tab_shows_why_a_run_cannot_be_steered():
    app = InspectorApp()
    async with app.run_test(size=(66, 24)) as pilot:
        await app.look(pilot, "r", None, "receipts")
        steering = SteeringReport("r", False, "steering is not in the manifest's capabilities", None, None, ())
        app.inspector.show("receipts", ReceiptsData(run_id="r", steering=steering, now=0, ended_at=None))
        await pilot.pause()
        assert "Cannot be steered: steering is not in the manifest's" in app.text()


async def test_output_tab_shows_streams_and_the_last_line(recorded: RecordedRuns):
    async with looking(recorded, (42, 10)) as (app, pilot):
        await app.look(pilot, recorded.noisy, None, "output")
        assert "out out: ␛[31mred␛[0m [/x] [b]bold" in app.all_text()
        assert "err err: \\u202ebackwards" in app.all_text()
        assert app.rows()[-1].startswith("›tb  ValueError: the hotel is [/full]")


async def test_output_tab_follows_the_end_until_the_cursor_moves(recorded: RecordedRuns):
    def printed(count: int) -> OutputData:
        lines = [OutputLine(number, number, "stdout", f"line {number}") for number in range(count)]
        return OutputData(run_id="r", lines=lines, has_earlier=False)

    async with looking(recorded, (42, 10)) as (app, pilot):
        app.loader = None
        await app.look(pilot, "r", None, "output")
        app.inspector.show("output", printed(50))
        app.inspector.show("output", printed(80))
        await pilot.pause()
        assert app.rows()[-1] == "›out line 79"

        await pilot.press("k")
        app.inspector.show("output", printed(90))
        await pilot.pause()
        assert app.rows()[-2:] == ["›out line 78", " out line 79"]

        await pilot.press("end")
        app.inspector.show("output", printed(99))
        await pilot.pause()
        assert app.rows()[-1] == "›out line 98"


# Requests


async def test_data_is_requested_when_a_tab_opens_and_when_the_entry_changes():
    app = InspectorApp()
    async with app.run_test() as pilot:
        await app.look(pilot, "r", 7)
        await app.asked(pilot, 1)
        await pilot.press("2")
        await app.asked(pilot, 2)
        await app.look(pilot, "r", 8)
        await app.look(pilot, "r", 8)
        await app.asked(pilot, 3)
        app.inspector.reload()
        await app.asked(pilot, 4)

        asked = [(need.tab, need.run_id, need.position) for need in app.posted(Inspector.Need)]
        assert asked == [("event", "r", 7), ("state", "r", 7), ("state", "r", 8), ("state", "r", 8)]


async def test_last_entry_is_requested_without_a_position():
    app = InspectorApp()
    async with app.run_test() as pilot:
        app.inspector.show_run("r", None, 106)
        await app.asked(pilot, 1)
        assert app.posted(Inspector.Need) == [Inspector.Need("event", "r", 106)]


async def test_fast_moves_request_only_the_last_entry():
    app = InspectorApp()
    async with app.run_test() as pilot:
        for position in range(1, 201):
            app.inspector.show_run("r", position, 200)
        await app.asked(pilot, 1)
        await app.look(pilot, "r", 200)

        assert [need.position for need in app.posted(Inspector.Need)] == [200]


async def test_answers_to_older_requests_are_ignored():
    app = InspectorApp()
    async with app.run_test() as pilot:
        await app.look(pilot, "r", 7, "output")
        await app.asked(pilot, 1)
        first = app.posted(Inspector.Need)[0]
        app.inspector.show_run("r", 8, 9)

        def answer(position: int, text: str) -> OutputData:
            return OutputData(
                run_id="r", position=position, lines=[OutputLine(1, 1, "stdout", text)], has_earlier=False
            )

        app.inspector.show("output", answer(7, "before it was asked again"), first.number)
        await app.asked(pilot, 2)
        app.inspector.show("output", answer(8, "wanted"), app.posted(Inspector.Need)[1].number)
        app.inspector.show("output", answer(7, "late"), first.number)
        await pilot.pause()

        assert "wanted" in app.text()
        assert "late" not in app.text()
        assert "before" not in app.text()


async def test_relevant_new_entries_cause_a_new_request():
    app = InspectorApp()
    async with app.run_test() as pilot:
        await app.look(pilot, "r", None, "calls")
        await app.answered(pilot, 1)
        app.inspector.on_entries(["message.delta", "state.updated"])
        assert not app.inspector.is_waiting

        app.inspector.on_entries(["call.requested"])
        await app.answered(pilot, 2)


async def test_searching_is_not_disturbed_by_new_data():
    app = InspectorApp()
    async with app.run_test() as pilot:
        await app.look(pilot, "r", None, "calls")
        await app.answered(pilot, 1)
        await pilot.press("slash")
        app.inspector.on_entries(["call.requested"])
        await app.wait_until_postponed(pilot)
        assert len(app.posted(Inspector.Need)) == 1

        await pilot.press("escape")
        await app.answered(pilot, 2)


async def test_answer_for_another_entry_is_not_shown():
    app = InspectorApp()
    async with app.run_test() as pilot:
        await app.look(pilot, "r", 8, "output")
        late = OutputData(run_id="r", position=7, lines=[OutputLine(1, 1, "stdout", "late")], has_earlier=False)
        app.inspector.show("output", late)
        app.inspector.show("output", OutputData(run_id="other", position=8, lines=late.lines, has_earlier=False))
        await pilot.pause()
        assert "late" not in app.text()


@pytest.mark.parametrize("tab", TABS)
async def test_empty_tab_shows_a_hint(tab: str):
    app = InspectorApp()
    async with app.run_test(size=(42, 12)) as pilot:
        await app.look(pilot, None, None, tab)
        assert app.text().strip("› ").startswith("Send a message")


async def test_read_error_is_shown_in_place_of_the_tab(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, "run_nobody", 1, "state")
        assert "No run run_nobody." in app.text()
        app.inspector.show("state", Unknown(run_id="run_nobody", position=1, words="it [/broke] \x1b[2J"))
        await pilot.pause()
        assert "it [/broke] ␛[2J" in app.text()


# Keys and mouse


async def test_numbers_and_arrows_open_tabs():
    app = InspectorApp()
    async with app.run_test() as pilot:
        seen: list[str] = []
        for key in ("1", "2", "3", "4", "5", "6", "7", "right", "left", "left"):
            await pilot.press(key)
            seen.append(app.inspector.tab)
        assert seen == [*TABS, "event", "output", "receipts"]


async def test_folds_are_kept_for_other_entries(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        first = await position_of(app, recorded.rehearsal, "message.completed")
        await app.look(pilot, recorded.rehearsal, first)
        assert "▾ message" in app.text()
        row = next(index for index, text in enumerate(app.rows()) if "▾ message" in text)
        await pilot.press(*["j"] * row, "space")
        assert "▸ message" in app.text()
        assert app.sheet.view is not None
        assert app.sheet.view.cursor == row

        second = await position_of(app, recorded.rehearsal, "message.completed", 1)
        await app.look(pilot, recorded.rehearsal, second)
        assert "▸ message" in app.text()


async def test_y_copies_the_value_and_shift_y_its_path(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.rehearsal, await position_of(app, recorded.rehearsal, "tool.call.started"))
        row = next(index for index, text in enumerate(app.rows()) if "tool_name" in text)
        await pilot.press(*["down"] * row, "y", "Y", "home", "y")

        value, path, entry = app.posted(Inspector.Copy)
        assert (value.text, value.what) == ('"weather"', "value")
        assert (path.text, path.what) == ("$.tool_name", "path")
        assert entry.text.startswith('{"run_id":"'), "on the first row, the whole entry"


async def test_enter_on_a_related_entry_opens_it(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        started = await position_of(app, recorded.rehearsal, "tool.call.started")
        await app.look(pilot, recorded.rehearsal, await position_of(app, recorded.rehearsal, "tool.call.completed"))
        row = next(index for index, text in enumerate(app.rows()) if "caused by" in text)
        await pilot.press(*["j"] * row, "enter")
        await pilot.pause()
        assert [jump.position for jump in app.posted(Inspector.Jump)] == [started]


async def test_find_goes_to_the_match_and_n_to_the_next(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.rehearsal, 1, "event")
        await pilot.press("slash", *"STEERING_PULL", "enter")
        await pilot.pause()
        assert "›" in next(text for text in app.rows() if "steering_pull" in text)
        assert app.sheet.has_focus

        await pilot.press("slash", *"no such", "enter")
        await pilot.pause()
        assert "No row contains 'no such'." in bar_of(app)
        await pilot.press("j")
        assert not app.inspector.query_one("FindBar").display


async def test_escape_closes_the_search_line():
    app = InspectorApp()
    async with app.run_test() as pilot:
        await pilot.press("slash", "a", "1")
        assert app.inspector.query_one(Input).value == "a1"
        assert app.inspector.tab == "event"
        await pilot.press("escape")
        await pilot.pause()
        assert app.sheet.has_focus
        assert not app.inspector.query_one("FindBar").display


def bar_of(app: InspectorApp) -> str:
    return str(app.inspector.query_one("FindBar Label").render())


async def test_click_opens_tabs_and_folds_and_wheel_scrolls(recorded: RecordedRuns):
    async with looking(recorded, (66, 14)) as (app, pilot):
        await app.look(pilot, recorded.rehearsal, 1)
        row = next(index for index, text in enumerate(app.rows()) if "▾" in text)
        await pilot.click("RowList", offset=(1, row))
        assert "▸" in app.rows()[row]
        await pilot.click("RowList", offset=(1, row))
        assert "▾" in app.rows()[row]

        top = app.rows()[0]
        await pilot._post_mouse_events([MouseScrollDown], "RowList", offset=(2, 2))
        assert app.rows()[0] != top

        await pilot.click("TabStrip", offset=(8, 0))
        assert app.inspector.tab == "state"


# Appearance


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (80, "Event │ State │ Transcript │ Context │ Calls │ Receipts │ Output"),
        (60, "Event State Transcript Context Calls Receipts Output"),
        (42, "Event State Text Ctx Calls Rcpt Out"),
        (24, "Event 2 3 4 5 6 7"),
    ],
)
async def test_tab_names_fit_the_width(width: int, names: str):
    app = InspectorApp()
    async with app.run_test(size=(width, 10)):
        assert str(app.inspector.query_one(TabStrip).render()).rstrip() == names


async def test_entry_is_shown_in_the_border_or_beside_the_tabs():
    app = InspectorApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.look(pilot, "r", 2082)
        assert str(app.inspector.border_title) == "as of #2082"
        app.inspector.styles.border = ("none", "white")
        await pilot.pause()
        app.inspector._update_title()
        await pilot.pause()
        assert str(app.inspector.query_one(TabStrip).render()).endswith("as of #2082")
        await app.look(pilot, "r", None)
        assert "as of" not in str(app.inspector.query_one(TabStrip).render())


async def test_ascii_mode_replaces_every_glyph_of_the_inspector(recorded: RecordedRuns):
    async with looking(recorded) as (app, pilot):
        await app.look(pilot, recorded.prober, None, "calls")
        assert {"✗", "▸", "›"} <= set(app.text())
        assert app.text().translate(ASCII).isascii()


# Hostile text

NASTY = (
    "[/x] [b]bold[/b] [red] [@click=app.quit]x[/] \x1b]0;pwned\x07\x1b[2J\x9b31m \u202eevil\u2066 \ud800half"
    " \r\n\tend [unterminated \x00 $(rm) \\[ {} 日本語"
)


def hostile(tab: str) -> Any:
    entry = Entry("r", 3, 5, NASTY, NASTY, "{}", NASTY, NASTY, 9, 2)
    receipt = Receipt(
        NASTY, NASTY, NASTY, "steer", "dropped", NASTY, 1, 2, None, None, None, None, None, None, None, 3, None, None
    )
    return {
        "event": EventData(
            run_id="r", position=3, entry=entry, data={NASTY: [NASTY, {NASTY: NASTY}]}, began_at=0, now=9
        ),
        "state": StateData(
            run_id="r",
            position=3,
            scopes=[ScopeData(NASTY, [StateKey(NASTY, {NASTY: NASTY}, NASTY, 1)]), ScopeData("off", (), NASTY)],
            changes=[],
        ),
        "transcript": TranscriptData(
            run_id="r",
            position=3,
            session=NASTY,
            lines=[TranscriptRow(1, NASTY, 0, NASTY, NASTY, True, LinePlace(NASTY, NASTY, NASTY))],
            has_earlier=True,
            later=1,
            places=[LinePlace(NASTY), LinePlace()],
        ),
        "context": ContextData(
            run_id="r",
            position=3,
            context={NASTY: NASTY},
            grants=[(NASTY, [Permission(NASTY, True, NASTY, NASTY)])],
            process=RunProcess(NASTY, NASTY, (NASTY,), True, True, 7, NASTY),
            breakpoints=(NASTY,),
        ),
        "receipts": ReceiptsData(
            run_id="r", position=3, steering=SteeringReport("r", False, NASTY, 1, 1, (receipt,)), now=9, ended_at=None
        ),
        "output": OutputData(run_id="r", position=3, lines=[OutputLine(1, 1, NASTY, NASTY)], has_earlier=True),
    }[tab]


async def test_context_tab_shows_the_process():
    app = InspectorApp()
    async with app.run_test(size=(80, 40)) as pilot:
        await app.look(pilot, "r", None, "context")
        process = RunProcess("/venv/bin/python", "3.11.7", ("HOME",), True, True, 7, "0a")
        data = ContextData(run_id="r", context=None, grants=(), process=process, breakpoints=("tool",))
        app.inspector.show("context", data)
        await pilot.pause()
        assert "new, Python 3.11.7" in app.rows()[0]

        await pilot.press("enter")
        assert "hash seed: 7" in app.text()
        assert "breakpoints at the start: tool" in app.text()


@pytest.mark.parametrize("tab", [tab for tab in TABS if tab != "calls"])
async def test_hostile_text_is_shown_as_text(tab: str):
    app = InspectorApp()
    async with app.run_test(size=(60, 40)) as pilot:
        await app.look(pilot, "r", 3, tab)
        app.inspector.show(tab, hostile(tab))
        await pilot.pause()
        await pilot.press("enter", "slash", *"evil", "enter")
        await pilot.pause()
        shown = app.text() + app.all_text()
        assert "[b]bold[/b]" in shown
        assert not any(ord(each) < 0x20 and each != "\n" for each in app.text())
        assert not {"\x9b", "\u202e", "\u2066", "\x7f"} & set(app.text())
        app.text().encode()


async def test_calls_of_a_hostile_runner_are_shown_as_text():
    app = InspectorApp()
    async with app.run_test(size=(60, 40)) as pilot:
        await app.look(pilot, "r", 3, "calls")
        call = Call(1, NASTY, NASTY, 0, 1, NASTY, True, NASTY, 2, NASTY, NASTY, 5, 3)
        app.inspector.show("calls", CallsData(run_id="r", position=3, calls=[call], earlier=3, later=1))
        await pilot.press("j", "j", "enter")
        app.inspector.show_call(CallData(run_id="r", number=1, request={NASTY: NASTY}, reply={"error": NASTY}))
        await pilot.pause()
        assert "[b]bold[/b]" in app.text()
        assert not any(ord(each) < 0x20 and each != "\n" for each in app.text())
