"""Large parts of entries are stored once, by content."""

from contextlib import suppress
from pathlib import Path

import orjson
import pytest
from sqlalchemy import Connection

from engine.store import parts
from engine.store.database import Database
from engine.store.errors import NotFound
from engine.store.parts import MIN_SPLIT_BYTES, PartDamaged, PartKind, RunParts, digest_of, split


@pytest.fixture
def conn(tmp_path: Path):
    database = Database.open(tmp_path / "parts.db", write=True)
    with database.writing_connection() as connection:
        yield connection
    database.close()


def conversation(first: int, last: int) -> bytes:
    """The arguments of a model call with these messages, of about 200 bytes each."""
    messages = [{"role": "user", "content": f"message {number} " + "x" * 170} for number in range(first, last)]
    return orjson.dumps({"run_id": "run_1", "messages": messages})


def stored_bytes(conn: Connection) -> int:
    return conn.exec_driver_sql("SELECT coalesce(sum(length(content)), 0) FROM parts").scalar_one()


@pytest.mark.parametrize(
    "content",
    [b"", b"short", b"x" * 500_000, conversation(0, 500), b'{"a":"},{"}' * 3_000, bytes(range(256)) * 300],
    ids=["empty", "short", "one long text", "conversation", "brackets in text", "bytes"],
)
def test_content_comes_back_as_it_was_stored(conn: Connection, content: bytes) -> None:
    assert b"".join(split(content)) == content
    digest = RunParts("run_1").add(conn, content)
    assert parts.read(conn, digest) == content


@pytest.mark.parametrize(
    "other",
    [conversation(0, 501), conversation(20, 500), conversation(0, 480)],
    ids=["one message more", "without its beginning", "without its end"],
)
def test_content_that_was_stored_before_is_shared(conn: Connection, other: bytes) -> None:
    mine = RunParts("run_1")
    mine.add(conn, conversation(0, 500))
    before = stored_bytes(conn)
    mine.add(conn, other)
    assert stored_bytes(conn) - before < before * 0.2


def test_sixteen_equal_texts_take_the_bytes_of_one(conn: Connection) -> None:
    mine = RunParts("run_1")
    mine.add(conn, conversation(0, 500))
    before = stored_bytes(conn)
    for _ in range(15):
        mine.add(conn, conversation(0, 500))
    assert stored_bytes(conn) == before == mine.stored_bytes


def test_every_run_that_uses_a_part_keeps_it(conn: Connection) -> None:
    content = b"x" * MIN_SPLIT_BYTES
    digest = RunParts("run_1").add(conn, content)
    assert RunParts("run_2").add(conn, content) == digest
    assert parts.is_used_by(conn, "run_2", digest)
    assert parts.release(conn, "run_1", 100).parts == 0
    assert parts.read(conn, digest) == content
    assert parts.release(conn, "run_2", 100).parts == 1
    with pytest.raises(NotFound):
        parts.read(conn, digest)


def test_parts_of_a_run_are_released_in_slices(conn: Connection) -> None:
    mine = RunParts("run_1")
    for number in range(20):
        mine.add(conn, b"%d" % number + b"x" * 50_000)

    slices = [parts.release(conn, "run_1", 100)]
    while slices[-1].cost >= 100:
        slices.append(parts.release(conn, "run_1", 100))

    assert len(slices) > 3
    assert sum(each.parts for each in slices) == 20
    assert stored_bytes(conn) == 0
    assert conn.exec_driver_sql("SELECT count(*) FROM part_uses").scalar_one() == 0


def test_part_is_stored_again_after_an_error_has_undone_it(conn: Connection) -> None:
    mine = RunParts("run_1")
    conn.exec_driver_sql("SAVEPOINT attempt")
    with suppress(ValueError), mine.undone_on_error():
        mine.add(conn, b"content")
        raise ValueError
    conn.exec_driver_sql("ROLLBACK TO attempt")

    assert parts.read(conn, mine.add(conn, b"content")) == b"content"


def test_damaged_content_is_not_returned(conn: Connection) -> None:
    digest = RunParts("run_1").add(conn, conversation(0, 500))
    piece = conn.exec_driver_sql("SELECT digest FROM parts WHERE kind = 'data' LIMIT 1").scalar_one()
    conn.exec_driver_sql("UPDATE parts SET content = x'00' WHERE digest = ?", (piece,))
    with pytest.raises(PartDamaged, match="damaged"):
        parts.read(conn, digest)


def test_content_of_another_type_is_damaged(conn: Connection) -> None:
    digest = RunParts("run_1").add(conn, b"short")
    conn.exec_driver_sql("UPDATE parts SET content = 'short'")
    with pytest.raises(PartDamaged, match="damaged"):
        parts.read(conn, digest)


def test_list_of_lists_is_damaged(conn: Connection) -> None:
    """Each list names the one before twice, so the whole content would have 2 ** 2,000 bytes."""
    digest = RunParts("run_1").add(conn, b"x")
    for _ in range(2_000):
        content = bytes.fromhex(digest) * 2
        digest = digest_of(PartKind.LIST, content)
        conn.exec_driver_sql("INSERT INTO parts VALUES (?, 'list', ?)", (digest, content))
    with pytest.raises(PartDamaged, match="damaged"):
        parts.read(conn, digest)
