"""Replace the search index by one that finds parts of words and ignores accents.

The new index is empty, and `search_backlog` says so. `search_index.index_backlog` adds the lines after the last
migration: that takes a minute for a million lines, and shows its progress.
"""

from typing import Final

from alembic import op

revision: Final = "0010"
down_revision: Final = "0009"
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    "DROP TRIGGER transcript_deleted",
    "DROP TABLE transcript_words",
    "DROP TABLE transcript_search",
    "CREATE VIRTUAL TABLE transcript_search USING fts5(words, tokenize='ascii', content='', columnsize=0)",
    "INSERT INTO transcript_search (transcript_search, rank) VALUES ('automerge', 8)",
    "CREATE TRIGGER transcript_deleted AFTER DELETE ON transcript BEGIN "
    "INSERT INTO transcript_search (transcript_search, rowid, words) SELECT 'delete', old.seq, terms FROM "
    "(SELECT line_terms(old.conversation_id, old.thread_id, old.bot_id, old.workspace_id, old.role, old.item_type, "
    "old.content) AS terms) WHERE terms IS NOT NULL; "
    "UPDATE search_words SET is_unchecked = 1 "
    "WHERE is_unchecked = 0 AND word IN (SELECT value FROM json_each(line_words(old.content))); END",
    """
    CREATE TABLE search_words (
        word_id INTEGER NOT NULL, word TEXT NOT NULL, is_unchecked INTEGER NOT NULL,
        PRIMARY KEY (word_id), CONSTRAINT search_words_word UNIQUE (word)
    )
    """,
    "CREATE INDEX search_words_unchecked ON search_words (is_unchecked) WHERE is_unchecked = 1",
    "CREATE VIRTUAL TABLE search_word_parts USING fts5(word, tokenize='trigram', content='search_words', "
    "content_rowid='word_id', detail='none', columnsize=0)",
    "CREATE TRIGGER search_word_added AFTER INSERT ON search_words BEGIN "
    "INSERT INTO search_word_parts (rowid, word) VALUES (new.word_id, new.word); END",
    "CREATE TRIGGER search_word_deleted AFTER DELETE ON search_words BEGIN "
    "INSERT INTO search_word_parts (search_word_parts, rowid, word) VALUES ('delete', old.word_id, old.word); END",
    "CREATE TABLE search_backlog (seq INTEGER NOT NULL, PRIMARY KEY (seq))",
    "INSERT INTO search_backlog (seq) SELECT 0 WHERE EXISTS (SELECT 1 FROM transcript)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
