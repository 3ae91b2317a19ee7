"""`trackside doctor`: what is wrong, and how to mend it."""

import argparse
from pathlib import Path

from console.cli.exits import Exit
from console.cli.options import add_database, add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", nargs="?", type=Path, metavar="TARGET", help="a runner file, a plugin folder or a project folder"
    )
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from console.cli.checks import Verdict, check_all
    from console.cli.records import print_json
    from console.cli.terminal import standard_output
    from console.model.safe import one_line

    out = standard_output()
    looks = {Verdict.GOOD: ("✓", "green"), Verdict.ODD: ("!", "yellow"), Verdict.WRONG: ("✗", "red")}
    checks = []
    area = ""
    for check in check_all(options.target, options.db):
        checks.append(check)
        if options.json:
            continue
        if check.area != area:
            area = check.area
            out.line(out.paint("bold", area))
        glyph, colour = looks[check.verdict]
        out.line(f"  {out.paint(colour, glyph)} {one_line(check.finding, 2_000)}")
    wrong = sum(check.verdict is Verdict.WRONG for check in checks)
    if options.json:
        print_json(out, {"wrong": wrong, "checks": [asdict(check) for check in checks]})
    else:
        out.line("\nAll is well." if not wrong else f"\n{wrong} to mend: the lines with ✗ say how.")
    return Exit.FAILED if wrong else Exit.OK
