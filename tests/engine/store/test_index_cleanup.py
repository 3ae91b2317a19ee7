"""Deleted words are merged out of the search index, in slices that any process can continue."""

import random

from sqlalchemy import Connection

from engine.store import index_cleanup, search_index, transcript
from engine.store.database import Database
from engine.store.index_cleanup import IndexCleanup
from engine.store.row_mapping import ConversationKey, driver_of
from engine.store.tables import SEARCH_INDEXES
from tests.support.store_samples import find_texts, is_index_consistent, text_line

MAX_SLICES = 5_000


class Lines:
    """Adds and deletes lines of the transcript, each in a transaction, so that the index gets many segments."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.count = 0
        self.random = random.Random(5)

    def add(self, word: str, count: int) -> list[int]:
        self.conn.exec_driver_sql("BEGIN")
        seqs = [self._add_line(word) for _ in range(count)]
        self.conn.exec_driver_sql("COMMIT")
        return seqs

    def _add_line(self, word: str) -> int:
        self.count += 1
        words = (f"{word}{self.random.randrange(300)}" for _ in range(self.random.randrange(3, 60)))
        return transcript.append(self.conn, text_line(self.count, " ".join(words)))

    def delete(self, seqs: list[int]) -> None:
        self.conn.exec_driver_sql("BEGIN")
        for seq in seqs:
            self.conn.exec_driver_sql("DELETE FROM transcript WHERE seq = ?", (seq,))
        index_cleanup.request(self.conn, has_words=True)
        self.conn.exec_driver_sql("COMMIT")


def is_merged(conn: Connection) -> bool:
    return all(cleanup.is_merged for cleanup in index_cleanup.pending(conn))


def of_lines(conn: Connection) -> IndexCleanup:
    """The clean-up of the index of the lines."""
    return next(cleanup for cleanup in index_cleanup.pending(conn) if cleanup.index_name == "transcript_search")


def clean_slice(conn: Connection, max_pages: int) -> None:
    """Do what a slice of the clean-up does."""
    if not search_index.remove_unused_words(conn, 50):
        index_cleanup.merge_slice(conn, max_pages)


def words_in_index(conn: Connection, word: str) -> int:
    """How many words and pages of the indexes contain a word, or its first three letters."""
    tables = [("search_words", "word"), *((f"{name}_data", "block") for name in SEARCH_INDEXES)]
    return sum(
        conn.exec_driver_sql(
            f"SELECT count(*) FROM {table} WHERE instr(CAST({column} AS BLOB), CAST(? AS BLOB))", (word[:3],)
        ).scalar_one()
        for table, column in tables
    )


def test_deleted_words_are_merged_out_of_the_index_while_lines_are_added(database: Database):
    with database.writing_connection() as conn:
        lines = Lines(conn)
        for _ in range(20):
            lines.add("plain", 10)
        for _ in range(12):
            lines.delete(lines.add("zebra", lines.random.randrange(1, 20)))
            assert words_in_index(conn, "zebra") > 0
            shares, slices = [0.0], 0
            while not is_merged(conn):
                clean_slice(conn, lines.random.choice((1, 2, 8)))
                shares += [cleanup.share_done for cleanup in index_cleanup.pending(conn)]
                if lines.random.random() < 0.3:
                    lines.add("plain", 2)
                slices += 1
                assert slices < MAX_SLICES
            assert words_in_index(conn, "zebra") == 0
            assert shares[-1] == 1.0
            index_cleanup.finish(conn, index_cleanup.pending(conn))
            assert index_cleanup.pending(conn) == []
        assert is_index_consistent(conn)
        assert find_texts(conn, "zebra1") == []
        assert len(transcript.page(conn, ConversationKey("talk"), limit=1_000)) >= 200


def test_words_that_are_deleted_during_a_merge_are_merged_out_too(database: Database):
    with database.writing_connection() as conn:
        lines = Lines(conn)
        for _ in range(30):
            lines.add("plain", 20)
        merged_already = lines.add("quokka", 5)
        lines.delete(lines.add("zebra", 5))
        while of_lines(conn).inputs is None:
            clean_slice(conn, 1)
        lines.delete(merged_already)
        assert of_lines(conn).pages_left > 0
        while not is_merged(conn):
            clean_slice(conn, 4)
        assert words_in_index(conn, "quokka") == 0


def test_merge_is_continued_by_another_process(database: Database):
    with database.writing_connection() as conn:
        lines = Lines(conn)
        for _ in range(30):
            lines.add("plain", 20)
        lines.delete(lines.add("zebra", 5))
        while of_lines(conn).inputs is None:
            clean_slice(conn, 1)
        before = of_lines(conn)
        assert before.inputs
        assert 0 < before.pages_left <= before.pages
    with database.writing_connection() as other:
        for _ in range(MAX_SLICES):
            if is_merged(other):
                break
            assert of_lines(other).inputs == before.inputs, "it does not begin again"
            clean_slice(other, 4)
        assert words_in_index(other, "zebra") == 0


def test_empty_levels_of_the_index_are_removed(database: Database):
    # Every merge adds two levels. SQLite 3.40 takes an index with more than 2,000 of them for damaged.
    with database.writing_connection() as conn:
        lines = Lines(conn)
        for _ in range(10):
            for _ in range(6):
                lines.add("plain", 1)
            lines.delete(lines.add("zebra", 1))
            while not is_merged(conn):
                clean_slice(conn, 8)
        assert len(index_cleanup._structure(driver_of(conn), "transcript_search")) < 5
        lines.add("plain", 1)
        assert is_index_consistent(conn)


def test_clean_up_is_not_finished_if_more_was_deleted_since(database: Database):
    with database.writing_connection() as conn:
        lines = Lines(conn)
        lines.delete(lines.add("zebra", 1))
        while not is_merged(conn):
            clean_slice(conn, 8)
        merged = index_cleanup.pending(conn)
        lines.delete(lines.add("zebra", 1))
        index_cleanup.finish(conn, merged)
        again = index_cleanup.pending(conn)
        assert [(cleanup.is_merged, cleanup.share_done) for cleanup in again] == [(False, 0.0)] * 2


def test_deletion_without_words_needs_no_merge(database: Database):
    with database.writing_connection() as conn:
        index_cleanup.request(conn, has_words=False)
        assert is_merged(conn)
        index_cleanup.request(conn, has_words=True)
        assert not is_merged(conn)
        index_cleanup.request(conn, has_words=False)
        assert not is_merged(conn)
