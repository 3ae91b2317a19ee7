"""`trackside backup`: copy the database to a file, also while other processes use it."""

import argparse
import sys
from pathlib import Path

from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json
from console.cli.terminal import Output, standard_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the copy, which only you can read")
    parser.add_argument("--force", action="store_true", help="overwrite FILE if it exists")
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    from console.cli.json_output import print_json
    from console.model.text.safe import safe
    from console.model.text.units import size
    from engine.api import back_up, project_database

    database = options.db or project_database(Path.cwd())
    progress = _Progress(Output(sys.stderr))
    try:
        written = back_up(database, options.file, overwrite=options.force, progress=progress.show)
    finally:
        progress.clear()
    out = standard_output()
    if options.json:
        print_json(out, {"database": str(database), "file": str(options.file), "size_bytes": written})
    else:
        out.line(f"Copied {safe(str(database))} to {safe(str(options.file))} ({size(written)}).")
    return ExitCode.OK


class _Progress:
    """Shows the copied part on a terminal, in one line that is cleared at the end."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._percent = 0

    def show(self, done: int, total: int) -> None:
        percent = 100 * done // total if total else 100
        # A small database is copied in one step, and needs no line.
        if self._out.is_terminal and percent != self._percent and percent < 100:
            self._percent = percent
            self._out.write(f"\rCopying … {percent} %")

    def clear(self) -> None:
        if self._percent:
            self._out.write("\r" + " " * len("Copying … 100 %") + "\r")
