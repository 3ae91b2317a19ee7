"""What the record of an older run lacks."""

from typing import Any

import pytest

from engine.events import RECORD_VERSION, RunStarted, Usage
from engine.journal.missing_facts import missing_facts
from tests.support.engines import Engines, done, run_event
from tests.support.engines import message as sent
from tests.support.older_record import make_record_older

SUM = "Usage is one sum of what the host saw and what the runner claimed."
SEEDS = "The hash seed and the random seed are unknown."
RESULT_USAGE = "Results were recorded without the usage that the runner sent with them."


@pytest.mark.parametrize(
    ("started", "usage", "has", "has_not"),
    [
        ({}, Usage(combined={"tokens": 1}), {SUM, SEEDS, RESULT_USAGE}, set[str]()),
        ({"record": 1}, Usage(), {SEEDS, RESULT_USAGE}, {SUM}),
        ({"external": True}, Usage(combined={"tokens": 1}), {RESULT_USAGE}, {SEEDS, SUM}),
    ],
)
def test_older_record_lacks_what_the_run_could_have_had(
    started: dict[str, Any], usage: Usage, has: set[str], has_not: set[str]
):
    missing = missing_facts(RunStarted(started), usage)

    assert has <= set(missing)
    assert not has_not & set(missing)


def test_record_of_this_version_lacks_nothing():
    assert missing_facts(RunStarted({"record": RECORD_VERSION}), Usage()) == ()


async def test_version_of_the_record_is_read_from_the_first_entry_of_a_run(open_engine: Engines):
    async def greets(ctx: Any):
        yield done("hello")

    engine = await open_engine(greets)
    run = (await run_event(engine)).row
    outside = await engine.runs.finalize((await engine.runs.create(sent())).run_id)

    assert await engine.runs.missing_facts(run) == await engine.runs.missing_facts(outside) == ()
    for each in (run, outside):
        make_record_older(engine.database_path, each.run_id)
    assert SEEDS in await engine.runs.missing_facts(run)
    assert SEEDS not in await engine.runs.missing_facts(outside)
    assert RESULT_USAGE in await engine.runs.missing_facts(outside)
