"""Calls for the state of the run's scopes. A write is on disk before its reply is sent."""

from typing import Any

from engine.access.call import Arguments, CallType
from engine.access.gate import require_readable_scope, require_scope
from engine.access.paging import MAX_PAGE_ITEMS
from engine.access.services import Services
from engine.protocol.errors import AgentAPIException, ErrorCode
from engine.run.live import LiveRun
from engine.store import state
from engine.store.errors import StateFull, StateRefused, StateTooLarge
from engine.store.scope_identity import ScopeIdentity


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


async def get(services: Services, run: LiveRun, arguments: KeyArguments) -> dict[str, Any]:
    identity = run.order.grants.state_scopes.get(arguments.scope)
    if identity is None:
        return {"value": None}
    value, secrets = await services.fetch(run, state.get_clear_query(identity, arguments.key))
    run.learn_secrets(secrets)
    return {"value": value}


async def put(services: Services, run: LiveRun, arguments: SetArguments) -> dict[str, Any]:
    identity, limits = _identity(run, arguments.scope), run.order.state_limits
    key, value = arguments.key, arguments.value
    try:
        state.checked(key, value)
        state.refuse_secret(run.order.secret_mask.secret_in_name(key))
        change, masked = services.change_origin(run), run.order.secret_mask.masked_json(value)
        await services.write(lambda tx: state.put(tx.connection, identity, key, value, change, limits, masked=masked))
    except StateRefused as error:
        too_large = isinstance(error, StateTooLarge | StateFull)
        raise AgentAPIException.of(
            ErrorCode.PAYLOAD_TOO_LARGE if too_large else ErrorCode.INVALID_ARGUMENT, str(error)
        ) from None
    return {}


async def delete(services: Services, run: LiveRun, arguments: KeyArguments) -> dict[str, Any]:
    identity, change = _identity(run, arguments.scope), services.change_origin(run)
    return {"deleted": await services.write(lambda tx: state.delete(tx.connection, identity, arguments.key, change))}


async def keys(services: Services, run: LiveRun, arguments: ListArguments) -> dict[str, Any]:
    identity = run.order.grants.state_scopes.get(arguments.scope)
    if identity is None:
        return {"keys": [], "has_more": False}
    found, has_more = await services.read(
        run, lambda conn: state.keys(conn, identity, prefix=arguments.prefix or "", limit=MAX_PAGE_ITEMS)
    )
    return {"keys": found, "has_more": has_more}


def _identity(run: LiveRun, scope: str) -> ScopeIdentity:
    return run.order.grants.state_scopes[scope]


CALLS = (
    CallType("state_get", KeyArguments, (require_readable_scope,), get, reads_much=True),
    CallType("state_set", SetArguments, (require_scope,), put),
    CallType("state_delete", KeyArguments, (require_scope,), delete),
    CallType("state_list", ListArguments, (require_readable_scope,), keys),
)
