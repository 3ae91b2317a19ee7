"""Deleting and pruning in any order leave exactly what is still referred to, and a list names exactly what goes."""

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from engine.events import Status
from engine.store import artifacts, event_log, parts, pruning, runs, sessions, storage, tables, transcript
from engine.store.artifacts import ArtifactRow, Storage
from engine.store.data_sizes import row_bytes, used_bytes
from engine.store.database import Database
from engine.store.deletion import delete_session
from engine.store.event_log import EventRow
from engine.store.parts import RunParts
from engine.store.pruning import DataKind
from engine.store.row_mapping import ConversationKey
from engine.store.state import ChangeOrigin
from tests.support.files import files_containing
from tests.support.store_samples import entry, numbered_line, run_row, write_entries

TABLES = {
    DataKind.RUNS: tables.runs,
    DataKind.JOURNAL: tables.journal,
    DataKind.PARTS: tables.parts,
    DataKind.EVENTS: tables.events,
    DataKind.TRANSCRIPT: tables.transcript,
    DataKind.ARTIFACTS: tables.artifacts,
    DataKind.BLOBS: tables.artifact_blobs,
}
"""The kinds whose rows are deleted; the log of storage loses values."""
SHARED = [b'{"shared":"%d"}' % number + b"s" * 5_000 for number in range(4)]


class World:
    """Sessions whose runs share parts, artifacts with the same content, and forks."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.used: dict[str, dict[str, bytes]] = {}
        """The parts of each run by digest."""
        self._numbers = count(1)

    def add_run(self, session_id: str, *, at: int, shared: int = 0, own: bytes = b"", refers: bool = True) -> str:
        """A run that ended at `at`, with one of everything."""
        conn, number = self.conn, next(self._numbers)
        run_id, event_id = f"run_{number}", f"event_{number}"
        sessions.ensure(conn, session_id, at=at)
        event = EventRow(event_id=event_id, event_type="message.received", source="console", created_at=at)
        event_log.append(conn, replace(event, conversation_id=session_id, run_id=run_id))
        runs.create(conn, run_row(run_id, at=at, conversation_id=session_id, event_id=event_id))
        runs.finish(conn, run_id, Status.COMPLETED, at=at)
        write_entries(conn, entry(1, run_id), entry(2, run_id, data='{"é":1}'))
        mine = RunParts(run_id)
        contents = [SHARED[shared], own or b"own %d" % number]
        self.used[run_id] = {mine.add(conn, content): content for content in contents}
        change = ChangeOrigin(editor="runner", at=at, run_id=run_id, position=1)
        storage.put(conn, "plugin:p", f"k{shared}", own or SHARED[shared], change, mine)
        row = ArtifactRow(
            artifact_id=f"art_{number}",
            artifact_type="file",
            storage=Storage.BLOB,
            source="runner",
            created_at=at,
            conversation_id=session_id,
            run_id=run_id,
        )
        artifacts.register(conn, row, own or SHARED[shared])
        line = replace(numbered_line(session_id, number, at=at, run_id=run_id), transcript_id=f"line_{number}")
        transcript.append(conn, replace(line, artifact_refs=[row.artifact_id] if refers else []))
        return run_id

    def fork(self, session_id: str, child_id: str, *, at: int) -> None:
        sessions.fork(
            self.conn, session_id, child_id, until=None, at=at, new_id=lambda: f"{child_id}_{next(self._numbers)}"
        )

    def check(self) -> None:
        """Raise AssertionError unless exactly the parts and artifacts that are referred to are stored."""
        conn = self.conn
        left = self.used.keys() & set(conn.execute(select(tables.runs.c.run_id)).scalars())
        wanted = {digest: content for run_id in left for digest, content in self.used[run_id].items()}
        assert {digest: parts.read(conn, digest) for digest in wanted} == wanted
        uses = conn.execute(select(tables.part_uses)).all()
        assert {run_id for run_id, _ in uses} == left
        assert set(conn.execute(select(tables.parts.c.digest)).scalars()) == {digest for _, digest in uses}
        for line in conn.execute(select(tables.transcript)):
            for artifact_id in line.artifact_refs:
                assert artifacts.read_range(conn, artifact_id, now=0), line
        artifact_rows = conn.execute(select(tables.artifacts)).all()
        blobs = set(conn.execute(select(tables.artifact_blobs.c.blob_key)).scalars())
        assert blobs == {row.blob_key for row in artifact_rows}
        known = set(conn.execute(select(tables.sessions.c.session_id)).scalars())
        assert {row.conversation_id for row in artifact_rows} <= known


@pytest.fixture
def world(conn: Connection) -> World:
    return World(conn)


def contents(conn: Connection) -> dict[DataKind, set[Any]]:
    return {kind: {tuple(map(str, row)) for row in conn.execute(select(table))} for kind, table in TABLES.items()}


def known_values(conn: Connection) -> int:
    return conn.exec_driver_sql("SELECT count(*) FROM storage_changes WHERE is_removed = 0").scalar_one()


def counted(listed: pruning.PrunedData) -> Mapping[DataKind, int]:
    return {kind: sum(row.count for row in listed.rows if row.kind == kind) for kind in DataKind}


@pytest.mark.parametrize("seed", range(10))
def test_what_is_referred_to_stays_after_deletions_in_any_order(world: World, seed: int):
    chance, at = random.Random(seed), 0
    names: list[str] = []
    for step in range(40):
        at += 10
        action = chance.random()
        if action < 0.55 or not names:
            names.append(f"session_{step}" if chance.random() < 0.5 or not names else chance.choice(names))
            world.add_run(names[-1], at=at, shared=chance.randrange(4))
        elif action < 0.75:
            parent = chance.choice(names)
            if transcript.length(world.conn, parent):
                world.fork(parent, f"fork_{step}", at=at)
                names.append(f"fork_{step}")
        elif action < 0.9:
            gone = chance.choice(names)
            names = [name for name in names if name != gone]
            delete_session(world.conn, gone, at=at, event_id=f"deleted_{step}")
        else:
            pruning.prune(world.conn, at - 80, at, event_id=f"pruned_{step}")
        world.check()
    for name in dict.fromkeys(names):
        delete_session(world.conn, name, at=at, event_id=f"deleted_{name}")
    world.check()
    for table in ("parts", "part_uses", "artifacts", "artifact_blobs", "runs", "journal"):
        assert world.conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one() == 0


def test_artifacts_of_a_deleted_session_stay_as_long_as_a_fork_refers_to_them(world: World, conn: Connection):
    world.add_run("first", at=1)
    world.add_run("first", at=1, refers=False)
    world.fork("first", "second", at=2)
    world.fork("second", "third", at=3)
    delete_session(conn, "second", at=4, event_id="a")

    deleted = delete_session(conn, "first", at=5, event_id="b")

    assert deleted.artifacts == 1
    (kept,) = artifacts.page(conn, now=5)
    assert (kept.artifact_id, kept.conversation_id) == ("art_1", "third")
    assert [line.artifact_refs for line in transcript.page(conn, ConversationKey("third"))] == [[], ["art_1"]]
    assert delete_session(conn, "third", at=6, event_id="c").artifacts == 1
    world.check()


def test_parts_that_a_kept_run_uses_stay(world: World, conn: Connection):
    world.add_run("old", at=1, shared=0)
    world.add_run("new", at=100, shared=0)
    assert pruning.prune(conn, 50, 100, event_id="a").counts.parts == 1
    world.check()
    assert delete_session(conn, "new", at=101, event_id="b").parts == 2
    world.check()


@pytest.mark.parametrize("seed", range(6))
def test_list_names_exactly_what_prune_deletes(world: World, conn: Connection, seed: int):
    chance = random.Random(seed)
    for number in range(20):
        session = f"session_{number % 5}"
        world.add_run(session, at=chance.randrange(100), shared=chance.randrange(4), refers=chance.random() < 0.7)
    world.fork("session_0", "fork", at=60)
    delete_session(conn, "session_1", at=70, event_id="deleted")
    runs.create(conn, run_row("live", at=1, conversation_id="session_2"))
    before, values = contents(conn), known_values(conn)

    listed = pruning.list_prunable(conn, 50, 100)
    assert (contents(conn), known_values(conn)) == (before, values), "a list changes nothing"
    pruned = pruning.prune(conn, 50, 100, event_id="audit")

    after = contents(conn)
    assert pruned.rows == listed.rows
    gone = {kind: len(before[kind] - after[kind]) for kind in TABLES}
    assert gone == {kind: number for kind, number in counted(listed).items() if kind in TABLES}
    assert values - known_values(conn) == counted(listed)[DataKind.STORAGE_LOG] > 0
    assert {len(after[kind] - before[kind]) for kind in TABLES if kind is not DataKind.EVENTS} == {0}
    assert gone[DataKind.PARTS]
    assert gone[DataKind.BLOBS] < gone[DataKind.ARTIFACTS]
    world.check()
    assert pruning.list_prunable(conn, 50, 100).rows == ()


def test_list_has_the_bytes_of_each_session_and_kind(world: World, conn: Connection):
    world.add_run("a", at=1, own=b"o" * 3_000, refers=False)
    sizes = {
        kind: conn.exec_driver_sql(f"SELECT sum({row_bytes(table)}) FROM {table.name}").scalar_one()
        for kind, table in TABLES.items()
    }
    world.add_run("b", at=90)
    listed = pruning.list_prunable(conn, 50, 100)
    found = {row.kind: row for row in listed.rows if row.kind in TABLES}
    assert {row.session_id for row in listed.rows} == {"a"}
    shared = len(SHARED[0]) + len("data") + 32  # the run that stays uses this part too
    assert {kind: row.bytes for kind, row in found.items()} == {**sizes, DataKind.PARTS: sizes[DataKind.PARTS] - shared}
    assert found[DataKind.JOURNAL].count == 2
    assert found[DataKind.JOURNAL].bytes > len('{}{"é":1}'.encode())
    assert listed.total_bytes == sum(row.bytes for row in listed.rows)


def test_texts_are_counted_in_bytes(conn: Connection):
    write_entries(conn, entry(1, "run", data='"é今"'))
    found = conn.exec_driver_sql(f"SELECT {row_bytes(tables.journal)} FROM journal").scalar_one()
    # Four numbers (row, position, at and turn), and the texts run, runner and message.delta.
    assert found == 4 * 8 + len("run") + len("runner") + len("message.delta") + len('"é今"'.encode())


def test_prune_returns_the_bytes_that_became_free(world: World, conn: Connection):
    world.add_run("a", at=1, own=b"o" * 400_000)
    before = used_bytes(conn)
    pruned = pruning.prune(conn, 50, 100, event_id="audit")
    assert pruned.freed_bytes == before - used_bytes(conn)
    assert pruned.freed_bytes > 700_000  # as a part and as an artifact; the storage keeps its value


def test_parts_of_deleted_and_pruned_runs_are_not_in_the_file(database: Database, path: Path):
    with database.writing_connection() as conn:
        world = World(conn)
        for name, at in (("deleted", 60), ("pruned", 1), ("kept", 60)):
            world.add_run(name, at=at, own=f"xylophone {name} ".encode() * 4_000)
            conn.exec_driver_sql("DELETE FROM storage")
        assert files_containing(path.parent, "xylophone deleted")
        delete_session(conn, "deleted", at=70, event_id="a")
        pruning.prune(conn, 50, 100, event_id="b")
    database.empty_wal()
    assert files_containing(path.parent, "xylophone deleted", "xylophone pruned") == []
    assert files_containing(path.parent, "xylophone kept") == [path.name]
