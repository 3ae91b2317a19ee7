"""After `sessions delete` and `prune`, no file and no command has the deleted words."""

import base64
import json

import pytest

from tests.support.commands import Trackside
from tests.support.files import files_containing

RUNNER = """
import base64
from engine.protocol import AgentRunResult, Message

async def run(ctx):
    text = ctx.input.to_text()
    yield AgentRunResult.state_updated(ctx.run_id, f"key of {text}", text, "conversation")
    encoded = base64.b64encode(text.encode()).decode()
    yield AgentRunResult.artifact_created(ctx.run_id, "file", name=f"{text}.txt", content_base64=encoded)
    print(text, "in the output")
    yield AgentRunResult.message_completed(ctx.run_id, Message(role="assistant", content=f"You said {text}"))
    yield AgentRunResult.run_completed(ctx.run_id)
"""
WORD = "xylophone"
ENCODED = base64.b64encode(WORD.encode()).decode()
READING = (
    ("sessions", "--json"),
    ("runs", "--json"),
    ("transcript", "gone"),
    ("transcript", "kept"),
    ("search", "you"),
    ("state", "--json"),
    ("artifacts", "--json"),
    ("doctor",),
)


@pytest.fixture
def talked(trackside: Trackside) -> Trackside:
    (trackside.folder / "echo.py").write_text(RUNNER)
    trackside("run", "echo.py", "-m", "something else", "--session", "kept")
    for number in range(3):
        trackside("run", "echo.py", "-m", f"{WORD} {number}", "--session", "gone")
    trackside("state", "set", "gone", f"{WORD}.by.hand", f'"{WORD}"')
    return trackside


def files_with_the_word(trackside: Trackside) -> list[str]:
    return files_containing(trackside.database.parent, WORD, ENCODED)


def test_no_file_and_no_output_has_the_words_of_a_deleted_session(talked: Trackside):
    database = talked.database
    for name, text in (("crash-1.txt", "ValueError\nSession: {}\n"), ("draft-1-a", "text\0{{}}\0{}")):
        for session in ("gone", "kept"):
            path = database.with_name(f"{database.name}.{name.replace('1', session)}")
            path.write_text(f"{WORD if session == 'gone' else ''} {text.format(session)}")
    assert database.name in files_with_the_word(talked)
    assert len(files_with_the_word(talked)) == 3

    talked("sessions", "delete", "gone", "--yes")

    assert files_with_the_word(talked) == []
    assert [WORD in talked(*typed).stdout for typed in READING] == [False] * len(READING)
    left = sorted(path.name.removeprefix(f"{database.name}.") for path in database.parent.iterdir())
    assert [name for name in left if "gone" in name or "kept" in name] == ["crash-kept.txt", "draft-kept-a"]
    talked("run", "echo.py", "-m", "again", "--session", "gone")
    (session,) = (one for one in json.loads(talked("sessions", "--json").stdout) if one["session_id"] == "gone")
    assert session["message_count"] == 1
    assert talked("transcript", "gone").stdout.count("again") == 2
    assert files_with_the_word(talked) == []


def test_no_file_has_the_words_of_pruned_runs(talked: Trackside):
    talked("sessions", "delete", "kept", "--yes")
    talked("sessions", "rename", "gone", "")
    talked("state", "clear", "gone", "--yes")
    pruned = talked("prune", "--older-than", "0s", "--yes").stdout
    assert ", 3 artifacts, " in pruned
    assert json.loads(talked("artifacts", "--json").stdout) == []
