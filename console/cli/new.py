"""`trackside new`: write a runner and its test."""

import argparse
import keyword
import shlex
import sys
from pathlib import Path
from typing import Final

from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import add_database, add_json

_IMPORTED_MODULES: Final = frozenset({"engine", "console", "pydantic", "pytest"})
"""Modules that the runner or its test imports: a file of the same name would hide them."""

RUNNER: Final = '''"""{title}: a runner. Run it with `trackside run {file} -m "Hi"`."""

from collections.abc import AsyncIterator

from engine.protocol import AgentRunContext, AgentRunner, AgentRunResult, Message, MessageChunk


class {name}(AgentRunner):
    """Streams a greeting in small chunks, and counts the greetings of the session in its state."""

    label = {{"en_US": "{title}"}}
    capabilities = {{"streaming": True}}
    config = [{{"name": "greeting", "type": "string", "label": {{"en_US": "Greeting"}}, "default": "Hello"}}]

    async def run(self, ctx: AgentRunContext) -> AsyncIterator[AgentRunResult]:
        times = int(ctx.state.conversation.get("greetings") or 0) + 1
        yield AgentRunResult.state_updated(ctx.run_id, "greetings", times, "conversation")

        text = f"{{ctx.config['greeting']}}! You said: {{ctx.input.to_text()}} (greeting {{times}} of this session)"
        for start in range(0, len(text), 8):
            chunk = MessageChunk(role="assistant", content=text[start : start + 8])
            yield AgentRunResult.message_delta(ctx.run_id, chunk)

        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
        yield AgentRunResult.run_completed(ctx.run_id)
'''

TEST: Final = '''"""Runs {file} with `trackside run` and checks its journal."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).with_name("{file}")
COMMAND = shutil.which("trackside")
TRACKSIDE = [COMMAND] if COMMAND else [sys.executable, "-m", "console"]


def run(database: Path, message: str, *options: str) -> list[dict]:
    command = [*TRACKSIDE, "run", str(RUNNER), "-m", message, "--jsonl", "--db", str(database), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


def messages(journal: list[dict]) -> list[str]:
    return [entry["data"]["message"]["content"] for entry in journal if entry["type"] == "message.completed"]


def test_runner_answers(tmp_path):
    journal = run(tmp_path / "test.db", "Hi", "--set", "greeting=Welcome")

    assert messages(journal) == ["Welcome! You said: Hi (greeting 1 of this session)"]
    assert journal[-1]["data"]["status"] == "completed"


def test_greetings_are_counted_per_session(tmp_path):
    run(tmp_path / "test.db", "Hi", "--session", "demo")

    journal = run(tmp_path / "test.db", "Hi again", "--session", "demo")

    assert messages(journal) == ["Hello! You said: Hi again (greeting 2 of this session)"]
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name, such as hello; writes hello.py and test_hello.py")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json
    from console.cli.terminal import standard_output
    from console.model.text.safe import one_line

    out = standard_output()
    runner = _runner_path(options.name)
    test = runner.with_name(f"test_{runner.name}")
    words = runner.stem.split("_")
    names = {"file": runner.name, "title": " ".join(words).capitalize(), "name": "".join(map(str.capitalize, words))}
    _write({runner: RUNNER.format(**names), test: TEST.format(**names)})
    if options.json:
        print_json(out, {"files": [str(runner), str(test)]})
        return ExitCode.OK
    shown, shown_test = one_line(shlex.quote(str(runner))), one_line(shlex.quote(str(test)))
    out.line(f"Wrote {one_line(str(runner))} and {one_line(str(test))}. Now:\n")
    out.line(f'  trackside run {shown} -m "Hi"')
    out.line(f"  python -m pytest {shown_test}")
    return ExitCode.OK


def _runner_path(name: str) -> Path:
    path = Path(name)
    stem = path.name.removesuffix(".py").replace("-", "_")
    if not stem.isidentifier() or not stem.isascii() or keyword.iskeyword(stem) or stem.startswith(("_", "test_")):
        raise UsageError("NAME must be a name for a Python file: letters, digits and _, such as hello or trip_planner.")
    if stem in sys.stdlib_module_names or stem in _IMPORTED_MODULES:
        raise UsageError(f"a file called {stem}.py would hide the module {stem}. Choose another name.")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}. Create it first, or leave it out.")
    return path.with_name(f"{stem}.py")


def _write(files: dict[Path, str]) -> None:
    existing = [str(path) for path in files if path.exists()]
    if existing:
        verb = "exists" if len(existing) == 1 else "exist"
        raise UsageError(f"{' and '.join(existing)} already {verb}; nothing was written. Choose another name.")
    for path, text in files.items():
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
