"""Sessions as a person looks for one: the last active first, with where each stands and how large it is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from sqlalchemy import Connection

from engine.facts import words
from engine.facts.json_text import decode
from engine.facts.rows import driver_of, teach_folding
from engine.facts.sessions import FORKED_FROM, Session

MOST: Final = 10_000
"""Runs, lines and children are counted up to here: nobody reads a larger number, and all would have to be met."""
BEGINNING: Final = 200
"""Characters of what was said first."""

_COLUMNS: Final = tuple(each.name for each in fields(Session))
# Only the sessions of one page are looked into, each by an index. Every index of `runs` has the row's number, which
# rises as runs are made: none has to be read to find a session's newest.
_PAGE: Final = f"""
    WITH these AS (
        SELECT {", ".join(_COLUMNS)} FROM sessions WHERE {{conditions}}
        ORDER BY last_active DESC, session_id DESC LIMIT :limit
    )
    SELECT these.*,
        (SELECT substr(content, 1, {BEGINNING}) FROM transcript
         WHERE conversation_id = these.session_id ORDER BY seq LIMIT 1),
        (SELECT count(*) FROM (SELECT 1 FROM runs WHERE conversation_id = these.session_id LIMIT {MOST})),
        (SELECT count(*) FROM (SELECT 1 FROM transcript WHERE conversation_id = these.session_id LIMIT {MOST})),
        (SELECT count(*) FROM (SELECT 1 FROM sessions WHERE parent_session_id = these.session_id LIMIT {MOST})),
        (SELECT run_id FROM runs WHERE conversation_id = these.session_id AND status IN ('created', 'running')
         ORDER BY created_at LIMIT 1),
        last.run_id, last.status, last.status_reason
    FROM these LEFT JOIN runs AS last
    ON last.rowid = (SELECT max(rowid) FROM runs WHERE conversation_id = these.session_id)
    ORDER BY these.last_active DESC, these.session_id DESC
"""  # noqa: S608  (names of columns and our own conditions)
_HOLDS: Final = """
    NOT EXISTS (
        SELECT 1 FROM json_each(:words) WHERE instr(folded(coalesce(title, '') || ' ' || session_id), value) = 0
    )
"""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as a list shows it."""

    session: Session
    beginning: str | None
    """What was said in it first, for one without a title."""
    runs: int
    lines: int
    children: int
    """Forked and spawned ones together."""
    live_run: str | None
    """The run at work in it; the oldest, where its threads have one each."""
    last_run: str | None
    last_status: str | None
    last_reason: str | None

    @property
    def is_fork(self) -> bool:
        """Whether it began with the lines of its parent; else a child was spawned empty."""
        return FORKED_FROM in self.session.metadata


def page(
    conn: Connection,
    *,
    text: str = "",
    user_id: str | None = None,
    parent_id: str | None = None,
    ids: Sequence[str] | None = None,
    before: SessionRow | None = None,
    limit: int = 100,
) -> list[SessionRow]:
    """Sessions, the last active first, those less lately active than `before` was when it was read.

    All words of `text` are in title or id, in any order and whatever the case; `parent_id` gives one session's
    children, `ids` those of these that there are.
    """
    conditions = ["true"]
    given: dict[str, Any] = {
        "limit": limit,
        "words": json.dumps(words.folded(text).split()),
        "user": user_id,
        "parent": parent_id,
    }
    if user_id is not None:
        conditions.append("user_id = :user")
    if parent_id is not None:
        conditions.append("parent_session_id = :parent")
    if ids is not None:
        conditions.append("session_id IN (SELECT value FROM json_each(:ids))")
        given["ids"] = json.dumps(list(ids))
    if before is not None:
        conditions.append("(last_active, session_id) < (:active, :id)")
        given |= {"active": before.session.last_active, "id": before.session.session_id}
    if text.strip():
        teach_folding(conn)
        conditions.append(_HOLDS)
    statement = _PAGE.format(conditions=" AND ".join(conditions))
    return [_row(row) for row in driver_of(conn).execute(statement, given)]


def _row(row: tuple[Any, ...]) -> SessionRow:
    columns = dict(zip(_COLUMNS, row, strict=False))
    return SessionRow(Session(**columns | {"metadata": decode(columns["metadata"])}), *row[len(_COLUMNS) :])
