"""Migrations from older schemas. Imported only for an upgrade, because alembic takes 430 ms to import."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from engine.store.migrations.journal_slices import ON_ENTRIES

READ_JOURNAL: Final = ("0004", "0013")
"""The revisions that read the whole journal."""


def upgrade(connection: Connection, on_entries: Callable[[int], None]) -> None:
    """Bring the database up to the newest revision, inside the caller's transaction.

    The revisions in READ_JOURNAL call `on_entries` with the number of journal rows that they have read.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes[ON_ENTRIES] = on_entries
    command.upgrade(config, "head")
