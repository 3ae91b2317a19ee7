"""The tables. New databases are created from this metadata, and migrations must produce the same schema."""

from typing import Any, Final

from sqlalchemy import (
    DDL,
    Column,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    event,
    func,
    text,
)

from engine.events import LIVE_STATUSES
from engine.store.json_text import decode, encode

SCHEMA_VERSION: Final = "0013"
"""The revision of the newest migration. Versions have four digits, so they can be compared as text."""

metadata: Final = MetaData()


class Json(TypeDecorator[Any]):
    """A column type that stores a Python value as JSON text; None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else encode(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else decode(value)


def _texts(*names: str) -> list[Column[Any]]:
    return [Column(name, Text) for name in names]


def _needed(*names: str) -> list[Column[Any]]:
    return [Column(name, Text, nullable=False) for name in names]


def _stamps(*names: str) -> list[Column[Any]]:
    """Columns for times: integer microseconds since 1970, UTC."""
    return [Column(name, Integer) for name in names]


def _number(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False)


def _place() -> list[Column[Any]]:
    """Columns that identify a conversation."""
    return _texts("conversation_id", "thread_id", "bot_id", "workspace_id")


journal: Final = Table(
    "journal",
    metadata,
    Column("row", Integer, primary_key=True),
    *_needed("run_id"),
    _number("position"),
    _number("at"),
    *_needed("source", "type", "data"),
    *_texts("outcome", "reason"),
    Column("sequence", Integer),
    _number("turn"),
    *_texts("usage"),
    UniqueConstraint("run_id", "position", name="journal_position"),
    sqlite_autoincrement=True,
)

runs: Final = Table(
    "runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    *_texts("event_id", "agent_id", "binding_id"),
    *_needed("runner_id"),
    *_texts("host"),
    *_place(),
    *_needed("status"),
    *_texts("status_reason"),
    _number("created_at"),
    *_stamps("started_at", "finished_at"),
    _number("updated_at"),
    *_stamps("deadline_at", "cancel_requested_at"),
    Column("usage", Json),
    Column("authorization", Json),
    Column("metadata", Json, nullable=False),
    *_stamps("last_activity_at"),
    Column("journal_bytes", Integer),
)
"""`usage` is what the host has `seen` and what the runner `claimed`, or the `sum` of both for a run of schema 12 or
older. `journal_bytes` is the size of an ended run's journal; NULL while it is in progress.
"""
ONE_LIVE_RUN: Final = "one_live_run"
_LIVE: Final = ", ".join(f"'{status}'" for status in sorted(LIVE_STATUSES))
Index(
    ONE_LIVE_RUN,
    runs.c.conversation_id,
    func.coalesce(runs.c.thread_id, text("''")),
    unique=True,
    sqlite_where=text(f"status IN ({_LIVE}) AND conversation_id IS NOT NULL"),
)
Index("runs_created", runs.c.created_at, runs.c.run_id)
Index("runs_conversation", runs.c.conversation_id, runs.c.created_at, runs.c.run_id)
Index("runs_status_host", runs.c.status, runs.c.host)
Index("runs_event", runs.c.event_id)
Index("runs_runner", runs.c.runner_id, runs.c.created_at)

hosts: Final = Table(
    "hosts",
    metadata,
    Column("host_id", Text, primary_key=True),
    _number("pid"),
    *_needed("lock_file"),
    _number("started_at"),
    *_needed("version"),
)

requests: Final = Table(
    "requests",
    metadata,
    Column("request_id", Integer, primary_key=True),
    *_needed("host"),
    *_texts("run_id"),
    *_needed("action"),
    Column("arguments", Json),
    *_needed("sender"),
    _number("created_at"),
    *_stamps("taken_at", "answered_at"),
    Column("receipt", Json),
    sqlite_autoincrement=True,
)
"""Requests of other processes to a host. A sender deletes its row when it has read the receipt."""
Index("requests_host", requests.c.host, requests.c.answered_at)

events: Final = Table(
    "events",
    metadata,
    Column("seq", Integer, primary_key=True),
    *_needed("event_id", "event_type"),
    *_stamps("event_time"),
    *_needed("source"),
    *_texts("source_event_type"),
    *_place(),
    *_texts("actor_type", "actor_id", "actor_name", "subject_type", "subject_id"),
    *_texts("input_summary", "input_ref", "raw_ref", "run_id"),
    _number("created_at"),
    Column("metadata", Json, nullable=False),
    UniqueConstraint("event_id", name="events_id"),
    sqlite_autoincrement=True,
)
Index("events_conversation", events.c.conversation_id, events.c.seq)
Index("events_created", events.c.created_at)

transcript: Final = Table(
    "transcript",
    metadata,
    Column("seq", Integer, primary_key=True),
    *_needed("transcript_id"),
    *_texts("event_id", "run_id"),
    *_needed("conversation_id"),
    *_texts("thread_id", "bot_id", "workspace_id"),
    *_needed("role", "item_type"),
    *_texts("content"),
    Column("content_json", Json),
    Column("artifact_refs", Json, nullable=False),
    _number("created_at"),
    Column("metadata", Json, nullable=False),
    UniqueConstraint("transcript_id", name="transcript_id"),
    sqlite_autoincrement=True,
)
Index("transcript_conversation", transcript.c.conversation_id, transcript.c.seq)
Index("transcript_created", transcript.c.created_at)

search_words: Final = Table(
    "search_words",
    metadata,
    Column("word_id", Integer, primary_key=True),
    *_needed("word"),
    _number("is_unchecked"),
    UniqueConstraint("word", name="search_words_word"),
)
"""Every word of the transcript once. `is_unchecked` is 1 after a line with the word was deleted."""
Index("search_words_unchecked", search_words.c.is_unchecked, sqlite_where=search_words.c.is_unchecked == 1)

search_backlog: Final = Table("search_backlog", metadata, Column("seq", Integer, primary_key=True))
"""While an upgrade makes the index anew: the last line that was in it before. Otherwise empty."""

SEARCH_INDEXES: Final = ("transcript_search", "search_word_parts")
"""The full-text indexes. Words of deleted lines stay in their pages until SQLite merges them."""
SEARCH: Final = (
    # No copy of the text (content=''), and no column sizes, because nothing is ranked. `tokenizer` splits the words;
    # the ascii tokenizer keeps all characters beyond ASCII.
    "CREATE VIRTUAL TABLE transcript_search USING fts5(words, tokenize='ascii', content='', columnsize=0)",
    # Adding a line takes 10 % less time than with SQLite's 4, and a search in a million lines up to 5 % more.
    "INSERT INTO transcript_search (transcript_search, rank) VALUES ('automerge', 8)",
    "CREATE TRIGGER transcript_deleted AFTER DELETE ON transcript BEGIN "
    "INSERT INTO transcript_search (transcript_search, rowid, words) SELECT 'delete', old.seq, terms FROM "
    "(SELECT line_terms(old.conversation_id, old.thread_id, old.bot_id, old.workspace_id, old.role, old.item_type, "
    "old.content) AS terms) WHERE terms IS NOT NULL; "
    "UPDATE search_words SET is_unchecked = 1 "
    "WHERE is_unchecked = 0 AND word IN (SELECT value FROM json_each(line_words(old.content))); END",
)
"""The index over the transcript's lines, which no `Table` can describe.

Its triggers use functions that `engine.store.database` defines on every connection. A program without them cannot
delete lines, so that it cannot leave a deleted line in the index.
"""
WORD_PARTS: Final = (
    # Words consist of letters and digits that are folded already, so SQLite's own parts of three characters suffice.
    "CREATE VIRTUAL TABLE search_word_parts USING fts5(word, tokenize='trigram', content='search_words', "
    "content_rowid='word_id', detail='none', columnsize=0)",
    "CREATE TRIGGER search_word_added AFTER INSERT ON search_words BEGIN "
    "INSERT INTO search_word_parts (rowid, word) VALUES (new.word_id, new.word); END",
    "CREATE TRIGGER search_word_deleted AFTER DELETE ON search_words BEGIN "
    "INSERT INTO search_word_parts (search_word_parts, rowid, word) VALUES ('delete', old.word_id, old.word); END",
)
"""The index over the parts of the words."""
for _statement in WORD_PARTS:
    event.listen(search_words, "after_create", DDL(_statement))
for _statement in SEARCH:
    event.listen(transcript, "after_create", DDL(_statement))

artifacts: Final = Table(
    "artifacts",
    metadata,
    Column("artifact_id", Text, primary_key=True),
    *_needed("artifact_type", "storage"),
    *_texts("mime_type", "name"),
    Column("size_bytes", Integer),
    *_texts("sha256"),
    *_needed("source"),
    *_place(),
    *_texts("run_id", "runner_id"),
    _number("created_at"),
    *_stamps("expires_at"),
    *_texts("blob_key", "location", "root"),
    Column("metadata", Json, nullable=False),
)
Index("artifacts_conversation", artifacts.c.conversation_id, artifacts.c.created_at)
Index("artifacts_run", artifacts.c.run_id)
Index("artifacts_blob", artifacts.c.blob_key)
Index("artifacts_expiry", artifacts.c.expires_at)

artifact_blobs: Final = Table(
    "artifact_blobs",
    metadata,
    Column("blob_key", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

parts: Final = Table(
    "parts",
    metadata,
    Column("digest", Text, primary_key=True, nullable=False),
    *_needed("kind"),
    Column("content", LargeBinary, nullable=False),
)
"""Large parts of journal entries, each stored once, whichever runs use it."""

part_uses: Final = Table(
    "part_uses",
    metadata,
    *_needed("run_id", "digest"),
    PrimaryKeyConstraint("run_id", "digest", name="part_use"),
)
"""Which run uses which part. A part that no run uses is deleted."""
Index("part_uses_digest", part_uses.c.digest)

state: Final = Table(
    "state",
    metadata,
    *_needed("scope_key", "state_key"),
    *_needed("value", "scope", "runner_id", "binding_id"),
    *_texts("bot_id", "workspace_id", "conversation_id", "thread_id"),
    *_texts("actor_type", "actor_id", "subject_type", "subject_id"),
    _number("created_at"),
    _number("updated_at"),
    *_texts("masked"),
    PrimaryKeyConstraint("scope_key", "state_key", name="state_place"),
)
Index("state_conversation", state.c.conversation_id)
Index("state_masked", state.c.scope_key, sqlite_where=state.c.masked.is_not(None))

state_totals: Final = Table(
    "state_totals",
    metadata,
    Column("scope_key", Text, primary_key=True),
    _number("bytes"),
    _number("keys"),
)
"""The size of each scope: the UTF-8 bytes of its keys and values, and the number of its keys."""

STATE_TOTALS: Final = (
    # Triggers, so that the totals are right whatever statement or process changes the state.
    "CREATE TRIGGER state_inserted AFTER INSERT ON state BEGIN "
    "INSERT INTO state_totals (scope_key, bytes, keys) "
    "VALUES (new.scope_key, length(CAST(new.state_key AS BLOB)) + length(CAST(new.value AS BLOB)), 1) "
    "ON CONFLICT (scope_key) DO UPDATE SET bytes = bytes + excluded.bytes, keys = keys + 1; END",
    "CREATE TRIGGER state_updated AFTER UPDATE OF value ON state BEGIN "
    "UPDATE state_totals SET bytes = bytes + length(CAST(new.value AS BLOB)) - length(CAST(old.value AS BLOB)) "
    "WHERE scope_key = new.scope_key; END",
    "CREATE TRIGGER state_deleted AFTER DELETE ON state BEGIN "
    "UPDATE state_totals "
    "SET bytes = bytes - length(CAST(old.state_key AS BLOB)) - length(CAST(old.value AS BLOB)), keys = keys - 1 "
    "WHERE scope_key = old.scope_key; "
    "DELETE FROM state_totals WHERE scope_key = old.scope_key AND keys = 0; END",
)
"""Keep `state_totals` up to date. A write costs one more row, and none of the scope's other rows is read."""
for _statement in STATE_TOTALS:
    event.listen(state, "after_create", DDL(_statement))

state_changes: Final = Table(
    "state_changes",
    metadata,
    Column("change", Integer, primary_key=True),
    *_needed("scope_key", "state_key"),
    *_texts("value", "conversation_id", "run_id"),
    Column("position", Integer),
    _number("journal_row"),
    *_needed("editor"),
    _number("at"),
    *_texts("masked"),
    sqlite_autoincrement=True,
)
Index("state_changes_place", state_changes.c.scope_key, state_changes.c.state_key, state_changes.c.change)
Index("state_changes_conversation", state_changes.c.conversation_id)

sessions: Final = Table(
    "sessions",
    metadata,
    Column("session_id", Text, primary_key=True),
    *_texts("parent_session_id"),
    *_needed("root_session_id"),
    _number("depth"),
    *_texts("user_id", "title"),
    _number("created_at"),
    _number("last_active"),
    _number("message_count"),
    Column("metadata", Json, nullable=False),
    *_stamps("deleted_at"),
    *_texts("runner_id", "agent_id", "project"),
)
Index("sessions_active", sessions.c.last_active, sessions.c.session_id)
Index("sessions_user", sessions.c.user_id, sessions.c.last_active)
Index("sessions_parent", sessions.c.parent_session_id)
Index("sessions_root", sessions.c.root_session_id)
# Few sessions are hidden at any time, so a query that leaves them out reads almost nothing more.
Index("sessions_hidden", sessions.c.session_id, sqlite_where=sessions.c.deleted_at.is_not(None))

index_cleanup: Final = Table(
    "index_cleanup",
    metadata,
    Column("index_name", Text, primary_key=True),
    _number("requested"),
    Column("merging", Integer),
    Column("inputs", Json),
    Column("pages", Integer),
)
"""Search indexes that may still contain deleted words: how many deletions asked for a merge, which of them the merge
covers, and the segments that it merges (NULL before it begins, empty when it is done) with their number of pages."""

queue: Final = Table(
    "queue",
    metadata,
    Column("item_id", Text, primary_key=True),
    *_needed("event_id"),
    *_place(),
    *_texts("runner_id"),
    *_needed("mode"),
    _number("place"),
    *_needed("fate"),
    *_texts("reason", "run_id", "own_run_id", "host"),
    Column("envelope", Json, nullable=False),
    *_texts("text"),
    _number("created_at"),
    *_stamps("pulled_at"),
    Column("pulled_position", Integer),
    *_stamps("injected_at", "decided_at"),
    Column("metadata", Json, nullable=False),
)
Index("queue_conversation", queue.c.conversation_id, queue.c.fate, queue.c.place)
Index("queue_run", queue.c.run_id)
Index("queue_host", queue.c.host, queue.c.fate)

storage: Final = Table(
    "storage",
    metadata,
    *_needed("owner", "key"),
    Column("value", LargeBinary, nullable=False),
    _number("updated_at"),
    PrimaryKeyConstraint("owner", "key", name="storage_place"),
)

storage_changes: Final = Table(
    "storage_changes",
    metadata,
    Column("change", Integer, primary_key=True),
    *_needed("owner", "key"),
    Column("value", LargeBinary),
    *_texts("digest", "run_id"),
    Column("position", Integer),
    _number("journal_row"),
    *_needed("editor"),
    _number("at"),
    _number("is_removed"),
    sqlite_autoincrement=True,
)
"""Every change of `storage`. A large value is a part, by its `digest`; without value and digest the key was deleted.

`is_removed` is 1 if the value is not known: its run was pruned, its session was deleted, or it was stored before there
was a log. A row without a key says that changes before its `journal_row` are missing, for all owners if it has no owner
either.
"""
Index("storage_changes_place", storage_changes.c.owner, storage_changes.c.key, storage_changes.c.change)
Index("storage_changes_run", storage_changes.c.run_id)

settings: Final = Table(
    "settings",
    metadata,
    *_needed("binding_id", "path"),
    Column("value", Json, nullable=False),
    _number("updated_at"),
    PrimaryKeyConstraint("binding_id", "path", name="settings_place"),
)
