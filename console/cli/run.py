"""`trackside run`: one event, one run, watched to its end."""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.cli.exits import UsageError
from console.cli.options import add_database, add_jsonl, saying, seconds, setting, sound, variable, words

if TYPE_CHECKING:
    from engine.api import Choice, Engine, EventEnvelope, Setting

REHEARSAL: Final = "plugin:trackside/rehearsal/default"
DEFAULT_MESSAGE: Final = "Plan a day in Kyoto"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET",
        help="a runner file, a plugin folder or a project folder (not said: the working folder's, else rehearsal)",
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", "--message", metavar="TEXT", help="what to say to it; - reads standard input")
    what.add_argument("--event", metavar="FILE", help="an event as JSON or YAML; - reads standard input")
    parser.add_argument(
        "--attach", action="append", type=Path, default=[], metavar="FILE",
        help="a file that comes with it; may be given more than once",
    )  # fmt: skip
    parser.add_argument("--runner", metavar="NAME", help="an agent, a runner's id or its short name")
    parser.add_argument(
        "--set", action="append", type=setting, default=[], metavar="KEY=VALUE", help="a value of the runner's config"
    )
    parser.add_argument(
        "--kept", action="store_true",
        help="use the settings that were kept for it in the console; --set goes over them (not said: they are left "
        "out, so that a script does the same everywhere)",
    )  # fmt: skip
    parser.add_argument(
        "--session",
        metavar="ID",
        help="the session to go on with, `last`, or a name for a new one (not said: a new one)",
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds for the whole run; 0 means no deadline")
    parser.add_argument(
        "--env", action="append", type=variable, default=[], metavar="NAME",
        help="a variable that the runner may see; its value comes from the environment",
    )  # fmt: skip
    parser.add_argument("--python", metavar="PATH", help="the interpreter that runs it")
    beside = parser.add_argument_group("while it runs")
    beside.add_argument(
        "--steer", action="append", type=saying, default=[], metavar="WHEN=TEXT",
        help="say TEXT to the run when that comes: a result type or an entry of the host, with #n for the nth "
        "(tool.call.started#2), or +seconds after its start. If it never comes, nothing is sent; that is said at the "
        "end and leaves the exit code as it is",
    )  # fmt: skip
    beside.add_argument(
        "--after", action="append", type=words, default=[], metavar="TEXT",
        help="say TEXT when the run has ended, as a run of its own. All runs are watched; the exit code is that of "
        "the first that did not complete",
    )  # fmt: skip
    beside.add_argument(
        "--hold", action="append", default=[], metavar="WHEN",
        help="hold it before that: pull, model, tool, … or one call (call_tool), or a result type, with #n for only "
        "the nth. Then standard input says what to do, a line each: release, step, edit JSON, steer TEXT, stop, help; "
        "at its end holds are released",
    )  # fmt: skip
    parser.add_argument(
        "--grants", action="store_true", help="run nothing; print what the run would be allowed, and why"
    )
    parser.add_argument("--json", action="store_true", help="print the grants as JSON")
    add_jsonl(parser, "journal entry")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    if options.grants:
        from console.cli.grants import tell_grants

        return tell_grants(options)
    if options.json:
        raise UsageError("--json goes with --grants. A run is told as --jsonl, one entry a line.")
    if options.hold and "-" in (options.message, options.event):
        raise UsageError("--hold reads from standard input what to do, so the message or event cannot come from there.")
    # Imports leave no garbage behind; looking for it would be a tenth of the wait for the first entry.
    gc.disable()
    import asyncio

    from console.cli.watching import watch

    gc.freeze()
    gc.enable()
    return asyncio.run(watch(options))


def choice_of(options: argparse.Namespace) -> "Choice":
    """What was chosen beyond the event."""
    from engine.api import Choice

    unset = [name for name in options.env if name not in os.environ]
    if unset:
        raise UsageError(f"--env {unset[0]}: the variable is not set. Set it, or leave the option out.")
    python = options.python
    if python is not None and "/" in python:
        # The child starts in its own folder, so a path is made whole here; links are kept, a venv lives by them.
        python = os.path.abspath(python)  # noqa: PTH100
    return Choice(
        runner=options.runner,
        config={} if options.timeout is None else {"timeout": options.timeout},
        settings=dict(options.set),
        python=python,
        env=tuple(options.env),
        kept=options.kept,
        holds=tuple(sound(when) for when in options.hold),
    )


def event_of(engine: "Engine | Setting", options: argparse.Namespace) -> "EventEnvelope":
    """The event that was typed, or read from a file."""
    from engine.api import CONSOLE_DELIVERY, LOCAL_ACTOR, message, read_event

    session: str = options.session or engine.ids.new("ses")
    refuse_no_name(session)
    if options.event is None:
        said = message(engine.ids.new("evt"), _message(options), conversation_id=session)
        return _with_files(said, engine, options)
    defaults = {
        "event_id": engine.ids.new("evt"),
        "source": "console",
        "conversation_id": session,
        "delivery": CONSOLE_DELIVERY.model_dump(),
    }
    envelope = read_event(_event_text(options.event), options.event, defaults=defaults)
    changed: dict[str, object] = {}
    if options.session is not None:
        changed["conversation_id"] = session
    if envelope.is_message and envelope.actor is None:
        changed["actor"] = LOCAL_ACTOR
    return _with_files(envelope.model_copy(update=changed), engine, options)


def refuse_no_name(session: str) -> None:
    """Raises where that cannot be the name of a session."""
    from engine.api import SESSION_ID

    if SESSION_ID.fullmatch(session) is None:
        raise UsageError("--session wants 1 to 128 letters, digits or any of . _ : - (no spaces).")


def says_nothing(options: argparse.Namespace) -> bool:
    """Neither a message, a file nor an event was given; only rehearsal knows what to do then."""
    return options.message is None and options.event is None and not options.attach


def _with_files(envelope: "EventEnvelope", engine: "Engine | Setting", options: argparse.Namespace) -> "EventEnvelope":
    """The event with what --attach names. Read at once: nothing else has begun that would have to wait."""
    from engine.api import attachment_of

    roots = engine.project.file_roots()
    files = [attachment_of(path, lambda: engine.ids.new("art"), roots) for path in options.attach]
    given = envelope.input.model_copy(update={"attachments": [*envelope.input.attachments, *files]})
    return envelope.model_copy(update={"input": given})


def _message(options: argparse.Namespace) -> str:
    if options.message is None:
        return "" if options.attach else DEFAULT_MESSAGE
    if options.message == "-":
        text = _standard_input()
        return text.removesuffix("\n").removesuffix("\r")
    return sound(options.message)


def _event_text(name: str) -> str:
    if name == "-":
        return _standard_input()
    try:
        return Path(name).read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(f"--event {name}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--event {name}: not UTF-8.") from error


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin is not None else ""
