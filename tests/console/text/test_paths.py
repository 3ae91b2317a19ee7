"""Completion and display of paths."""

import pytest

from console.model.text import paths


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("./r", "./ru"), ("./run", "./runner.py"), ("./x", "./x"), ("./", "./"), ("./.", "./.hidden/")],
)
def test_path_is_completed_as_far_as_it_is_unambiguous(text: str, wanted: str):
    names = [("runner.py", False), ("rust", True), (".hidden", True), ("other.py", False)]
    folder = paths.FolderListing(names=tuple(paths.FolderEntry(*name) for name in names))
    assert paths.complete_path(text, folder) == wanted


@pytest.mark.parametrize(("path", "said"), [("/h/p/a.py", "./a.py"), ("/h/b.py", "~/b.py"), ("/hp/c.py", "/hp/c.py")])
def test_path_is_shown_relative_to_the_working_or_home_folder(path: str, said: str):
    assert paths.short_path(path, "/h/p", "/h") == said
