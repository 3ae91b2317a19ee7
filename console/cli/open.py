"""`trackside [TARGET]`: the console."""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.exits import UsageError
from console.cli.options import Parser, add_database, variable
from console.cli.run import refuse_no_name
from console.cli.terminal import complain

if TYPE_CHECKING:
    from console.app import Trackside

NO_TERMINAL = "there is no terminal here to draw on. `trackside run` does the same without one."
FPS = "120"
"""How often Textual looks for something to paint: a key that just missed one look waits for the next."""


def parser() -> Parser:
    """The options of the console itself."""
    made = Parser(prog="trackside", description="Open the console.", allow_abbrev=False)
    made.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET", help="a runner file, a plugin or a project folder"
    )
    made.add_argument("-c", "--continue", dest="goes_on", action="store_true", help="go on with the last session")
    made.add_argument("--session", metavar="ID", help="the session to go on with, or a name for a new one")
    made.add_argument("--runner", metavar="NAME", help="an agent, a runner's id or its short name")
    made.add_argument("--env", action="append", type=variable, default=[], metavar="NAME", help="a variable it may see")
    made.add_argument("--ascii", action="store_true", help="glyphs in ASCII")
    add_database(made)
    return made


def perform(options: argparse.Namespace) -> int:
    # Textual draws on standard error: one that goes into a file would leave the screen blank.
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(NO_TERMINAL)
    unset = [name for name in options.env if name not in os.environ]
    if unset:
        raise UsageError(f"--env {unset[0]}: the variable is not set. Set it, or leave the option out.")
    if options.target is not None and not options.target.exists():
        raise UsageError(f"{options.target} does not exist.")
    if options.session is not None:
        refuse_no_name(options.session)
    gc.disable()  # what is loaded from here on stays; the app looks for garbage again once it is open
    os.environ.setdefault("TEXTUAL_FPS", FPS)
    import asyncio

    from console.app import Trackside
    from console.opening import Opening
    from console.settling import settled

    app = Trackside(
        Opening(
            target=options.target,
            runner=options.runner,
            session=options.session,
            goes_on=options.goes_on,
            db=options.db,
            env=tuple(options.env),
            ascii_only=options.ascii or not _has_glyphs(),
            settled=settled(),
        )
    )
    return asyncio.run(_conduct(app))


async def _conduct(app: "Trackside") -> int:
    await app.run_async()
    for line in app.last_words:
        complain(line)
    code = app.return_code or 0
    if app.leaves_at_once:
        os._exit(code)  # what it would have waited for still holds threads
    return code


def _has_glyphs() -> bool:
    """Whether the terminal is written to in an encoding that has more than letters."""
    return "utf" in (getattr(sys.__stderr__, "encoding", "") or "").lower()
