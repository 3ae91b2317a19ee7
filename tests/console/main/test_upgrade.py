"""A long upgrade of the database: its progress on the screen and on the command line."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from console.data.active_session import ActiveSession
from console.launch import LaunchOptions
from engine.store import search, search_index
from engine.store.database import Database
from tests.support.commands import Trackside
from tests.support.limits import MAX_WAIT_SECONDS

ADD = """
INSERT INTO transcript (transcript_id, conversation_id, role, item_type, content, artifact_refs, created_at, metadata)
WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ?)
SELECT 'line_' || n, 'talk', 'user', 'message', 'midnight', '[]', n, '{}' FROM count
"""


def make_upgraded(path: Path, lines: int) -> None:
    """A database as a migration leaves it: with lines that are not in the search index."""
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        conn.exec_driver_sql(ADD, (lines,))
        conn.exec_driver_sql("INSERT INTO search_backlog VALUES (0)")
    database.close()


async def test_session_reports_the_progress_of_an_upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "facts.db"
    make_upgraded(path, 8)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search_index, "BACKLOG_LINES", 2)
    session = ActiveSession(LaunchOptions(db=path))
    seen: list[int | None] = []

    await session.open(on_upgrade=lambda: seen.append(session.upgrade_percent))
    await session.close()

    assert seen == [25, 50, 75, 100]
    assert session.upgrade_percent is None


def test_run_shows_the_progress_of_an_upgrade_on_a_terminal(trackside: Trackside):
    make_upgraded(trackside.database, search_index.BACKLOG_LINES * 2)
    ours, theirs = pty.openpty()

    done = subprocess.run(
        [sys.executable, "-m", "console", "run", "--db", str(trackside.database), "--runner", "echo", "-m", "hi"],
        cwd=trackside.folder, env=trackside.environment, stdout=subprocess.PIPE, stderr=theirs,
        timeout=MAX_WAIT_SECONDS, check=False,
    )  # fmt: skip

    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0
    assert shown.startswith("\rUpgrading the database … 50 %\r")
    assert shown.strip().endswith("50 %")
    assert b"hi" in done.stdout
    assert json.loads(trackside("search", "idnigh", "--json").stdout)["total_count"] == search.MAX_HITS
