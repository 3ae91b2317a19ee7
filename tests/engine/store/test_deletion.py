"""The only ways in which stored data is deleted: in old age, or with its session, which is hidden first."""

from dataclasses import replace

import pytest
from sqlalchemy import Connection, text

from engine.events import FINAL_STATUSES, Fate, Status
from engine.store import (
    artifacts,
    deletion,
    entries,
    event_log,
    pruning,
    queue,
    runs,
    search,
    sessions,
    state,
    state_edits,
    state_pages,
    transcript,
)
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.deletion import Purge, delete_session
from engine.store.errors import NotFound, SessionRefused
from engine.store.event_log import EventRow
from engine.store.row_mapping import ConversationKey
from engine.store.scope_identity import Scope, ScopeIdentity
from engine.store.state import ChangeOrigin
from engine.store.state_edits import EditOrigin
from tests.support.store_samples import entry, numbered_line, queue_item, run_row, write_entries


def rows(conn: Connection, table: str) -> int:
    return conn.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


def furnish(conn: Connection, conversation_id: str, *, at: int = 1, status: Status = Status.COMPLETED) -> str:
    """A conversation with one of everything."""
    run_id = f"run_{conversation_id}"
    sessions.ensure(conn, conversation_id, at=at)
    event_log.append(
        conn,
        EventRow(
            event_id=f"e_{conversation_id}",
            event_type="message.received",
            source="console",
            created_at=at,
            conversation_id=conversation_id,
            input_summary="what was said",
            run_id=run_id,
        ),
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
    assert (audit.event_type, audit.source, audit.metadata["session_id"]) == ("session.deleted", "host", "two")
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

    deleted = pruning.prune(conn, 50, 100, event_id="audit").counts

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
    assert [artifact.artifact_id for artifact in artifacts.page(conn, now=100)] == ["art_new", "art_live"]
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
    deleted = pruning.prune(conn, 0, 100, event_id="audit").counts
    assert (deleted.artifacts, deleted.blobs) == (2, 1)
    assert artifacts.read_range(conn, "b", now=100) == b"two"
    assert artifacts.read_range(conn, "d", now=100) == b"x"


def test_hidden_session_is_in_no_list_and_no_search(conn: Connection):
    furnish(conn, "one")
    run_id = furnish(conn, "two")
    child = sessions.spawn(conn, "two", "child", at=2).session_id
    sessions.spawn(conn, "child", "grandchild", at=2)
    scope = ScopeIdentity(scope=Scope.CONVERSATION, runner_id="r", binding_id="b", conversation_id="two")
    queue.decide(conn, "q_two", Fate.DROPPED, at=3)

    def listed() -> list[object]:
        """Everything of the session that lists, searches and calls return."""
        found: list[object] = [
            [one.session_id for one in sessions.page(conn) if one.session_id == "two"],
            [row.session.session_id for row in sessions.browse_page(conn, ids=["two"])],
            [run.run_id for run in runs.page(conn) if run.run_id == run_id],
            runs.page(conn, conversation_id="two"),
            [one.artifact_id for one in artifacts.page(conn, now=1, conversation_id="two")],
            [line.transcript_id for line in transcript.page(conn, ConversationKey("two"))],
            [line.transcript_id for line in search.find(conn, "1", None)[0] if line.conversation_id == "two"],
            search.find_seqs(conn, "1", ConversationKey("two")),
            event_log.page(conn, ConversationKey("two")),
            [row.key for row in state_pages.page(conn, conversation_id="two")],
            state.browse(conn, conversation_id="two"),
            state_pages.changes(conn, scope, "kept"),
            queue.returnable(conn, "two", withdrawn_since=0, limit=9),
            entries.page(conn, run_id),
            [entry for _, entry in entries.since(conn, 0, 99) if entry.run_id == run_id],
            entries.index(conn, run_id),
            entries.at_positions(conn, run_id, [1]),
            entries.deltas(conn, run_id, after=0, before=99),
            entries.holding(conn, run_id, "", first=0, last=99),
        ]
        for call in (
            lambda: sessions.get(conn, "two"),
            lambda: runs.get(conn, run_id),
            lambda: runs.find(conn, "run_tw"),
            lambda: artifacts.get(conn, "art_two", now=1),
            lambda: transcript.line_of(conn, "two", None),
            lambda: state_pages.value(conn, scope, "kept"),
            lambda: state_pages.find_scope(conn, scope.key),
        ):
            try:
                found.append([call()])
            except NotFound:
                found.append([])
        return found

    before = listed()
    others = [rows(conn, table) for table in TABLES]
    hidden = deletion.hide(conn, "two", at=50)

    assert [what for what in listed() if what] == []
    assert all(before), before
    assert [rows(conn, table) for table in TABLES] == others, "hiding deletes nothing"
    assert [child.session_id for child in sessions.children(conn, "child")] == ["grandchild"]
    assert sessions.get(conn, child).parent_session_id == "two"
    assert [run.run_id for run in runs.page(conn)] == ["run_one"]
    with pytest.raises(NotFound, match="session two was deleted"):
        state_edits.put(conn, scope, "kept", 2, EditOrigin("edit", 60))
    with pytest.raises(SessionRefused, match="was deleted a moment ago"):
        sessions.spawn(conn, "one", "two", at=60)
    assert deletion.hidden(conn) == [hidden]

    deletion.restore(conn, "two", now=50 + 7_999_999)
    assert listed() == before


def test_hidden_session_can_be_restored_for_eight_seconds(conn: Connection):
    furnish(conn, "one")
    deletion.hide(conn, "one", at=50)
    assert deletion.next_to_purge(conn, 50 + 7_999_999) is None
    assert deletion.next_to_purge(conn, 50 + 8_000_000) == "one"
    with pytest.raises(SessionRefused, match="deleted more than 8 seconds ago"):
        deletion.restore(conn, "one", now=50 + 8_000_000)
    deletion.restore(conn, "one", now=51)
    with pytest.raises(NotFound, match="no deleted session one"):
        deletion.restore(conn, "one", now=51)


def test_session_is_not_hidden_for_hours_after_the_clock_was_set_back(conn: Connection):
    furnish(conn, "one")
    deletion.hide(conn, "one", at=3_600_000_000)
    assert deletion.next_to_purge(conn, 1_000_000) == "one"


def test_session_whose_purge_has_begun_is_never_restored(conn: Connection):
    run_id = furnish(conn, "one")
    write_entries(conn, *(entry(number, run_id) for number in range(3, 30)))
    deletion.hide(conn, "one", at=50)
    purge = Purge("one")

    slices = 1
    while not purge.delete_slice(conn, at=51, event_id="audit", max_rows=10):
        slices += 1
        with pytest.raises(SessionRefused):
            deletion.restore(conn, "one", now=51)

    assert slices > 3
    assert (purge.deleted.journal, purge.deleted.runs, purge.deleted.transcript) == (29, 1, 1)
    assert {table: rows(conn, table) for table in TABLES} == dict.fromkeys(TABLES, 0)
    assert purge.delete_slice(conn, at=52, event_id="again"), "another process may have finished it"
    assert event_log.seen(conn, "again") is None


def test_purge_removes_event_ids_and_the_text_of_audit_events(conn: Connection):
    furnish(conn, "one", at=5)
    scope = ScopeIdentity(scope=Scope.CONVERSATION, runner_id="r", binding_id="b", conversation_id="one")
    other = ScopeIdentity(scope=Scope.CONVERSATION, runner_id="r", binding_id="b", conversation_id="two")
    state_edits.put(conn, scope, "secret key", 1, EditOrigin("edit", 60))
    state_edits.put(conn, other, "kept key", 1, EditOrigin("other edit", 60))
    event_log.append(
        conn,
        EventRow(
            event_id="a",
            event_type="steering.edited",
            source="host",
            created_at=6,
            conversation_id="one",
            actor_name="Ann",
            metadata={"steering": {"item_id": "q", "reason": "her words", "text": "secret"}, "note": "secret"},
        ),
    )

    delete_session(conn, "one", at=70, event_id="audit")

    assert event_log.seen(conn, "e_one") is None, "an event sent again is a new event"
    assert event_log.page(conn, ConversationKey("one")) == []
    kept = event_log.get(conn, "a")
    assert (kept.event_type, kept.created_at, kept.actor_name) == ("steering.edited", 6, None)
    assert kept.metadata == {"session_id": "one", "steering": {"item_id": "q"}}
    assert "key" not in event_log.get(conn, "edit").metadata
    assert event_log.get(conn, "other edit").metadata["key"] == "kept key"
    with pytest.raises(NotFound, match="its session was deleted"):
        state_edits.restore(conn, "edit", EditOrigin("undo", 80))
    everything = str(conn.exec_driver_sql("SELECT * FROM events").all())
    assert "secret" not in everything
    assert "what was said" not in everything


def test_blob_that_another_session_uses_is_kept(conn: Connection):
    for name in ("one", "two"):
        sessions.ensure(conn, name, at=1)
        row = ArtifactRow(
            artifact_id=name,
            artifact_type="file",
            storage=Storage.BLOB,
            source="runner",
            created_at=1,
            conversation_id=name,
        )
        artifacts.register(conn, row, b"the same")
    assert delete_session(conn, "one", at=2, event_id="a").blobs == 0
    assert artifacts.read_range(conn, "two", now=3) == b"the same"
    assert delete_session(conn, "two", at=2, event_id="b").blobs == 1


def test_data_that_was_shared_on_purpose_is_named(conn: Connection):
    furnish(conn, "one")
    assert deletion.kept_data(conn, "one") == deletion.KeptData(0, 0, False, False)
    sessions.fork(conn, "one", "fork", until=None, at=2, new_id=lambda: "copy")
    sessions.spawn(conn, "one", "child", at=2)
    actor = ScopeIdentity(scope=Scope.ACTOR, runner_id="runner", binding_id="b", actor_type="user", actor_id="me")
    state.put(conn, actor, "a", 1, ChangeOrigin(editor="runner", at=1))
    conn.exec_driver_sql("INSERT INTO storage VALUES ('plugin', 'k', x'00', 1)")
    conn.exec_driver_sql("UPDATE runs SET runner_id = 'runner'")
    assert deletion.kept_data(conn, "one") == deletion.KeptData(1, 1, True, True)

    delete_session(conn, "one", at=3, event_id="a")
    assert [line.content for line in transcript.page(conn, ConversationKey("fork"))] == ["1"]
    assert state.get(conn, actor, "a") == 1
    assert rows(conn, "storage") == 1


def test_pruning_keeps_artifacts_that_a_kept_line_refers_to(conn: Connection):
    for name, references in (("old", []), ("plain", ["art_plain"]), ("object", [{"artifact_id": "art_object"}])):
        furnish(conn, name, at=10)
        if references:
            line = numbered_line("fork", len(name), at=90, run_id=f"run_{name}")
            transcript.append(conn, replace(line, artifact_refs=references))

    deleted = pruning.prune(conn, 50, 100, event_id="audit").counts

    assert (deleted.runs, deleted.artifacts, deleted.blobs) == (3, 1, 1)
    assert {one.artifact_id for one in artifacts.page(conn, now=100)} == {"art_plain", "art_object"}


def test_pruning_keeps_the_event_of_a_kept_run(conn: Connection):
    furnish(conn, "long", at=10)
    conn.exec_driver_sql("UPDATE runs SET finished_at = 60")
    conn.exec_driver_sql("UPDATE queue SET fate = 'dropped', decided_at = 10")
    conn.exec_driver_sql("UPDATE events SET event_id = 'joined' WHERE event_id = 'e_long'")
    pruning.prune(conn, 50, 100, event_id="a")
    assert event_log.seen(conn, "joined") is not None
    pruning.prune(conn, 70, 100, event_id="b")
    assert event_log.seen(conn, "joined") is None
