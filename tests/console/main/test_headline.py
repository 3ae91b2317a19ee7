"""What the header says in the room that it has."""

import pytest

from console.model.run.headline import Headline
from console.model.run.status import RunStatus
from console.model.text.columns import cells
from console.model.text.units import session_name

SECOND = 1_000_000


def status(state: str = "running", **fields: object) -> RunStatus:
    made = RunStatus()
    made.state, made.began_at, made.entries, made.turn, made.can_steer = state, 0, 2_100, 3, True
    made.last_pull_at = 11 * SECOND
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def headline(run: RunStatus | None = None, **fields: object) -> Headline:
    given = {
        "runner": "local-agent",
        "session": "Plan two days in Kyoto",
        "queued": 1,
        "as_of": None,
        "now": 14 * SECOND,
    }
    return Headline(status=run, **(given | fields))  # type: ignore[arg-type]


def line(said: Headline, width: int) -> str:
    left, right = ("".join(piece.text for piece in half) for half in said.fit(width))
    return left + " " * max(1, width - cells(left) - cells(right)) + right


def test_a_wide_header_says_everything_in_full() -> None:
    said = line(headline(status()), 158)

    assert said.split("   ", 6)[:6] == [
        "trackside", "local-agent", "Plan two days in Kyoto", "● running 14.0 s", "turn 3", "2.1k events",
    ]  # fmt: skip
    assert said.endswith("▲1 queued   pull 3.0 s ago   ◉ live")


def test_a_run_that_waits_for_a_process_says_how_many_come_before_it() -> None:
    waiting = headline(status(), starts_before=12)

    assert "   ◌ waiting for a free process (12 before it)   " in line(waiting, 180)
    assert "waiting for a process (12)" in line(waiting, 78)
    for run in (status(stop_requested_at=0), status("completed", ended_at=14 * SECOND)):
        assert "waiting" not in line(headline(run, starts_before=12), 180)


def test_one_event_is_one() -> None:
    assert "turn 3   1 event   " in line(headline(status(entries=1)), 158)


def test_a_narrow_header_says_what_matters_and_never_an_id() -> None:
    said = line(headline(status(), session=session_name("ses_01m7j2nvag3mkqptzrkr1jt4yg", None, is_new=True)), 78)

    assert "ses_" not in said
    for words in ("local-agent", "● running 14.0 s", "T3", "▲1 queued", "pull 3.0s"):
        assert words in said


@pytest.mark.parametrize("width", range(8, 200, 3))
def test_it_fits_whatever_it_has_to_say(width: int) -> None:
    failed = status("failed", ended_at=SECOND, error="京都は雨です " * 40)
    for said in (headline(failed, session="京都の二日間" * 9), headline(status(), as_of=2_082), headline(None)):
        assert cells(line(said, width)) <= max(width, 8)


def test_where_nothing_else_has_room_it_still_says_where_the_run_stands() -> None:
    said = line(headline(status("failed", ended_at=SECOND, error="the tool timed out after thirty seconds")), 24)

    assert said.startswith("✗ failed: the tool")


def test_a_run_of_another_process_says_so() -> None:
    assert "in another process" in line(headline(status(), is_elsewhere=True), 160)


@pytest.mark.parametrize(
    ("session_id", "title", "name"),
    [
        ("ses_1", "Plan a day", "Plan a day"),
        ("ses_1", None, "new session"),
        ("demo-7", None, "demo-7"),
    ],
)
def test_a_session_is_known_by_its_title_or_the_name_someone_gave_it(session_id: str, title: str | None, name: str):
    assert session_name(session_id, title, is_new=True) == name
