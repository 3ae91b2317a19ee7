"""Storage can be read as of the start of any run, and what is not known any more is never guessed."""

import random
from pathlib import Path

import pytest
from sqlalchemy import Connection

from engine.events import Status
from engine.store import pruning, runs, sessions, storage, storage_log
from engine.store.database import Database
from engine.store.deletion import Purge, delete_session, hide
from engine.store.errors import NotFound
from engine.store.parts import RunParts
from engine.store.state import ChangeOrigin
from engine.store.storage_log import MAX_INLINE_BYTES, StorageThen
from tests.support.files import files_containing
from tests.support.old_databases import make_database
from tests.support.store_samples import entry, run_row, write_entries

OWNER = "plugin:a/b"
LARGE = b"large " * MAX_INLINE_BYTES


class Plugin:
    """Runs that change the storage of one plugin, one after another; each in a session of its own."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.parts: dict[str, RunParts] = {}

    def start(self, run_id: str) -> None:
        number = len(self.parts) + 1
        sessions.ensure(self.conn, f"session_{run_id}", at=number)
        runs.create(self.conn, run_row(run_id, at=number, conversation_id=f"session_{run_id}"))
        runs.finish(self.conn, run_id, Status.COMPLETED, at=number)
        write_entries(self.conn, entry(1, run_id))
        self.parts[run_id] = RunParts(run_id)

    def put(self, run_id: str, key: str, value: bytes) -> None:
        storage.put(self.conn, OWNER, key, value, self.change(run_id), self.parts[run_id])

    def delete(self, run_id: str, key: str) -> None:
        storage.delete(self.conn, OWNER, key, self.change(run_id), self.parts[run_id])

    def change(self, run_id: str) -> ChangeOrigin:
        return ChangeOrigin(editor="runner", at=1, run_id=run_id, position=1)

    def remove(self, run_id: str) -> None:
        delete_session(self.conn, f"session_{run_id}", at=100, event_id=f"deleted_{run_id}")

    def at_start(self, run_id: str) -> StorageThen:
        return storage_log.at_start(self.conn, OWNER, run_id)


@pytest.fixture
def plugin(conn: Connection) -> Plugin:
    return Plugin(conn)


def changes(conn: Connection) -> int:
    return conn.exec_driver_sql("SELECT count(*) FROM storage_changes").scalar_one()


def test_storage_is_as_it_was_when_a_run_started(plugin: Plugin):
    for run_id in ("one", "two", "three"):
        plugin.start(run_id)
        plugin.put(run_id, "small", run_id.encode())
        plugin.put(run_id, "large", LARGE + run_id.encode())
    plugin.delete("three", "small")
    plugin.start("four")
    plugin.put("four", "small", b"four")

    assert plugin.at_start("one") == StorageThen()
    assert plugin.at_start("two") == StorageThen({"small": b"one", "large": LARGE + b"one"})
    assert plugin.at_start("three") == StorageThen({"small": b"two", "large": LARGE + b"two"})
    assert plugin.at_start("four") == StorageThen({"large": LARGE + b"three"})
    with pytest.raises(NotFound, match="has not started"):
        plugin.at_start("never")


def test_removed_value_is_not_known_and_no_other_value_is_taken_for_it(plugin: Plugin):
    for run_id in ("one", "two", "three", "four"):
        plugin.start(run_id)
        plugin.put(run_id, "k", run_id.encode())
    plugin.start("five")

    plugin.remove("two")

    assert plugin.at_start("three") == StorageThen({}, ("k",))
    assert plugin.at_start("four") == StorageThen({"k": b"three"})
    assert plugin.at_start("five") == StorageThen({"k": b"four"})


def test_value_that_is_still_stored_is_known_without_its_run(plugin: Plugin):
    plugin.start("one")
    plugin.put("one", "k", b"1")
    plugin.start("two")
    plugin.remove("one")
    assert plugin.at_start("two") == StorageThen({"k": b"1"})

    plugin.put("two", "k", b"2")
    assert plugin.at_start("two") == StorageThen({}, ("k",))


def test_key_that_only_deleted_runs_have_used_is_not_in_the_log(plugin: Plugin, conn: Connection):
    plugin.start("one")
    plugin.put("one", "xylophone", b"1")
    plugin.start("two")
    plugin.delete("one", "xylophone")
    plugin.start("three")
    plugin.remove("one")

    assert "xylophone" not in str(conn.exec_driver_sql("SELECT * FROM storage_changes").all())
    assert plugin.at_start("two") == StorageThen(is_complete=False)
    assert not plugin.at_start("two").is_known
    assert plugin.at_start("three") == StorageThen()

    plugin.put("three", "xylophone", b"3")
    plugin.start("four")
    assert plugin.at_start("two") == StorageThen({}, ("xylophone",), is_complete=False)
    assert plugin.at_start("three") == StorageThen()
    assert plugin.at_start("four") == StorageThen({"xylophone": b"3"})


@pytest.mark.parametrize("newest_first", [False, True])
def test_log_without_runs_has_two_changes_for_each_key(plugin: Plugin, conn: Connection, newest_first: bool):
    names = [f"run_{number}" for number in range(30)]
    for run_id in names:
        plugin.start(run_id)
        for key in ("a", "b"):
            plugin.put(run_id, key, run_id.encode())
    for run_id in reversed(names) if newest_first else names:
        plugin.remove(run_id)
    assert changes(conn) <= 4


def test_newest_change_stays_in_the_log(plugin: Plugin):
    for run_id in ("one", "two", "three"):
        plugin.start(run_id)
        plugin.put(run_id, "k", run_id.encode())
    plugin.start("four")
    plugin.start("five")
    plugin.put("five", "k", b"five")
    plugin.start("six")
    for run_id in ("one", "two", "five"):
        plugin.remove(run_id)
    plugin.remove("three")
    assert plugin.at_start("four") == StorageThen({}, ("k",)), "the stored value is newer"
    assert plugin.at_start("six") == StorageThen({"k": b"five"})


def test_log_does_not_grow_with_sessions_that_are_deleted_at_once(plugin: Plugin, conn: Connection):
    for number in range(30):
        plugin.start(f"run_{number}")
        plugin.put(f"run_{number}", "k", b"%d" % number)
        plugin.remove(f"run_{number}")
    assert changes(conn) <= 2


@pytest.mark.parametrize("seed", range(12))
def test_storage_as_of_each_start_is_right_or_not_known_after_random_removals(plugin: Plugin, seed: int):
    """The real history is kept beside the log. What the log knows must be the same."""
    chance = random.Random(seed)
    now: dict[str, bytes] = {}
    history: dict[str, dict[str, bytes]] = {}
    left: list[str] = []
    for number in range(60):
        run_id = f"run_{number}"
        plugin.start(run_id)
        history[run_id] = dict(now)
        left.append(run_id)
        for _ in range(chance.randrange(4)):
            key, value = chance.choice("abcd"), chance.choice([b"x", LARGE]) + b"%d" % chance.randrange(5)
            if chance.random() < 0.3:
                plugin.delete(run_id, key)
                now.pop(key, None)
            else:
                plugin.put(run_id, key, value)
                now[key] = value
        if not number or chance.random() < 0.4:
            for each in left:
                then = plugin.at_start(each)
                known = {key: value for key, value in history[each].items() if key not in then.unknown}
                assert then.values.items() <= known.items()
                assert not then.is_complete or then.values == known
            plugin.remove(left.pop(chance.randrange(len(left))))
    assert {key: storage.get(plugin.conn, OWNER, key) for key in storage.keys(plugin.conn, OWNER)} == now


def test_without_removals_everything_is_known(plugin: Plugin):
    chance, now = random.Random(1), dict[str, bytes]()
    history: dict[str, dict[str, bytes]] = {}
    for number in range(40):
        run_id = f"run_{number}"
        plugin.start(run_id)
        history[run_id] = dict(now)
        key = chance.choice("abc")
        if chance.random() < 0.3:
            plugin.delete(run_id, key)
            now.pop(key, None)
        else:
            plugin.put(run_id, key, LARGE if number % 2 else b"%d" % number)
            now[key] = LARGE if number % 2 else b"%d" % number
    assert {run_id: plugin.at_start(run_id) for run_id in history} == {
        run_id: StorageThen(then) for run_id, then in history.items()
    }


def test_equal_large_values_are_stored_once_and_count_to_the_limit_of_the_journal(plugin: Plugin, conn: Connection):
    plugin.start("one")
    for _ in range(50):
        plugin.put("one", "k", LARGE)
    assert conn.exec_driver_sql("SELECT sum(length(content)) FROM parts").scalar_one() == len(LARGE)
    counted = plugin.parts["one"].stored_bytes
    assert len(LARGE) + 50 * 128 < counted < len(LARGE) + 50 * 256
    plugin.put("one", "k", b"y" * 1_000)
    assert plugin.parts["one"].stored_bytes - counted > 1_000


def test_large_value_with_a_secret_is_in_the_log_and_in_no_part(plugin: Plugin, conn: Connection):
    plugin.start("one")
    plugin.parts["one"] = RunParts("one", lambda content: b"sk-0123456789" in content)
    plugin.put("one", "k", LARGE + b"sk-0123456789")
    plugin.start("two")
    plugin.put("two", "k", b"2")

    assert conn.exec_driver_sql("SELECT count(*) FROM parts").scalar_one() == 0
    assert plugin.at_start("two") == StorageThen({"k": LARGE + b"sk-0123456789"})
    assert plugin.parts["one"].stored_bytes > len(LARGE)


def test_log_is_removed_in_slices(plugin: Plugin, conn: Connection):
    plugin.start("one")
    for number in range(100):
        plugin.put("one", f"k{number}", LARGE + b"%d" % number)
    hide(conn, "session_one", at=50)
    purge, slices = Purge("session_one"), 1
    while not purge.delete_slice(conn, at=51, event_id="audit", max_rows=40):
        slices += 1
    assert slices > 20
    assert (purge.deleted.storage_log, purge.deleted.parts) == (100, 100)
    assert len(storage.keys(conn, OWNER)) == 100, "the storage itself is shared"


def test_values_of_a_deleted_or_pruned_run_are_not_in_the_file(database: Database, path: Path):
    with database.writing_connection() as conn:
        plugin = Plugin(conn)
        for run_id in ("one", "two", "three"):
            plugin.start(run_id)
            plugin.put(run_id, "k", f"xylophone {run_id}".encode())
            plugin.put(run_id, "large", f"xylophone {run_id}".encode() * 500)
        plugin.remove("one")
        assert pruning.prune(conn, 3, 100, event_id="audit").counts.storage_log == 2
    database.empty_wal()
    assert files_containing(path.parent, "xylophone one", "xylophone two") == []
    assert files_containing(path.parent, "xylophone three") == [path.name]


def test_log_of_an_upgraded_database_begins_with_the_upgrade(path: Path):
    def fill(conn: Connection) -> None:
        conn.exec_driver_sql(
            "INSERT INTO runs (run_id, runner_id, status, created_at, updated_at, metadata)"
            " VALUES ('old', 'r', 'completed', 1, 1, '{}')"
        )
        conn.exec_driver_sql(
            "INSERT INTO journal (run_id, position, at, source, type, data, turn)"
            " VALUES ('old', 1, 1, 'host', 'x', '{}', 1)"
        )
        for key in ("changed", "same"):
            conn.exec_driver_sql(f"INSERT INTO storage VALUES ('{OWNER}', '{key}', x'01', 1)")

    make_database(path, "0012", fill)
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        plugin = Plugin(conn)
        plugin.start("new")
        assert plugin.at_start("new") == StorageThen({"changed": b"\1", "same": b"\1"})
        plugin.put("new", "changed", b"2")
        plugin.put("new", "added", b"2")
        assert plugin.at_start("new") == StorageThen({"same": b"\1"}, ("changed",))
        assert not plugin.at_start("old").is_complete
        assert plugin.at_start("old").values == {}
    database.close()
