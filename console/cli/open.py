"""`trackside [TARGET]`: open the console."""

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.exit_codes import UsageError
from console.cli.options import Parser, add_own_database, variable_name
from console.cli.run import check_session_name
from console.cli.terminal import print_error

if TYPE_CHECKING:
    from console.app import Trackside

NO_TERMINAL = "the console needs a terminal. `trackside run` works without one."
FPS = "120"
"""Frames per second of Textual. A key that just missed a frame waits for the next one."""


def parser() -> Parser:
    """Return the parser of the console's own options."""
    result = Parser(prog="trackside", description="Open the console.", allow_abbrev=False)
    result.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET", help="a runner file, a plugin or a project folder"
    )
    result.add_argument("-c", "--continue", dest="continue_last", action="store_true", help="continue the last session")
    result.add_argument("--session", metavar="ID", help="the session to continue, or a name for a new one")
    result.add_argument("--runner", metavar="NAME", help="an agent, a runner's id or its short name")
    result.add_argument(
        "--env", action="append", type=variable_name, default=[], metavar="NAME",
        help="an environment variable that the runner may see; its value comes from the environment",
    )  # fmt: skip
    result.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    add_own_database(result)
    result.add_log()
    return result


def perform(options: argparse.Namespace) -> int:
    # Textual draws on standard error: if it is redirected to a file, the screen stays blank.
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise UsageError(NO_TERMINAL)
    unset = [name for name in options.env if name not in os.environ]
    if unset:
        raise UsageError(f"--env {unset[0]}: the variable is not set. Set it, or leave the option out.")
    if options.target is not None and not options.target.exists():
        raise UsageError(
            f"no such file or folder: {options.target}. Name a runner file (.py), a plugin folder or a project folder."
        )
    if options.session is not None:
        check_session_name(options.session)
    gc.disable()  # modules loaded from here on stay; the app enables collection again after its start
    os.environ.setdefault("TEXTUAL_FPS", FPS)
    import asyncio

    from console.app import Trackside
    from console.cli.ephemeral import chosen_database
    from console.launch import LaunchOptions
    from console.model.preferences.store import load_preferences

    with chosen_database(options):
        app = Trackside(
            LaunchOptions(
                target=options.target,
                runner=options.runner,
                session=options.session,
                continue_last=options.continue_last,
                db=options.db,
                env=tuple(options.env),
                ascii_only=options.ascii or not _has_glyphs(),
                preferences=load_preferences(),
            )
        )
        return asyncio.run(_run_app(app))


async def _run_app(app: "Trackside") -> int:
    await app.run_async()
    for line in app.controllers.quit.exit_messages:
        print_error(line)
    code = app.return_code or 0
    if app.controllers.quit.is_at_once:
        os._exit(code)  # threads that never end would keep the process alive
    return code


def _has_glyphs() -> bool:
    """Return whether the encoding of the terminal has the glyphs that the console draws."""
    return "utf" in (getattr(sys.__stderr__, "encoding", "") or "").lower()
