"""The size of each session and of the database."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from engine.events import Status
from engine.store import artifacts, deletion, runs, sessions, sizes, transcript
from engine.store.artifacts import ArtifactRow
from engine.store.database import Database
from engine.store.parts import RunParts
from engine.store.sizes import DiskUsage, StoredSize
from engine.store.transcript_line import TranscriptLine
from tests.support.old_databases import OLDER_VERSIONS, RUNS, make_database, old_rows
from tests.support.store_samples import entry, numbered_line, run_row, write_entries

BIG, COMMON = b"b" * 1_500, b"c" * 700


def add_run(conn: Connection, run_id: str, session: str | None, journal_bytes: int | None, *content: bytes) -> None:
    """Add an ended run that uses these parts; it is in progress if its journal has no size."""
    if session is not None:
        sessions.ensure(conn, session, at=1)
    runs.create(conn, run_row(run_id, conversation_id=session))
    if journal_bytes is not None:
        runs.finish(conn, run_id, Status.COMPLETED, at=2, journal_bytes=journal_bytes)
    for each in content:
        RunParts(run_id).add_whole(conn, each)


def add_artifact(conn: Connection, artifact_id: str, session: str | None, content: bytes | None) -> None:
    storage = "url" if content is None else "blob"
    given: dict[str, Any] = {"artifact_type": "file", "source": "runner", "created_at": 1, "size_bytes": 99}
    artifacts.register(
        conn, ArtifactRow(artifact_id=artifact_id, storage=storage, conversation_id=session, **given), content
    )


def size_of(conn: Connection, session: str) -> StoredSize:
    return sizes.of_sessions(conn, [session])[session]


def test_journals_of_a_session_are_added_up_without_those_in_progress(conn: Connection):
    add_run(conn, "run_1", "s", 300)
    add_run(conn, "run_2", "s", 50)
    add_run(conn, "run_3", "s", None)
    add_run(conn, "run_4", "other", 7)
    write_entries(conn, entry(1, "run_3", data='"' + "x" * 500 + '"'))

    assert size_of(conn, "s") == StoredSize(journal_bytes=350)
    assert sizes.of_database(conn).journal_bytes == 357


def test_part_that_sessions_share_counts_for_each_and_once_in_total(conn: Connection):
    add_run(conn, "run_1", "a", 0, BIG, COMMON)
    add_run(conn, "run_2", "b", 0, COMMON)
    add_run(conn, "run_3", "c", 0, b"own")

    found = sizes.of_sessions(conn, ["a", "b", "c"])

    assert [(found[each].part_bytes, found[each].shared_bytes) for each in "abc"] == [(2_200, 700), (700, 700), (3, 0)]
    assert [found[each].total_bytes for each in "abc"] == [2_200, 700, 3]
    assert (sizes.of_database(conn).part_bytes, sizes.of_database(conn).shared_bytes) == (2_203, 0)


def test_part_that_only_runs_of_one_session_share_counts_once_and_is_not_marked(conn: Connection):
    add_run(conn, "run_1", "a", 0, COMMON)
    add_run(conn, "run_2", "a", 0, COMMON)

    assert size_of(conn, "a") == StoredSize(part_bytes=700)


def test_part_that_a_run_without_a_session_uses_too_is_marked(conn: Connection):
    add_run(conn, "run_1", "a", 0, COMMON)
    add_run(conn, "run_2", "a", 0, COMMON)
    add_run(conn, "run_3", None, 0, COMMON)
    add_run(conn, "run_4", "a", 0, COMMON)

    assert size_of(conn, "a") == StoredSize(part_bytes=700, shared_bytes=700)


def test_blob_that_sessions_share_counts_for_each_and_once_in_total(conn: Connection):
    for session in ("a", "b"):
        sessions.ensure(conn, session, at=1)
    add_artifact(conn, "a1", "a", BIG)
    add_artifact(conn, "a2", "a", BIG)
    add_artifact(conn, "a3", "a", COMMON)
    add_artifact(conn, "b1", "b", COMMON)
    add_artifact(conn, "b2", "b", None)

    assert size_of(conn, "a") == StoredSize(artifact_bytes=2_200, shared_bytes=700)
    assert size_of(conn, "b") == StoredSize(artifact_bytes=700, shared_bytes=700)
    assert sizes.of_database(conn).artifact_bytes == 2_200


def test_largest_sessions_come_first_without_hidden_ones(conn: Connection):
    add_run(conn, "run_1", "small", 100)
    add_run(conn, "run_2", "parts", 10, BIG)
    add_run(conn, "run_3", "journal", 3_000)
    add_run(conn, "run_4", "hidden", 90_000)
    add_run(conn, "run_5", None, 90_000)
    sessions.ensure(conn, "artifacts", at=1, title="Files")
    add_artifact(conn, "a1", "artifacts", BIG + BIG + COMMON)
    sessions.ensure(conn, "lines", at=1)
    for number in range(3):
        transcript.append(conn, numbered_line("lines", number))
    deletion.hide(conn, "hidden", at=1)

    found = sizes.largest(conn, 4)

    assert [each.session_id for each in found] == ["artifacts", "journal", "parts", "lines"]
    assert [each.title for each in found] == ["Files", None, None, None]
    assert [each.size for each in found] == [size_of(conn, each.session_id) for each in found]


def test_unknown_session_has_no_size(conn: Connection):
    assert sizes.of_sessions(conn, ["nowhere"]) == {"nowhere": StoredSize()}
    assert sizes.of_sessions(conn, []) == {}
    assert sizes.largest(conn, 5) == []


WORDS = ("the", "quick", "fox", "jumps", "over", "seven", "old", "stone", "bridges", "while", "我们今天去京都旅行")


def test_sum_of_the_pieces_is_near_the_pages_that_they_take(database: Database, path: Path):
    with database.writing_connection() as conn:
        if not conn.exec_driver_sql("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'").first():
            pytest.skip("this SQLite has no dbstat")
        conn.exec_driver_sql("BEGIN")
        for number in range(400):
            session, run_id = f"session_{number % 20}", f"run_01m7qr5epjjfmc2rqtqg7{number:04}"
            data = '{"chunk":{"content":"' + "x" * (number % 300) + '"}}'
            write_entries(conn, *(entry(position, run_id, data=data) for position in range(1, 21)))
            add_run(conn, run_id, session, 20 * (len(data) + 128), COMMON * 20, f"{number}".encode() * 3_000)
            add_artifact(conn, f"artifact_{number}", session, f"{number}".encode() * 2_000)
            text = " ".join(WORDS[(number * place) % len(WORDS)] + str(number % 97) for place in range(1, 30))
            line = {"conversation_id": session, "role": "user", "created_at": 1, "content": text}
            transcript.append(
                conn,
                TranscriptLine(**line, transcript_id=f"line_{run_id}", content_json={"role": "user", "content": text}),
            )
        conn.exec_driver_sql("COMMIT")
        taken = dict(conn.exec_driver_sql("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").all())
        total = sizes.of_database(conn)
        each = sizes.of_sessions(conn, [f"session_{number}" for number in range(20)])

    def pages(*beginnings: str) -> int:
        return sum(
            count for name, count in taken.items() if name.removeprefix("sqlite_autoindex_").startswith(beginnings)
        )

    index = pages("transcript_search", "search_word")
    for counted, on_disk in (
        (total.journal_bytes, pages("journal")),
        (total.artifact_bytes, pages("artifact_blobs")),
        (total.part_bytes, pages("parts")),
        (total.transcript_bytes, pages("transcript") - pages("transcript_search")),
        (total.index_bytes, index),
    ):
        assert 0.5 * on_disk <= counted <= 1.5 * on_disk
    assert 0.7 * sum(taken.values()) <= total.total_bytes <= 1.2 * sum(taken.values())
    common = len(COMMON) * 20
    assert {size.shared_bytes for size in each.values()} == {common}
    assert sum(size.total_bytes for size in each.values()) == total.total_bytes + 19 * common


def test_pages_of_deleted_data_are_not_used(database: Database, path: Path):
    with database.writing_connection() as conn:
        sessions.ensure(conn, "s", at=1)
        add_artifact(conn, "a1", "s", b"x" * 4_000_000)
        conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        before = sizes.disk_usage(conn, path)
        artifacts.delete_where(conn, artifacts.artifacts.c.artifact_id == "a1")
        conn.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        after = sizes.disk_usage(conn, path)
        assert after.file_bytes == sum(file.stat().st_size for file in path.parent.glob("facts.db*"))

    assert before.file_bytes >= 4_000_000
    assert after.file_bytes >= 4_000_000
    assert before.used_bytes - after.used_bytes == pytest.approx(4_000_000, rel=0.02)
    assert DiskUsage(10, 20).used_bytes == 0


@pytest.mark.parametrize("revision", [OLDER_VERSIONS[0], OLDER_VERSIONS[-1]])
def test_session_of_an_upgraded_database_has_its_size(path: Path, revision: str):
    make_database(path, revision, old_rows(revision))
    database = Database.open(path, write=True)

    size = database.read_now(lambda conn: size_of(conn, "talk"))
    ended = [database.read_now(lambda conn, n=n: runs.get(conn, f"run_{n}")) for n in range(1, RUNS)]
    database.close()

    assert size.journal_bytes == sum(run.journal_bytes or 0 for run in ended) > 0
    assert size.transcript_bytes > 0
    assert size.index_bytes > 0
