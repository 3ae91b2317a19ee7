"""Add the search index over the transcript, with all existing lines."""

from typing import Final

from alembic import op

from engine.store import search

revision: Final = "0002"
down_revision: Final = "0001"
branch_labels: Final = None
depends_on: Final = None

INDEX: Final = "CREATE VIRTUAL TABLE transcript_search USING fts5(words, tokenize='ascii', prefix='3', columnsize=0)"
WORDS: Final = "CREATE VIRTUAL TABLE transcript_words USING fts5vocab(transcript_search, instance)"
DELETED: Final = """
    CREATE TRIGGER transcript_deleted AFTER DELETE ON transcript
    BEGIN DELETE FROM transcript_search WHERE rowid = old.seq; END
"""


def upgrade() -> None:
    op.execute(INDEX)
    op.execute(WORDS)
    search.index_all(op.get_bind())
    op.execute(DELETED)
