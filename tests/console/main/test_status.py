"""The status of a run, computed from its entries."""

from console.model.run.status import RunStatus
from engine.api import Entry

SECOND = 1_000_000


def entries(*times: int) -> list[Entry]:
    """Make deltas with these times, in microseconds."""
    return [
        Entry("run_1", position, at, "runner", "message.delta", "{}", None, None, None, 1)
        for position, at in enumerate(times, start=1)
    ]


def test_rate_counts_the_entries_of_the_last_second():
    status = RunStatus()
    status.apply(entries(0, SECOND // 2, SECOND, SECOND, SECOND + SECOND // 2))

    assert [status.rate(now) for now in (SECOND + SECOND // 2, 2 * SECOND, 3 * SECOND)] == [3, 1, 0]


def test_rate_does_not_depend_on_how_often_it_is_read():
    read_once, read_often = RunStatus(), RunStatus()
    times = [number * 7_000 for number in range(1_000)]
    read_once.apply(entries(*times))
    for entry in entries(*times):
        read_often.apply([entry])
        read_often.rate(entry.at)

    assert read_once.rate(times[-1]) == read_often.rate(times[-1]) == 142
