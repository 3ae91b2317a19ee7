"""The ribbon: each mark in its place, in any width, for a run of any length."""

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


def ribbon(*entries: Entry) -> Ribbon:
    made = Ribbon()
    made.apply(entries)
    return made


def lines(made: Ribbon, width: int, second: float, height: int = 2) -> list[str]:
    rows = made.rows(width, int(second * SECOND), height)
    return ["".join(piece.text for piece in row) for row in rows]


def steered() -> Ribbon:
    return ribbon(
        entry("run.started", 0),
        entry("steering.queued", 4, item_id="i", text="use metric"),
        entry("steering.pulled", 6, turn=2, items=["i"]),
        entry("steering.injected", 6, turn=2, item_id="i"),
    )


def test_marks_stand_under_their_moment_with_what_was_said() -> None:
    line, remarks = lines(steered(), 158, 12)

    assert line.startswith("T1 ━━━")
    assert line.endswith("▶┄┄┄┄ next pull")
    assert remarks.index("▲ queued “use metric”") == 3 + (line.index("┫") - 3) * 4 // 6
    assert remarks.index("▼ delivered “use metric”") == line.index("T2") + 3


def test_one_row_has_its_marks_in_the_line() -> None:
    (line,) = lines(steered(), 78, 12, height=1)

    turn = line.index("T2")
    assert line.index("▲") < turn < line.index("▼")
    assert line.count("T") == 2
    assert len(line) <= 78


def test_marks_at_one_moment_stand_side_by_side_and_the_last_has_the_words() -> None:
    made = ribbon(
        entry("run.started", 0),
        *(entry("steering.queued", 1, item_id=str(n), text=f"message {n}") for n in range(3)),
    )

    _, remarks = lines(made, 80, 10)

    assert remarks.strip() == "▲▲▲ queued “message 2”"


@pytest.mark.parametrize("width", range(7, 170, 4))
@pytest.mark.parametrize("height", [1, 2])
def test_it_is_never_wider_than_its_room(width: int, height: int) -> None:
    entries = [entry("run.started", 0)]
    for n in range(1, 60):
        entries.append(entry("steering.queued", n, n, item_id=str(n), text="京都は雨です、傘を持って"))
        entries.append(entry("tool.call.started", n + 0.2, n, tool_call_id=str(n)))
    made = ribbon(*entries)

    assert all(cells(line) <= width for line in lines(made, width, 61, height))


def test_a_long_run_shows_its_last_turns_and_that_there_were_others() -> None:
    made = ribbon(*(entry("message.completed", n, n) for n in range(1, 101)))

    line = lines(made, 158, 101)[0]

    assert line.startswith("… T")
    assert "T100 " in line
    assert "T1 " not in line
    first = int(line[3:].split()[0])
    assert [f"T{n} " in line for n in range(first, 101)] == [True] * (101 - first)
    assert made.turn_at(2, 158, 101 * SECOND) == first
    assert made.turn_at(line.index("T100"), 158, 101 * SECOND) == 100


def test_turns_that_were_not_read_are_not_drawn_beside_those_that_were() -> None:
    made = ribbon(entry("run.started", 0), entry("message.completed", 70, 57), entry("message.completed", 71, 58))

    line = lines(made, 158, 72)[0]

    assert line.startswith("… T57 ")
    assert "T1 " not in line


def test_a_held_run_says_so_in_place_of_the_next_pull() -> None:
    made = ribbon(entry("run.started", 0), entry("pause.started", 3, when="steering"))
    assert lines(made, 80, 5)[0].endswith("▶ ‖ paused")

    made.apply([entry("pause.ended", 6)])

    assert lines(made, 80, 7)[0].endswith("next pull")


@pytest.mark.parametrize(("status", "glyph"), [("completed", "✓"), ("failed", "✗"), ("cancelled", "■")])
def test_the_end_of_a_run_is_the_end_of_the_line(status: str, glyph: str) -> None:
    line = lines(ribbon(entry("run.started", 0), entry("run.finished", 3, status=status)), 80, 5)[0]

    assert line.endswith(f"━{glyph}")
    assert len(line) == 80


def test_a_message_turned_into_the_run_is_queued_there() -> None:
    made = ribbon(entry("run.started", 0), entry("steering.turned", 2, item_id="i", mode="steer", text="be brief"))
    assert lines(made, 80, 10)[1].strip() == "▲ queued “be brief”"

    made.apply([entry("steering.turned", 3, item_id="i", mode="after")])

    assert lines(made, 80, 10)[1].strip() == ""


def test_a_message_that_was_withdrawn_leaves_no_mark() -> None:
    made = ribbon(
        entry("run.started", 0),
        entry("steering.queued", 1, item_id="i", text="be brief"),
        entry("steering.queued", 2, item_id="j", text="be loud"),
        entry("steering.withdrawn", 3, item_id="i"),
    )

    assert lines(made, 80, 10)[1].strip() == "▲ queued “be loud”"


def test_a_runner_that_was_lost_ends_with_the_sign_of_it() -> None:
    made = ribbon(entry("run.started", 0), entry("run.finished", 3, status="failed", reason="runner.lost"))

    assert lines(made, 80, 5)[0].endswith("━⚠")


def test_who_cannot_be_steered_waits_for_no_pull() -> None:
    made = steered()
    made.can_steer = False
    line, _ = lines(made, 158, 12)
    assert "pull" not in line
    assert cells(line) == 158, "its turns have the room"
    made.is_paused = True
    assert lines(made, 158, 12)[0].endswith("‖ paused")


@pytest.mark.parametrize("can_steer", [True, False])
async def test_the_ribbon_of_a_run_tells_of_a_pull_where_there_may_be_one(open_engine: Engines, can_steer: bool):
    cue = Cue()

    @declares(capabilities={"steering": can_steer})
    async def works(ctx: Any):
        yield said("At work.")
        await cue.wait()
        yield done()

    app = Trackside(LaunchOptions(), lambda: open_engine(works))
    async with at_the_screen(app, WIDE) as pilot:
        await say(pilot, "go")
        await sees(pilot, "At work.", "T1 ━━━")
        assert ("next pull" in shown(app).splitlines()[1]) == can_steer
