"""Everything that Trackside stores can be read by its owner only, whatever the umask."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.api import Engine
from engine.store.database import Database
from engine.store.health import examine
from engine.store.private_files import create_private_file, files_beside, make_private_folder, open_to_others
from tests.support.engines import Engines, done, run_event
from tests.support.store_samples import entry, write_entries


@pytest.fixture(params=[0o000, 0o022, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.usefixtures("umask")
def test_a_new_database_and_its_folder_are_private(tmp_path: Path):
    path = tmp_path / "some" / "where" / "facts.db"
    database = Database.open(path, write=True)
    with database.writing_connection() as conn:
        write_entries(conn, entry(1, "run_1"))
        found = {file.name: mode(file) for file in path.parent.iterdir()}
    database.close()

    assert found == {"facts.db": 0o600, "facts.db-wal": 0o600, "facts.db-shm": 0o600}
    assert [mode(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]


@pytest.mark.usefixtures("umask")
def test_a_new_file_is_private_before_anything_is_in_it(tmp_path: Path):
    create_private_file(tmp_path / "new")

    assert mode(tmp_path / "new") == 0o600
    with pytest.raises(FileExistsError):
        create_private_file(tmp_path / "new")


@pytest.mark.usefixtures("umask")
async def test_files_of_a_host_are_private(tmp_path: Path):
    path = tmp_path / "facts.db"
    async with await Engine.open(db=path):
        found = {file.name: mode(file) for file in files_beside(path)}

    assert sum(".host-" in name for name in found) == 1
    assert set(found.values()) == {0o600}


def test_an_existing_database_is_tightened_and_an_existing_folder_is_not(tmp_path: Path):
    path = tmp_path / "facts.db"
    Database.open(path, write=True).close()
    path.chmod(0o664)
    tmp_path.chmod(0o755)

    Database.open(path, write=False).close()
    assert mode(path) == 0o664
    Database.open(path, write=True).close()

    assert (mode(path), mode(tmp_path)) == (0o600, 0o755)


async def test_the_folder_of_the_default_database_is_tightened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "trackside"
    folder.mkdir(mode=0o755)

    await (await Engine.open()).close()

    assert mode(folder) == 0o700
    assert open_to_others(folder.iterdir()) == []


def test_examination_names_what_others_can_read(tmp_path: Path):
    path = tmp_path / "facts.db"
    Database.open(path, write=True).close()
    assert examine(path, data_folder=tmp_path).wide_files == ()
    report, other = tmp_path / "facts.db.crash-1.txt", tmp_path / "notes.txt"
    for file in (report, other):
        file.write_text("text")
        file.chmod(0o644)
    path.chmod(0o604)
    tmp_path.chmod(0o711)

    health = examine(path, data_folder=tmp_path)

    assert health.wide_folder == tmp_path
    assert {path, report} <= set(health.wide_files)
    assert other not in health.wide_files
    assert examine(path).wide_folder is None


def test_a_folder_that_exists_is_left_as_it_is(tmp_path: Path):
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)

    assert mode(tmp_path) == 0o755


async def test_a_closed_database_is_complete_without_its_log(open_engine: Engines, tmp_path: Path):
    async def answers(ctx: object):
        yield done("hello")

    engine = await open_engine(answers)
    run = await run_event(engine)
    await open_engine.close(engine)

    assert [file.name for file in files_beside(open_engine.db)] == ["facts.db"]
    copy = tmp_path / "copy.db"
    copy.write_bytes(open_engine.db.read_bytes())
    async with await Engine.open(db=copy, mode="read") as reader:
        assert [row.run_id for row in await reader.runs.list()] == [run.run_id]
