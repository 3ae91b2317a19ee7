"""`trackside keys`: every command of the console with its keys, as they hold for this person."""

import argparse

from console.cli.options import add_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "where", nargs="?", metavar="WHERE", help="only those of one place: prompt, stream …; or one by its name"
    )
    parser.add_argument("--example", action="store_true", help="print a file to begin with")
    add_json(parser)


def perform(options: argparse.Namespace) -> int:
    from console.cli.exits import Exit, UsageError
    from console.cli.records import print_json
    from console.cli.terminal import complain, standard_output
    from console.model.commands.naming import keyed, put_in_force
    from console.model.settings.file import EXAMPLE
    from console.model.settings.keymap import changed
    from console.model.settings.problem import nearest
    from console.settling import read_settings

    out = standard_output()
    if options.example:
        out.write(EXAMPLE)
        return Exit.OK
    settings = read_settings()
    table = changed(settings.keys)
    put_in_force(table)
    if options.where is not None:
        places = list(dict.fromkeys(command.where for command in table))
        meant = [one for one in table if options.where in (one.id, one.where)]
        if not meant and "." in options.where:
            found = nearest(options.where, [one.id for one in table])
            raise UsageError(f"there is no command {options.where!r}{found} `trackside keys` lists them all.")
        if not meant:
            found = f"{nearest(options.where, places)} There are: {', '.join(places)}."
            raise UsageError(f"there is no place called {options.where!r}{found}")
        table = meant
    if options.json:
        rows = [
            {
                "id": one.id,
                "keys": one.keys.split(",") if one.keys else [],
                "does": keyed(one.help),
                "name": one.palette or None,
            }
            for one in table
        ]
        print_json(out, {"file": settings.where, "commands": rows, "problems": [str(one) for one in settings.problems]})
    else:
        from console.cli.table import table as columns

        rows = [(one.id, _keys(one.all_keys, is_own=one.id in settings.keys), keyed(one.help)) for one in table]
        out.write(columns(rows, out, whole=True))
        out.line(f"\nKeys and colours of your own, or no key at all: {settings.where}")
        out.line("(`trackside keys --example` prints such a file.)")
    for problem in settings.problems:
        complain(f"{settings.where}: {problem}")
    return Exit.USAGE if settings.problems else Exit.OK


def _keys(keys: str, *, is_own: bool) -> str:
    return f"{keys or 'none'}  (yours)" if is_own else keys
