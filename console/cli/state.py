"""`trackside state`: list the saved state of all scopes, and change it."""

import argparse
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from console.cli.exit_codes import ExitCode, UsageError
from console.cli.json_output import print_json
from console.cli.options import add_database, add_json, add_jsonl, count, replace_invalid_utf8, session_option
from console.cli.table import table
from console.cli.terminal import Output, standard_output
from console.model.state.json_text import parse_json
from console.model.text.safe import one_line
from console.model.text.units import ago, number, short_run, short_runner
from engine.api import Engine, NotFound, Scope, ScopeIdentity, StateEdit
from engine.events import rfc3339

if TYPE_CHECKING:
    from engine.api import Kept


VERBS: Final[Mapping[str, str]] = {
    "set": "SCOPE KEY VALUE",
    "delete": "SCOPE KEY",
    "clear": "SCOPE",
    "restore": "EDIT",
    "history": "SCOPE KEY",
}
"""Each verb with its arguments."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    changes = "".join(f"\n       trackside state {verb} {words} [options]" for verb, words in VERBS.items())
    parser.usage = f"trackside state [-h] [SESSION] [--limit N] [--json] [--jsonl] [--db PATH]{changes}"
    parser.add_argument(
        "words",
        nargs="*",
        metavar="SESSION",
        help="only state that runs of this session can read; `last` works too. In changes, SCOPE is a session or a "
        "scope_key of --json; VALUE is JSON, and - reads standard input; EDIT is the id that a change printed",
    )
    parser.add_argument(
        "--scope",
        choices=[*Scope],
        default=Scope.CONVERSATION,
        help="the scope of the session's last run to change (default: conversation)",
    )
    parser.add_argument("--runner", metavar="NAME", help="use the session's last run of this runner")
    parser.add_argument("--text", action="store_true", help="VALUE is plain text")
    parser.add_argument(
        "--limit", type=count, default=200, metavar="N", help="maximum number of keys or changes (default: 200)"
    )
    add_json(parser)
    add_jsonl(parser, "key")
    add_database(parser)


def perform(options: argparse.Namespace) -> int:
    import asyncio

    words: list[str] = options.words
    first, rest = (words[0], words[1:]) if words else (None, [])
    if first in VERBS:
        if len(rest) != len(VERBS[first].split()):
            raise UsageError(f"`trackside state {first}` needs {VERBS[first]}. See `trackside state --help`.")
        return asyncio.run(perform_edit(options, first, rest))
    if rest:
        raise UsageError(f"there is no command {first!r}. Use {', '.join(VERBS)}, or name one session to list.")
    return asyncio.run(_list(options, first))


async def _list(options: argparse.Namespace, name: str | None) -> int:
    out = standard_output()
    async with await Engine.open(db=options.db, mode="read") as engine:
        session = (await engine.sessions.find(name)).session.session_id if name else None
        found = await engine.state.read(conversation_id=session, limit=options.limit + 1)
        now = engine.now()
    shown = found[: options.limit]

    def row(one: "Kept") -> tuple[str, ...]:
        who = one.editor or "unknown"
        return (
            one_line(f"{one.identity.scope} {_owner(one)}", 40),
            one_line(one.key, 40),
            f"{who} {short_run(one.run_id)}" if one.run_id else who,
            ago(now - one.updated_at),
            one_line(json.dumps(one.value, ensure_ascii=False), 200),
        )

    if options.jsonl:
        out.write_lines([json.dumps(_record(one), ensure_ascii=False, separators=(",", ":")) for one in shown])
    elif options.json:
        print_json(out, [_record(one) for one in shown])
    elif shown:
        out.write(table([row(one) for one in shown], out, whole=True))
        if len(found) > len(shown):
            out.line(out.paint("dim", "… and more; --limit shows them"))
    else:
        out.line(
            f"No state for {one_line(session)}."
            if session
            else "No state yet. A runner saves it with the result `state.updated` or with `ctx.api.state_set`."
        )
    return ExitCode.OK


def _owner(one: "Kept") -> str:
    """Return what distinguishes this scope from others of the same kind."""
    identity = one.identity
    own = identity.conversation_id or identity.actor_id or identity.subject_id
    return own or short_runner(identity.runner_id)


def _record(one: "Kept") -> dict[str, Any]:
    identity = {name: part for name, part in asdict(one.identity).items() if part is not None}
    times = {"created_at": rfc3339(one.created_at), "updated_at": rfc3339(one.updated_at)}
    written = times | {"editor": one.editor, "run_id": one.run_id}
    return identity | {"scope_key": one.identity.key, "key": one.key, "value": one.value} | written


MAX_RUNS_SEARCHED: Final = 200
"""Newest runs of a session in which a run of the named runner is searched."""


async def perform_edit(options: argparse.Namespace, verb: str, words: list[str]) -> int:
    """Carry out one change, or print a history. The number of words was checked."""
    async with await Engine.open(db=options.db, mode="read") as engine:
        return await _VERBS[verb](engine, options, [replace_invalid_utf8(word) for word in words])


async def _set(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    where, key, typed = words
    value = _value(typed, as_text=options.text)
    scope = await _scope(engine, options, where)
    return _print_edit(options, await engine.state.set(scope, key, value), f"Set {one_line(key, 60)}")


async def _delete(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    where, key = words
    scope = await _scope(engine, options, where)
    return _print_edit(options, await engine.state.delete(scope, key), f"Deleted {one_line(key, 60)}")


async def _clear(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    edit = await engine.state.clear(await _scope(engine, options, words[0]))
    return _print_edit(options, edit, f"Deleted {number(edit.count, 'key')}")


async def _restore(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    edit = await engine.state.restore(words[0])
    return _print_edit(options, edit, f"Restored {number(edit.count, 'key')}")


async def _history(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    where, key = words
    out, scope = standard_output(), await _scope(engine, options, where)
    found = await engine.state.history(scope, key, limit=options.limit)
    if not found:
        raise UsageError(f"{key!r} was never set in {_scope_owner(scope)}.")
    if options.json or options.jsonl:
        records = [
            {
                "change": one.number,
                "at": rfc3339(one.at),
                "editor": one.editor,
                "run_id": one.run_id,
                "position": one.position,
                "deleted": one.glimpse is None,
                "value": None if one.glimpse is None else await engine.state.value(scope, key, change=one.number),
            }
            for one in found
        ]
        if options.jsonl:
            out.write_lines([json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in records])
        else:
            print_json(out, records)
        return ExitCode.OK
    now = engine.now()
    rows = [
        (
            ago(now - one.at),
            f"{one.editor} {short_run(one.run_id)} #{one.position}" if one.run_id else one.editor,
            out.paint("dim", "deleted") if one.glimpse is None else one_line(one.glimpse, 200),
        )
        for one in found
    ]
    out.write(table(rows, out, whole=True))
    return ExitCode.OK


_VERBS: Final[Mapping[str, Callable[[Engine, argparse.Namespace, list[str]], Awaitable[int]]]] = {
    "set": _set,
    "delete": _delete,
    "clear": _clear,
    "restore": _restore,
    "history": _history,
}


async def _scope(engine: Engine, options: argparse.Namespace, name: str) -> ScopeIdentity:
    """Return the scope of a session's last run, or the one with a scope_key of `trackside state --json`."""
    wanted = Scope(options.scope)
    if any(name.startswith(f"{scope}:v2:") for scope in Scope):
        with suppress(NotFound):
            return await engine.state.find_scope(name)
    session = (await engine.sessions.find(name)).session.session_id
    for run in await engine.runs.list(conversation_id=session, limit=MAX_RUNS_SEARCHED if options.runner else 1):
        if options.runner in (None, run.runner_id, short_runner(run.runner_id)):
            scopes = await engine.state.scopes_of_run(run.run_id)
            if wanted in scopes:
                return scopes[wanted]
            has = ", ".join(scopes) or "none"
            raise UsageError(f"the last run of {session} has no {wanted} scope. It has: {has}.")
    of = f" of {options.runner}" if options.runner else ""
    raise UsageError(f"session {session} has no run{of} yet. Start one: trackside run {session_option(session)}")


def _value(typed: str, *, as_text: bool) -> Any:
    if typed == "-":
        typed = sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin is not None else ""
        typed = typed.removesuffix("\n") if as_text else typed
    if as_text:
        return typed
    try:
        return parse_json(typed)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"VALUE is not JSON: {error}. For plain text add --text.") from None


def _print_edit(options: argparse.Namespace, edit: StateEdit, done: str) -> int:
    out: Output = standard_output()
    if options.json or options.jsonl:
        fields = {"edit_id": edit.edit_id, "kind": edit.kind, "scope_key": edit.identity.key, "count": edit.count}
        print_json(out, fields | {"left": list(edit.left)})
        return ExitCode.OK
    out.line(f"{done} in {_scope_owner(edit.identity)}. Undo: trackside state restore {edit.edit_id}")
    if edit.left:
        out.line(f"Changed since then, and not restored: {one_line(', '.join(edit.left), 400)}")
    return ExitCode.OK


def _scope_owner(scope: ScopeIdentity) -> str:
    own = scope.conversation_id or scope.actor_id or scope.subject_id or ""
    return one_line(f"{scope.scope} {own}".strip() + f" of {short_runner(scope.runner_id)}", 120)
