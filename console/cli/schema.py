"""`trackside schema`: print the JSON Schema of trackside.yaml, for an editor."""

import argparse

from console.cli.options import add_database, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    add_database(parser)


def perform(options: argparse.Namespace) -> int:  # noqa: ARG001  (a schema is JSON with or without --json)
    from console.cli.json_output import print_json
    from console.cli.terminal import standard_output
    from engine.api import json_schema

    print_json(standard_output(), json_schema())
    return 0
