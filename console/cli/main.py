"""`trackside`: finds the command, runs it, and says in one line what went wrong."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from console.cli import open as console
from console.cli.exits import Exit, UsageError
from console.cli.options import Parser
from console.cli.terminal import Output, complain
from engine.version import VERSION

COMMANDS: Final[Mapping[str, str]] = {
    "run": "run a runner on one event and watch it",
    "runs": "list runs, newest first",
    "show": "show a run again",
    "steering": "list what was said to a run, and what became of it",
    "cancel": "stop a run, whichever process hosts it",
    "sessions": "list, rename and delete sessions",
    "fork": "go on from an earlier line in a session of its own",
    "transcript": "print what was said in a session",
    "search": "find where something was said",
    "state": "list and change what runners remember",
    "artifacts": "list what runs made, or get one",
    "doctor": "say what is wrong and how to mend it",
    "new": "write a runner that runs at once, with its test",
    "schema": "print the JSON Schema of trackside.yaml",
    "keys": "print the console's commands and keys",
    "prune": "delete what is older than an age",
}
"""What each is for; the module of the same name has its arguments and carries it out."""

ABOUT: Final = (
    "Without a command: open the console on TARGET, or on what the working folder has. Commands do without it."
)

REPORT: Final = (
    "that is a bug in Trackside, not in your runner. Please report it with the lines above "
    "and what `trackside doctor` prints."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if _means_the_console(typed):
            options = console.parser().parse_args(typed)
            _refuse_to_stand_nowhere()
            return console.perform(options)
        options = _parser(typed[0]).parse_args(typed)
        _refuse_to_stand_nowhere()
        return _honest(options.perform(options))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except UsageError as error:
        complain(str(error))
    except Exception as error:  # noqa: BLE001  (the edge: known errors are said in a line, others are bugs)
        if not _is_known(error):
            traceback.print_exc()
            complain(REPORT)
            return Exit.BUG
        complain(str(error))
    return Exit.USAGE


def _honest(code: int) -> int:
    """A command whose output could not be written did not succeed."""
    return Exit.FAILED if code == Exit.OK and Output.has_failed else code


def _parser(named: str) -> Parser:
    """All commands, with the arguments of the one that is meant: the others need not be loaded."""
    parser = Parser(prog="trackside", description=ABOUT, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"trackside {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        about = summary[0].upper() + summary[1:] + "."
        sub = commands.add_parser(name, help=summary, description=about, allow_abbrev=False)
        if name == named:
            command = import_module(f"console.cli.{name}")
            command.arguments(sub)
            sub.set_defaults(perform=command.perform)
    return parser


def _means_the_console(typed: Sequence[str]) -> bool:
    """Whether no command is named: nothing, a path, or options of the console's own."""
    name = typed[0] if typed else ""
    if name in COMMANDS or name in ("-h", "--help", "--version"):
        return False
    if not name or name.startswith("-") or Path(name).exists() or "/" in name or name.endswith(".py"):
        return True
    raise UsageError(f"no command and no file called {name!r}. Commands: {', '.join(COMMANDS)}.")


def _refuse_to_stand_nowhere() -> None:
    """Every command looks for trackside.yaml where it was typed."""
    try:
        Path.cwd()
    except OSError as error:
        raise UsageError("the working folder does not exist any more. Go to one that does: cd ~") from error


def _is_known(error: Exception) -> bool:
    """Whether the engine means this error for a person."""
    if "engine.api" not in sys.modules:  # not needed yet, or broken itself
        return False
    from engine.api import ConfigError, FactsError, IntakeError, RunnersError

    return isinstance(error, (ConfigError, FactsError, IntakeError, RunnersError))
