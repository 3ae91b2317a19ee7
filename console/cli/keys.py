"""`trackside keys`: print the console's commands with their keys, including those of console.yaml."""

import argparse

from console.cli.options import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "where",
        nargs="?",
        metavar="WHERE",
        help="only the commands of one pane (prompt, stream …), or one command by its id",
    )
    parser.add_argument("--example", action="store_true", help="print an example of console.yaml")
    add_json(parser)


def perform(options: argparse.Namespace) -> int:
    from console.cli.exit_codes import ExitCode, UsageError
    from console.cli.json_output import print_json
    from console.cli.terminal import print_error, standard_output
    from console.model.commands.key_labels import use_key_table, with_keys
    from console.model.preferences.file import EXAMPLE
    from console.model.preferences.keymap import apply_keymap
    from console.model.preferences.problem import nearest
    from console.model.preferences.store import read_file_preferences

    out = standard_output()
    if options.example:
        out.write(EXAMPLE)
        return ExitCode.OK
    settings = read_file_preferences()
    table = apply_keymap(settings.keys)
    use_key_table(table)
    if options.where is not None:
        places = list(dict.fromkeys(command.where for command in table))
        meant = [one for one in table if options.where in (one.id, one.where)]
        if not meant and "." in options.where:
            found = nearest(options.where, [one.id for one in table])
            raise UsageError(f"there is no command {options.where!r}{found} `trackside keys` lists them all.")
        if not meant:
            found = f"{nearest(options.where, places)} There are: {', '.join(places)}."
            raise UsageError(f"there is no pane called {options.where!r}{found}")
        table = meant
    if options.json:
        rows = [
            {
                "id": one.id,
                "keys": one.keys.split(",") if one.keys else [],
                "does": with_keys(one.help),
                "name": one.palette or None,
            }
            for one in table
        ]
        print_json(out, {"file": settings.where, "commands": rows, "problems": [str(one) for one in settings.problems]})
    else:
        from console.cli.table import table as columns

        rows = [(one.id, _keys(one.all_keys, is_own=one.id in settings.keys), with_keys(one.help)) for one in table]
        out.write(columns(rows, out, whole=True))
        out.line(f"\nTo change keys, edit {settings.where}")
        out.line("For an example of that file: trackside keys --example")
    for problem in settings.problems:
        print_error(f"{settings.where}: {problem}")
    return ExitCode.USAGE if settings.problems else ExitCode.OK


def _keys(keys: str, *, is_own: bool) -> str:
    return f"{keys or 'none'}  (yours)" if is_own else keys
