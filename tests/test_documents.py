"""The README and the manual: their examples are run, and their tables are compared with the code."""

import re
import runpy
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from operator import attrgetter
from pathlib import Path

import pytest

from console.cli.exit_codes import ExitCode
from console.cli.main import COMMANDS, RESERVED
from console.model.commands.table import COMMANDS as CONSOLE_COMMANDS
from console.model.commands.table import shown_key
from engine import api
from tests.support.commands import Trackside
from tests.support.engines import Engines

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = ("console", "runners", "configuration", "resources", "commands", "journal", "python", "testing")
MANUAL = [ROOT / "docs" / f"{name}.md" for name in PAGES]
PYTHON_PAGE = ROOT / "docs" / "python.md"
DOCUMENTS = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "docs" / "ARCHITECTURE.md", *MANUAL]
WITH_EXAMPLES = [path for path in (README, *MANUAL) if path.stem != "console"]
GREETER = """
from engine.protocol import AgentRunner, AgentRunResult, Message


class Greeter(AgentRunner):
    async def run(self, ctx):
        text = f"You said: {ctx.input.to_text()}"
        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
        yield AgentRunResult.run_completed(ctx.run_id)
"""
KEY_SYMBOLS = {
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "/": "slash",
    ":": "colon",
}


@dataclass
class Example:
    """One command line of a document, with the lines that its output must contain."""

    command: str
    exit_code: int = 0
    promised: list[str] = field(default_factory=list)


def blocks(path: Path) -> list[tuple[str, str]]:
    """Return language and text of the fenced blocks of a document."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def examples(text: str) -> list[Example]:
    """Return the commands of a `console` block: `$ command`, then lines that its output must contain."""
    found: list[Example] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            command, _, code = line[2:].partition("  # exits ")
            found.append(Example(command, int(code or 0)))
        else:
            found[-1].promised.append(line)
    return found


def contains(output: str, promised: str) -> bool:
    """Return whether a line of the output has these words in this order; `…` stands for any text."""
    words = [re.escape(word) for word in re.split(r"…|  +", promised.strip()) if word.strip()]
    return any(re.search(".*".join(words), line) for line in output.splitlines())


def run(trackside: Trackside, command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command line of a document; a pipe gives the standard input of `trackside`."""
    before, pipe, after = command.rpartition(" | ")
    stdin = ""
    if pipe:
        stdin = subprocess.run(["sh", "-c", before], capture_output=True, text=True, check=True).stdout
    program, *words = shlex.split(after, comments=True)
    if program == "python":
        return run_script(trackside.folder, *words)
    assert program == "trackside", command
    environment = trackside.environment | {"XDG_CONFIG_HOME": str(trackside.folder / "config")}
    return trackside.server.run(words, cwd=trackside.folder, env=environment, stdin=stdin)


def run_script(folder: Path, name: str) -> "subprocess.CompletedProcess[str]":
    """Run a script of a document in this process, which has the engine loaded."""
    output = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        runpy.run_path(name, run_name="__main__")
    return subprocess.CompletedProcess([name], 0, output.getvalue(), "")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_print_what_the_document_promises(trackside: Trackside, path: Path):
    trackside.write("runners/greeter.py", GREETER)
    for language, text in blocks(path):
        if language in ("python", "yaml"):
            name, _, content = text.partition("\n")
            trackside.write(name.removeprefix("# "), content)
        elif language == "sh":
            commands = [line for line in text.splitlines() if line.startswith("trackside ")]
            for command in commands:
                done = run(trackside, command)
                assert done.returncode == 0, (command, done.stdout, done.stderr)
        elif language == "console":
            for example in examples(text):
                done = run(trackside, example.command)
                assert done.returncode == example.exit_code, (example, done.stdout, done.stderr)
                for line in example.promised:
                    assert contains(done.stdout, line), (example.command, line, done.stdout, done.stderr)


def test_scripts_of_the_python_page_have_at_most_ten_lines_and_are_run():
    text = PYTHON_PAGE.read_text()
    scripts = dict(code.partition("\n")[::2] for language, code in blocks(PYTHON_PAGE) if language == "python")
    del scripts["# listener.py"]

    for name, code in scripts.items():
        body = code.partition("async def main():")[2].partition("asyncio.run(main())")[0]
        assert 1 < len(body.strip().splitlines()) <= 10, name
        assert f"$ python {name.removeprefix('# ')}\n" in text
    assert len(scripts) == 6


async def test_names_of_the_python_page_exist(open_engine: Engines):
    engine = await open_engine()
    section = PYTHON_PAGE.read_text().partition("## Names of the protocol's documents")[2]
    rows = re.findall(r"^\| `(.*?) \| (.*?) \| (.*?) \|$", section, re.MULTILINE)

    assert {"AgentRunSessionRegistry", "SessionManager"} < {name for row in rows for name in re.findall(r"\w+", row[0])}
    for _, names, files in rows:
        for name in re.findall(r"`([\w.]+)`", names):
            if name.startswith("engine."):
                attrgetter(name.removeprefix("engine."))(engine)
            else:
                assert name in api.__all__
        assert all((ROOT / file).is_file() for file in re.findall(r"`([^`]+)`", files)), files


def test_every_example_is_in_a_block_that_is_run():
    for path in DOCUMENTS:
        languages = {language for language, _ in blocks(path)}
        assert languages <= {"python", "yaml", "sh", "console"}, path
        if path in WITH_EXAMPLES:
            assert path.read_text().count("```") == 2 * len(blocks(path)), path
        else:
            assert not languages, path


def test_readme_is_short_and_its_runner_has_at_most_25_lines():
    lines = README.read_text().splitlines()
    runner = next(text for language, text in blocks(README) if language == "python")

    assert 80 <= len(lines) <= 120
    assert len(runner.splitlines()) - 1 <= 25
    for word in ("invoke_llm", "call_tool", "permissions", "steering_pull"):
        assert word in runner


def test_make_targets_of_the_documents_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for path in DOCUMENTS:
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text(), re.MULTILINE))
        assert named <= targets, path


def test_commands_page_lists_every_command_and_reserved_name():
    page = (ROOT / "docs" / "commands.md").read_text()
    named = set(re.findall(r"^\| `trackside ([a-z]+)", page, re.MULTILINE))
    reserved = re.search(r"reserved for later versions[^:]*: ([^.]*)\.", page)

    assert named == set(COMMANDS)
    assert reserved is not None
    assert set(re.findall(r"`(\w+)`", reserved[1])) == RESERVED


def test_commands_page_lists_every_exit_code():
    page = (ROOT / "docs" / "commands.md").read_text()
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == set(map(int, ExitCode))


def test_options_of_the_commands_page_exist(trackside: Trackside):
    page = (ROOT / "docs" / "commands.md").read_text()
    section = page.partition("| option of `run` |")[2].partition("\n\n")[0]
    help_text = run(trackside, "trackside run --help").stdout

    options = re.findall(r"^\| `(--?[a-z]+)", section, re.MULTILINE)
    assert len(options) > 10
    for option in options:
        assert re.search(rf"{option}\b", help_text), option


def keys_of(text: str) -> Iterator[str]:
    """Yield the keys in the tables of the section `Keys`, as Textual names them."""
    section = text.partition("\n## Keys\n")[2].partition("\n## ")[0]
    for row in re.findall(r"^\|(.*)\|$", section, re.MULTILINE):
        for key in re.findall(r"`([^`]+)`", row):
            yield KEY_SYMBOLS.get(key, key)


@pytest.mark.parametrize("path", [README, ROOT / "docs" / "console.md"], ids=lambda path: path.stem)
def test_keys_of_the_document_are_bound(path: Path):
    keys = {key for command in CONSOLE_COMMANDS for key in command.keys.split(",") if key}
    bound = keys | {shown_key(key) for key in keys}

    missing = set(keys_of(path.read_text())) - bound - {"enter", "up", "tab"}

    assert not missing


def test_keys_of_the_readme_do_what_it_says():
    readme = set(keys_of(README.read_text()))
    commands = {
        "f5": ["app.run_again"],
        "f6": ["app.pause", "app.continue"],
        "f7": ["app.step"],
        "f8": ["app.stop"],
        "f2": ["app.zoom"],
        "f1": ["app.help"],
        "ctrl+p": ["app.palette"],
    }

    assert commands.keys() <= readme
    for key, ids in commands.items():
        assert [one.id for one in CONSOLE_COMMANDS if one.where == "app" and key in one.keys.split(",")] == ids


def test_links_and_pictures_of_the_documents_exist():
    for path in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert (path.parent / link).exists(), (path, link)
