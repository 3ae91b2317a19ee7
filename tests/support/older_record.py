"""Changes the record of a run to that of an older Trackside."""

import sqlite3
from contextlib import closing
from pathlib import Path


def make_record_older(database: Path, run_id: str) -> None:
    """Remove the version of a run's record, which version 1 does not have."""
    with closing(sqlite3.connect(database)) as driver, driver:
        driver.execute(
            "UPDATE journal SET data = json_remove(data, '$.record') WHERE run_id = ? AND position = 1", (run_id,)
        )
