"""Files and folders that a person opened runners from, so that they can be opened again; in the table of settings."""

from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, select

from engine.facts import settings as kept
from engine.facts.tables import settings

MOST: Final = 10


class Opened(NamedTuple):
    """A place, and when it was opened last, in microseconds."""

    path: str
    at: int


def every(conn: Connection) -> tuple[Opened, ...]:
    """The last of them, newest first."""
    return tuple(Opened(path, at) for path, at in conn.execute(_LAST))


def note(conn: Connection, path: str, *, at: int) -> None:
    """It was opened now; the oldest that are too many are forgotten."""
    kept.put(conn, (kept.OPENED, path), {}, at=at)
    stays = _LAST.with_only_columns(settings.c.path)
    conn.execute(delete(settings).where(settings.c.binding_id == kept.OPENED, settings.c.path.not_in(stays)))


def forget(conn: Connection, path: str) -> None:
    """Nothing is there any more."""
    kept.remove(conn, (kept.OPENED, path))


_LAST: Final = (
    select(settings.c.path, settings.c.updated_at)
    .where(settings.c.binding_id == kept.OPENED)
    .order_by(settings.c.updated_at.desc(), settings.c.path)
    .limit(MOST)
)
