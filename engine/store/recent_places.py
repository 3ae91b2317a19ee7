"""Files and folders from which the user opened runners. They are stored in the table of settings."""

from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, select

from engine.store import kept_settings as kept
from engine.store.tables import settings

MAX_RECENT_PLACES: Final = 10


class RecentPlace(NamedTuple):
    """A path, and when it was last opened, in microseconds."""

    path: str
    at: int


def every(conn: Connection) -> tuple[RecentPlace, ...]:
    """Return the ten last opened places, newest first."""
    return tuple(RecentPlace(path, at) for path, at in conn.execute(_LAST))


def note(conn: Connection, path: str, *, at: int) -> None:
    """Record that a place was opened now, and delete all but the ten newest."""
    kept.put(conn, (kept.OPENED, path), {}, at=at)
    stays = _LAST.with_only_columns(settings.c.path)
    conn.execute(delete(settings).where(settings.c.binding_id == kept.OPENED, settings.c.path.not_in(stays)))


def forget(conn: Connection, path: str) -> None:
    """Delete a place that no longer exists."""
    kept.remove(conn, (kept.OPENED, path))


_LAST: Final = (
    select(settings.c.path, settings.c.updated_at)
    .where(settings.c.binding_id == kept.OPENED)
    .order_by(settings.c.updated_at.desc(), settings.c.path)
    .limit(MAX_RECENT_PLACES)
)
