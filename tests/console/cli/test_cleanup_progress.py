"""`doctor` shows how far deleted words are removed from the search index."""

import sqlite3

from tests.support.commands import Trackside


def test_doctor_shows_the_progress_of_the_clean_up(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "hi")
    driver = sqlite3.connect(trackside.database)
    with driver:
        driver.execute("INSERT INTO index_cleanup (index_name, requested) VALUES ('transcript_search', 1)")
    waiting = trackside("doctor").stdout
    with driver:
        driver.execute("UPDATE index_cleanup SET merging = 1, inputs = '[]', pages = 4")
    merged = trackside("doctor").stdout
    with driver:
        driver.execute("DELETE FROM index_cleanup")
    driver.close()

    fix = "The next `trackside` or `trackside run` continues in the background."
    assert f"  ! deleted messages are being removed from the search index: 0% done. {fix}\n" in waiting
    merged_text = "deleted messages are out of the search index, but may still be in unused parts of the files."
    assert f"  ! {merged_text} {fix}\n" in merged
    assert "deleted messages" not in trackside("doctor").stdout


def test_command_leaves_the_rest_to_the_next_process(trackside: Trackside):
    trackside("run", "--runner", "echo", "-m", "xylophone", "--session", "gone")
    driver = sqlite3.connect(trackside.database)
    driver.execute("BEGIN")
    driver.execute("SELECT count(*) FROM runs").fetchone()  # a reader keeps the log from being emptied

    done = trackside("sessions", "delete", "gone", "--yes").stdout

    driver.close()
    assert "They are removed in the background while Trackside runs; `trackside doctor` shows the progress." in done
    trackside("prune", "--older-than", "30d", "--yes")
    assert b"xylophone" not in trackside.database.read_bytes()
