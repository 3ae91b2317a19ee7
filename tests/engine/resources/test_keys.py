from pathlib import Path

from engine.resources.files import list_file_keys, read_file


def test_files_that_can_be_named_are_listed_and_each_can_be_read(tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    for path in ("one/b.txt", "one/deep/a.txt", "one/.hidden", "two/c.txt", "outside.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    (one / "link.txt").symlink_to(tmp_path / "outside.txt")
    (one / "loop").symlink_to(one, target_is_directory=True)
    roots = (one, tmp_path / "gone", two)

    keys = list_file_keys(roots)

    assert keys == ["b.txt", "c.txt", "deep/a.txt"]
    assert [read_file(key, roots).decode() for key in keys] == ["one/b.txt", "two/c.txt", "one/deep/a.txt"]
    assert len(list_file_keys(roots, limit=2)) == 2
    assert list_file_keys(()) == []
