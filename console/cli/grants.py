"""`trackside run --grants`: print what a run would be granted and the clause that decides, without running it."""

import argparse
from collections.abc import Iterator

from console.cli.exit_codes import ExitCode
from console.cli.json_output import print_json
from console.cli.run import envelope_of, run_options_of
from console.cli.table import table
from console.cli.terminal import Output, standard_output
from console.model.text.safe import one_line
from engine.api import Grants, RunOrder, Workspace, default_database, prepare, saved_settings_in

_STORAGE = ("plugin", "workspace")


def print_grants(options: argparse.Namespace) -> int:
    """Compute the grants of the event as a run would, and print them."""
    workspace = Workspace.find(options.target)
    if options.saved:
        workspace.kept = saved_settings_in(options.db or workspace.project.database_path() or default_database())
    order = prepare(workspace, envelope_of(workspace, options), run_options_of(options))
    out = standard_output()
    if options.json or options.jsonl:
        event = {"event_type": order.envelope.event_type, "agent_id": order.binding.agent_id}
        print_json(out, event | order.grants.snapshot(order.secret_mask) | {"warnings": _warnings(order)})
    else:
        out.write("".join(_sections(order, out)))
    return ExitCode.OK


def _sections(order: RunOrder, out: Output) -> Iterator[str]:
    grants = order.grants
    where = f" in session {grants.conversation_id}" if grants.conversation_id else ""
    yield one_line(f"{grants.runner_id} on {order.envelope.event_type}{where}") + "\n"
    yield _section(out, "Calls", [(one_line(name), *_answer(out, *clause)) for name, clause in grants.apis.items()])
    yield _section(out, "Resources", _resources(order))
    on = [(scope, *_answer(out, True, f"state_policy.state_scopes has {scope}", "on")) for scope in grants.state_scopes]
    off = [(scope, *_answer(out, False, reason, "off")) for scope, reason in grants.scopes_off.items()]
    yield _section(out, "State", on + off)
    yield _section(out, "Storage", [(kind, *_answer(out, *_storage(grants, kind))) for kind in _STORAGE])
    if order.warnings:
        yield _section(out, "Warnings", [(out.paint("yellow", "!"), one_line(text)) for text in _warnings(order)])


def _section(out: Output, title: str, rows: list[tuple[str, ...]]) -> str:
    body = table([("", *row) for row in rows], out, whole=True) if rows else "  none\n"
    return f"\n{out.paint('bold', title)}\n{body}"


def _answer(out: Output, allowed: bool, clause: str, word: str = "") -> tuple[str, str]:
    word = word or ("yes" if allowed else "no")
    return out.paint("green" if allowed else "red", word), one_line(clause)


def _warnings(order: RunOrder) -> list[str]:
    return [order.secret_mask.cover_words(text) for text in order.warnings]


def _resources(order: RunOrder) -> list[tuple[str, ...]]:
    grants, cover = order.grants, order.secret_mask.cover_words
    return [
        (one_line(cover(name), 60), ", ".join(sorted(operations)), one_line(cover(grants.clauses[name])))
        for name, operations in grants.operations.items()
        if not name.startswith("storage:")
    ]


def _storage(grants: Grants, kind: str) -> tuple[bool, str]:
    name = f"storage:{kind}"
    if name not in grants.operations:
        return False, grants.apis[f"get_{kind}_storage"].words
    return True, f"{', '.join(sorted(grants.operations[name]))}: {grants.clauses[name]}"
