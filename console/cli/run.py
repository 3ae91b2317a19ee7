"""`trackside run`: run a runner on one event and print its journal until it ends."""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.cli.exit_codes import UsageError
from console.cli.options import (
    add_jsonl,
    add_own_database,
    key_value,
    message_text,
    parameter,
    replace_invalid_utf8,
    scheduled_message,
    seconds,
    variable_name,
)

if TYPE_CHECKING:
    from engine.api import Engine, EventEnvelope, RunOptions, Workspace

REHEARSAL: Final = "plugin:trackside/rehearsal/default"
DEFAULT_MESSAGE: Final = "Plan a day in Kyoto"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET",
        help="a runner file, a plugin folder or a project folder (default: the working folder's, else rehearsal)",
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", "--message", metavar="TEXT", help="the message; - reads standard input")
    what.add_argument("--event", metavar="FILE", help="an event as JSON or YAML; - reads standard input")
    parser.add_argument(
        "--attach", action="append", type=Path, default=[], metavar="FILE",
        help="attach a file; can be repeated",
    )  # fmt: skip
    parser.add_argument("--runner", metavar="NAME", help="an agent, a runner's id or its short name")
    parser.add_argument(
        "--set", action="append", type=key_value, default=[], metavar="KEY=VALUE", help="a value of the runner's config"
    )
    parser.add_argument(
        "--param", action="append", type=parameter, default=[], metavar="KEY=VALUE",
        help="a parameter of this run, which the runner finds in ctx.adapter.extra['params']; VALUE is JSON, or else "
        "text; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--saved", action="store_true",
        help="use the settings that were saved for the runner in the console; --set overrides them (default: not used, "
        "so that a script does the same on every machine)",
    )  # fmt: skip
    parser.add_argument(
        "--session",
        metavar="ID",
        help="the session to continue, `last`, or a name for a new one (default: a new one)",
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="deadline of the run in seconds; 0 means none")
    parser.add_argument(
        "--env", action="append", type=variable_name, default=[], metavar="NAME",
        help="an environment variable that the runner may see; its value comes from the environment",
    )  # fmt: skip
    parser.add_argument("--python", metavar="PATH", help="the Python interpreter of the runner")
    during = parser.add_argument_group("during the run")
    during.add_argument(
        "--steer", action="append", type=scheduled_message, default=[], metavar="WHEN=TEXT",
        help="send the steering message TEXT at WHEN: a result type or an entry type of the host, with #n for the nth "
        "(tool.call.started#2), or +SECONDS after the start. If the run does not reach WHEN, the message is not sent, "
        "a warning is printed and the exit code does not change",
    )  # fmt: skip
    during.add_argument(
        "--after", action="append", type=message_text, default=[], metavar="TEXT",
        help="send TEXT after the run, as a run of its own. The exit code is that of the first run that did not "
        "complete",
    )  # fmt: skip
    during.add_argument(
        "--break", dest="breakpoints", action="append", default=[], metavar="WHEN",
        help="pause before WHEN: steering, model, tool, … or one call (call_tool), or a result type, with #n for only "
        "the nth. Then standard input has one command per line: continue, step, edit JSON, steer TEXT, stop, help; "
        "at its end the run continues at every breakpoint",
    )  # fmt: skip
    parser.add_argument(
        "--grants", action="store_true", help="print what the run would be granted, and why, without running it"
    )
    parser.add_argument("--json", action="store_true", help="print the grants as JSON")
    add_jsonl(parser, "journal entry")
    add_own_database(parser)


def perform(options: argparse.Namespace) -> int:
    if options.grants:
        from console.cli.grants import print_grants

        return print_grants(options)
    if options.json:
        raise UsageError("--json needs --grants. For a run use --jsonl: one entry per line.")
    if options.breakpoints and "-" in (options.message, options.event):
        raise UsageError("--break reads commands from standard input, so the message or event cannot come from there.")
    # Imports leave no garbage; a collection during them is a tenth of the time to the first entry.
    gc.disable()
    import asyncio

    from console.cli.ephemeral import chosen_database
    from console.cli.run_watcher import watch

    gc.freeze()
    gc.enable()
    with chosen_database(options):
        return asyncio.run(watch(options))


def run_options_of(options: argparse.Namespace) -> "RunOptions":
    """Return the options of the run that are not part of the event."""
    from engine.api import RunOptions

    unset = [name for name in options.env if name not in os.environ]
    if unset:
        raise UsageError(f"--env {unset[0]}: the variable is not set. Set it, or leave the option out.")
    python = options.python
    if python is not None and "/" in python:
        # The child starts in another folder, so the path is made absolute. Links are not resolved: a venv needs them.
        python = os.path.abspath(python)  # noqa: PTH100
    return RunOptions(
        runner=options.runner,
        config={} if options.timeout is None else {"timeout": options.timeout},
        settings=dict(options.set),
        python=python,
        env=tuple(options.env),
        params=dict(options.param),
        kept=options.saved,
        breakpoints=tuple(replace_invalid_utf8(when) for when in options.breakpoints),
    )


def envelope_of(engine: "Engine | Workspace", options: argparse.Namespace) -> "EventEnvelope":
    """Return the event: the typed message, or the one read from a file."""
    from engine.api import CONSOLE_DELIVERY, LOCAL_ACTOR, message, read_event

    session: str = options.session or engine.ids.new("ses")
    check_session_name(session)
    if options.event is None:
        typed = message(engine.ids.new("evt"), _message(options), conversation_id=session)
        return _with_files(typed, engine, options)
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


def check_session_name(session: str) -> None:
    """Raise UsageError if this is not a valid session name."""
    from engine.events import SESSION_ID, SESSION_ID_RULE

    if SESSION_ID.fullmatch(session) is None:
        raise UsageError(f"--session must be {SESSION_ID_RULE}.")


def has_no_input(options: argparse.Namespace) -> bool:
    """Return whether neither message, file nor event was given. Only rehearsal has a default message."""
    return options.message is None and options.event is None and not options.attach


def _with_files(
    envelope: "EventEnvelope", engine: "Engine | Workspace", options: argparse.Namespace
) -> "EventEnvelope":
    """Return the event with the files of --attach. Blocks while it reads them: nothing else runs yet."""
    from engine.api import read_attachment

    roots = engine.project.file_roots()
    files = [read_attachment(path, lambda: engine.ids.new("art"), roots) for path in options.attach]
    event_input = envelope.input.model_copy(update={"attachments": [*envelope.input.attachments, *files]})
    return envelope.model_copy(update={"input": event_input})


def _message(options: argparse.Namespace) -> str:
    if options.message is None:
        return "" if options.attach else DEFAULT_MESSAGE
    if options.message == "-":
        text = _standard_input()
        return text.removesuffix("\n").removesuffix("\r")
    return replace_invalid_utf8(options.message)


def _event_text(name: str) -> str:
    if name == "-":
        return _standard_input()
    try:
        return Path(name).read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"--event {name} cannot be read: {error.strerror}. Name another file, or - for standard input."
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--event {name} is not UTF-8 text. Save the file as UTF-8.") from error


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin is not None else ""
