from pathlib import Path

import pytest

from engine.runners.descriptor import Problem
from engine.runners.single_file import NO_RUNNER, OTHER_SDK, read_bare


def test_id_of_a_single_file_runner_is_local_stem_default(write, tmp_path: Path):
    path = write("hello.py", "async def run(ctx):\n    yield {}\n")

    (runner,), problems = read_bare(path, Path("/elsewhere"))

    assert problems == []
    assert str(runner.id) == "plugin:local/hello/default" == runner.manifest.id
    assert (runner.launch.path, runner.launch.attr, runner.launch.folder) == (path, None, tmp_path)
    assert runner.launch.cwd == Path("/elsewhere")
    assert not any(runner.manifest.capabilities.model_dump().values())
    assert not any(runner.manifest.permissions.model_dump().values())


def test_class_without_a_manifest_is_declared_by_its_class_attributes(write):
    path = write(
        "agent.py",
        """
from engine.protocol import AgentRunner

class Base(AgentRunner):
    permissions = {"history": ["page"]}
    label = "Base"

class Planner(Base):
    label: str = "Planner"
    description = "Plans."
    capabilities = {"streaming": True}
    config = [{"name": "pace", "type": "float", "default": 1.0}]

    async def run(self, ctx):
        yield {}

class Plain:
    async def run(self, ctx):
        yield {}

class _Hidden:
    async def run(self, ctx):
        yield {}

class Other:
    async def run(self):
        pass
""",
    )

    runners, problems = read_bare(path, path.parent)

    assert problems == []
    assert [str(runner.id) for runner in runners] == ["plugin:local/agent/Planner", "plugin:local/agent/Plain"]
    manifest = runners[0].manifest
    assert manifest.label == {"en_US": "Planner"}
    assert manifest.description == {"en_US": "Plans."}
    assert manifest.capabilities.streaming
    assert manifest.permissions.history == ["page"]
    assert [item.name for item in manifest.config_schema] == ["pace"]
    assert runners[1].manifest.label == {"en_US": "Plain"}


def test_runner_file_is_never_executed_in_the_host(write, tmp_path: Path):
    path = write("loud.py", f"open({str(tmp_path / 'ran')!r}, 'w')\nasync def run(ctx):\n    yield {{}}\n")

    runners, _ = read_bare(path, tmp_path)

    assert len(runners) == 1
    assert not (tmp_path / "ran").exists()


def test_attribute_that_is_not_a_literal_is_empty_and_reported(write):
    path = write("odd.py", "capabilities = dict(streaming=True)\nasync def run(ctx):\n    yield {}\n")

    (runner,), problems = read_bare(path, path.parent)

    assert not runner.manifest.capabilities.streaming
    assert problems == [Problem(path, "capabilities is not a literal; it counts as empty", 1)]


def test_unknown_capabilities_and_permissions_are_refused(write):
    path = write(
        "many.py",
        """\
class A:
    capabilities = {"flying": True}
    async def run(self, ctx):
        yield {}

class B:
    permissions = {"history": ["burn"]}
    async def run(self, ctx):
        yield {}

class C:
    async def run(self, ctx):
        yield {}
""",
    )

    runners, problems = read_bare(path, path.parent)

    assert [runner.id.name for runner in runners] == ["C"]
    assert [str(problem) for problem in problems] == [
        f"{path}:1: A.capabilities.flying: unknown key. Known: streaming, tool_calling, knowledge_retrieval, "
        "multimodal_input, skill_authoring, interrupt, steering",
        f"{path}:6: B.permissions.history[0]: must be 'page' or 'search'",
    ]


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("x = 1\n", NO_RUNNER, None),
        ("def run(ctx):\n    pass\n", NO_RUNNER, None),
        ("x = 1\nasync def run(ctx)\n    yield\n", "SyntaxError: expected ':'", 2),
        ("import os\nfrom langbot_plugin.api import Runner\nasync def run(ctx):\n    yield {}\n", OTHER_SDK, 2),
        ("x = '\\d'\nasync def run(ctx, more):\n    yield\n", NO_RUNNER, None),
    ],
)
def test_a_file_without_a_runner_says_why(write, text: str, reason: str, line: int | None):
    path = write("broken.py", text)

    assert read_bare(path, path.parent) == ([], [Problem(path, reason, line)])


@pytest.mark.parametrize("content", [b"\x00\x01", b"(" * 10_000, b"\xff\xfe async def run(ctx): yield"])
def test_bytes_that_are_not_python_are_reported_as_a_problem(tmp_path: Path, content: bytes):
    path = tmp_path / "bytes.py"
    path.write_bytes(content)

    runners, problems = read_bare(path, tmp_path)

    assert runners == []
    assert len(problems) == 1


def test_interpreter_of_the_venv_in_the_folder_is_used(write, tmp_path: Path):
    path = write("hello.py", "async def run(ctx):\n    yield {}\n")
    python = write(".venv/bin/python", "")

    (runner,), _ = read_bare(path, tmp_path)

    assert runner.launch.python == str(python)


def test_a_child_gets_only_the_named_variables_that_are_set(write):
    path = write("hello.py", "async def run(ctx):\n    yield {}\n")
    (runner,), _ = read_bare(path, path.parent)

    launch = runner.launch_with(python="python3", env=["KEY", "ABSENT"], environ={"KEY": "1", "SECRET": "2"})

    assert launch.env == (("KEY", "1"),)
    assert launch.python == "python3"
