"""The source files of a runner."""

from pathlib import Path

from engine.runners import source_files
from engine.runners.discovery import Source, discover
from engine.runners.source_files import changed, files_of, made_of


def test_files_of_a_plugin_are_code_and_manifests_without_installed_packages(plugins, tmp_path: Path):
    folder = plugins.plugin()
    plugins.component(folder)
    for name in ("lib/more.py", "lib/out.json", ".venv/a.py", ".git/b.py", "__pycache__/c.py", "node_modules/d.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    (folder / "env").mkdir()
    (folder / "env" / "pyvenv.cfg").touch()
    (folder / "env" / "e.py").write_text("x")
    (folder / "loop").symlink_to(folder, target_is_directory=True)

    found = files_of([folder])

    names = {str(path.relative_to(folder)) for path in found.marks}
    assert names == {"manifest.yaml", "components/main.yaml", "components/main.py", "lib/more.py"}
    assert found.folders == {folder, folder / "components", folder / "lib"}


def test_huge_folder_is_not_searched_completely(plugins, monkeypatch):
    folder = plugins.plugin()
    for number in range(50):
        (folder / f"f{number}").mkdir()
        (folder / f"f{number}" / "x.py").touch()
    monkeypatch.setattr(source_files, "MAX_FILES", 10)
    assert len(files_of([folder]).marks) <= 11


def test_files_of_a_single_file_runner_include_helper_modules_and_no_other_runner(write, tmp_path: Path):
    hello = write("hello.py", "async def run(ctx):\n    yield\n")
    other = write("other.py", "async def run(ctx):\n    yield\n")
    beside, test = write("beside.py", "x = 1"), write("test_hello.py", "x = 1")
    deep = write("deep/more.py", "x = 1")
    runners = discover([Source(tmp_path)], tmp_path).runners

    assert set(files_of([hello]).marks) == {hello, other, beside, test}
    assert made_of(runners, [hello]) == ("plugin:local/hello/default",)
    assert made_of(runners, [beside]) == ("plugin:local/hello/default", "plugin:local/other/default")
    assert made_of(runners, [test]) == made_of(runners, [deep]) == ()


def test_written_added_and_removed_files_are_changes(write, tmp_path: Path):
    kept, written, gone = write("kept.py", "1"), write("written.py", "1"), write("gone.py", "1")
    before = files_of([tmp_path], [tmp_path / "trackside.yaml"]).marks
    written.write_text("12")
    gone.unlink()
    added = write("trackside.yaml", "{}")

    now = files_of([tmp_path], [tmp_path / "trackside.yaml"]).marks
    assert changed(before, now) == (gone, added, written)
    assert kept in now
