"""Commands as users type them: a home folder, a working folder and a database of their own for each test.

Commands run in forks of one warm process. `within`, `real` and tests that start Python themselves use a new process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.command_server import CommandProcess, CommandServer

ROOT = Path(__file__).resolve().parents[2]

SPEAKER = """
import os
from engine.protocol import AgentRunner, AgentRunResult, Message

class Speaker(AgentRunner):
    config = [
        {"name": "words", "type": "integer", "label": {"en_US": "Words"}, "default": 1},
        {"name": "api_key", "type": "string", "label": {"en_US": "Key"}},
    ]

    async def run(self, ctx):
        seen = os.environ.get("SHOP_API_KEY", "")
        print("key of", len(seen), "letters:", seen)
        text = " ".join([ctx.event.event_type, ctx.input.to_text(), str(ctx.config["words"]), seen])
        yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=text))
        yield AgentRunResult.run_completed(ctx.run_id)
"""


@dataclass(frozen=True)
class Trackside:
    """Runs commands in one working folder, on one database."""

    folder: Path
    database: Path
    environment: dict[str, str]
    server: CommandServer

    def __call__(
        self,
        *typed: str,
        stdin: str = "",
        env: dict[str, str] | None = None,
        within: Sequence[str] = (),
        db: Path | None = None,
        real: bool = False,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end. `within` is a command line to run it in, `real` starts a new process."""
        environment = self.environment | (env or {})
        if not within and not real:
            args = self.arguments(*typed, db=db)
            return self.server.run(args, cwd=self.folder, env=environment, stdin=stdin)
        return subprocess.run(
            [*within, *self.line(*typed, db=db)],
            input=stdin,
            env=environment,
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def arguments(self, *typed: str, db: Path | None = None) -> list[str]:
        """The arguments of `trackside` for what was typed, with the test's database."""
        command, *rest = typed
        return [command, "--db", str(db or self.database), *rest]

    def line(self, *typed: str, db: Path | None = None) -> list[str]:
        """The command line of a new process."""
        return [sys.executable, "-m", "console", *self.arguments(*typed, db=db)]

    def start(self, *typed: str, stdin: int = subprocess.DEVNULL) -> CommandProcess:
        """Start a command and return at once; the test reads its output line by line."""
        return self.server.start(self.arguments(*typed), cwd=self.folder, env=self.environment, stdin=stdin)

    def start_with(
        self, *typed: str, streams: tuple[int | None, int | None, int | None], env: dict[str, str] | None = None
    ) -> CommandProcess:
        """Start a command with these descriptors as its standard streams; None is the null device."""
        null = os.open(os.devnull, os.O_RDWR)
        try:
            return self.server.start_with(
                self.arguments(*typed),
                cwd=self.folder,
                env=self.environment | (env or {}),
                streams=[null if one is None else one for one in streams],
            )
        finally:
            os.close(null)

    def error(self, *typed: str, code: int = 2, **how: Any) -> str:
        """Return the error line of a command that must fail, without the program's name."""
        done = self(*typed, **how)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.startswith("trackside: ")
        assert done.stderr.count("\n") == 1
        return done.stderr.removeprefix("trackside: ").removesuffix("\n")

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def entries(text: str) -> list[dict[str, Any]]:
    """Return the entries that `--jsonl` printed, without the header of `show`."""
    return [json.loads(line) for line in text.splitlines() if not line.startswith('{"format":')]


def after_header(recording: str) -> str:
    """Return what `show --jsonl` printed, without its first line."""
    return recording.partition("\n")[2]


def make_trackside(folder: Path, server: CommandServer) -> Trackside:
    """Return a command line with a working folder, a home folder and a database under `folder`."""
    work, home = folder / "work", folder / "home"
    work.mkdir()
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "LANG": "C.UTF-8",
    }
    return Trackside(work, folder / "facts.db", environment, server)
