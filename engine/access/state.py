"""State of the run's scopes. A write is on disk when its reply leaves."""

from typing import Any

from engine.access.action import Action, Arguments
from engine.access.gate import of_readable_scope, of_scope
from engine.access.pages import LONGEST
from engine.access.room import Room
from engine.facts import state
from engine.facts.errors import StateRefused, StateTooLarge
from engine.facts.scopes import ScopeIdentity
from engine.facts.state import Change
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun


class KeyArguments(Arguments):
    scope: str
    key: str


class SetArguments(Arguments):
    scope: str
    key: str
    value: Any


class ListArguments(Arguments):
    scope: str
    prefix: str | None = None


async def get(room: Room, run: LiveRun, given: KeyArguments) -> dict[str, Any]:
    identity = run.order.grants.state_scopes.get(given.scope)
    if identity is None:
        return {"value": None}
    return {"value": await room.read(run, lambda conn: state.get(conn, identity, given.key))}


async def put(room: Room, run: LiveRun, given: SetArguments) -> dict[str, Any]:
    identity = _identity(run, given.scope)
    try:
        state.checked(given.key, given.value)
    except StateRefused as error:
        too_large = isinstance(error, StateTooLarge)
        raise AgentAPIException.of(
            ErrorCode.PAYLOAD_TOO_LARGE if too_large else ErrorCode.INVALID_ARGUMENT, str(error)
        ) from None
    change = _change(room, run)
    await room.write(lambda tx: state.put(tx.connection, identity, given.key, given.value, change))
    return {}


async def delete(room: Room, run: LiveRun, given: KeyArguments) -> dict[str, Any]:
    identity, change = _identity(run, given.scope), _change(room, run)
    return {"deleted": await room.write(lambda tx: state.delete(tx.connection, identity, given.key, change))}


async def keys(room: Room, run: LiveRun, given: ListArguments) -> dict[str, Any]:
    identity = run.order.grants.state_scopes.get(given.scope)
    if identity is None:
        return {"keys": [], "has_more": False}
    found, has_more = await room.read(
        run, lambda conn: state.keys(conn, identity, prefix=given.prefix or "", limit=LONGEST)
    )
    return {"keys": found, "has_more": has_more}


def _identity(run: LiveRun, scope: str) -> ScopeIdentity:
    return run.order.grants.state_scopes[scope]


def _change(room: Room, run: LiveRun) -> Change:
    """Made by the entry of the call, which is the newest one."""
    return Change(editor="runner", at=room.clock.now(), run_id=run.order.run_id, position=run.recorder.position)


CALLS = (
    Action("state_get", KeyArguments, (of_readable_scope,), get),
    Action("state_set", SetArguments, (of_scope,), put),
    Action("state_delete", KeyArguments, (of_scope,), delete),
    Action("state_list", ListArguments, (of_readable_scope,), keys),
)
