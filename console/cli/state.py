"""`trackside state`: what runners remember, in every scope; and what a person changes about it."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from console.cli.exits import UsageError
from console.cli.options import add_database, add_json, add_jsonl, count

if TYPE_CHECKING:
    from engine.api import Kept


VERBS: Final[Mapping[str, str]] = {
    "set": "WHOSE KEY VALUE",
    "delete": "WHOSE KEY",
    "clear": "WHOSE",
    "restore": "EDIT",
    "history": "WHOSE KEY",
}
"""What each wants behind it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    changes = "".join(f"\n       trackside state {verb} {wants} [options]" for verb, wants in VERBS.items())
    parser.usage = f"trackside state [-h] [SESSION] [--limit N] [--json] [--jsonl] [--db PATH]{changes}"
    parser.add_argument(
        "words",
        nargs="*",
        metavar="SESSION",
        help="only what the runs of this session can see; `last` works too. After a change: WHOSE is a session, or a "
        "scope's key as --json prints it; VALUE is JSON, - reads standard input; EDIT is what a change was told by",
    )
    parser.add_argument(
        "--scope",
        choices=("conversation", "actor", "subject", "runner"),
        default="conversation",
        help="which of the scopes that the session's last run was given (conversation)",
    )
    parser.add_argument("--runner", metavar="NAME", help="of the session's last run of this runner")
    parser.add_argument("--text", action="store_true", help="VALUE is plain text")
    parser.add_argument("--limit", type=count, default=200, metavar="N", help="at most so many keys or changes (200)")
    add_json(parser)
    add_jsonl(parser, "key")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    words: list[str] = options.words
    first, rest = (words[0], words[1:]) if words else (None, [])
    if first in VERBS:
        from console.cli import state_edits

        if len(rest) != len(VERBS[first].split()):
            raise UsageError(f"`trackside state {first}` wants {VERBS[first]}. `trackside state --help` shows how.")
        return asyncio.run(state_edits.perform(options, first, rest))
    if rest:
        raise UsageError(f"{first!r} is none of {', '.join(VERBS)}, and only one session is listed at a time.")
    return asyncio.run(_list(options, first))


async def _list(options: argparse.Namespace, name: str | None) -> int:
    from console.cli.records import print_json
    from console.cli.table import table
    from console.cli.terminal import standard_output
    from console.model.safe import one_line
    from console.model.words import ago, short_run
    from engine.api import Engine

    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.session(name)).session.session_id if name else None
        found = await engine.state(conversation_id=session, limit=options.limit + 1)
        now = engine.now()
    kept = found[: options.limit]

    def row(one: "Kept") -> tuple[str, ...]:
        who = one.editor or "unknown"
        return (
            one_line(f"{one.identity.scope} {_whose(one)}", 40),
            one_line(one.key, 40),
            f"{who} {short_run(one.run_id)}" if one.run_id else who,
            ago(now - one.updated_at),
            one_line(json.dumps(one.value, ensure_ascii=False), 200),
        )

    if options.jsonl:
        out.write_lines([json.dumps(_record(one), ensure_ascii=False, separators=(",", ":")) for one in kept])
    elif options.json:
        print_json(out, [_record(one) for one in kept])
    elif kept:
        out.write(table([row(one) for one in kept], out, whole=True))
        if len(found) > len(kept):
            out.line(out.paint("dim", "… and more; --limit shows them"))
    else:
        out.line(
            f"Nothing is kept for {one_line(session)}."
            if session
            else "Nothing is kept yet: a runner does by `state.updated`, or by `ctx.api.state_set`."
        )
    return 0


def _whose(one: "Kept") -> str:
    """What tells this scope from others of its kind."""
    from console.model.words import short_runner

    identity = one.identity
    own = identity.conversation_id or identity.actor_id or identity.subject_id
    return own or short_runner(identity.runner_id)


def _record(one: "Kept") -> dict[str, Any]:
    from engine.events import rfc3339

    identity = {name: part for name, part in asdict(one.identity).items() if part is not None}
    written = {"updated_at": rfc3339(one.updated_at), "editor": one.editor, "run_id": one.run_id}
    return identity | {"scope_key": one.identity.key, "key": one.key, "value": one.value} | written
