"""The commands as a person types them: real processes, a home of their own, a database in a temporary folder."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

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
    """Starts commands in one working folder, on one database."""

    folder: Path
    database: Path
    environment: dict[str, str]

    def __call__(
        self,
        *typed: str,
        stdin: str = "",
        env: dict[str, str] | None = None,
        within: Sequence[str] = (),
        db: Path | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*within, *self.line(*typed, db=db)],
            input=stdin,
            env=self.environment | (env or {}),
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def line(self, *typed: str, db: Path | None = None) -> list[str]:
        command, *rest = typed
        return [sys.executable, "-m", "console", command, "--db", str(db or self.database), *rest]

    def start(self, *typed: str) -> "subprocess.Popen[str]":
        """A command that goes on, with its output to read line by line."""
        return subprocess.Popen(
            self.line(*typed),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.folder,
            encoding="utf-8",
        )

    def error(self, *typed: str, code: int = 2, **how: Any) -> str:
        """What a command that must fail says, without our name before it."""
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
    """The journal that `--jsonl` printed."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def trackside(tmp_path: Path) -> Trackside:
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "LANG": "C.UTF-8",
    }
    return Trackside(folder, tmp_path / "facts.db", environment)
