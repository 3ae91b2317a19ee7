"""Where a run stands, by its entries."""

from console.model.run.status import RunStatus
from engine.api import Entry

SECOND = 1_000_000


def entries(*stamps: int) -> list[Entry]:
    """Deltas of these times."""
    return [
        Entry("run_1", position, at, "runner", "message.delta", "{}", None, None, None, 1)
        for position, at in enumerate(stamps, start=1)
    ]


def test_the_rate_counts_the_entries_of_the_last_second():
    status = RunStatus()
    status.apply(entries(0, SECOND // 2, SECOND, SECOND, SECOND + SECOND // 2))

    assert [status.rate(now) for now in (SECOND + SECOND // 2, 2 * SECOND, 3 * SECOND)] == [3, 1, 0]


def test_the_rate_does_not_depend_on_how_often_someone_looks():
    seldom, often = RunStatus(), RunStatus()
    stamps = [number * 7_000 for number in range(1_000)]
    seldom.apply(entries(*stamps))
    for entry in entries(*stamps):
        often.apply([entry])
        often.rate(entry.at)

    assert seldom.rate(stamps[-1]) == often.rate(stamps[-1]) == 142
