"""`trackside state set | delete | clear | restore | history`: what a person changes about what runners remember."""

import argparse
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from console.cli.exits import Exit, UsageError
from console.cli.options import sound
from console.cli.records import print_json
from console.cli.table import table
from console.cli.terminal import Output, standard_output
from console.model.safe import one_line
from console.model.states.text import read
from console.model.words import ago, number, short_run, short_runner
from engine.api import Engine, NotFound, Scope, ScopeIdentity, StateEdit
from engine.events import rfc3339

LOOK: Final = 200
"""Runs of a session among which one of the named runner is looked for."""


async def perform(options: argparse.Namespace, verb: str, words: list[str]) -> int:
    """Do what the verb says; the words are as many as it wants."""
    async with await Engine.open(db=options.db, mode="read") as engine:
        return await _VERBS[verb](engine, options, [sound(word) for word in words])


async def _set(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    where, key, typed = words
    value = _value(typed, as_text=options.text)
    scope = await _scope(engine, options, where)
    return _told(options, await engine.set_state(scope, key, value), f"Set {one_line(key, 60)}")


async def _delete(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    where, key = words
    scope = await _scope(engine, options, where)
    return _told(options, await engine.delete_state(scope, key), f"Deleted {one_line(key, 60)}")


async def _clear(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    edit = await engine.clear_state(await _scope(engine, options, words[0]))
    return _told(options, edit, f"Deleted {number(edit.count, 'key')}")


async def _restore(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    edit = await engine.restore_state(words[0])
    return _told(options, edit, f"Restored {number(edit.count, 'key')}")


async def _history(engine: Engine, options: argparse.Namespace, words: list[str]) -> int:
    where, key = words
    out, scope = standard_output(), await _scope(engine, options, where)
    found = await engine.state_history(scope, key, limit=options.limit)
    if not found:
        raise UsageError(f"nothing was ever kept under {key!r} in {_whose(scope)}.")
    if options.json or options.jsonl:
        records = [
            {
                "change": one.number,
                "at": rfc3339(one.at),
                "editor": one.editor,
                "run_id": one.run_id,
                "position": one.position,
                "deleted": one.glimpse is None,
                "value": None if one.glimpse is None else await engine.state_value(scope, key, change=one.number),
            }
            for one in found
        ]
        if options.jsonl:
            out.write_lines([json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in records])
        else:
            print_json(out, records)
        return Exit.OK
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
    return Exit.OK


_VERBS: Final[Mapping[str, Callable[[Engine, argparse.Namespace, list[str]], Awaitable[int]]]] = {
    "set": _set,
    "delete": _delete,
    "clear": _clear,
    "restore": _restore,
    "history": _history,
}


async def _scope(engine: Engine, options: argparse.Namespace, name: str) -> ScopeIdentity:
    """The scope that is meant: of a session's last run, or by a key that `trackside state --json` prints."""
    wanted = Scope(options.scope)
    if any(name.startswith(f"{scope}:v2:") for scope in Scope):
        with suppress(NotFound):
            return await engine.scope(name)
    session = (await engine.session(name)).session.session_id
    for run in await engine.runs(conversation_id=session, limit=LOOK if options.runner else 1):
        if options.runner in (None, run.runner_id, short_runner(run.runner_id)):
            scopes = await engine.scopes_of(run.run_id)
            if wanted in scopes:
                return scopes[wanted]
            has = ", ".join(scopes) or "none"
            raise UsageError(f"the last run of {session} was not given the {wanted} scope. It has: {has}.")
    of = f" of {options.runner}" if options.runner else ""
    raise UsageError(f"{session} has no run{of} yet, so nobody could read its state. `trackside run` starts one.")


def _value(typed: str, *, as_text: bool) -> Any:
    if typed == "-":
        typed = sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin is not None else ""
        typed = typed.removesuffix("\n") if as_text else typed
    if as_text:
        return typed
    try:
        return read(typed)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"VALUE is JSON: {error}. For plain text add --text.") from None


def _told(options: argparse.Namespace, edit: StateEdit, done: str) -> int:
    out: Output = standard_output()
    if options.json or options.jsonl:
        told = {"edit_id": edit.edit_id, "kind": edit.kind, "scope_key": edit.identity.key, "count": edit.count}
        print_json(out, told | {"left": list(edit.left)})
        return Exit.OK
    out.line(f"{done} in {_whose(edit.identity)}. To take it back: trackside state restore {edit.edit_id}")
    if edit.left:
        out.line(f"Written since, and left as they are: {one_line(', '.join(edit.left), 400)}")
    return Exit.OK


def _whose(scope: ScopeIdentity) -> str:
    own = scope.conversation_id or scope.actor_id or scope.subject_id or ""
    return one_line(f"{scope.scope} {own}".strip() + f" of {short_runner(scope.runner_id)}", 120)
