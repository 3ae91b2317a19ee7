"""Typed and pasted paths, and the tokens that stand for files."""

import os
from pathlib import Path
from typing import Any

import pytest

from console.data.prompt_drafts import Draft
from console.model.prompt.attachment_tokens import AttachmentTokens, file_kind
from console.model.text.paths import Candidate, candidates, fragment_at, mention, pasted_files, readings
from tests.support.console.sample_files import folder_of_files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few files."""
    here = folder_of_files(tmp_path)
    monkeypatch.chdir(here)
    return here


# Typed paths


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("@no", "no"),
        ("see @my/no", "my/no"),
        ("@", ""),
        ('@"my maps/ci', "my maps/ci"),
        ("ann@example", None),
        ("@notes.txt and", None),
        ("no", None),
    ],
)
def test_path_follows_an_at_that_begins_a_word(line: str, typed: str | None):
    found = fragment_at(line, len(line))
    assert (found.typed if found else None) == typed
    assert found is None or line[found.start] == "@"


def test_only_text_before_the_cursor_counts():
    found = fragment_at("see @notes.txt", len("see @no"))
    assert found is not None
    assert (found.typed, found.end) == ("no", 7)


def test_matching_names_are_offered_folders_first_and_hidden_ones_only_if_typed():
    assert [one.path for one in candidates("")] == ["my maps/", "north.png", "notes.txt"]
    assert [one.path for one in candidates("no")] == ["north.png", "notes.txt"]
    assert [one.path for one in candidates("./NOTES")] == ["./notes.txt"]
    assert [one.path for one in candidates(".h")] == [".hidden"]
    assert candidates("my maps/") == [Candidate("my maps/city map.txt", 17)]
    assert candidates("nowhere/") == []
    assert candidates("\0") == []
    assert [one.path for one in candidates("~")] == ["~/"]
    assert [one.path for one in candidates("my maps/..")] == ["my maps/../"]


def test_name_is_found_in_a_folder_of_any_size(folder: Path):
    (folder / "huge").mkdir()
    for number in range(6_000):
        (folder / "huge" / f"f{number:05}").touch()
    for last in (0, 5_999):
        assert [one.path for one in candidates(f"huge/f{last:05}")] == [f"huge/f{last:05}"]


def test_only_files_and_folders_are_offered(folder: Path):
    os.mkfifo(folder / "nopipe")
    (folder / "nowhere").symlink_to("gone")
    (folder / "no\x1b[31mred").write_text("")
    assert [one.path for one in candidates("no")] == ["north.png", "notes.txt"]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("/tmp/a.txt\n", [["/tmp/a.txt"]]),
        ("'/tmp/a b.txt' ", [["/tmp/a b.txt"]]),
        ("/tmp/a b.txt", [["/tmp/a b.txt"]]),
        ("/tmp/a /tmp/b", [["/tmp/a /tmp/b"], ["/tmp/a", "/tmp/b"]]),
        (r"/tmp/a\ b.txt", [[r"/tmp/a\ b.txt"], ["/tmp/a b.txt"]]),
        ("file:///tmp/a%20b.txt", [["/tmp/a b.txt"]]),
        ("file:///tmp/%E4%BA%AC.txt\r\nfile:///tmp/b.txt\r\n", [["/tmp/京.txt", "/tmp/b.txt"]]),
        ("/tmp/a.txt\n/tmp/b.txt", [["/tmp/a.txt", "/tmp/b.txt"]]),
        ("~/notes.txt", [["~/notes.txt"]]),
        ("see /tmp/a.txt", []),
        ("/tmp/a.txt\nhello", []),
        ("it's /so", []),
        ("/" * 5_000, ()),
        ("\n", ()),
        ("", ()),
    ],
)
def test_paste_of_paths_is_recognized(text: str, ways: Any):
    assert readings(text) == ways


def test_pasted_paths_are_attached_only_if_all_are_files(folder: Path):
    there = str(folder / "notes.txt")
    assert pasted_files([[f"{there} x"], [there]]) == ([Candidate(there, 18)], "")
    assert pasted_files([[there, f"{folder}/nowhere"]]) == ((), f"{folder}/nowhere does not exist")
    assert pasted_files([[str(folder)]]) == ((), f"{folder} is a folder; attach its files one by one")
    assert pasted_files([["/dev/null"]]) == ((), "/dev/null is a pipe, a device or a socket, not a file")
    for no_path in ("/help", "/no/such/folder", "~nobody/x", "/\0"):
        assert pasted_files([[no_path]]) == ((), ""), "it may be any text"


@pytest.mark.parametrize(
    ("path", "typed", "fits"),
    [
        ("notes.txt", "no", True),
        ("notes.txt", "OTES", True),
        ("north.png", "not", False),
        ("my maps/", "my", True),
        ("my maps/", "my maps/", False),
        ("my maps/city map.txt", "my maps/ci", True),
        ("notes.txt", "./no", False),
    ],
)
def test_offered_path_counts_only_while_it_matches_the_typed_text(path: str, typed: str, fits: bool):
    assert Candidate(path, 1).fits(typed) is fits


def test_path_with_a_space_is_quoted():
    assert (mention("a.txt"), mention("a b.txt")) == ("@a.txt", '@"a b.txt"')


# Tokens


def test_token_shows_name_type_and_size():
    tokens = AttachmentTokens()
    token = tokens.token(Candidate("maps/city.png", 2_048))
    assert token == "⟦city.png · image/png · 2.0 KiB⟧"
    text = f"where is {token}?"
    assert tokens.paths(text) == ("maps/city.png",)
    assert tokens.text_to_send(text) == "where is city.png?"
    assert tokens.written(token) == "@maps/city.png"
    assert tokens.files_in(text) == {token: str(Path("maps/city.png").absolute())}
    assert [text[span.start : span.end] for span in tokens.spans(text)] == [token]


def test_files_without_text_give_an_empty_message():
    tokens = AttachmentTokens()
    assert tokens.text_to_send("  indented\n") == "  indented\n"
    token = tokens.token(Candidate("a.txt", 1))
    assert tokens.text_to_send(f" {token} ") == ""
    assert tokens.text_to_send("  indented\n") == "  indented\n"


def test_two_files_with_the_same_name_have_different_tokens():
    tokens = AttachmentTokens()
    one, other = tokens.token(Candidate("x/a.txt", 1)), tokens.token(Candidate("y/a.txt", 1))
    assert (one, other) == ("⟦a.txt · text/plain · 1 B⟧", "⟦y/a.txt · text/plain · 1 B⟧")
    assert tokens.token(Candidate("x/a.txt", 1)) == one
    assert tokens.paths(f"{one} {other} {one}") == ("x/a.txt", "y/a.txt")


def test_file_has_one_token_for_every_form_of_its_path():
    tokens = AttachmentTokens()
    token = tokens.token(Candidate("a.txt", 1))
    assert tokens.token(Candidate("./a.txt", 1)) == token == tokens.token(Candidate(str(Path("a.txt").absolute()), 1))
    grown = tokens.token(Candidate("a.txt", 2))
    assert len(tokens.paths(f"{token} {grown}")) == 1


def test_long_paths_with_the_same_end_are_numbered():
    tokens = AttachmentTokens()
    tokens = {tokens.token(Candidate(f"{folder}/{'long/' * 20}a.txt", 1)) for folder in "xyz"}
    assert len(tokens) == 3


def test_file_name_with_control_characters_is_safe():
    assert "\x1b" not in AttachmentTokens().token(Candidate("a\x1b[31m.txt", 1))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("A.PNG", "image/png"), ("a.md", "text/markdown"), ("a.tar.gz", "application/gzip"), ("Makefile", "file")],
)
def test_type_is_that_of_the_stored_artifact(name: str, kind: str):
    assert file_kind(name) == kind


def test_draft_of_any_bytes_is_read_as_text():
    assert Draft.decode(Draft("a", {"t": "/p"}).encode()) == Draft("a", {"t": "/p"})
    assert Draft.decode(Draft("a", {"t": "/p"}, "ed1").encode()) == Draft("a", {"t": "/p"}, "ed1")
    assert Draft.decode(Draft("a", session="ed1").encode()) == Draft("a", session="ed1")
    assert Draft.decode(b'old\0{"t": "/p"}') == Draft("old", {"t": "/p"})
    assert Draft("", {}, "ed1").encode() == b""
    assert Draft.decode(b"plain") == Draft("plain")
    assert Draft.decode(b"half\0{") == Draft("half")
    assert Draft.decode(b"odd\0[1]") == Draft("odd")
