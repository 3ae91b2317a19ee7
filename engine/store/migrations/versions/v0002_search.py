"""Add the search index over the transcript. It stays empty: revision 0010 makes another one."""

from typing import Final

from alembic import op

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
    op.execute(DELETED)
