"""The first schema."""

from typing import Final

from alembic import op

revision: Final = "0001"
down_revision: Final = None
branch_labels: Final = None
depends_on: Final = None

STATEMENTS: Final = (
    """
    CREATE TABLE journal (
        "row" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, position INTEGER NOT NULL,
        at INTEGER NOT NULL, source TEXT NOT NULL, type TEXT NOT NULL, data TEXT NOT NULL, outcome TEXT,
        reason TEXT, sequence INTEGER, turn INTEGER NOT NULL, CONSTRAINT journal_position UNIQUE (run_id, position)
    )
    """,
    """
    CREATE TABLE runs (
        run_id TEXT NOT NULL, event_id TEXT, agent_id TEXT, binding_id TEXT, runner_id TEXT NOT NULL, host TEXT,
        conversation_id TEXT, thread_id TEXT, bot_id TEXT, workspace_id TEXT, status TEXT NOT NULL,
        status_reason TEXT, created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
        updated_at INTEGER NOT NULL, deadline_at INTEGER, cancel_requested_at INTEGER, usage TEXT,
        authorization TEXT, metadata TEXT NOT NULL, PRIMARY KEY (run_id)
    )
    """,
    "CREATE INDEX runs_created ON runs (created_at, run_id)",
    "CREATE INDEX runs_conversation ON runs (conversation_id)",
    "CREATE INDEX runs_event ON runs (event_id)",
    "CREATE UNIQUE INDEX one_live_run ON runs (conversation_id, coalesce(thread_id, '')) "
    "WHERE status IN ('created', 'running') AND conversation_id IS NOT NULL",
    "CREATE INDEX runs_status_host ON runs (status, host)",
    """
    CREATE TABLE hosts (
        host_id TEXT NOT NULL, pid INTEGER NOT NULL, lock_file TEXT NOT NULL, started_at INTEGER NOT NULL,
        version TEXT NOT NULL, PRIMARY KEY (host_id)
    )
    """,
    """
    CREATE TABLE events (
        seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL, event_type TEXT NOT NULL,
        event_time INTEGER, source TEXT NOT NULL, source_event_type TEXT, conversation_id TEXT, thread_id TEXT,
        bot_id TEXT, workspace_id TEXT, actor_type TEXT, actor_id TEXT, actor_name TEXT, subject_type TEXT,
        subject_id TEXT, input_summary TEXT, input_ref TEXT, raw_ref TEXT, run_id TEXT, created_at INTEGER NOT NULL,
        metadata TEXT NOT NULL, CONSTRAINT events_id UNIQUE (event_id)
    )
    """,
    "CREATE INDEX events_conversation ON events (conversation_id, seq)",
    "CREATE INDEX events_created ON events (created_at)",
    """
    CREATE TABLE transcript (
        seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, transcript_id TEXT NOT NULL, event_id TEXT, run_id TEXT,
        conversation_id TEXT NOT NULL, thread_id TEXT, bot_id TEXT, workspace_id TEXT, role TEXT NOT NULL,
        item_type TEXT NOT NULL, content TEXT, content_json TEXT, artifact_refs TEXT NOT NULL,
        created_at INTEGER NOT NULL, metadata TEXT NOT NULL, CONSTRAINT transcript_id UNIQUE (transcript_id)
    )
    """,
    "CREATE INDEX transcript_conversation ON transcript (conversation_id, seq)",
    "CREATE INDEX transcript_created ON transcript (created_at)",
    """
    CREATE TABLE artifacts (
        artifact_id TEXT NOT NULL, artifact_type TEXT NOT NULL, storage TEXT NOT NULL, mime_type TEXT, name TEXT,
        size_bytes INTEGER, sha256 TEXT, source TEXT NOT NULL, conversation_id TEXT, thread_id TEXT, bot_id TEXT,
        workspace_id TEXT, run_id TEXT, runner_id TEXT, created_at INTEGER NOT NULL, expires_at INTEGER,
        blob_key TEXT, location TEXT, root TEXT, metadata TEXT NOT NULL, PRIMARY KEY (artifact_id)
    )
    """,
    "CREATE INDEX artifacts_blob ON artifacts (blob_key)",
    "CREATE INDEX artifacts_conversation ON artifacts (conversation_id, created_at)",
    "CREATE INDEX artifacts_expiry ON artifacts (expires_at)",
    "CREATE INDEX artifacts_run ON artifacts (run_id)",
    """
    CREATE TABLE artifact_blobs (
        blob_key TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (blob_key)
    )
    """,
    """
    CREATE TABLE state (
        scope_key TEXT NOT NULL, state_key TEXT NOT NULL, value TEXT NOT NULL, scope TEXT NOT NULL,
        runner_id TEXT NOT NULL, binding_id TEXT NOT NULL, bot_id TEXT, workspace_id TEXT, conversation_id TEXT,
        thread_id TEXT, actor_type TEXT, actor_id TEXT, subject_type TEXT, subject_id TEXT,
        updated_at INTEGER NOT NULL, CONSTRAINT state_place PRIMARY KEY (scope_key, state_key)
    )
    """,
    "CREATE INDEX state_conversation ON state (conversation_id)",
    """
    CREATE TABLE state_changes (
        change INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, scope_key TEXT NOT NULL, state_key TEXT NOT NULL,
        value TEXT, conversation_id TEXT, run_id TEXT, position INTEGER, journal_row INTEGER NOT NULL,
        editor TEXT NOT NULL, at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX state_changes_conversation ON state_changes (conversation_id)",
    "CREATE INDEX state_changes_place ON state_changes (scope_key, state_key, change)",
    """
    CREATE TABLE sessions (
        session_id TEXT NOT NULL, parent_session_id TEXT, root_session_id TEXT NOT NULL, depth INTEGER NOT NULL,
        user_id TEXT, title TEXT, created_at INTEGER NOT NULL, last_active INTEGER NOT NULL,
        message_count INTEGER NOT NULL, metadata TEXT NOT NULL, PRIMARY KEY (session_id)
    )
    """,
    "CREATE INDEX sessions_active ON sessions (last_active, session_id)",
    "CREATE INDEX sessions_parent ON sessions (parent_session_id)",
    "CREATE INDEX sessions_user ON sessions (user_id, last_active)",
    """
    CREATE TABLE queue (
        item_id TEXT NOT NULL, event_id TEXT NOT NULL, conversation_id TEXT, thread_id TEXT, bot_id TEXT,
        workspace_id TEXT, runner_id TEXT, mode TEXT NOT NULL, place INTEGER NOT NULL, fate TEXT NOT NULL,
        reason TEXT, run_id TEXT, own_run_id TEXT, host TEXT, envelope TEXT NOT NULL, text TEXT,
        created_at INTEGER NOT NULL, pulled_at INTEGER, pulled_position INTEGER, injected_at INTEGER,
        decided_at INTEGER, metadata TEXT NOT NULL, PRIMARY KEY (item_id)
    )
    """,
    "CREATE INDEX queue_host ON queue (host, fate)",
    "CREATE INDEX queue_conversation ON queue (conversation_id, fate, place)",
    "CREATE INDEX queue_run ON queue (run_id)",
    """
    CREATE TABLE storage (
        owner TEXT NOT NULL, "key" TEXT NOT NULL, value BLOB NOT NULL, updated_at INTEGER NOT NULL,
        CONSTRAINT storage_place PRIMARY KEY (owner, "key")
    )
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
