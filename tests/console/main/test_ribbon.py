"""The ribbon: turns and marks at any width, for a run of any length."""

import json
from typing import Any

import pytest

from console.app import Trackside
from console.launch import LaunchOptions
from console.model.run.ribbon import Ribbon
from console.model.text.columns import cells
from engine.events import Entry
from tests.support.console.pilot import WIDE, Cue, at_the_screen, say, sees, shown
from tests.support.engines import Engines, declares, done, said

SECOND = 1_000_000


def entry(kind: str, second: float, turn: int = 1, **data: Any) -> Entry:
    return Entry("run", int(second * 10) + 1, int(second * SECOND), "host", kind, json.dumps(data), turn=turn)


def make_ribbon(*entries: Entry) -> Ribbon:
    ribbon = Ribbon()
    ribbon.apply(entries)
    return ribbon


def lines(ribbon: Ribbon, width: int, second: float, height: int = 2) -> list[str]:
    rows = ribbon.rows(width, int(second * SECOND), height)
    return ["".join(piece.text for piece in row) for row in rows]


def steered_run() -> Ribbon:
    return make_ribbon(
        entry("run.started", 0),
        entry("steering.queued", 4, item_id="i", text="use metric"),
        entry("steering.pulled", 6, turn=2, items=["i"]),
        entry("steering.injected", 6, turn=2, item_id="i"),
    )


def test_marks_are_below_their_time_with_their_text() -> None:
    line, labels = lines(steered_run(), 158, 12)

    assert line.startswith("T1 ━━━")
    assert line.endswith("▶┄┄┄┄ next pull")
    assert labels.index("▲ queued “use metric”") == 3 + (line.index("┫") - 3) * 4 // 6
    assert labels.index("▼ delivered “use metric”") == line.index("T2") + 3


def test_single_row_has_the_marks_in_the_line() -> None:
    (line,) = lines(steered_run(), 78, 12, height=1)

    turn = line.index("T2")
    assert line.index("▲") < turn < line.index("▼")
    assert line.count("T") == 2
    assert len(line) <= 78


def test_marks_of_the_same_time_are_adjacent_and_the_last_has_the_text() -> None:
    ribbon = make_ribbon(
        entry("run.started", 0),
        *(entry("steering.queued", 1, item_id=str(n), text=f"message {n}") for n in range(3)),
    )

    _, labels = lines(ribbon, 80, 10)

    assert labels.strip() == "▲▲▲ queued “message 2”"


@pytest.mark.parametrize("width", range(7, 170, 4))
@pytest.mark.parametrize("height", [1, 2])
def test_ribbon_is_never_wider_than_its_room(width: int, height: int) -> None:
    entries = [entry("run.started", 0)]
    for n in range(1, 60):
        entries.append(entry("steering.queued", n, n, item_id=str(n), text="京都は雨です、傘を持って"))
        entries.append(entry("tool.call.started", n + 0.2, n, tool_call_id=str(n)))
    ribbon = make_ribbon(*entries)

    assert all(cells(line) <= width for line in lines(ribbon, width, 61, height))


def test_long_run_shows_an_ellipsis_and_its_last_turns() -> None:
    ribbon = make_ribbon(*(entry("message.completed", n, n) for n in range(1, 101)))

    line = lines(ribbon, 158, 101)[0]

    assert line.startswith("… T")
    assert "T100 " in line
    assert "T1 " not in line
    first = int(line[3:].split()[0])
    assert [f"T{n} " in line for n in range(first, 101)] == [True] * (101 - first)
    assert ribbon.turn_at(2, 158, 101 * SECOND) == first
    assert ribbon.turn_at(line.index("T100"), 158, 101 * SECOND) == 100


def test_turns_before_a_gap_in_the_entries_are_not_drawn() -> None:
    ribbon = make_ribbon(
        entry("run.started", 0), entry("message.completed", 70, 57), entry("message.completed", 71, 58)
    )

    line = lines(ribbon, 158, 72)[0]

    assert line.startswith("… T57 ")
    assert "T1 " not in line


def test_paused_run_shows_paused_instead_of_the_next_pull() -> None:
    ribbon = make_ribbon(entry("run.started", 0), entry("pause.started", 3, when="steering"))
    assert lines(ribbon, 80, 5)[0].endswith("▶ ‖ paused")

    ribbon.apply([entry("pause.ended", 6)])

    assert lines(ribbon, 80, 7)[0].endswith("next pull")


@pytest.mark.parametrize(("status", "glyph"), [("completed", "✓"), ("failed", "✗"), ("cancelled", "■")])
def test_line_of_an_ended_run_ends_with_the_glyph_of_its_status(status: str, glyph: str) -> None:
    line = lines(make_ribbon(entry("run.started", 0), entry("run.finished", 3, status=status)), 80, 5)[0]

    assert line.endswith(f"━{glyph}")
    assert len(line) == 80


def test_message_switched_to_steer_is_marked_as_queued() -> None:
    ribbon = make_ribbon(
        entry("run.started", 0), entry("steering.turned", 2, item_id="i", mode="steer", text="be brief")
    )
    assert lines(ribbon, 80, 10)[1].strip() == "▲ queued “be brief”"

    ribbon.apply([entry("steering.turned", 3, item_id="i", mode="after")])

    assert lines(ribbon, 80, 10)[1].strip() == ""


def test_withdrawn_message_has_no_mark() -> None:
    ribbon = make_ribbon(
        entry("run.started", 0),
        entry("steering.queued", 1, item_id="i", text="be brief"),
        entry("steering.queued", 2, item_id="j", text="be loud"),
        entry("steering.withdrawn", 3, item_id="i"),
    )

    assert lines(ribbon, 80, 10)[1].strip() == "▲ queued “be loud”"


def test_line_of_a_lost_runner_ends_with_a_warning_glyph() -> None:
    ribbon = make_ribbon(entry("run.started", 0), entry("run.finished", 3, status="failed", reason="runner.lost"))

    assert lines(ribbon, 80, 5)[0].endswith("━⚠")


def test_ribbon_of_a_runner_without_steering_shows_no_pull() -> None:
    ribbon = steered_run()
    ribbon.can_steer = False
    line, _ = lines(ribbon, 158, 12)
    assert "pull" not in line
    assert cells(line) == 158, "the turns use the whole width"
    ribbon.is_paused = True
    assert lines(ribbon, 158, 12)[0].endswith("‖ paused")


@pytest.mark.parametrize("can_steer", [True, False])
async def test_next_pull_is_shown_only_if_the_runner_can_be_steered(open_engine: Engines, can_steer: bool):
    cue = Cue()

    @declares(capabilities={"steering": can_steer})
    async def waits_for_cue(ctx: Any):
        yield said("At work.")
        await cue.wait()
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(waits_for_cue))
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "go")
        await sees(pilot, "At work.", "T1 ━━━")
        assert ("next pull" in shown(app).splitlines()[1]) == can_steer
