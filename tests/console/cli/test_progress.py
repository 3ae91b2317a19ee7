"""The progress of a long step on a terminal and elsewhere."""

import io

import pytest

from console.cli.progress import Progress
from console.cli.terminal import Output


class Terminal(io.TextIOWrapper):
    """A stream that keeps what is written to it."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    @property
    def written(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_percentage_is_shown_on_a_terminal_and_cleared_at_the_end(is_terminal: bool):
    stream = Terminal(is_terminal=is_terminal)
    with Progress(Output(stream), "Upgrading") as progress:
        for done in (1, 2, 150, 151, 1_000):
            progress.show(done, 1_000)
    shown = "\rUpgrading … 15 %\r               \r" if is_terminal else ""
    assert stream.written.replace("  ", " ").split() == shown.replace("  ", " ").split()
    assert stream.written.endswith("\r") is is_terminal


def test_step_that_is_done_at_once_shows_nothing():
    stream = Terminal(is_terminal=True)
    with Progress(Output(stream), "Upgrading") as progress:
        progress.show(7, 7)
    assert stream.written == ""


def test_lines_that_stay_are_ten_percent_apart():
    stream = Terminal(is_terminal=False)
    with Progress(Output(stream), "Upgrading", is_logged=True) as progress:
        for done in (0, 1, 99, 100, 150, 209, 210, 1_000):
            progress.show(done, 1_000)
    assert stream.written == "".join(f"Upgrading … {percent} %\n" for percent in (0, 10, 20, 100))
