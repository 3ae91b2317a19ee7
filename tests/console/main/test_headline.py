"""The text of the header at different widths."""

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
    defaults = {
        "runner": "local-agent",
        "session": "Plan two days in Kyoto",
        "queued": 1,
        "as_of": None,
        "now": 14 * SECOND,
    }
    return Headline(status=run, **(defaults | fields))  # type: ignore[arg-type]


def line(header: Headline, width: int) -> str:
    left, right = ("".join(piece.text for piece in half) for half in header.fit(width))
    return left + " " * max(1, width - cells(left) - cells(right)) + right


def test_wide_header_shows_every_part_in_full() -> None:
    text = line(headline(status()), 158)

    assert text.split("   ", 6)[:6] == [
        "trackside", "local-agent", "Plan two days in Kyoto", "● running 14.0 s", "turn 3", "2.1k entries",
    ]  # fmt: skip
    assert text.endswith("▲1 queued   pull 3.0 s ago   ◉ live")


def test_waiting_run_shows_how_many_starts_come_before_it() -> None:
    waiting = headline(status(), starts_before=12)

    assert "   ◌ waiting for a free process (12 before it)   " in line(waiting, 180)
    assert "waiting for a process (12)" in line(waiting, 78)
    for run in (status(stop_requested_at=0), status("completed", ended_at=14 * SECOND)):
        assert "waiting" not in line(headline(run, starts_before=12), 180)


def test_count_of_one_is_singular() -> None:
    assert "turn 3   1 entry   " in line(headline(status(entries=1)), 158)


def test_narrow_header_shows_the_essential_parts_and_no_session_id() -> None:
    text = line(headline(status(), session=session_name("ses_01m7j2nvag3mkqptzrkr1jt4yg", None, is_new=True)), 78)

    assert "ses_" not in text
    for words in ("local-agent", "● running 14.0 s", "T3", "▲1 queued", "pull 3.0s"):
        assert words in text


@pytest.mark.parametrize("width", range(8, 200, 3))
def test_header_is_never_wider_than_its_room(width: int) -> None:
    failed = status("failed", ended_at=SECOND, error="京都は雨です " * 40)
    for header in (headline(failed, session="京都の二日間" * 9), headline(status(), as_of=2_082), headline(None)):
        assert cells(line(header, width)) <= max(width, 8)


def test_very_narrow_header_still_shows_the_status_of_the_run() -> None:
    text = line(headline(status("failed", ended_at=SECOND, error="the tool timed out after thirty seconds")), 24)

    assert text.startswith("✗ failed: the tool")


def test_header_marks_a_run_of_another_process() -> None:
    assert "in another process" in line(headline(status(), is_elsewhere=True), 160)


def test_header_marks_an_external_run() -> None:
    text = line(headline(status(is_external=True, can_steer=False), is_elsewhere=True), 160)

    assert "executed elsewhere" in text
    assert "cannot be steered" in text
    assert "in another process" not in text


@pytest.mark.parametrize(
    ("session_id", "title", "name"),
    [
        ("ses_1", "Plan a day", "Plan a day"),
        ("ses_1", None, "new session"),
        ("demo-7", None, "demo-7"),
    ],
)
def test_session_name_is_its_title_or_an_id_from_the_user(session_id: str, title: str | None, name: str):
    assert session_name(session_id, title, is_new=True) == name


def test_header_shows_the_progress_of_an_upgrade():
    assert "loading" in line(headline(is_loading=True), 158)
    assert "upgrading the database, 40 %" in line(headline(is_loading=True, upgrade_percent=40), 158)
