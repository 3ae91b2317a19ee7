"""The entry point `trackside`: finds the command, runs it, and prints errors on one line."""

import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from console.cli import open as open_command
from console.cli.exit_codes import ExitCode, UsageError
from console.cli.options import Parser
from console.cli.terminal import Output, mask_secrets, print_error
from engine.version import VERSION

COMMANDS: Final[Mapping[str, str]] = {
    "run": "run a runner on one event and print what happens",
    "record": "record a run that is executed elsewhere, from its results on standard input",
    "runs": "list runs, newest first",
    "show": "print a past run",
    "receipts": "list the steering messages of a run, and what became of each",
    "steer": "send a message to a run in progress, also one of another process",
    "stop": "stop a run, also one of another process",
    "sessions": "list, show, create, fork, change and delete sessions",
    "transcript": "print the messages of a session",
    "search": "search the messages of all sessions",
    "state": "list and change the state that runners have saved",
    "artifacts": "list the artifacts of runs, or save one",
    "doctor": "check the installation and the project, and print problems with their fix",
    "new": "write a runner and its test",
    "schema": "print the JSON Schema of trackside.yaml",
    "keys": "print the console's commands and keys",
    "prune": "delete events, transcript and runs older than an age",
    "backup": "copy the database to a file, also while it is in use",
}
"""Each command with its summary. The module of the same name defines its arguments and runs it."""

RESERVED: Final = frozenset(
    {"attach", "compare", "export", "fork", "import", "kb", "lint", "migrate", "models"}
    | {"play", "prepare", "replay", "save", "test", "tools"}
)
"""Names of commands of later versions. They never open a file, so that no name changes its meaning."""

DESCRIPTION: Final = "Without a command: open the console on TARGET, or on the project in the working folder."

BUG: Final = (
    "This is a bug in Trackside, not in your runner. Please report it with the lines above "
    "and the output of `trackside doctor`."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if _opens_console(typed):
            return _perform(open_command.parser().parse_args(typed), typed, open_command.perform)
        options = _parser(typed[0]).parse_args(typed)
        return _checked(_perform(options, typed, options.perform))
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except UsageError as error:
        print_error(f"{error}{_path_hint(typed)}")
    except Exception as error:  # noqa: BLE001  (the edge: expected errors are printed on one line, others are bugs)
        if not _is_expected(error):
            sys.stderr.write(mask_secrets(traceback.format_exc()))
            print_error(BUG)
            return ExitCode.NO
        print_error(str(error))
    return ExitCode.USAGE


def _perform(options: Namespace, typed: Sequence[str], perform: Callable[[Namespace], int]) -> int:
    """Run a command, with a log if the user asked for one."""
    _check_working_folder()
    if options.log is None:
        return perform(options)
    from console.cli.log import command_log

    with command_log(options.log, typed) as log:
        code = perform(options)
        log.info("exit code %d", code)
        return code


def _checked(code: int) -> int:
    """Return the exit code, or NO if the output could not be written."""
    return ExitCode.NO if code == ExitCode.OK and Output.has_failed else code


def _parser(named: str) -> Parser:
    """Return the parser of all commands. Only the named command's module is loaded, to start fast."""
    parser = Parser(prog="trackside", description=DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"trackside {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        description = summary[0].upper() + summary[1:] + "."
        sub = commands.add_parser(name, help=summary, description=description, allow_abbrev=False)
        if name == named:
            command = import_module(f"console.cli.{name}")
            command.add_arguments(sub)
            sub.add_log()
            sub.set_defaults(perform=command.perform)
    return parser


def _opens_console(typed: Sequence[str]) -> bool:
    """Return whether no command is named: nothing, a path, or options of the console."""
    name = typed[0] if typed else ""
    if name in COMMANDS or name in ("-h", "--help", "--version"):
        return False
    if name in RESERVED:
        fork = " To fork a session: trackside sessions fork SESSION." if name == "fork" else ""
        raise UsageError(
            f"the command {name!r} does not exist yet in this version.{fork} "
            f"To open a file or folder of that name: trackside ./{name}"
        )
    if not name or name.startswith("-") or Path(name).exists() or "/" in name or name.endswith(".py"):
        return True
    raise UsageError(f"no command and no file called {name!r}. Commands: {', '.join(COMMANDS)}.")


def _path_hint(typed: Sequence[str]) -> str:
    """Return how to open the file or folder that has the name of the command, if there is one."""
    name = typed[0] if typed else ""
    if name not in COMMANDS or not Path(name).exists():
        return ""
    kind = "folder" if Path(name).is_dir() else "file"
    return f" {name!r} is a command; to open the {kind}: trackside ./{name}"


def _check_working_folder() -> None:
    """Raise UsageError if the working folder was deleted: every command looks for trackside.yaml in it."""
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError("the working folder no longer exists. Change to another folder: cd ~") from error


def _is_expected(error: Exception) -> bool:
    """Return whether the engine raised this error for the user to read."""
    if "engine.api" not in sys.modules:  # not needed yet, or broken itself
        return False
    from engine.api import ConfigError, IntakeError, RunnersError, StoreError

    return isinstance(error, (ConfigError, StoreError, IntakeError, RunnersError))
