"""`trackside backup`: copy the database to a file, also while other processes use it."""

import argparse
import sys
from pathlib import Path

from console.cli.exit_codes import ExitCode
from console.cli.options import add_database, add_json
from console.cli.progress import Progress
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
    with Progress(Output(sys.stderr), "Copying") as progress:
        written = back_up(database, options.file, overwrite=options.force, progress=progress.show)
    out = standard_output()
    if options.json:
        print_json(out, {"database": str(database), "file": str(options.file), "size_bytes": written})
    else:
        out.line(f"Copied {safe(str(database))} to {safe(str(options.file))} ({size(written)}).")
    return ExitCode.OK
