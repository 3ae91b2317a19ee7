"""The soak itself: it passes on a sound database and finds what was damaged."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.soak.check import findings, read_logs

ROOT = Path(__file__).resolve().parents[1]


def test_a_short_soak_finds_nothing_wrong_and_then_every_damage(tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "tests.soak",
        "--kills",
        "2",
        "--hosts",
        "2",
        "--seed",
        "3",
        "--keep",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["announced"] > 0

    logs = read_logs(sorted(tmp_path.glob("*.jsonl")))
    run_id, position, _ = next(line["announced"][0] for log in logs for line in log if "announced" in line)
    database = tmp_path / "soak.db"
    for statement, finding in (
        (f"DELETE FROM journal WHERE run_id = '{run_id}' AND position = {position}", f"entry {position} of {run_id}"),
        (f"UPDATE runs SET status = 'running' WHERE run_id = '{run_id}'", f"run {run_id} is still running"),
        (f"DELETE FROM journal WHERE run_id = '{run_id}' AND type = 'run.finished'", f"run {run_id} has 0 ends"),
    ):
        with sqlite3.connect(database) as connection:
            connection.execute(statement)
        assert any(found.startswith(finding) for found in findings(database, logs)), finding
        connection.close()
