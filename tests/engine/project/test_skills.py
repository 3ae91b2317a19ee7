"""Skills of trackside.yaml: where they are found, what their header says, and errors with file and line."""

from pathlib import Path

import pytest

from engine.project.config import ConfigError, load_project
from engine.project.skill_loader import MAX_HEADER_BYTES
from engine.project.workspace import Workspace, WorkspaceOptions

SKILL = """---
name: packing
display_name: Packing
description: Says what to pack.
license: MIT
---
# Packing

A coat.
"""


def test_a_folder_of_skills_and_a_single_skill_are_found(load_set, write):
    write("skills/one/SKILL.md", SKILL)
    write("skills/two/SKILL.md", "No header.\n")
    write("skills/notes/README.md", "No skill.")
    write("own/SKILL.md", "---\n---\nBody.\n")

    skills = load_set("skills: [./skills, ./own]\n").skills

    facts = {name: (one.fact.display_name, one.fact.description) for name, one in skills.items()}
    assert facts == {"packing": ("Packing", "Says what to pack."), "two": ("", ""), "own": ("", "")}
    bodies = {name: one.read_body() for name, one in skills.items()}
    assert bodies == {"packing": b"# Packing\n\nA coat.\n", "two": b"No header.\n", "own": b"Body.\n"}


def test_skills_can_be_granted(load_set, write):
    write("skills/one/SKILL.md", SKILL)

    assert list(load_set("skills: [./skills]\n").catalog().skills) == ["packing"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s/SKILL.md", "---\nname: a b\n---\n", "s/SKILL.md:2: name: must match pattern '^\\S{1,128}$'"),
        ("s/SKILL.md", "---\nname: a\ndescription: [x]\n---\n", "s/SKILL.md:3: description: must be text"),
        ("s/SKILL.md", "---\nname: a\n", "s/SKILL.md:1: the header does not end: add a line with --- after it"),
        (
            "s/SKILL.md",
            f"---\nname: {'a' * MAX_HEADER_BYTES}\n---\n",
            "s/SKILL.md:1: the header does not end: add a line",
        ),
        ("s/SKILL.md", "---\n- a\n---\n", "s/SKILL.md: must be a mapping"),
        ("s/SKILL.md", "---\nname: [\n---\n", "s/SKILL.md:3: not YAML"),
        ("s/my skill/SKILL.md", "Body.", "s/my skill/SKILL.md: name: must match pattern '^\\S{1,128}$'"),
        ("s/notes.md", "", "trackside.yaml:1: skills[0]: "),
        ("t/notes.md", "", "trackside.yaml:1: skills[0]: "),
    ],
)
def test_invalid_skill_is_reported_with_file_and_line(
    load_set, write, tmp_path: Path, name: str, text: str, message: str
):
    write(name, text)

    with pytest.raises(ConfigError) as caught:
        load_set("skills: [./s]\n")

    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_two_skills_of_one_name_are_an_error(load_set, write, tmp_path: Path):
    write("s/one/SKILL.md", SKILL)
    write("s/two/SKILL.md", SKILL)

    with pytest.raises(ConfigError) as caught:
        load_set("skills: [./s]\n")

    assert str(caught.value) == (
        f"{tmp_path}/s/two/SKILL.md: name: another skill is called 'packing' already: {tmp_path}/s/one/SKILL.md"
    )


def test_a_link_out_of_the_folder_is_refused(load_set, write, tmp_path: Path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s/SKILL.md").symlink_to(write("secret.txt", "walnut"))

    with pytest.raises(ConfigError, match="is a link to a file outside its folder"):
        load_set("skills: [./s]\n")


def test_an_edited_and_an_added_skill_are_noticed(write, tmp_path: Path):
    write("skills/one/SKILL.md", SKILL)
    project = load_project(write("trackside.yaml", "skills: [./skills]\n"))
    workspace = Workspace.find(options=WorkspaceOptions(project=project, folder=tmp_path))

    edited = write("skills/one/SKILL.md", SKILL + "More.\n")
    added = write("skills/two/SKILL.md", "Body.")

    assert workspace.file_stamps()[edited] != workspace.scan_files().marks[edited]
    assert added in workspace.scan_files().marks
    assert list(workspace.reread().catalog.skills) == ["packing", "two"]
