"""The only two ways in which stored data is deleted."""

import pytest
from sqlalchemy import Connection, text

from engine.events import FINAL_STATUSES, Fate, Status
from engine.store import artifacts, deletion, event_log, queue, runs, sessions, state, transcript
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.deletion import delete_session
from engine.store.errors import NotFound, SessionRefused
from engine.store.event_log import EventRow
from engine.store.row_mapping import ConversationKey
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import ChangeOrigin
from tests.support.store_samples import entry, numbered_line, queue_item, run_row, write_entries


def rows(conn: Connection, table: str) -> int:
    return conn.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


def furnish(conn: Connection, conversation_id: str, *, at: int = 1, status: Status = Status.COMPLETED) -> str:
    """A conversation with one of everything."""
    run_id = f"run_{conversation_id}"
    sessions.ensure(conn, conversation_id, at=at)
    event_log.append(
        conn, EventRow(event_id=f"e_{conversation_id}", event_type="message.received", source="console", created_at=at)
    )
    runs.create(conn, run_row(run_id, at=at, conversation_id=conversation_id, event_id=f"e_{conversation_id}"))
    if status in FINAL_STATUSES:
        runs.finish(conn, run_id, status, at=at)
    write_entries(conn, entry(1, run_id), entry(2, run_id))
    transcript.append(conn, numbered_line(conversation_id, 1, at=at, run_id=run_id))
    scope = ScopeIdentity(scope=Scope.CONVERSATION, runner_id="r", binding_id="b", conversation_id=conversation_id)
    state.put(conn, scope, "kept", 1, ChangeOrigin(editor="runner", at=at))
    state.put(conn, scope, "gone", 1, ChangeOrigin(editor="runner", at=at))
    state.delete(conn, scope, "gone", ChangeOrigin(editor="runner", at=at))
    artifacts.register(
        conn,
        ArtifactRow(
            artifact_id=f"art_{conversation_id}",
            artifact_type="file",
            storage=Storage.BLOB,
            source="runner",
            created_at=at,
            conversation_id=conversation_id,
            run_id=run_id,
        ),
        conversation_id.encode(),
    )
    queue.add(
        conn, queue_item(f"q_{conversation_id}", conversation_id=conversation_id, event_id=f"e_{conversation_id}")
    )
    return run_id


TABLES = ("transcript", "state", "state_changes", "artifacts", "artifact_blobs", "runs", "journal", "queue")


def test_deleting_a_session_deletes_its_data_and_keeps_its_children(conn: Connection):
    furnish(conn, "one")
    before = {table: rows(conn, table) for table in TABLES}
    furnish(conn, "two")
    sessions.spawn(conn, "two", "child", at=2)
    actor = ScopeIdentity(scope=Scope.ACTOR, runner_id="r", binding_id="b", actor_type="user", actor_id="me")
    state.put(conn, actor, "a", 1, ChangeOrigin(editor="runner", at=1))

    deleted = delete_session(conn, "two", at=7, event_id="audit")

    assert (deleted.runs, deleted.journal, deleted.transcript, deleted.artifacts, deleted.blobs) == (1, 2, 1, 1, 1)
    assert (deleted.state, deleted.queue) == (1, 1)
    after = {table: rows(conn, table) for table in TABLES}
    assert after == before | {"state": before["state"] + 1, "state_changes": before["state_changes"] + 1}
    assert sessions.get(conn, "child").parent_session_id == "two"
    with pytest.raises(NotFound):
        sessions.get(conn, "two")
    audit = event_log.get(conn, "audit")
    assert (audit.event_type, audit.source, audit.conversation_id) == ("session.deleted", "host", "two")
    assert audit.metadata["deleted"]["runs"] == 1


def test_a_session_with_a_run_in_progress_is_not_deleted(conn: Connection):
    furnish(conn, "busy", status=Status.RUNNING)
    with pytest.raises(SessionRefused, match="session busy is busy with run run_busy; stop it first"):
        delete_session(conn, "busy", at=7, event_id="audit")
    assert rows(conn, "journal") == 2


def test_pruning_deletes_old_data_and_keeps_runs_in_progress(conn: Connection):
    furnish(conn, "old", at=10)
    queue.decide(conn, "q_old", Fate.DROPPED, at=10)
    furnish(conn, "new", at=60)
    furnish(conn, "live", at=10, status=Status.RUNNING)
    furnish(conn, "waits", at=10)

    deleted = deletion.prune(conn, 50, 100, event_id="audit")

    assert (deleted.runs, deleted.journal, deleted.queue) == (2, 4, 1)
    assert {each.run_id for each in runs.page(conn)} == {"run_new", "run_live"}
    assert {
        line.transcript_id for name in ("old", "new", "live") for line in transcript.page(conn, ConversationKey(name))
    } == {
        "new_1",
        "live_1",
    }
    assert event_log.seen(conn, "e_old") is None
    assert [event_log.seen(conn, f"e_{name}") is not None for name in ("new", "live", "waits")] == [True] * 3
    assert rows(conn, "state") == 4
    assert rows(conn, "artifacts") == 4
    audit = event_log.get(conn, "audit")
    assert (audit.event_type, audit.metadata["older_than"]) == ("facts.pruned", 50)
    assert audit.metadata["deleted"]["runs"] == 2


def test_pruning_deletes_expired_artifacts_with_their_own_blobs(conn: Connection):
    for name, expires_at, content in (("a", 100, b"one"), ("b", 101, b"two"), ("c", 99, b"two"), ("d", None, b"x")):
        artifacts.register(
            conn,
            ArtifactRow(
                artifact_id=name,
                artifact_type="file",
                storage=Storage.BLOB,
                source="runner",
                created_at=1,
                expires_at=expires_at,
            ),
            content,
        )
    deleted = deletion.prune(conn, 0, 100, event_id="audit")
    assert (deleted.artifacts, deleted.blobs) == (2, 1)
    assert artifacts.read_range(conn, "b", now=100) == b"two"
    assert artifacts.read_range(conn, "d", now=100) == b"x"
